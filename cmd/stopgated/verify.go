package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/stopgate/stopgate/internal/paths"
	"github.com/stopgate/stopgate/internal/store"
	"github.com/stopgate/stopgate/internal/store/sqlite"
)

// errDamage says that a report, which was printed, names damage.
var errDamage = errors.New("the store is damaged: put a backup in its place (stopgate daemon backup makes them)")

// storeVerify checks the daemon's store, also while a daemon uses it.
func storeVerify(asJSON bool, out io.Writer) error {
	state, err := paths.StateDir()
	if err != nil {
		return err
	}
	path := filepath.Join(state, "stopgate.db")
	report := store.Report{Notes: []string{path + " does not exist: no daemon has run yet"}}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		if report, err = sqlite.Verify(context.Background(), path); err != nil {
			return err
		}
	}
	if asJSON {
		err = json.NewEncoder(out).Encode(report)
	} else {
		err = printReport(out, path, report)
	}
	if err == nil && !report.Sound() {
		err = errDamage
	}
	return err
}

func printReport(out io.Writer, path string, r store.Report) error {
	for _, f := range r.Findings {
		if _, err := fmt.Fprintf(out, "%s: %v\n", path, f); err != nil {
			return err
		}
	}
	if r.Omitted > 0 {
		fmt.Fprintf(out, "%s: %d more\n", path, r.Omitted)
	}
	for _, note := range r.Notes {
		fmt.Fprintln(out, note)
	}
	verdict := "sound"
	if !r.Sound() {
		verdict = "damaged"
	}
	_, err := fmt.Fprintf(out, "%s: %d events on %d subjects, %s\n", path, r.Events, r.Subjects, verdict)
	return err
}
