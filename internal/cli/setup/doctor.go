package setup

import (
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/cli/gates"
	"github.com/stopgate/stopgate/internal/cli/here"
	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/gate/doctor"
)

func NewDoctor() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Prove that enforcement is live, from the client's side",
		Long: `Look at the client, at every settings file in force here, at the configuration and
its approval; then call the installed hook as the client would, in a throw-away
project, and see whether a block blocks. Your own commands are never run.

Exit code 0: enforcement is live. 1: it is not, or that cannot be told.`,
		Example: `  stopgate doctor
  stopgate doctor --json | jq '.findings[] | select(.level == "dead")'`,
		Args: term.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			h, err := here.FindHere()
			if err != nil {
				return err
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			report := doctor.Examine(ctx, doctor.Place{StateDir: h.StateDir, Needs: gates.Needs, GlobalPath: h.GlobalPath, Dir: h.Cwd, Root: h.Root, HasProject: h.HasProject})
			if asJSON {
				err = term.PrintJSON(cmd.OutOrStdout(), map[string]any{"live": report.Live(), "commands": report.Commands, "findings": report.Findings})
			} else {
				printReport(cmd.OutOrStdout(), report, h.HasProject)
			}
			if err == nil && !report.Live() {
				err = term.ErrSilent
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func printReport(out io.Writer, report doctor.Report, hasProject bool) {
	p := term.PaintFor(out)
	for _, f := range report.Findings {
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
	case report.Dead():
		fmt.Fprintln(out, p.Red("enforcement is NOT live"))
	case !report.Live():
		fmt.Fprintln(out, p.Yellow("enforcement is not known to be live"))
	case !hasProject:
		fmt.Fprintln(out, p.Bold("the hooks work, but here is nothing to enforce"))
	case report.Commands == 0:
		fmt.Fprintln(out, p.Bold("the hooks work, but nothing is configured to be enforced"))
	default:
		fmt.Fprintln(out, p.Bold("enforcement is live"))
	}
}
