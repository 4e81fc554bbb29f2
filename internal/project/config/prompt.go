package config

import "strings"

// prompt is what a review tells its reviewer: a text of the project's own, one
// of ours, or ours and then the project's.
type prompt struct {
	own, builtin string
	// given is set by a prompt with a fault too; it is not missing then.
	given bool
}

func newPrompt(text string) *prompt {
	text = strings.TrimSpace(text)
	return &prompt{own: text, given: text != ""}
}

// key is for files in which the prompt is a value like others.
func (p *prompt) key() field {
	return field{key: "prompt", read: func(v value) {
		p.given = true
		v.command(&p.own)
	}}
}

func (p *prompt) readBuiltin(v value) {
	p.given = true
	oneOf(v, &p.builtin, Builtins()...)
}

func (p *prompt) String() string {
	ours, _ := Builtin(p.builtin)
	return strings.TrimSpace(ours + "\n" + strings.TrimSpace(p.own))
}
