package trust

import (
	"errors"
	"os"

	"golang.org/x/term"
)

// RequirePerson returns an error unless a person can be taken to stand behind
// the call: never inside the client or an agent of a pipeline, and only at a
// terminal unless a script was told --yes. An agent that sets out to cheat as the
// same user can; this keeps an agent from doing it in passing.
func RequirePerson(what string, yes bool) error {
	if os.Getenv("CLAUDECODE") != "" || os.Getenv("STOPGATE_AGENT_ID") != "" {
		return errors.New("an agent cannot " + what + ": run this in a terminal of your own, outside the client")
	}
	if yes || term.IsTerminal(int(os.Stdin.Fd())) {
		return nil
	}
	return errors.New("there is no terminal to " + what + " at; a script outside the client may pass --yes")
}
