package environ

import "strings"

// Own reports whether a variable is one that stopgate itself goes by: where its own files
// are, and whether it acts at all.
func Own(name string) bool {
	switch name {
	case "HOME", "CLAUDE_CONFIG_DIR":
		return true
	}
	for _, prefix := range []string{"STOPGATE_", "GAUNTLET_", "XDG_"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}
