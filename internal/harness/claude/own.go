package claude

import (
	"os/user"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/harness/settings"
	"github.com/stopgate/stopgate/internal/sys/environ"
	"github.com/stopgate/stopgate/internal/sys/paths"
	"github.com/stopgate/stopgate/internal/sys/process"
)

// Imposed are the variables by which stopgate finds what is its own, or decides whether to
// act, that the project's settings put into the environment of a hook, with the values that
// the person gave them; nil where the person gave none. An agent can write such settings,
// and would move the approvals, or switch the hook off.
func Imposed(given []string) map[string]*string { return imposed(given, process.CallerEnviron) }

func imposed(given []string, started func() []string) map[string]*string {
	names, known := projectVariables(environ.Get(given, "CLAUDE_PROJECT_DIR"))
	names = slices.DeleteFunc(names, func(name string) bool {
		_, set := environ.Lookup(given, name)
		return !set || !environ.Own(name)
	})
	if len(names) == 0 && known {
		return nil
	}

	person := started()
	switch {
	case person == nil:
		person = without(given, names)
	case !known: // settings that we cannot read may set anything
		names = ownIn(given)
	}
	for name, value := range settings.UserEnvironment(configDir(person)) {
		person = append(person, name+"="+value)
	}

	imposed := map[string]*string{}
	for _, name := range names {
		value, set := environ.Lookup(person, name)
		if !set && isHome(name) {
			value = home()
			set = value != ""
		}
		switch {
		case !set:
			imposed[name] = nil
		case value != environ.Get(given, name):
			imposed[name] = &value
		}
	}
	return imposed
}

// projectVariables names what the settings set that a client may have taken for the project's, in
// directories or at the top of their main worktrees, and says whether all of them could be read.
func projectVariables(dirs ...string) (names []string, known bool) {
	known = true
	for _, dir := range dirs {
		if dir == "" {
			continue
		}
		all := []string{dir}
		if root, found := paths.MainWorktree(dir); found && root != dir {
			all = append(all, root)
		}
		for _, dir := range all {
			more, whole := settings.ProjectVariables(dir)
			names = append(names, more...)
			known = known && whole
		}
	}
	return names, known
}

// ownIn names the variables of an environment that stopgate goes by.
func ownIn(given []string) (names []string) {
	for _, entry := range given {
		if name, _, _ := strings.Cut(entry, "="); environ.Own(name) {
			names = append(names, name)
		}
	}
	return names
}

// without is an environment less some variables.
func without(given, names []string) []string {
	return environ.Without(given, func(name string) bool { return slices.Contains(names, name) })
}

// configDir is ConfigDir where a project's settings may have hidden the home directory.
func configDir(person []string) string {
	if dir := ConfigDir(person); dir != "" {
		return dir
	}
	return ConfigDir(append(slices.Clone(person), "HOME="+home(), "USERPROFILE="+home()))
}

func isHome(name string) bool { return name == "HOME" || name == "USERPROFILE" }

// home is the user's home as the system knows it; empty where it does not.
func home() string {
	u, err := user.Current()
	if err != nil {
		return ""
	}
	return u.HomeDir
}
