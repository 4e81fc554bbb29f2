package config

import "github.com/stopgate/stopgate/internal/project/document"

// Terminal is how Claude Code's screen is read before something is typed into it.
// What is empty is built in.
type Terminal struct {
	Prompt string // a regular expression for the line of the input box
	Dialog string // one for something in an open dialog
}

func (t *Terminal) fields() []field {
	return []field{
		document.Key("prompt", &t.Prompt, pattern(), "A regular expression for the line with the input box. Its group is the text in the box."),
		document.Key("dialog", &t.Dialog, pattern(), "A regular expression that matches an open dialog."),
	}
}
