package registry

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// The client's own payload.
func TestAnswerOfTheClientsQuestion(t *testing.T) {
	text, err := os.ReadFile("../../harness/hook/testdata/payloads/pre-tool-use.ask-user-question.json")
	check(t, err)
	var payload struct {
		ToolInput json.RawMessage `json:"tool_input"`
	}
	check(t, json.Unmarshal(text, &payload))
	before := bytes.Clone(payload.ToolInput)
	got, ok := agent(t, `"answers":[{"question":"which COLOR?","answer":"blue"}]`).Answer(payload.ToolInput)
	if !ok || !json.Valid(got) {
		t.Fatalf("%s, %v", got, ok)
	}
	var input, updated map[string]any
	check(t, json.Unmarshal(before, &input))
	check(t, json.Unmarshal(got, &updated))
	input["answers"] = map[string]any{"Which color?": "Blue"}
	if diff := cmp.Diff(input, updated); diff != "" {
		t.Error(diff)
	}
	if !bytes.Equal(before, payload.ToolInput) {
		t.Error("the input was changed")
	}
}

const (
	colour = `{"question":"Which colour?","header":"Colour","options":[{"label":"Red"},{"label":"Blue"}],"multiSelect":false}`
	fruits = `{"question":"Which fruits?","header":"Fruit","options":[{"label":"Apple"},{"label":"Pear"},{"label":"pear"}],"multiSelect":true}`
)

func TestAnswer(t *testing.T) {
	for _, tt := range []struct{ name, rules, questions, want string }{
		{"exact label", `{"question":"*","answer":"Red"}`, colour, `{"Which colour?":"Red"}`},
		{"label in another case", `{"question":"*","answer":"rED"}`, colour, `{"Which colour?":"Red"}`},
		{"by the header", `{"question":"colour","answer":"Red"}`, colour, `{"Which colour?":"Red"}`},
		{"one character", `{"question":"?olour","answer":"Red"}`, colour, `{"Which colour?":"Red"}`},
		{"first rule", `{"question":"*colour*","answer":"Red"},{"question":"*","answer":"Blue"}`, colour, `{"Which colour?":"Red"}`},
		{"free text", `{"question":"*","text":"green, please"}`, colour, `{"Which colour?":"green, please"}`},
		{"free text for several", `{"question":"*","text":"plums"}`, fruits, `{"Which fruits?":"plums"}`},
		{"list", `{"question":"*","answer":["pear","apple"]}`, fruits, `{"Which fruits?":"pear, Apple"}`},
		{"list with repetition", `{"question":"*","answer":["apple","Apple"]}`, fruits, `{"Which fruits?":"Apple"}`},
		{"one of several", `{"question":"*","answer":"Pear"}`, fruits, `{"Which fruits?":"Pear"}`},
		{"two questions", `{"question":"fruit","answer":"Apple"},{"question":"*","answer":"Blue"}`, colour + "," + fruits, `{"Which colour?":"Blue","Which fruits?":"Apple"}`},

		{"no rule fits", `{"question":"fruit","answer":"Red"}`, colour, ""},
		{"a pattern is of the whole", `{"question":"olour","answer":"Red"}`, colour, ""},
		{"no such option", `{"question":"*","answer":"Green"}`, colour, ""},
		{"the first rule counts, not the first that could", `{"question":"*","answer":"Green"},{"question":"*","answer":"Red"}`, colour, ""},
		{"list for one answer", `{"question":"*","answer":["Red"]}`, colour, ""},
		{"ambiguous case", `{"question":"*","answer":"PEAR"}`, fruits, ""},
		{"one of the list is no option", `{"question":"*","answer":["Apple","Plum"]}`, fruits, ""},
		{"one question is open", `{"question":"fruit","answer":"Apple"}`, colour + "," + fruits, ""},
		{"the same question twice", `{"question":"*","answer":"Red"}`, colour + "," + colour, ""},
		{"no options", `{"question":"*","answer":"Red"}`, `{"question":"x"}`, ""},
		{"no question", `{"question":"*","text":"x"}`, `{"header":"x"}`, ""},
		{"no object", `{"question":"*","text":"x"}`, `"x"`, ""},
		{"half a character", `{"question":"*","text":"x"}`, `{"question":"\ud800"}`, ""},
		{"half a character to choose", `{"question":"*","answer":"\ud800"}`, `{"question":"x","options":[{"label":"\ud800"}]}`, ""},
		{"nothing asked", `{"question":"*","text":"x"}`, ``, ""},
		{"no rules", ``, colour, ""},
	} {
		input := `{"questions":[` + tt.questions + `],"metadata":{"b":1.50,"a":"<&>"}}`
		want := ""
		if tt.want != "" {
			want = strings.TrimSuffix(input, "}") + `,"answers":` + tt.want + "}"
		}
		got, ok := agent(t, `"answers":[`+tt.rules+`]`).Answer(json.RawMessage(input))
		if diff := cmp.Diff(want, string(got)); diff != "" || ok != (want != "") {
			t.Errorf("%s: %v\n%s", tt.name, ok, diff)
		}
	}
}

