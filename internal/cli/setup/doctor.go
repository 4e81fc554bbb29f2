package setup

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/cli/gates"
	"github.com/stopgate/stopgate/internal/cli/here"
	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/gate/doctor"
)

func NewDoctor() *cobra.Command {
	return term.Shows(&cobra.Command{
		Use:   "doctor",
		Short: "Prove that enforcement is live, from the client's side",
		Long: `Look at the client, at every settings file in force here, at the configuration and
its approval; then call the installed hook as the client would, in a throw-away
project, and see whether a block blocks. Your own commands are never run.

Exit code 0: enforcement is live. 1: it is not, or that cannot be told.`,
		Example: `  stopgate doctor
  stopgate doctor --json | jq '.findings[] | select(.level == "dead")'`,
		Args: term.NoArgs,
	}, func(cmd *cobra.Command, _ []string) (examination, error) {
		h, err := here.FindHere()
		if err != nil {
			return examination{}, err
		}
		ctx, stop := term.UntilSignal(cmd)
		defer stop()
		report := doctor.Examine(ctx, doctor.Place{StateDir: h.StateDir, Needs: gates.Needs, GlobalPath: h.GlobalPath, Dir: h.Cwd, Root: h.Root, HasProject: h.HasProject})
		return examination{report, h.HasProject}, nil
	})
}

// examination is what doctor found.
type examination struct {
	doctor.Report
	hasProject bool
}

// JSON is what a program gets.
func (e examination) JSON() any {
	return map[string]any{"live": e.Live(), "commands": e.Commands, "findings": e.Findings}
}

var _ term.Failing = examination{}

// Failure is how the command ends.
func (e examination) Failure() error { return term.FailedIf(!e.Live()) }

// Print implements term.View.
func (e examination) Print(out io.Writer) {
	p := term.PaintFor(out)
	for _, f := range e.Findings {
		mark := p.Green("ok  ")
		switch f.Level {
		case doctor.Warn, doctor.Unsure:
			mark = p.Yellow("warn")
		case doctor.Dead:
			mark = p.Red("DEAD")
		}
		fmt.Fprintf(out, "%s  %s: %s\n", mark, f.What, f.Text)
		if f.Hint != "" {
			fmt.Fprintf(out, "      %s\n", p.Faint("→ "+f.Hint))
		}
	}
	switch {
	case e.Dead():
		fmt.Fprintln(out, p.Red("enforcement is NOT live"))
	case !e.Live():
		fmt.Fprintln(out, p.Yellow("enforcement is not known to be live"))
	case !e.hasProject:
		fmt.Fprintln(out, p.Bold("the hooks work, but here is nothing to enforce"))
	case e.Commands == 0:
		fmt.Fprintln(out, p.Bold("the hooks work, but nothing is configured to be enforced"))
	default:
		fmt.Fprintln(out, p.Bold("enforcement is live"))
	}
}
