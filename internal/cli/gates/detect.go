package gates

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/cli/here"
	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/gate/gauntlet"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

func NewDetect() *cobra.Command {
	var changes here.ChangeFlags
	cmd := term.UntilShown(term.Shows(&cobra.Command{
		Use:   "detect",
		Short: "Show what changed and which gates would run",
		Long: `Show the changed files and the gates that would run for them. Nothing runs.

Exit code 0: shown. 2: usage or configuration error. 3: could not read the changes.`,
		Example: `  stopgate detect
  stopgate detect --base-branch origin/release --json | jq -r '.files[]'`,
		Args: term.NoArgs,
	}, func(cmd *cobra.Command, _ []string) (found detection, err error) {
		_, options, err := gauntletHere(cmd.ErrOrStderr())
		if err != nil {
			return found, err
		}
		if err := changes.Apply(cmd, &options.Scope); err != nil {
			return found, err
		}

		found.Detection, err = gauntlet.Detect(cmd.Context(), options)
		switch {
		case gauntlet.IsBadRevision(err):
			return found, badRevision(err)
		case err != nil:
			return found, term.WithCode(err, term.ExitCouldNotRun)
		}
		found.unchanged = gauntlet.ProvenJobs(cmd.Context(), options, found.Jobs)
		return found, nil
	}))
	changes.Register(cmd)
	return cmd
}

// detection is what detect shows.
type detection struct {
	gauntlet.Detection
	unchanged map[string]bool // ids of jobs that passed for exactly this content
}

type jobView struct {
	Job   string        `json:"job"`
	Kind  gauntlet.Kind `json:"kind"`
	Entry string        `json:"entry_point"`
	Name  string        `json:"name"`
	// Unchanged means that it would not run: it passed for exactly this content.
	Unchanged bool `json:"unchanged,omitempty"`
}

// JSON is what a program gets.
func (found detection) JSON() any {
	gates := []jobView{}
	for _, job := range found.Jobs {
		gates = append(gates, jobView{job.ID(), job.Kind, job.Entry, job.Gate().Name, found.unchanged[job.ID()]})
	}
	return struct {
		Base  string    `json:"base,omitempty"`
		Note  string    `json:"note,omitempty"`
		Files []string  `json:"files"`
		Gates []jobView `json:"gates"`
		Open  []string  `json:"open"` // failed before; these run whatever changed
	}{found.Base, found.Note, append([]string{}, found.Files...), gates, append([]string{}, found.Open...)}
}

// Print implements term.View.
func (found detection) Print(out io.Writer) {
	p := term.PaintFor(out)
	if found.Note != "" {
		fmt.Fprintln(out, p.Yellow("note")+": "+plain.Line(found.Note))
	}

	if len(found.Files) == 0 {
		fmt.Fprintln(out, "No changes detected"+since(found.Base)+".")
	} else {
		fmt.Fprintln(out, p.Bold(plain.Count(len(found.Files), "changed file")+since(found.Base)+":"))
	}
	for _, file := range found.Files {
		fmt.Fprintln(out, "  "+term.Shown(file))
	}

	switch {
	case len(found.Jobs) > 0:
		apply := "gates apply:"
		if len(found.Jobs) == 1 {
			apply = "gate applies:"
		}
		fmt.Fprintln(out, p.Bold(fmt.Sprintf("%d %s", len(found.Jobs), apply)))
	case len(found.Files) > 0:
		fmt.Fprintln(out, "No applicable gates for these changes.")
	}

	entry := ""
	for _, job := range found.Jobs {
		if job.Entry != entry {
			entry = job.Entry
			fmt.Fprintln(out, "  Entry point: "+term.Shown(entry))
		}
		line := fmt.Sprintf("    %s %s", job.Kind, job.Gate().Name)
		if found.unchanged[job.ID()] {
			line += p.Faint("  unchanged since it passed, would not run")
		}
		fmt.Fprintln(out, line)
	}

	if len(found.Open) > 0 {
		fmt.Fprintln(out, p.Yellow("Open failures, which always run:"))
	}
	for _, id := range found.Open {
		fmt.Fprintln(out, "  "+term.Shown(id))
	}
}

func since(base string) string {
	if base == "" {
		return ""
	}
	return " since " + term.Shown(base)
}
