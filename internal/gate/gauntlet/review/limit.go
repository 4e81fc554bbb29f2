package review

import (
	"bytes"
	"slices"
	"strings"
)

// limitPhrases are how the reviewers' programs say that a quota is used up.
var limitPhrases = []string{
	"usage limit", "quota exceeded", "quota will reset", "credit balance is too low",
	"out of extra usage", "out of usage", "you've hit your", "you've reached your",
}

// saysLimit finds the line in which a reviewer that gave no answer says that
// its quota is used up. A reviewer that echoes its prompt may say anything: lines
// of the prompt do not count.
func saysLimit(output string, prompt []byte) (line string, ok bool) {
	for line := range strings.Lines(output) {
		line = strings.TrimSpace(line)
		if isLimit(strings.ToLower(line)) && !bytes.Contains(prompt, []byte(line)) {
			return clip(printable(line), 300), true
		}
	}
	return "", false
}

func isLimit(line string) bool {
	// The server is busy; Claude Code says so itself.
	line = strings.ReplaceAll(line, "not your usage limit", "")
	return slices.ContainsFunc(limitPhrases, func(phrase string) bool { return strings.Contains(line, phrase) })
}
