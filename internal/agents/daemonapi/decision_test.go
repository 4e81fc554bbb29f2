package daemonapi

import "testing"

// What a person is asked is the agent's question where it has one, else the first line of what led to it.
func TestQuestion(t *testing.T) {
	one, two := []Question{{Question: "Which?"}}, []Question{{Question: "Which?"}, {Question: "When?"}}
	for want, d := range map[string]Decision{
		"Which?":            {Context: "The agent asks: …", Ask: &Ask{Questions: one}},
		"The agent asks: …": {Context: "\n The agent asks: … \nWhich?\nWhen?", Ask: &Ask{Questions: two}},
		"Deploy?":           {Context: "Deploy?\nAll tests passed.", Source: "approval_step"},
		"gate":              {Source: "gate"},
	} {
		if got := d.Question(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
