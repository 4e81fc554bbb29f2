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
const longestRecess = 7 * 24 * time.Hour

func NewOff() *cobra.Command {
	var length time.Duration
	var why string
	var yes bool
	cmd := &cobra.Command{
		Use:   "off --for DURATION",
		Short: "Stand aside in this project for a while",
		Long: `Stand aside in this project for a while: every hook allows, the journal notes it,
the client shows it, and it ends by itself. To end it earlier: stopgate on`,
		Example: `  stopgate off --for 1h --why "the build machine is down"`,
		Args:    term.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !cmd.Flags().Changed("for") {
				return term.BadUsage(errors.New("for how long?"), "for example: stopgate off --for 1h")
			}
			if length <= 0 || length > longestRecess {
				return term.BadUsage(fmt.Errorf("--for must be more than 0 and at most %s", longestRecess), "for example: stopgate off --for 1h; to end it: stopgate on")
			}
			if err := trust.RequirePerson("switch stopgate off", yes); err != nil {
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
			fmt.Fprintf(cmd.OutOrStdout(), "off in %s until %s\n", h.Root, recess.Until.Local().Format(time.DateTime))
			return nil
		},
	}
	cmd.Flags().Var((*term.DurationFlag)(&length), "for", "how long, such as 30m or 2h")
	cmd.Flags().StringVar(&why, "why", "", "the reason, for the journal and for whoever wonders")
	cmd.Flags().BoolVar(&yes, "yes", false, "for scripts outside the client: do not ask for a terminal")
	return cmd
}

func NewOn() *cobra.Command {
	return &cobra.Command{
		Use:   "on",
		Short: "End the time in which stopgate stands aside in this project",
		Long: `End what stopgate off began before its time is over. An agent may run this, too:
it only means that stops are checked again.`,
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
			text := "it was not off in %s\n"
			if off {
				text = "on again in %s\n"
			}
			fmt.Fprintf(cmd.OutOrStdout(), text, h.Root)
			return nil
		},
	}
}
