package hook

import (
	"bytes"
	"encoding/json"

	"github.com/stopgate/stopgate/internal/sys/rawjson"
)

// Question is one of those that AskUserQuestion asks at once.
type Question struct {
	Text    string
	Header  string
	Options []Option
	Several bool // more than one option may be chosen
}

// Option is an answer that a question offers.
type Option struct{ Label, Description string }

// Questions are what AskUserQuestion asks. A member that is not what it should be counts as absent, and the
// questions are not exact then. Names count as they are spelt: the agent writes the input.
func (u ToolUse) Questions() (all []Question, exact bool) {
	var list []json.RawMessage
	members, _ := rawjson.Map(u.ToolInput)
	if !json.Valid(u.ToolInput) || json.Unmarshal(members["questions"], &list) != nil {
		return nil, false
	}
	exact = true
	for _, raw := range list {
		members, isObject := rawjson.Map(raw)
		if !isObject {
			return nil, false
		}
		var q Question
		var options []json.RawMessage
		exact = assigned(members, map[string]any{"question": &q.Text, "header": &q.Header, "options": &options, "multiSelect": &q.Several}) && exact
		for _, raw := range options {
			members, isObject := rawjson.Map(raw)
			var o Option
			exact = assigned(members, map[string]any{"label": &o.Label, "description": &o.Description}) && isObject && exact
			q.Options = append(q.Options, o)
		}
		all = append(all, q)
	}
	return all, exact
}

// assigned reads members that may be absent, and reports whether those that are there were what they should be.
func assigned(members map[string]json.RawMessage, to map[string]any) bool {
	ok := true
	for name, dst := range to {
		if value, there := members[name]; there && json.Unmarshal(value, dst) != nil {
			ok = false
		}
	}
	return ok
}

// HasAnswers reports whether the questions have been answered already.
func (u ToolUse) HasAnswers() bool {
	members, _ := rawjson.Map(u.ToolInput)
	answers := bytes.TrimSpace(members["answers"])
	if given, isObject := rawjson.Map(answers); isObject {
		return len(given) > 0
	}
	return len(answers) > 0 && !isNull(answers)
}

// WithAnswers is the input of AskUserQuestion with answers, as Claude Code takes them: the label of an option or
// a text for each question. Everything else in it stays as it came.
func (u ToolUse) WithAnswers(answers map[string]string) (json.RawMessage, bool) {
	members, ok := rawjson.Members(u.ToolInput)
	text, err := rawjson.Marshal(answers)
	if !ok || err != nil {
		return nil, false
	}
	at := len(members)
	for i, m := range members {
		if m.Name == "answers" {
			at = i
		}
	}
	if at == len(members) {
		members = append(members, rawjson.Member{Name: "answers"})
	}
	members[at].Value = text
	return rawjson.Object(members), true
}
