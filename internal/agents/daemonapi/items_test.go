package daemonapi

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseItems(t *testing.T) {
	want := []map[string]string{{"n": "12345678901234567890", "t": "a \"b\"", "l": `["x <&>"]`, "b": "true", "z": ""}, {"n": "2"}}
	for _, text := range []string{
		`[{"n": 12345678901234567890, "t": "a \"b\"", "l": ["x <&>"], "b": true, "z": null}, {"n": "2"}]`,
		"{\"n\": 12345678901234567890, \"t\": \"a \\\"b\\\"\", \"l\": [\"x <&>\"], \"b\": true, \"z\": null}\n{\"n\": 2}\n",
	} {
		got, err := ParseItems([]byte(text))
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Error(err, diff)
		}
	}
	for _, text := range []string{"", " \n", "[]"} {
		if got, err := ParseItems([]byte(text)); err != nil || len(got) != 0 {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"gh: not found", "[1]", "[{}", `[{}] x`, "[null]", `{"a":1} 2`, `"x"`, "null"} {
		if got, err := ParseItems([]byte(text)); err == nil || strings.Contains(err.Error(), "Go value") {
			t.Errorf("%.20q: %v, %v", text, got, err)
		}
	}
}

func FuzzParseItems(f *testing.F) {
	f.Add([]byte(`[{"a":1}]`))
	f.Fuzz(func(t *testing.T, text []byte) { _, _ = ParseItems(text) })
}
