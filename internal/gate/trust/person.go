package trust

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/term"

	"github.com/stopgate/stopgate/internal/sys/environ"
)

// RequirePerson returns an error unless a person can be taken to stand behind
// the call: never in the shell of a coding agent, and only at a terminal unless a
// script was told --yes. An agent that sets out to cheat as the
// same user can; this keeps an agent from doing it in passing.
func RequirePerson(what string, yes bool) error {
	if marker := environ.Agent(os.Environ()); marker != "" {
		return fmt.Errorf("an agent cannot %s (%s is set): run this in your own terminal, outside the agent", what, marker)
	}
	if yes || term.IsTerminal(int(os.Stdin.Fd())) {
		return nil
	}
	return errors.New("cannot " + what + " without a terminal; a script outside Claude Code may pass --yes")
}
