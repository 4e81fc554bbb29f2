package setup

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/cli/here"
	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/gate/stop"
)

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
