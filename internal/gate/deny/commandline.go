package deny

import (
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// deniedCommand compares a command line, and each command in it, with the patterns. What a script, a variable
// or an alias hides is not seen.
func deniedCommand(patterns []string, line string) (denying string, denied bool) {
	if len(patterns) == 0 || strings.TrimSpace(line) == "" {
		return "", false
	}
	whole := flat(strings.Join(strings.Fields(line), " "))
	var all []form
	for _, words := range unwrapped(line, 0) {
		all = append(all, newForm(words))
	}
	for _, text := range patterns {
		p := newPattern(text)
		if doublestar.MatchUnvalidated(flat(text), whole) || slices.ContainsFunc(all, p.matches) {
			return text, true
		}
	}
	return "", false
}
