package daemon

import (
	"errors"
	"os"

	"github.com/spf13/cobra"
	xterm "golang.org/x/term"

	"github.com/stopgate/stopgate/internal/cli/here"
	"github.com/stopgate/stopgate/internal/cli/term"
)

func NewTop() *cobra.Command {
	return &cobra.Command{
		Use:   "top",
		Short: "Watch all agents and pipelines, and answer them",
		Long: `Show all pipelines, agents, sessions and decisions on a full screen, what needs you first: which
one waits for you, why it stopped or did not, and whether anything is enforced. It stays up to
date, and waits for a daemon that is not running.

Keys: j and k move, enter shows details, d answers a decision, a attaches to an agent's terminal,
l follows a log, / filters, 1 to 7 choose the list, ? shows all keys, q quits.

In an agent's shell it shows everything and answers nothing.

Exit code 0: you quit. 3: this is not a terminal, or stopgated is missing.`,
		Example: `  stopgate top`,
		Args:    term.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if err := needsScreen(); err != nil {
				return err
			}
			program, err := here.FindProgram("stopgated", os.Environ())
			if err != nil {
				return err
			}
			return become(program, []string{"top"}, os.Environ())
		},
	}
}

// needsScreen refuses to draw where nothing can be drawn.
func needsScreen() error {
	const hint = "list what runs with: stopgate pipeline list, stopgate agent list; what is enforced with: stopgate status"
	_, isScreen := term.IsScreen(os.Stdout)
	switch {
	case !xterm.IsTerminal(int(os.Stdin.Fd())) || !xterm.IsTerminal(int(os.Stdout.Fd())):
		return term.CannotRun(errors.New("top needs a terminal"), hint)
	case !isScreen:
		return term.CannotRun(errors.New("top needs a terminal that can move its cursor (TERM is dumb)"), hint)
	}
	return nil
}
