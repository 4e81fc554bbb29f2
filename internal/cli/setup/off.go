package setup

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/cli/here"
	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/gate/stop"
	"github.com/stopgate/stopgate/internal/gate/trust"
)

// longestRecess keeps an "off" from being forgotten.
const longestRecess = 7 * 24 * time.Hour // "7d" below

func NewOff() *cobra.Command {
	var length time.Duration
	var why string
	var yes bool

	cmd := &cobra.Command{
		Use:   "off --for DURATION",
		Short: "Turn stopgate off in this project for a while",
		Long: `Turn stopgate off in this project for a while: every stop is allowed, the log
records it, Claude Code shows it, and it ends automatically. To turn it on earlier:
stopgate on`,
		Example: `  stopgate off --for 1h --why "the build machine is down"`,
		Args:    term.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !cmd.Flags().Changed("for") {
				return term.BadUsage(errors.New("--for is missing"), "for example: stopgate off --for 1h")
			}
			if length <= 0 || length > longestRecess {
				return term.BadUsage(errors.New("--for must be more than 0 and at most 7d"), "for example: stopgate off --for 1h; to turn it on: stopgate on")
			}

			if err := trust.RequirePerson("turn stopgate off", yes); err != nil {
				return err
			}
			h, err := here.MustExist(here.FindHere())
			if err != nil {
				return err
			}

			now := time.Now()
			recess := stop.Recess{Root: h.Root, Since: now, Until: now.Add(length), Why: why}
			if err := recess.Begin(h.StateDir); err != nil {
				return err
			}
			fmt.Fprintf(term.Prose(cmd.OutOrStdout()), "off in %s until %s\n", h.Root, recess.Until.Local().Format(time.DateTime))
			return nil
		},
	}

	cmd.Flags().Var((*term.DurationFlag)(&length), "for", "how long, such as 30m or 2h")
	cmd.Flags().StringVar(&why, "why", "", "the reason, for the log and the status")
	cmd.Flags().BoolVar(&yes, "yes", false, "work without a terminal; for scripts (agents are refused)")
	return cmd
}

func NewOn() *cobra.Command {
	return &cobra.Command{
		Use:   "on",
		Short: "Turn stopgate on again in this project",
		Long: `End stopgate off early. Agents may run this too: it only means that stops are checked
again.`,
		Example: `  stopgate on`,
		Args:    term.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			h, err := here.MustExist(here.FindHere())
			if err != nil {
				return err
			}

			_, off := stop.InRecess(h.StateDir, h.Root, time.Now())
			if err := stop.EndRecess(h.StateDir, h.Root); err != nil {
				return err
			}
			text := "stopgate was not off in %s\n"
			if off {
				text = "on again in %s\n"
			}
			fmt.Fprintf(term.Prose(cmd.OutOrStdout()), text, h.Root)
			return nil
		},
	}
}
