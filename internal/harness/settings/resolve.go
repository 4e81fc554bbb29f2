package settings

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/stopgate/stopgate/internal/sys/environ"
	"github.com/stopgate/stopgate/internal/sys/program"
)

// resolve is the file that a program's name stands for. The shell that Claude Code starts
// knows our environment, so variables in it count.
func resolve(program string) (path string, found bool) {
	if strings.Contains(program, "$") {
		program = os.ExpandEnv(program)
	}
	if program == filepath.Base(program) {
		return environ.LookPath(os.Environ(), program)
	}
	path, err := exec.LookPath(program)
	return path, err == nil && filepath.IsAbs(path)
}

// installable reports whether we would write the program so: by its bare name, or by a path
// that is the same in every directory. On Windows too, as Git Bash has paths that begin with a slash.
func installable(program string) bool {
	program = os.ExpandEnv(program)
	return program == filepath.Base(program) || filepath.IsAbs(program) || strings.HasPrefix(program, "/")
}

// isSelf reports whether path leads to the program that is running or, in stopgated, to its stopgate:
// hooks call that.
func isSelf(path string) bool {
	self, err := program.Stopgate()
	return err == nil && sameFile(path, self)
}
