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
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "detect",
		Short: "Show what has changed and which gates that touches",
		Long: `Show the files that count as changed, and the gates that would look at them. It
runs none.

Exit code 0: shown. 2: the command line or the configuration is wrong. 3: could not
look.`,
		Example: `  stopgate detect
  stopgate detect --base-branch origin/release --json | jq -r '.files[]'`,
		Args: term.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, options, err := gauntletHere(cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			if err := changes.Apply(cmd, &options.Scope); err != nil {
				return err
			}
			ctx, stop := untilEnded(cmd.Context())
			defer stop()
			found, err := gauntlet.Detect(ctx, options)
			switch {
			case gauntlet.IsBadRevision(err):
				return badRevision(err)
			case err != nil:
				return term.WithCode(err, term.ExitCouldNotRun)
			}
			if asJSON {
				return term.PrintJSON(cmd.OutOrStdout(), detectionOf(found))
			}
			printDetection(cmd.OutOrStdout(), found)
			return nil
		},
	}
	changes.Register(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// detection is what detect prints as JSON.
type detection struct {
	Base  string    `json:"base,omitempty"`
	Note  string    `json:"note,omitempty"`
	Files []string  `json:"files"`
	Gates []jobView `json:"gates"`
	Open  []string  `json:"open"` // failed before; these run whatever changed
}

type jobView struct {
	Job   string        `json:"job"`
	Kind  gauntlet.Kind `json:"kind"`
	Entry string        `json:"entry_point"`
	Name  string        `json:"name"`
}

func detectionOf(found gauntlet.Detection) detection {
	d := detection{found.Base, found.Note, append([]string{}, found.Files...), []jobView{}, append([]string{}, found.Open...)}
	for _, job := range found.Jobs {
		d.Gates = append(d.Gates, jobView{job.ID(), job.Kind, job.Entry, job.Gate().Name})
	}
	return d
}

func printDetection(out io.Writer, found gauntlet.Detection) {
	p := term.PaintFor(out)
	if found.Note != "" {
		fmt.Fprintln(out, p.Yellow("note")+": "+plain.Line(found.Note))
	}
	if len(found.Files) == 0 {
		fmt.Fprintln(out, "No changes detected"+since(found.Base)+".")
	} else {
		fmt.Fprintln(out, p.Bold(term.Count(len(found.Files), "changed file")+since(found.Base)+":"))
	}
	for _, file := range found.Files {
		fmt.Fprintln(out, "  "+term.Shown(file))
	}
	switch {
	case len(found.Jobs) > 0:
		fmt.Fprintln(out, p.Bold(fmt.Sprintf("Would run %d gate(s):", len(found.Jobs))))
	case len(found.Files) > 0:
		fmt.Fprintln(out, "No applicable gates for these changes.")
	}
	entry := ""
	for _, job := range found.Jobs {
		if job.Entry != entry {
			entry = job.Entry
			fmt.Fprintln(out, "  Entry point: "+term.Shown(entry))
		}
		fmt.Fprintf(out, "    %s %s\n", job.Kind, job.Gate().Name)
	}
	if len(found.Open) > 0 {
		fmt.Fprintln(out, p.Yellow("Failed before, so they run whatever changed:"))
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
