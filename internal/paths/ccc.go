package paths

import (
	"errors"
	"path/filepath"
	"runtime"
)

// LauncherDir is where ccc.json, SUPERVISOR.md and the settings.json of a launched
// client lie. Where CCC_CONFIG_DIR is set, the client gets it as
// CLAUDE_CONFIG_DIR.
func LauncherDir(getenv func(name string) string) (string, error) {
	return firstDir(getenv, "CCC_CONFIG_DIR", "CLAUDE_CONFIG_DIR")
}

// SupervisorDir is where the supervisor keeps its state and its logs.
func SupervisorDir(getenv func(name string) string) (string, error) {
	dir, err := firstDir(getenv, "CCC_WORK_DIR", "CCC_CONFIG_DIR")
	return filepath.Join(dir, "ccc"), err
}

// firstDir is the first of the variables that is set, else ~/.claude.
func firstDir(getenv func(name string) string, names ...string) (string, error) {
	for _, name := range names {
		if dir := getenv(name); dir != "" {
			return filepath.Abs(dir)
		}
	}
	home := getenv("HOME")
	if runtime.GOOS == "windows" {
		home = getenv("USERPROFILE")
	}
	if home == "" {
		return "", errors.New("no directory for the client's settings: set HOME or " + names[0])
	}
	return filepath.Join(home, ".claude"), nil
}
