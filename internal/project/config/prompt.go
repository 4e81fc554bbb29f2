package config

import (
	"strings"

	"github.com/stopgate/stopgate/internal/project/document"
)

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
	return document.Key("prompt", &p.own, given(p, command()), "What the reviewer should look for. In a .md file, this is the text below the front matter.")
}

func (p *prompt) builtinKey() field {
	return document.Key("builtin", &p.builtin, given(p, oneOf(Builtins()...)), "A built-in prompt, used before your own if you have one.")
}

// given notes that there is a prompt.
func given(p *prompt, t typeOf[string]) typeOf[string] {
	return document.New(func(v value, to *string) bool {
		p.given = true
		return t.Read(v, to)
	}, t.Schema)
}

func (p *prompt) String() string {
	ours, _ := Builtin(p.builtin)
	return strings.TrimSpace(ours + "\n" + strings.TrimSpace(p.own))
}
