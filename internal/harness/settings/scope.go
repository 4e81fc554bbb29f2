// Package settings reads Claude Code's settings files and merges our hook
// entries into them, leaving every other byte alone.
package settings

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/stopgate/stopgate/internal/sys/paths"
)

// Scope is one of the places Claude Code takes settings from. A later scope
// overrides an earlier one; hooks of all scopes run.
type Scope int

// The scopes in Claude Code's order.
const (
	User    Scope = iota // the person's own
	Project              // committed with the project
	Local                // the person's own, in this project
	Managed              // the administrator's, which we only read
	Plugin               // a plugin's, which Claude Code's own commands install and remove
)

// Editable reports whether our commands may change files of the scope.
func (s Scope) Editable() bool { return s == User || s == Project || s == Local }

func (s Scope) String() string {
	switch s {
	case User:
		return "user"
	case Project:
		return "project"
	case Local:
		return "local"
	case Managed:
		return "managed"
	case Plugin:
		return "plugin"
	}
	return fmt.Sprintf("Scope(%d)", int(s))
}

// Path is the settings file of the scope. Only Project and Local need a root.
func Path(scope Scope, root string) (string, error) {
	switch scope {
	case User:
		dir, err := paths.ClaudeConfigDir()
		if err != nil {
			return "", err
		}
		return filepath.Join(dir, "settings.json"), nil
	case Managed:
		return filepath.Join(managedDir(), "managed-settings.json"), nil
	}
	if root == "" {
		return "", fmt.Errorf("no %s settings outside a project", scope)
	}
	switch scope {
	case Project:
		return filepath.Abs(filepath.Join(root, ".claude", "settings.json"))
	case Local:
		return filepath.Abs(filepath.Join(root, ".claude", "settings.local.json"))
	}
	return "", errors.New("no settings file for " + scope.String())
}

func managedDir() string {
	switch runtime.GOOS {
	case "darwin":
		return "/Library/Application Support/ClaudeCode"
	case "windows":
		return `C:\Program Files\ClaudeCode`
	}
	return "/etc/claude-code"
}

type location struct {
	scope Scope
	path  string
}

// inForce lists the files that count in a project, in Claude Code's order. In
// a home directory the project's file is the user's file: it is listed once.
func inForce(root, localRoot string) []location {
	user, _ := Path(User, "") // none without a home
	return inForceFor(user, root, localRoot)
}

func inForceFor(user, root, localRoot string) []location {
	var all []location
	seen := map[string]bool{"": true}
	add := func(scope Scope, path string, err error) {
		if err == nil && !seen[path] {
			seen[path] = true
			all = append(all, location{scope, path})
		}
	}
	in := func(scope Scope, root string) {
		path, err := Path(scope, root)
		add(scope, path, err)
	}
	add(User, user, nil)
	in(Project, root)
	in(Local, root)
	in(Local, localRoot)
	in(Managed, "")
	for _, path := range dropIns() {
		all = append(all, location{Managed, path})
	}
	return all
}

// dropIns lists the administrator's further files, in the order in which the
// client merges them over managed-settings.json.
func dropIns() []string {
	dir := filepath.Join(managedDir(), "managed-settings.d")
	entries, _ := os.ReadDir(dir) // sorted; usually there is no such directory
	var all []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".json") && !strings.HasPrefix(e.Name(), ".") {
			all = append(all, filepath.Join(dir, e.Name()))
		}
	}
	return all
}
