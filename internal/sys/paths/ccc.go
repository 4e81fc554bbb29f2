package paths

import (
	"errors"
	"path/filepath"
)

// LauncherDir is where ccc.json, SUPERVISOR.md and the settings.json of a launched
// client lie. Where CCC_CONFIG_DIR is set, Claude Code gets it as
// CLAUDE_CONFIG_DIR.
func LauncherDir(getenv func(name string) string) (string, error) {
	return firstDir(getenv, "CCC_CONFIG_DIR", "CLAUDE_CONFIG_DIR")
}

// ClaudeDir is where a Claude Code keeps its settings and its transcripts that is started in
// cwd with such an environment, by our launcher or by itself. It is empty where nobody can
// tell.
func ClaudeDir(getenv func(name string) string, cwd string, launched bool) string {
	dir := getenv("CLAUDE_CONFIG_DIR")
	if own := getenv("CCC_CONFIG_DIR"); launched && own != "" {
		dir = own
	}
	switch home := Home(getenv); {
	case dir == "" && home == "":
		return ""
	case dir == "":
		return filepath.Join(home, ".claude")
	case filepath.IsAbs(dir):
		return dir
	}
	return filepath.Join(cwd, dir)
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
	home := Home(getenv)
	if home == "" {
		return "", errors.New("no directory for the settings of Claude Code: set HOME or " + names[0])
	}
	return filepath.Join(home, ".claude"), nil
}
