package effect

import (
	"github.com/stopgate/stopgate/internal/engine"
	"github.com/stopgate/stopgate/internal/notify"
)

// Command tells people by their own command.
type Command struct {
	StateDir string
	Environ  []string // of the command
	// Command is notify.command of the global configuration, as it is now; where it is
	// empty, nobody is told.
	Command func() string
}

// Notify does not wait until the person is told.
func (c Command) Notify(_ *engine.Owner, title, text string) error {
	command := c.Command()
	if command == "" {
		return nil
	}
	return notify.Command(command, message(title, text), c.StateDir, c.Environ)
}

func message(title, text string) string {
	if title == "" || text == "" {
		return title + text
	}
	return title + "\n" + text
}
