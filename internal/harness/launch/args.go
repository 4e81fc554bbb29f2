package launch

import "strings"

// split divides the arguments of a launch: the first decides. A provider's name is
// ours and all that follows it is Claude Code's. A flag, or nothing, means the current
// provider; "--" says so for what would look like a name.
func split(args []string) (provider string, rest []string) {
	switch {
	case len(args) == 0:
		return "", nil
	case args[0] == "--":
		return "", args[1:]
	case args[0] == "" || strings.HasPrefix(args[0], "-"):
		return "", args
	}
	return args[0], args[1:]
}
