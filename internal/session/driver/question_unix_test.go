//go:build unix

package driver

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/session/wake"
)

const answersText = `{"agents":[{"agent_id":"warden","session_name":"warden-main-4","working_directory":"/srv/warden","answers":[
	{"question":"Which color?","answer":"Blue"},
	{"question":"*fruits*","answer":["Apple","Plum"]},
	{"question":"Name","text":"call it \"x\"\nplease"}
]}]}`

func question(text, header string, several bool, labels ...string) map[string]any {
	var options []any
	for _, label := range labels {
		options = append(options, map[string]any{"label": label, "description": "that one"})
	}
	return map[string]any{"question": text, "header": header, "options": options, "multiSelect": several}
}

// AskUserQuestion is answered through the hook, so no dialog opens.
func TestQuestions(t *testing.T) {
	t.Parallel()
	color := question("Which color?", "Color", false, "Red", "Blue")
	fruits := question("Which fruits?", "Fruits", true, "Apple", "Pear", "Plum")
	name := question("How shall it be called?", "Name", false, "a", "b")
	other := question("Why?", "Why", false, "a", "b")
	for _, tt := range []struct {
		name      string
		questions []any
		answers   map[string]any // nil: a person has to
	}{
		{"single", []any{color}, map[string]any{"Which color?": "Blue"}},
		{"several", []any{fruits}, map[string]any{"Which fruits?": "Apple, Plum"}},
		{"free text", []any{name}, map[string]any{"How shall it be called?": "call it \"x\"\nplease"}},
		{"two questions", []any{color, fruits}, map[string]any{"Which color?": "Blue", "Which fruits?": "Apple, Plum"}},
		{"one of two has no rule", []any{color, other}, nil},
		{"no rule", []any{other}, nil},
		{"an option that is not there", []any{question("Which color?", "Color", false, "Red", "Green")}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newScene(t)
			s.register(answersText)
			w := s.started(mainSession)
			r := w.hook("pre-tool-use.ask-user-question", fields{"tool_input": map[string]any{"questions": tt.questions}})
			if tt.answers == nil {
				if r.Input != nil {
					t.Errorf("answered %s", r.Input)
				}
				l := s.wantLetters(wake.Question)
				var asked struct{ Questions []any }
				check(t, json.Unmarshal(l.Questions, &asked))
				if len(asked.Questions) != len(tt.questions) {
					t.Errorf("the letter has %s", l.Questions)
				}
				return
			}
			s.wantLetters()
			var got map[string]any
			check(t, json.Unmarshal(r.Input, &got))
			if diff := cmp.Diff(tt.answers, got["answers"]); diff != "" {
				t.Error(diff)
			}
			if len(got) != 2 || len(got["questions"].([]any)) != len(tt.questions) {
				t.Errorf("the input is %s", r.Input)
			}
			if !slices.Equal(r.Effects, []string{"question answered by rule"}) {
				t.Errorf("the journal has %q", r.Effects)
			}
		})
	}
	t.Run("a session that nobody looks after", func(t *testing.T) {
		s := newScene(t)
		s.register(answersText)
		r := s.started("elsewhere").hook("pre-tool-use.ask-user-question", nil)
		if diff := cmp.Diff(Report{}, r); diff != "" {
			t.Error(diff)
		}
		s.wantLetters()
	})
	t.Run("another tool", func(t *testing.T) {
		s := newScene(t)
		s.register(answersText)
		r := s.started(mainSession).hook("pre-tool-use.ask-user-question", fields{"tool_name": "Bash"})
		if diff := cmp.Diff(Report{}, r); diff != "" {
			t.Error(diff)
		}
	})
}
