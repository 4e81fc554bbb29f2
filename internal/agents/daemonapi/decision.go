package daemonapi

import (
	"cmp"
	"strings"
)

// Questions are those that the agent asks.
func (d *Decision) Questions() []Question {
	if d.Ask == nil {
		return nil
	}
	return d.Ask.Questions
}

// Question is what the person is asked, in one line.
func (d *Decision) Question() string {
	if asked := d.Questions(); len(asked) == 1 {
		return asked[0].Question
	}
	first, _, _ := strings.Cut(strings.TrimSpace(d.Context), "\n") // of several questions it says what they are about
	return cmp.Or(strings.TrimSpace(first), d.Source)
}

// TakesWords reports whether words alone are an answer.
func (d *Decision) TakesWords() bool {
	switch d.Source {
	case "start", "budget", "step":
		return false
	case "question":
		return len(d.Questions()) <= 1
	case "prompt":
		return len(d.Options) > 0 && d.Options[0].Name == "nudge"
	case "error", "lost", "gate":
		return d.Agent != "" // else a command of the shell failed
	}
	return true
}
