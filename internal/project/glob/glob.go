// Package glob matches names with the patterns of a configuration.
package glob

import (
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// IsPattern reports whether a text has to be matched rather than compared.
func IsPattern(text string) bool { return strings.ContainsAny(text, `*?[{\`) }

// Match reports whether a pattern selects a name. Brackets stand for one of the characters in them, and for
// themselves as well: some frameworks want folders that are called [id].
func Match(pattern, name string) bool {
	if doublestar.MatchUnvalidated(pattern, name) {
		return true
	}
	if !strings.Contains(pattern, "[") || strings.Contains(pattern, `\`) {
		return false
	}
	return doublestar.MatchUnvalidated(strings.ReplaceAll(pattern, "[", `\[`), name)
}
