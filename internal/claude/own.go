package claude

import (
	"bytes"
	"os"
	"os/user"
	"path/filepath"
	"slices"

	"github.com/stopgate/stopgate/internal/environ"
	"github.com/stopgate/stopgate/internal/paths"
	"github.com/stopgate/stopgate/internal/process"
	"github.com/stopgate/stopgate/internal/settings"
)

// Imposed are the variables by which stopgate finds what is its own, or decides whether to
// act, that the project's settings put into the environment of a hook, with the values that
// the person gave them; nil where the person gave none. An agent can write such settings,
// and would move the approvals, or switch the hook off.
func Imposed(given []string) map[string]*string {
	var names []string
	for _, dir := range projectDirs(given) {
		if setsVariables(dir) {
			names = append(names, settings.ProjectVariables(dir)...)
		}
	}
	names = slices.DeleteFunc(names, func(name string) bool {
		_, set := environ.Lookup(given, name)
		return !set || !environ.Own(name)
	})
	if len(names) == 0 {
		return nil
	}
	own := process.CallerEnviron()
	users := settings.UserEnvironment(ConfigDir(own))
	imposed := map[string]*string{}
	for _, name := range names {
		imposed[name] = nil
		if value, set := environ.Lookup(own, name); set {
			imposed[name] = &value
		}
		if value, set := users[name]; set {
			imposed[name] = &value
		}
		if imposed[name] == nil && name == "HOME" {
			imposed[name] = home()
		}
		if value := imposed[name]; value != nil && *value == environ.Get(given, name) {
			delete(imposed, name) // the person says the same
		}
	}
	return imposed
}

// home is the user's home as the system knows it; nil where it does not.
func home() *string {
	if u, err := user.Current(); err == nil && u.HomeDir != "" {
		return &u.HomeDir
	}
	return nil
}

// projectDirs are those whose settings the client may have taken for the project's.
func projectDirs(given []string) []string {
	dir := environ.Get(given, "CLAUDE_PROJECT_DIR")
	if dir == "" {
		return nil
	}
	dirs := []string{dir}
	if root, found := paths.GitRoot(dir); found && root != dir {
		dirs = append(dirs, root)
	}
	return dirs
}

// setsVariables reports whether settings in a directory may set variables. Every hook asks,
// so the files are only looked through.
func setsVariables(dir string) bool {
	for _, name := range []string{"settings.json", "settings.local.json"} {
		path := filepath.Join(dir, ".claude", name)
		if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
			continue // opening a pipe would wait
		}
		if text, err := os.ReadFile(path); err == nil && bytes.Contains(text, []byte(`"env"`)) {
			return true
		}
	}
	return false
}
