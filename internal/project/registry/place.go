package registry

import (
	"path/filepath"
	"strings"

	"github.com/stopgate/stopgate/internal/sys/environ"
)

// File is the path of a file that the registry in that directory names. One that is
// relative begins at the registry. It never begins where we happen to be: that is a
// project, whose files nobody chose.
func File(configDir, name string, env []string) string {
	if name = atHome(name, env); filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(configDir, name)
}

// Program finds a program that the registry in that directory names: by its name on the
// PATH, or by its path, where it need not be. It is false for a name that is not on the
// PATH.
func Program(configDir, name string, env []string) (path string, found bool) {
	if strings.ContainsRune(name, '/') || strings.ContainsRune(name, filepath.Separator) {
		return File(configDir, name, env), true
	}
	return environ.LookPath(env, name)
}

// atHome is a path with the home directory in place of ~, where there is one.
func atHome(path string, env []string) string {
	home := environ.Get(env, "HOME")
	if below, found := strings.CutPrefix(path, "~/"); found && home != "" {
		return filepath.Join(home, below)
	}
	return path
}
