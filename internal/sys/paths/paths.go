// Package paths knows where stopgate's files live. It touches the disk only to
// find a project's root.
package paths

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
)

// Home is the person's home directory, as os.UserHomeDir knows it; empty where none is known.
func Home(getenv func(name string) string) string {
	if runtime.GOOS == "windows" {
		return getenv("USERPROFILE")
	}
	return getenv("HOME")
}

// StateDir is the directory for everything stopgate writes for itself.
func StateDir() (string, error) { return StateDirOf(os.Getenv) }

// StateDirOf is the StateDir of a process with that environment.
func StateDirOf(getenv func(name string) string) (string, error) {
	for _, name := range []string{"STOPGATE_STATE_DIR", "OJ_STATE_DIR"} {
		if dir := getenv(name); dir != "" {
			return filepath.Abs(dir)
		}
	}
	// The XDG specification says that a relative value is to be ignored.
	if dir := getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "stopgate"), nil
	}
	home := Home(getenv)
	if home == "" {
		return "", errors.New("no state directory: set HOME or STOPGATE_STATE_DIR")
	}
	return filepath.Join(home, ".local", "state", "stopgate"), nil
}

// GlobalConfig is the user's own configuration file.
func GlobalConfig() (string, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return "", errors.New("no global config: set HOME")
	}
	return filepath.Join(home, ".config", "agent-gauntlet", "config.yml"), nil
}

// ClaudeConfigDir is where Claude Code keeps the user's settings.
func ClaudeConfigDir() (string, error) {
	return firstDir(os.Getenv, "CLAUDE_CONFIG_DIR")
}
