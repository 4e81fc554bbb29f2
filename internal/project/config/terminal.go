package config

import "regexp"

// Terminal is how the client's screen is read before something is typed into it.
// What is empty is built in.
type Terminal struct {
	Prompt string // a regular expression for the line of the input box
	Dialog string // one for something in an open dialog
}

func readTerminal(v value, to *Terminal) {
	v.mapping(
		field{key: "prompt", read: func(v value) { v.pattern(&to.Prompt) }},
		field{key: "dialog", read: func(v value) { v.pattern(&to.Dialog) }},
	)
}

// pattern reads a regular expression.
func (v value) pattern(to *string) {
	var text string
	if !v.command(&text) {
		return
	}
	if _, err := regexp.Compile(text); err != nil {
		v.fault(quote(text)+" is not a regular expression: "+err.Error(), "")
		return
	}
	*to = text
}