func TestAnswerLeavesTheAnswersOfOthers(t *testing.T) {
	a := agent(t, `"answers":[{"question":"*","text":"x"}]`)
	for input, want := range map[string]string{
		`{"answers":{},"questions":[{"question":"q"}]}`:        `{"answers":{"q":"x"},"questions":[{"question":"q"}]}`,
		`{"answers":null,"questions":[{"question":"q"}]}`:      `{"answers":{"q":"x"},"questions":[{"question":"q"}]}`,
		`{"answers":{"q":"y"},"questions":[{"question":"q"}]}`: "",
		`{"answers":"y","questions":[{"question":"q"}]}`:       "",
		`{"Questions":[{"question":"q"}]}`:                     "",
		`{"questions":{"question":"q"}}`:                       "",
		`[]`:                                                   "",
		``:                                                     "",
		`{"questions":`:                                        "",
	} {
		if got, ok := a.Answer(json.RawMessage(input)); string(got) != want || ok != (want != "") {
			t.Errorf("%s: %s, %v", input, got, ok)
		}
	}
}

func FuzzAnswer(f *testing.F) {
	for _, questions := range []string{colour, fruits, colour + "," + fruits, `{"question":"\ud800"}`, "", "3"} {
		f.Add([]byte(`{"questions":[`+questions+`]}`), "*", "Red", "")
		f.Add([]byte(`{"questions":[`+questions+`],"answers":{}}`), "*fruit*", "pear", "")
		f.Add([]byte(`{"x":1,"questions":[ `+questions+" ]\n}"), "?*", "", "free")
	}
	f.Fuzz(func(t *testing.T, input []byte, pattern, label, free string) {
		if !utf8.ValidString(pattern + label + free) {
			return
		}
		a := OutsideAgent{Answers: []Rule{{Question: pattern, Answer: []string{label}, Text: free}}}
		got, ok := a.Answer(input)
		if !ok {
			if got != nil {
				t.Fatalf("%s", got)
			}
			return
		}
		var before, after map[string]any
		input = bytes.TrimPrefix(input, []byte("\ufeff"))
		if err := json.Unmarshal(input, &before); err != nil {
			t.Fatalf("%q was answered", input)
		}
		if err := json.Unmarshal(bytes.TrimPrefix(got, []byte("\ufeff")), &after); err != nil {
			t.Fatalf("%q: %v", got, err)
		}
		answers := after["answers"].(map[string]any)
		questions := after["questions"].([]any)
		if len(answers) != len(questions) {
			t.Fatalf("%d answers to %d questions", len(answers), len(questions))
		}
		for _, q := range questions {
			if _, ok := answers[q.(map[string]any)["question"].(string)]; !ok {
				t.Fatalf("%v is not answered in %v", q, answers)
			}
		}
		delete(before, "answers")
		delete(after, "answers")
		if diff := cmp.Diff(before, after); diff != "" {
			t.Fatal(diff)
		}
	})
}
