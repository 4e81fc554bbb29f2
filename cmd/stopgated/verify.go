//go:build unix

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/control/fleet/anchor"
	"github.com/stopgate/stopgate/internal/control/fleet/link"
	"github.com/stopgate/stopgate/internal/control/fleet/member"
	"github.com/stopgate/stopgate/internal/control/store"
	"github.com/stopgate/stopgate/internal/control/store/sqlite"
	"github.com/stopgate/stopgate/internal/sys/paths"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// errDamage says that a report, which was printed, names damage.
var errDamage = errors.New("the store is damaged: restore a backup (created by stopgate daemon backup)")

// errAmiss says that what the report names can be fixed as it says.
var errAmiss = errors.New("the store has changed since the daemon stopped")

// storeVerify checks the daemon's store, also while a daemon uses it. The exit code is 1
// for damage, and 3 where nobody knows.
func storeVerify(asJSON bool, out, errOut io.Writer) int {
	err := verifyStore(asJSON, out)
	if err == nil {
		return 0
	}
	fmt.Fprintf(errOut, "stopgate: %v\n", err) // people see it as part of stopgate log verify
	if errors.Is(err, errDamage) || errors.Is(err, errAmiss) {
		return 1
	}
	return 3
}

func verifyStore(asJSON bool, out io.Writer) error {
	state, err := paths.StateDir()
	if err != nil {
		return err
	}

	path := filepath.Join(state, "stopgate.db")
	report, err := sqlite.Verify(context.Background(), path)
	if errors.Is(err, fs.ErrNotExist) {
		report, err = store.Report{Notes: []string{path + " does not exist: no daemon has run yet"}}, nil
	}
	if err != nil {
		return err
	}
	checkAnchors(state, path, &report)

	if asJSON {
		err = json.NewEncoder(out).Encode(report)
	} else {
		err = printReport(out, path, report)
	}
	switch {
	case err == nil && report.Damaged():
		return errDamage
	case err == nil && !report.Sound():
		return errAmiss
	}
	return err
}

// fleetPatience is how long a check waits for the fleet.
const fleetPatience = 10 * time.Second

// checkAnchors compares the store with what the fleet knows of it, where this machine is in one.
func checkAnchors(state, path string, report *store.Report) {
	id, err := member.Load(state)
	if errors.Is(err, member.ErrNone) {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), fleetPatience)
	defer cancel()
	if err == nil {
		err = compareAnchors(ctx, state, path, id, report)
	}
	if err != nil {
		report.Notes = append(report.Notes, "the fleet's anchors were not checked: "+plain.Line(err.Error()))
	}
}

func compareAnchors(ctx context.Context, state, path string, id member.Identity, report *store.Report) error {
	return id.WithLink(ctx, state, func(l *link.Link) error { return anchor.Check(ctx, l.Log, id.Name, path, report) })
}

func printReport(out io.Writer, path string, r store.Report) error {
	for _, f := range r.Findings {
		if _, err := fmt.Fprintf(out, "%s: %v\n", path, f); err != nil {
			return err
		}
		if f.Remedy != "" {
			fmt.Fprintf(out, "  %s\n", f.Remedy)
		}
	}

	if r.Omitted > 0 {
		fmt.Fprintf(out, "%s: %d more\n", path, r.Omitted)
	}
	for _, note := range r.Notes {
		fmt.Fprintln(out, note)
	}
	for _, subject := range heldSubjects(r) {
		fmt.Fprintf(out, "%s is held: the daemon does nothing more for it; the others continue\n", subject)
	}
	if r.Trimmed != nil {
		fmt.Fprintln(out, *r.Trimmed)
	}

	verdict := "sound"
	switch {
	case r.Damaged():
		verdict = "damaged"
	case !r.Sound():
		verdict = "changed since the daemon stopped"
	}
	_, err := fmt.Fprintf(out, "%s: %s on %s, %s\n", path, plain.Count(r.Events, "event"), plain.Count(r.Subjects, "subject"), verdict)
	return err
}

// heldSubjects are the pipelines and agent runs that a report finds damage in.
func heldSubjects(r store.Report) (names []string) {
	for _, f := range r.Findings {
		kind, id, _ := strings.Cut(f.Subject, ".")
		name := map[string]string{"pipeline": "pipeline ", "run": "agent run "}[kind] + id
		if f.Remedy == "" && name != id && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}
