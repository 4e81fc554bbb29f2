package lifecycle

import (
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/harness/hook"
)

func TestAnswered(t *testing.T) {
	const asked = `{"questions":[{"question":"A?"},{"question":"B?"}],"x":1}`
	for name, tt := range map[string]struct {
		input string
		reply daemonapi.Reply
		want  string // "" where it cannot be said so
	}{
		"one for each":    {asked, daemonapi.Reply{Answers: []string{"a", "b"}}, `{"A?":"a","B?":"b"}`},
		"one for all":     {asked, daemonapi.Reply{Answers: []string{"a"}}, `{"A?":"a","B?":"a"}`},
		"words":           {asked, daemonapi.Reply{Message: "no"}, `{"A?":"no","B?":"no"}`},
		"an option":       {asked, daemonapi.Reply{Option: "yes"}, `{"A?":"yes","B?":"yes"}`},
		"it is cancelled": {asked, daemonapi.Reply{Option: "cancel"}, ""},
		"nothing":         {asked, daemonapi.Reply{}, ""},
		"no question":     {`{"questions":[]}`, daemonapi.Reply{Message: "no"}, ""},
		"no object":       {`[]`, daemonapi.Reply{Message: "no"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, ok := answered(hook.ToolUse{ToolInput: []byte(tt.input)}, tt.reply)
			want := ""
			if tt.want != "" {
				want = strings.TrimSuffix(tt.input, "}") + `,"answers":` + tt.want + "}"
			}
			if string(got) != want || ok != (want != "") {
				t.Errorf("%s, %t", got, ok)
			}
		})
	}
}
