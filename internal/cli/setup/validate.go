package setup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/cli/here"
	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/gate/gauntlet"
	"github.com/stopgate/stopgate/internal/gate/keeper"
	"github.com/stopgate/stopgate/internal/gate/protect"
	"github.com/stopgate/stopgate/internal/harness/launch"
	"github.com/stopgate/stopgate/internal/project/config"
	"github.com/stopgate/stopgate/internal/project/document"
	"github.com/stopgate/stopgate/internal/project/registry"
	"github.com/stopgate/stopgate/internal/sys/jsonfile"
	"github.com/stopgate/stopgate/internal/sys/paths"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

func NewValidate() *cobra.Command {
	return term.Shows(&cobra.Command{
		Use:   "validate",
		Short: "Check every configuration file and show all problems",
		Long: `Check the global config, the launcher's ccc.json, the registry of agents, and
this project's .gauntlet/: config.yml, every file in checks/ and reviews/, and
ci.yml. Every problem is shown with its file, line and column. stopgate doctor
shows these too, and checks Claude Code's settings; stopgate provider check
tests the keys of providers.

Exit code 0: valid, or nothing to check. 1: there are problems.`,
		Example: `  stopgate validate
  stopgate validate --json | jq '.faults[].message'`,
		Args: term.NoArgs,
	}, func(cmd *cobra.Command, _ []string) (v validation, err error) {
		h, err := here.FindNearest()
		if err != nil {
			return v, err
		}
		v.Files, v.Faults = h.Validate()
		for _, look := range []func(*here.Place) (string, []document.Fault){validateLauncher, validateRegistry} {
			if path, wrong := look(h); path != "" {
				v.Files, v.Faults = append(v.Files, path), append(v.Faults, wrong...)
			}
		}
		v.notes = func() []gauntlet.Note { return notes(cmd.Context(), h) }
		return v, nil
	})
}

// validation is what was found in which files.
type validation struct {
	Faults []document.Fault       `json:"faults"`
	Files  []string               `json:"files"`
	notes  func() []gauntlet.Note // asks git
}

var _ term.Failing = validation{}

// Failure is how the command ends.
func (v validation) Failure() error { return term.FailedIf(len(v.Faults) > 0) }

// Print implements term.View.
func (v validation) Print(out io.Writer) {
	here.PrintFaults(out, v.Files, v.Faults)
	for _, note := range v.notes() {
		fmt.Fprintf(out, "note: %s\n", note)
	}
}

// notes are what a person may not know of the configuration, approved or not.
func notes(ctx context.Context, h *here.Place) []gauntlet.Note {
	c, err := ReadContents(h.ConfigDir(), h.ConfigDir())
	if err != nil || !h.HasProject {
		return nil
	}
	return notesOn(ctx, h, c)
}

// notesOn is notes for a configuration.
func notesOn(ctx context.Context, h *here.Place, c contents) (all []gauntlet.Note) {
	for _, text := range unprotectedBy(ctx, h, c.Project) {
		all = append(all, gauntlet.Note{Key: "protect", Text: text})
	}
	gates, _ := gauntlet.Notes(ctx, &keeper.Project{Root: h.Root, Config: c.Project, Gates: c.gates}, os.Environ()) // what git cannot list, doctor says
	return append(all, gates...)
}

// unprotected are what a person may not know of the entries under protect, approved or not: those that name no file,
// since one that is misspelt protects nothing, and those that name less than they seem to.
func unprotected(ctx context.Context, h *here.Place) []string {
	cfg, err := config.LoadProject(h.ConfigDir(), h.ConfigDir())
	if err != nil || !h.HasProject {
		return nil
	}
	return unprotectedBy(ctx, h, cfg)
}

// unprotectedBy is unprotected for a configuration.
func unprotectedBy(ctx context.Context, h *here.Place, cfg *config.Project) (notes []string) {
	if len(cfg.Protect.Patterns) == 0 {
		return nil
	}
	place := protect.Place{Project: &keeper.Project{Root: h.Root, Config: cfg}, Environ: os.Environ(), Now: time.Now}
	doubts, _ := place.Doubts(ctx) // without git nothing is protected, which a stop tells
	patterns, _ := place.Missing(ctx)
	for _, pattern := range patterns {
		if !slices.ContainsFunc(doubts, func(note string) bool { return strings.HasPrefix(note, plain.Name(pattern)+" matches ") }) {
			notes = append(notes, "no file matches "+term.Shown(pattern))
		}
	}
	return append(notes, doubts...)
}

// validateLauncher checks ccc.json; the path is empty where there is none.
func validateLauncher(*here.Place) (path string, faults []document.Fault) {
	dir, err := paths.LauncherDir(os.Getenv)
	if err != nil {
		return "", nil // no home, no file
	}
	path = filepath.Join(dir, launch.ConfigFile)
	c, err := launch.Load(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", nil
	case err != nil:
		return path, jsonFaults(path, err)
	}
	if _, known := c.Providers[c.Current]; c.Current != "" && !known {
		faults = append(faults, document.Fault{
			Position: document.Position{File: path},
			Message:  "current_provider: there is no provider " + launch.Shown(c.Current),
			Hint:     "see: stopgate provider list",
		})
	}
	return path, faults
}

// validateRegistry checks agent-registry.json; the path is empty where there is none.
func validateRegistry(h *here.Place) (path string, faults []document.Fault) {
	path = registry.Path(filepath.Dir(h.GlobalPath))
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if _, err := registry.Load(path); err != nil {
		faults = jsonFaults(path, err)
	}
	return path, faults
}

// jsonFaults are what keeps a JSON file from being read.
func jsonFaults(path string, err error) []document.Fault {
	if faults, ok := errors.AsType[*document.Faults](err); ok {
		return faults.All
	}
	fault := document.Fault{Position: document.Position{File: path}, Message: err.Error()}
	if refusal, ok := errors.AsType[*jsonfile.Refusal](err); ok { // it is no JSON
		fault.Line, fault.Column, fault.Message = refusal.Line, refusal.Column, refusal.Why
	}
	return []document.Fault{fault}
}
