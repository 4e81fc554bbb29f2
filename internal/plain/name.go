package plain

import "strings"

// IsName reports whether a name that somebody else chose can be part of a path: it has only
// letters, digits, underscores and hyphens, and at most so many of them.
func IsName(name string, most int) bool {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"
	return name != "" && len(name) <= most && strings.Trim(name, letters) == ""
}
