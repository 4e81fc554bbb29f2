package lifecycle

import (
	"testing"

	"github.com/stopgate/stopgate/internal/agents/client"
)

func TestAnswered(t *testing.T) {
	const asked = `{"questions":[{"question":"A?"},{"question":"B?"}],"x":1}`
	for name, tt := range map[string]struct {
		input string
		reply client.Reply
		want  string // "" where it cannot be said so
	}{
		"one for each":    {asked, client.Reply{Answers: []string{"a", "b"}}, `{"A?":"a","B?":"b"}`},
		"one for all":     {asked, client.Reply{Answers: []string{"a"}}, `{"A?":"a","B?":"a"}`},
		"words":           {asked, client.Reply{Message: "no"}, `{"A?":"no","B?":"no"}`},
		"an option":       {asked, client.Reply{Option: "yes"}, `{"A?":"yes","B?":"yes"}`},
		"it is cancelled": {asked, client.Reply{Option: "cancel"}, ""},
		"nothing":         {asked, client.Reply{}, ""},
		"no question":     {`{"questions":[]}`, client.Reply{Message: "no"}, ""},
		"no object":       {`[]`, client.Reply{Message: "no"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, ok := answered([]byte(tt.input), tt.reply)
			want := ""
			if tt.want != "" {
				want = `{"answers":` + tt.want + `,"questions":[{"question":"A?"},{"question":"B?"}],"x":1}`
			}
			if string(got) != want || ok != (want != "") {
				t.Errorf("%s, %t", got, ok)
			}
		})
	}
}
