package hook

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestQuestions(t *testing.T) {
	for input, want := range map[string]struct {
		questions []Question
		exact     bool
	}{
		`{"questions":[{"question":"Which?","header":"H","options":[{"label":"A","description":"a"},{"label":"B"}],"multiSelect":true,"new":1}]}`: {
			[]Question{{Text: "Which?", Header: "H", Options: []Option{{"A", "a"}, {Label: "B"}}, Several: true}}, true,
		},
		`{"questions":[{"question":"Which?","header":7,"options":["A",{"label":"B"}]}]}`: {[]Question{{Text: "Which?", Options: []Option{{}, {Label: "B"}}}}, false},
		`{"questions":[{"question":"a","QUESTION":"b"}]}`:                                {[]Question{{Text: "a"}}, true}, // as the client reads it
		`{"questions":["a"]}`:                            {},
		`{"questions":"a"}`:                              {},
		`{"Questions":[{"question":"a"}]}`:               {},
		`{"questions":[{"question":"a"}],"x":}`:          {},
		`{"questions":[]}`:                               {exact: true},
		`{"questions":[{"question":"a","options":[1]}]}`: {[]Question{{Text: "a", Options: []Option{{}}}}, false},
		``: {},
	} {
		questions, exact := ToolUse{ToolInput: []byte(input)}.Questions()
		if diff := cmp.Diff(want.questions, questions); diff != "" || exact != want.exact {
			t.Errorf("%s: %t %s", input, exact, diff)
		}
	}
}

// The answers take the place of those that are there; everything else stays.
func TestWithAnswers(t *testing.T) {
	for input, want := range map[string]string{
		`{"questions":[ 1 ],"x":1.50}`:           `{"questions":[ 1 ],"x":1.50,"answers":{"q":"<a>"}}`,
		`{"answers":{},"x":{"\u00e9":"\ud83d"}}`: `{"answers":{"q":"<a>"},"x":{"\u00e9":"\ud83d"}}`,
		`{}`:                                     `{"answers":{"q":"<a>"}}`,
		`[]`:                                     "",
	} {
		got, ok := ToolUse{ToolInput: []byte(input)}.WithAnswers(map[string]string{"q": "<a>"})
		if string(got) != want || ok != (want != "") {
			t.Errorf("%s: %s, %t", input, got, ok)
		}
	}
}

func TestHasAnswers(t *testing.T) {
	for input, want := range map[string]bool{
		`{}`: false, `{"answers":null}`: false, `{"answers":{}}`: false, `{"answers": { } }`: false,
		`{"answers":{"q":"a"}}`: true, `{"answers":"a"}`: true, `{"Answers":{"q":"a"}}`: false,
	} {
		if got := (ToolUse{ToolInput: []byte(input)}).HasAnswers(); got != want {
			t.Errorf("%s: %t", input, got)
		}
	}
}
