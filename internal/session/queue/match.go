package queue

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Matches reports whether a prompt is this command. On the way Claude Code composes
// letters, takes tabs for spaces, and drops white space at the end and characters
// that nobody sees.
func (c *Command) Matches(prompt string) bool {
	return c.Command == prompt || slices.Equal(words(c.Command), words(prompt))
}

func words(text string) []string {
	visible := func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}
	return strings.Fields(strings.Map(visible, norm.NFC.String(text)))
}
