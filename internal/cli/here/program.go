package here

import (
	"errors"

	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/sys/program"
)

// FindProgram finds a program that comes with this one.
func FindProgram(name string, env []string) (string, error) {
	path, err := program.Find(name, env)
	if missing, ok := errors.AsType[*program.MissingError](err); ok {
		hint := "install it next to stopgate, in " + missing.Dir + ", or on the PATH"
		return "", term.CannotRun(err, hint)
	}
	return path, err
}
