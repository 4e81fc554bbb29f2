package cli

import (
	"errors"

	"github.com/stopgate/stopgate/internal/sys/program"
)

// findProgram finds a program that comes with this one.
func findProgram(name string, env []string) (string, error) {
	path, err := program.Find(name, env)
	if missing, ok := errors.AsType[*program.MissingError](err); ok {
		hint := "stopgate and stopgated belong together: put it into " + missing.Dir + " or on the PATH"
		return "", withCode(withHint(err, hint), exitCouldNotRun)
	}
	return path, err
}
