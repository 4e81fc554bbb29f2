package review

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/stopgate/stopgate/internal/sys/racetest"
)

func TestObjects(t *testing.T) {
	const one, two = `{"key":"first value"}`, `{"other":["second",{"x":1}]}`
	tests := []struct {
		name, text string
		want       []string
	}{
		{"none", "words, and [lists]", nil},
		{"one", one, []string{one}},
		{"two", one + two, []string{one, two}},
		{"too short for an answer", `{"a":1}`, nil},
		{"the outermost", `{"outer":` + one + `}`, []string{`{"outer":` + one + `}`}},
		{"in prose", "a { b } c " + one + " } d", []string{one}},
		{"after an open brace", "func f() { " + one, []string{one}},
		{"in an open object", `{"outer":` + one, []string{one}},
		{"in a broken object", `{"outer":` + one + ` x ` + two, []string{one, two}},
		{"braces in strings", `{"text":"} { \" }"} ` + one, []string{`{"text":"} { \" }"}`, one}},
		{"begins in what looked like a string", `{"` + one, []string{one}},
		{"a string over a line's end", "{\"a\n" + one, []string{one}},
		{"not quite JSON", `{"status":"pass",} {'status':'pass'} {"status":pass} {"status" "pass"}`, nil},
		{"lists that do not match", `{"status":["pass"}] `, nil},
		{"bad escape", `{"status":"\pass\x"}`, nil},
		{"numbers and words", `{"a":[1,-2.5e3,true,null]}`, []string{`{"a":[1,-2.5e3,true,null]}`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, o := range objects([]byte(tt.text)) {
				got = append(got, string(o))
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// Any JSON object is found whole behind any text that does not open a string.
func TestObjectsFindsWhatIsThere(t *testing.T) {
	noise := rapid.StringOf(rapid.SampledFrom([]rune("{}[]:, \nab1\\'")))
	rapid.Check(t, func(t *rapid.T) {
		member := map[string]any{
			rapid.String().Draw(t, "key"): rapid.String().Draw(t, "value"),
			"list":                        rapid.SliceOf(rapid.Float64()).Draw(t, "list"), "padding": "0123456789",
		}
		object, err := json.MarshalIndent(member, "", rapid.SampledFrom([]string{"", " "}).Draw(t, "indent"))
		if err != nil {
			t.Fatal(err)
		}
		text := noise.Draw(t, "before") + "\n}" + string(object) + noise.Draw(t, "after")
		if found := objects([]byte(text)); !slices.ContainsFunc(found, func(o []byte) bool { return string(o) == string(object) }) {
			t.Fatalf("not found in %q: %q", text, found)
		}
	})
}

// In quadratic time these take hours.
func TestObjectsInLinearTime(t *testing.T) {
	racetest.Skip(t)
	const size = 1 << 20
	for _, unit := range []string{"{", `{"`, `{"a":`, `{"a":[`, `{"a":"`, `{"\"`, `{"{`, "{\"\n", `{"a\`} {
		objects([]byte(`{"a":[` + strings.Repeat(unit, size/len(unit)) + ` x`))
	}
	deep := strings.Repeat(`{"a":`, size/6) + "1" + strings.Repeat("}", size/6)
	if found := objects([]byte(deep)); len(found) != 1 || len(found[0]) != len(deep) {
		t.Errorf("%d objects, want the one", len(found))
	}
	if found := objects([]byte(deep + " " + passed)); len(found) != 2 {
		t.Errorf("%d objects, want both", len(found))
	}
	if answer, err := ParseAnswer(gate, []byte(deep[:len(deep)/2]+"\n"+passed), nil); err != nil || !answer.Pass {
		t.Errorf("%+v, %v", answer, err)
	}
}
