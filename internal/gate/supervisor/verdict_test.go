package supervisor

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/tailscale/hujson"
	"pgregory.net/rapid"

	"github.com/stopgate/stopgate/internal/harness/claude"
	"github.com/stopgate/stopgate/internal/sys/racetest"
)

const (
	done   = `{"completed":true,"feedback":"all there"}`
	undone = `{"completed":false,"feedback":"run the tests"}`
)

var (
	allowed = Opinion{true, "all there", FromResult}
	refused = Opinion{false, "run the tests", FromResult}
)

func TestInterpret(t *testing.T) {
	text := func(words string) Opinion { return Opinion{Feedback: words, Source: FromText} }
	tests := []struct {
		name, structured, text string
		want                   Opinion
	}{
		{name: "structured", structured: undone, text: done, want: Opinion{false, "run the tests", FromStructured}},
		{name: "structured and allowed", structured: " " + done + "\n", want: Opinion{true, "all there", FromStructured}},
		{name: "structured without a verdict", structured: `{"answer":42}`, text: done, want: allowed},
		{name: "structured without a verdict, and words", structured: `{"answer":42}`, text: "go on", want: text("go on")},
		{name: "structured is a list", structured: "[" + done + "]", text: "go on", want: text("go on")},
		{name: "structured feedback alone", structured: `{"feedback":"run the tests"}`, want: Opinion{false, "run the tests", FromStructured}},
		{name: "structured JSON in a string", structured: `"{\"completed\":true,\"feedback\":\"all there\"}"`, want: Opinion{true, "all there", FromStructured}},
		{name: "structured is text", structured: `"{\"completed\":true}"`, text: undone, want: refused},

		{name: "text is JSON", text: done, want: allowed},
		{name: "byte order mark and DOS lines", text: "\ufeff\r\n{\r\n\"completed\": false,\r\n\"feedback\": \"run the tests\"\r\n}\r\n", want: refused},
		{name: "allow_stop", text: `{"allow_stop":true,"feedback":"all there"}`, want: allowed},
		{name: "both names agree", text: `{"allow_stop":true,"completed":true,"feedback":"all there"}`, want: allowed},
		{name: "both names differ", text: `{"allow_stop":true,"completed":false,"feedback":"run the tests"}`, want: refused},
		{name: "both names differ the other way", text: `{"allow_stop":false,"completed":true,"feedback":"run the tests"}`, want: refused},
		{name: "refused once, and then no verdict", text: `{"completed":false,"allow_stop":"yes","feedback":"run the tests"}`, want: refused},
		{name: "said twice", text: `{"completed":false,"completed":true,"feedback":"run the tests"}`, want: refused},
		{name: "allowed without feedback", text: `{"completed":true}`, want: Opinion{true, "", FromResult}},
		{name: "refused without feedback", text: `{"completed":false}`, want: Opinion{false, defaultFeedback, FromResult}},
		{name: "refused with blank feedback", text: `{"completed":false,"feedback":" \n\t"}`, want: Opinion{false, defaultFeedback, FromResult}},
		{name: "feedback is no text", text: `{"completed":false,"feedback":["a","b"]}`, want: Opinion{false, defaultFeedback, FromResult}},
		{name: "feedback is a number", text: `{"completed":false,"feedback":7}`, want: Opinion{false, defaultFeedback, FromResult}},
		{name: "feedback is null", text: `{"completed":true,"feedback":null}`, want: Opinion{true, "", FromResult}},
		{name: "other members", text: `{"score":9.5e1,"list":[{"a":[]},null],"completed":false,"feedback":"run the tests","x":{}}`, want: refused},
		{name: "escapes", text: `{"\u0063ompleted":false,"feedback":"写\u6d4b\u8bd5\n\"now\""}`, want: Opinion{false, "写测试\n\"now\"", FromResult}},
		{name: "Chinese", text: `{"completed":false,"feedback":"请运行测试，并修复失败的用例。"}`, want: Opinion{false, "请运行测试，并修复失败的用例。", FromResult}},
		{name: "trailing commas", text: "{\"completed\":true,\"x\":[1,2,],\"feedback\":\"all there\",}", want: allowed},
		{name: "comments", text: "{ // the verdict {\n\"completed\":true, // true}\n// \"completed\":false,\n\"feedback\":\"all there\"// end\n}", want: allowed},

		{name: "a word for a truth value", text: `{"completed":"true","feedback":"x"}`, want: text(`{"completed":"true","feedback":"x"}`)},
		{name: "a number for a truth value", text: `{"completed":1}`, want: text(`{"completed":1}`)},
		{name: "another case", text: `{"Completed":true}`, want: text(`{"Completed":true}`)},
		{name: "single quotes", text: `{'completed':true}`, want: text(`{'completed':true}`)},
		{name: "bare keys", text: `{completed:true}`, want: text(`{completed:true}`)},
		{name: "Python", text: `{"completed":True}`, want: text(`{"completed":True}`)},
		{name: "a comma too many", text: `{"completed":true,,}`, want: text(`{"completed":true,,}`)},
		{name: "a comma alone", text: `{,"completed":true}`, want: text(`{,"completed":true}`)},
		{name: "null for a key", text: `{null:1,"completed":true}`, want: text(`{null:1,"completed":true}`)},
		{name: "cut off", text: `{"completed":true,"feedback":"all th`, want: text(`{"completed":true,"feedback":"all th`)},
		{name: "a list that is not closed", text: `{"a":[1,"completed":true}`, want: text(`{"a":[1,"completed":true}`)},
		{name: "a member of a list", text: `["completed",true]`, want: text(`["completed",true]`)},
		{name: "JSON in a string", text: `{"note":"{\"completed\":true}"}`, want: text(`{"note":"{\"completed\":true}"}`)},

		{name: "fence", text: "My verdict:\n\n```json\n" + done + "\n```\nThat is all.", want: allowed},
		{name: "fence without a tag", text: "```\n" + done + "\n```", want: allowed},
		{name: "fence of another case and DOS lines", text: "x\r\n```JSONC  \r\n" + done + "\r\n```\r\n", want: allowed},
		{name: "indented fence", text: "- so:\n\n  ```json title=verdict\n  " + done + "\n  ```", want: allowed},
		{name: "longer fence", text: "````json\n```\n" + done + "\n````", want: allowed},
		{name: "the last fence with a verdict", text: "```json\n" + done + "\n```\nno:\n```json\n" + undone + "\n```\n```json\n{\"x\":1}\n```", want: refused},
		{name: "fence after prose", text: undone + "\n```json\n" + done + "\n```", want: allowed},
		{name: "fence in a fence", text: "````md\n```json\n" + done + "\n```\n````\n", want: allowed},
		{name: "prose after a fence that shows the form", text: "```json\n" + done + "\n```\nMy own verdict: " + undone, want: refused},
		{name: "fence that is not closed", text: "so\n```json\n" + done, want: allowed},
		{name: "fence in a line", text: "so ```json " + done + "``` it is", want: allowed},
		{name: "fence that begins in a line", text: "so ```json\n" + done + "\n```\n", want: allowed},
		{name: "nested in a fence", text: "```json\n{\"result\":" + done + "}\n```", want: allowed},
		{name: "code is no answer", text: "The test expects\n```go\nwant := `" + done + "`\n```\nand fails.", want: text("The test expects\n```go\nwant := `" + done + "`\n```\nand fails.")},
		{name: "code about fences", text: "````md\n```\n" + done + "\n````\nNot yet.", want: text("````md\n```\n" + done + "\n````\nNot yet.")},
		{name: "backticks that open no fence", text: "```x``` is code. " + done + "\n```\ny\n```", want: allowed},
		{name: "around code", text: "See\n```go\n" + done + "\n```\n" + undone + "\n```sh\n" + done + "\n```", want: refused},

		{name: "after prose", text: "Review done. " + done, want: allowed},
		{name: "before prose", text: done + " That is all.", want: allowed},
		{name: "the last of several", text: done + "\n" + undone + "\n{\"x\":1}", want: refused},
		{name: "nested", text: `{"result":` + done + `}`, want: allowed},
		{name: "nested in a list", text: `[{"x":1},` + done + `]`, want: allowed},
		{name: "the outer one counts", text: `{"completed":false,"feedback":"run the tests","steps":[{"completed":true}]}`, want: refused},
		{name: "braces in strings", text: `So: {"feedback":"close } and { in f() \"{\"","completed":false} ok`, want: Opinion{false, `close } and { in f() "{"`, FromResult}},
		{name: "after an open brace", text: `func f() { "x` + "\n" + undone, want: refused},
		{name: "begins in what looked like a string", text: `{"` + undone, want: refused},
		{name: "after quotes in prose", text: `He said "{it works" and {"so" ` + undone, want: refused},
		{name: "Chinese prose", text: "审查结果：任务未完成。" + undone + "。请继续", want: refused},

		{name: "prose", text: "  The tests are red.\n\nFix them. ", want: text("The tests are red.\n\nFix them.")},
		{name: "a bare word", text: "true", want: text("true")},
		{name: "blank", text: " \r\n\t\ufeff", want: Opinion{false, defaultFeedback, FromNothing}},
		{name: "an empty object", structured: `{}`, want: Opinion{false, defaultFeedback, FromNothing}},
		{name: "nothing", want: Opinion{false, defaultFeedback, FromNothing}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := interpret(claude.Result{Text: tt.text, Structured: json.RawMessage(tt.structured)})
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestSchemaIsTheSeeds(t *testing.T) {
	const seed = `{
  "type": "object",
  "properties": {
    "completed": {"type": "boolean"},
    "feedback": {"type": "string"}
  },
  "required": ["completed", "feedback"]
}`
	var got, want any
	for text, to := range map[string]*any{Schema: &got, seed: &want} {
		check(t, json.Unmarshal([]byte(text), to))
	}
	if diff := cmp.Diff(want, got); diff != "" || strings.ContainsAny(Schema, " \n") {
		t.Errorf("%s\n%s", Schema, diff)
	}
}

func TestLargeAnswers(t *testing.T) {
	racetest.Skip(t)
	long := strings.Repeat("测试 ", 1<<17)
	for name, text := range map[string]string{
		"feedback": `{"completed":false,"feedback":"` + long + `"}`,
		"braces":   strings.Repeat("{", 5<<20) + `{"completed":false,"feedback":"` + long + `"}`,
		"fences":   strings.Repeat("```json\n{}\n```\n", 1<<16) + `{"completed":false,"feedback":"` + long + `"}`,
	} {
		if got := interpret(claude.Result{Text: text}); got.AllowStop || got.Feedback != strings.TrimSpace(long) {
			t.Errorf("%s: %t, %d bytes from %s", name, got.AllowStop, len(got.Feedback), got.Source)
		}
	}
	deep := strings.Repeat(`{"a":`, 1<<18) + done + strings.Repeat("}", 1<<18)
	if got := interpret(claude.Result{Text: deep}); got != allowed {
		t.Errorf("deep: %.80v", got)
	}
}

// What the scanner takes for an object is what hujson does, comments in the
// middle of a line left aside.
func TestScanAgreesWithHujson(t *testing.T) {
	piece := rapid.SampledFrom([]string{
		"{", "}", "[", "]", ",", ":", " ", "\n", "// c\n", `"completed"`, `"allow_stop"`, `"feedback"`, `"a"`, `"\u0061"`, `"{"`, `"}`, "true", "false", "null", "1", "-2e5",
		`"completed":true`, `"completed":false,`, `"feedback":"x",`, `{"a":1}`,
	})
	rapid.Check(t, func(t *rapid.T) {
		text := []byte("{" + strings.Join(rapid.SliceOfN(piece, 0, 12).Draw(t, "pieces"), "") + "}")
		v, got := wholeVerdict(text)
		allow, want := false, false
		if standard, err := hujson.Standardize([]byte(string(text))); err == nil {
			allow, want = decoded(standard)
		}
		if got != want || got && v.allow != allow {
			t.Fatalf("%q: %t (allow %t), want %t (allow %t)", text, got, v.allow, want, allow)
		}
	})
}

// decoded reads a verdict the plain way, member by member.
func decoded(object []byte) (allow, said bool) {
	d := json.NewDecoder(strings.NewReader(string(object)))
	if _, err := d.Token(); err != nil {
		return false, false
	}
	allow = true
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return false, false
		}
		var value any
		if d.Decode(&value) != nil {
			return false, false
		}
		if flag, ok := value.(bool); ok && (key == "completed" || key == "allow_stop") {
			said, allow = true, allow && flag
		}
	}
	return allow && said, said
}

func FuzzInterpret(f *testing.F) {
	for _, text := range []string{done, undone, "```json\n" + done + "\n```", "x {" + done + " }", `{"completed":false,"feedback":"\ud800"}`, "{\"a\":// c\n1,}", "\ufeff", "{\"completed\":true}\xff"} {
		f.Add(text, "")
		f.Add("", text)
	}
	f.Fuzz(func(t *testing.T, text, structured string) {
		got := interpret(claude.Result{Text: text, Structured: json.RawMessage(structured)})
		switch {
		case !got.AllowStop && strings.TrimFunc(got.Feedback, unicode.IsSpace) == "":
			t.Error("refused without a word")
		case got.AllowStop && !strings.Contains(text+structured, "true"):
			t.Error("allowed, and nobody said so")
		case utf8.ValidString(text) && utf8.ValidString(structured) && !utf8.ValidString(got.Feedback):
			t.Errorf("broken text %q", got.Feedback)
		}
	})
}
