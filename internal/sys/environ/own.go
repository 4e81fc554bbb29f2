package environ

import (
	"runtime"
	"slices"
	"strings"
)

// ownPrefixes begin the variables that stopgate, and the tools whose place it takes, read.
var ownPrefixes = []string{"STOPGATE_", "STOPGATED_", "GAUNTLET_", "CCC_", "OJ_", "XDG_"}

// ownNames are the others: where files are, what counts as changed in CI, and what the git that
// we call goes by. CI itself is not among them: a project may set it for its tests, and to
// "stopgate hook" it means nothing without the rest.
var ownNames = []string{
	"HOME", "USERPROFILE", "CLAUDE_CONFIG_DIR",
	"GITHUB_ACTIONS", "GITHUB_BASE_REF", "GITHUB_EVENT_NAME", "GITHUB_EVENT_PATH", "GITHUB_SHA",
	"GIT_CEILING_DIRECTORIES", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_SYSTEM",
	"GIT_DISCOVERY_ACROSS_FILESYSTEM", "GIT_EXEC_PATH",
}

// Own reports whether a variable is one that stopgate itself goes by: where its own files
// are, whether it acts at all, and what it looks at.
func Own(name string) bool {
	if runtime.GOOS == "windows" {
		name = strings.ToUpper(name)
	}
	return slices.Contains(ownNames, name) ||
		slices.ContainsFunc(ownPrefixes, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}
