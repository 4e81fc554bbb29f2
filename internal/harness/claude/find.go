package claude

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"

	"github.com/stopgate/stopgate/internal/sys/environ"
)

// Find finds Claude Code: the program that CCC_CLAUDE names, or CLAUDE_BIN, or the
// first claude on the PATH.
func Find(variables []string) (path string, err error) {
	for _, name := range []string{"CCC_CLAUDE", "CLAUDE_BIN"} {
		if program := environ.Get(variables, name); program != "" {
			return named(variables, name, program)
		}
	}
	path, found := environ.LookPath(variables, "claude")
	if !found {
		return "", errors.New("claude is not on the PATH, and neither CCC_CLAUDE nor CLAUDE_BIN names it")
	}
	return path, nil
}

func named(variables []string, name, program string) (string, error) {
	if filepath.Base(program) == program {
		if path, found := environ.LookPath(variables, program); found {
			return path, nil
		}
		return "", fmt.Errorf("%s is %q, which is not on the PATH", name, program)
	}
	path, err := exec.LookPath(program)
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	return filepath.Abs(path)
}
