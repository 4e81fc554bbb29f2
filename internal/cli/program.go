package cli

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/stopgate/stopgate/internal/sys/environ"
)

// findProgram finds a program that comes with this one: beside it, else on the PATH.
func findProgram(name string, env []string) (string, error) {
	self, err := os.Executable()
	if err == nil {
		if resolved, err := filepath.EvalSymlinks(self); err == nil {
			self = resolved
		}
		if path, err := exec.LookPath(filepath.Join(filepath.Dir(self), name)); err == nil {
			return path, nil
		}
	}
	if path, found := environ.LookPath(env, name); found {
		return path, nil
	}
	missing := fmt.Errorf("the program %s was not found", name)
	return "", codeError{hintError{missing, "stopgate and stopgated belong together: put it into " + filepath.Dir(self) + " or on the PATH"}, exitCouldNotRun}
}
