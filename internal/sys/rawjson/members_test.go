package rawjson

import (
	"encoding/json"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// Members finds in a valid object what encoding/json finds.
func FuzzMembers(f *testing.F) {
	for _, text := range []string{
		`{}`, ` { "a" : 1 , "b":[{"c":"]}"},"\\\""] } `, `{"a":"\\","a\"":{"x":{}},"":null,"n":-1.5e3}`, `{"a":true,}`, `{"a"`,
		`{"a":"b}`, `{"a":]}`, `{1:2}`, `{"\u00e9":"é"}`, `[{"a":1}]`, `{"a":1 2}`, `{"a":1}{"b":2}`, "{\"\xff\":1}",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		got, ok := Members(text)
		var want map[string]json.RawMessage
		if !utf8.Valid(text) || json.Unmarshal(text, &want) != nil || want == nil {
			return // it only must not panic
		}
		if !ok {
			t.Fatal("it was not taken apart")
		}
		found := map[string]json.RawMessage{}
		for _, m := range got {
			found[m.Name] = m.Value
		}
		if diff := cmp.Diff(want, found); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
	})
}

func TestMarshal(t *testing.T) {
	value := map[string]any{"a": "<b> & c", "d": []int{1}}
	line, err := Marshal(value)
	if err != nil || string(line) != `{"a":"<b> & c","d":[1]}` {
		t.Errorf("%s (%v)", line, err)
	}
	lines, err := Lines(value)
	if err != nil || string(lines) != "{\n  \"a\": \"<b> & c\",\n  \"d\": [\n    1\n  ]\n}\n" {
		t.Errorf("%s (%v)", lines, err)
	}
	if _, err := Lines(func() {}); err == nil {
		t.Error("a function was written")
	}
}
