// Package standin is what the stand-ins for the client share: its screen, its keys and its hooks.
// An actor is a stand-in that a test directs, and one without a terminal is a script.
package standin

import (
	"fmt"
	"slices"
	"strings"
)

// Begin has the terminal mark pastes, as the client does.
const Begin = "\x1b[?2004h"

// Screen is what a client shows.
type Screen struct {
	Above   []string // the conversation
	Box     string   // what stands in the input box
	Busy    bool
	Instead []string // what is there in place of the box
}

var rule = strings.Repeat("─", 80)

// Dialog asks for a permission.
var Dialog = []string{rule, " Do you want to proceed?", " ❯ 1. Yes", "   2. No"}

// String is what the terminal is given.
func (s Screen) String() string {
	lines := slices.Concat(s.Above, s.Instead)
	if s.Instead == nil {
		lines = append(lines, rule, s.prompt(), rule, "  ? for shortcuts")
	}
	return "\x1b[H" + strings.ReplaceAll(strings.Join(lines, "\r\n"), "\r\n", "\x1b[K\r\n") + "\x1b[K\x1b[J"
}

// prompt is the line of the box. A long paste is not shown.
func (s Screen) prompt() string {
	glyph := "\x1b[39m❯"
	if s.Busy {
		glyph = "\x1b[90m❯\x1b[39m"
	}

	text := strings.ReplaceAll(s.Box, "\n", "\r\n  ")
	if n := strings.Count(s.Box, "\n"); n > 2 || len(s.Box) > 800 {
		text = fmt.Sprintf("[Pasted text #1 +%d lines]", n)
	}
	return glyph + "\u00a0" + text + "\x1b[7m \x1b[0m"
}
