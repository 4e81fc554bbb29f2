package review

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"

	"github.com/stopgate/stopgate/internal/project/config"
)

const (
	gate   = "review:src:code-quality"
	passed = `{"status":"pass","message":"all is well"}`
	failed = `{"status":"fail","violations":[{"file":"src/a.go","line":3,"issue":"a leak","fix":"close it","priority":"low","status":"new"}]}`
)

var leak = Violation{
	ID: fingerprint(gate, "src/a.go", "a leak"), File: "src/a.go", Line: "3", Issue: "a leak", Fix: "close it",
	Priority: config.Low, Status: New,
}

func TestParseAnswer(t *testing.T) {
	pass := Answer{Pass: true, Message: "all is well"}
	fail := Answer{Violations: []Violation{leak}}
	reason := func(issue string) Answer {
		return Answer{Violations: []Violation{{ID: fingerprint(gate, "unknown", issue), File: "unknown", Issue: issue, Priority: config.High, Status: New}}}
	}
	tests := []struct {
		name, output string
		want         Answer
	}{
		{"bare", passed, pass},
		{"bare failure", failed, fail},
		{"after prose", "I looked at {everything}.\n\n" + failed + "\n", fail},
		{"in a fence", "Here it is:\n```json\n" + failed + "\n```\nThat's all.", fail},
		{"spread over lines", strings.ReplaceAll(failed, ",", ",\n  "), fail},
		{"the last of several", failed + "\n" + passed, pass},
		{"a failure after a quoted pass", "The diff says ```json\n" + passed + "\n``` but:\n" + failed, fail},
		{"before another object", failed + ` {"tokens": 1200, "model": "some model"}`, fail},
		{"inside a broken object", `{"result": ` + failed + ` oops`, fail},
		{"after a stray brace and quote", `{"note: ` + failed, fail},
		{"with other fields", `{"status":"pass","message":"all is well","confidence":0.9}`, pass},
		{"null for nothing", `{"status":"pass","message":"all is well","violations":null}`, pass},
		{"no violations", `{"status":"pass","message":"all is well","violations":[]}`, pass},
		{"failure with a reason only", `{"status":"fail","message":"it does not build"}`, Answer{Message: "it does not build", Violations: reason("it does not build").Violations}},
		{"failure without a reason", `{"status":"fail","violations":[]}`, reason("The reviewer rejected the change without giving a reason.")},
		{"no priority is high", `{"status":"fail","violations":[{"file":"a","issue":"b"}]}`, Answer{Violations: []Violation{{ID: fingerprint(gate, "a", "b"), File: "a", Issue: "b", Priority: config.High, Status: New}}}},
		{"control characters", `{"status":"pass","message":"all\u001b is\u0007 well"}`, pass},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := ParseAnswer(gate, []byte(tt.output), nil)
			check(t, err)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestNoAnswer(t *testing.T) {
	tests := []struct{ name, output, want string }{
		{"nothing", "", "no JSON object"},
		{"prose", "The change looks good to me.", "no JSON object"},
		{"cut off", failed[:len(failed)-1], "no answer"},
		{"another object", `{"verdict":"everything is fine"}`, "status: it is missing"},
		{"another word", `{"status":"passed with nits"}`, `status: "passed with nits" is not one of pass, fail`},
		{"another case", `{"Status":"pass","x":"padding"}`, "status: it is missing"},
		{"pass with violations", strings.Replace(failed, "fail", "pass", 1), "pass, but it has violations"},
		{"a violation without a file", `{"status":"fail","violations":[{"issue":"x"}]}`, "violations[0]: file: it is missing"},
		{"a blank issue", `{"status":"fail","violations":[{"file":"a","issue":" \n"}]}`, "violations[0]: issue: it is empty"},
		{"an unknown priority", `{"status":"fail","violations":[{"file":"a","issue":"b","priority":"P0"}]}`, `violations[0]: priority: "P0" is not one of`},
		{"a line that is none", `{"status":"fail","violations":[{"file":"a","issue":"b","line":[1]}]}`, "violations[0]: line: it is not a number"},
		{"too large", `{"status":"pass","message":"` + strings.Repeat("x", maxAnswer) + `"}`, "larger than"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := ParseAnswer(gate, []byte(tt.output), nil)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %+v, %v; want %q", got, err, tt.want)
			}
			if diff := cmp.Diff(Answer{}, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A reviewer that echoes its prompt and says nothing has not answered.
func TestPromptIsNoAnswer(t *testing.T) {
	r := Request{Review: &config.Review{Prompt: "Be strict."}, Previous: []Violation{leak}, Diff: []byte("+x\n")}
	if got, err := ParseAnswer(gate, r.prompt(), nil); err == nil {
		t.Errorf("the prompt was taken for %+v", got)
	}
}

func TestIDOfAnEarlierFindingIsKept(t *testing.T) {
	old := Violation{ID: "0123456789ab", File: "./src/a.go", Issue: "something else"}
	answer := func(id, file string) string {
		return fmt.Sprintf(`{"status":"fail","violations":[{"id":%q,"file":%q,"issue":"reworded"}]}`, id, file)
	}
	tests := []struct{ name, output, want string }{
		{"the same file", answer(old.ID, "src/a.go"), old.ID},
		{"another file", answer(old.ID, "src/b.go"), fingerprint(gate, "src/b.go", "reworded")},
		{"an id of its own making", answer("ffffffffffff", "src/a.go"), fingerprint(gate, "src/a.go", "reworded")},
		{"no id", answer("", "src/a.go"), fingerprint(gate, "src/a.go", "reworded")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := ParseAnswer(gate, []byte(tt.output), []Violation{old})
			check(t, err)
			if got.Violations[0].ID != tt.want {
				t.Errorf("got %s, want %s", got.Violations[0].ID, tt.want)
			}
		})
	}
}

func TestFingerprint(t *testing.T) {
	id := fingerprint(gate, "src/a.go", "The file is never closed.")
	if len(id) != 12 || strings.Trim(id, "0123456789abcdef") != "" {
		t.Errorf("%q is not 12 hexadecimal digits", id)
	}
	for _, same := range [][3]string{
		{gate, "./src/a.go", "the file is never closed"},
		{gate, `src\a.go`, "  The FILE is\nnever   closed!"},
	} {
		if got := fingerprint(same[0], same[1], same[2]); got != id {
			t.Errorf("%q has another id", same)
		}
	}
	for _, other := range [][3]string{
		{"review:src:security", "src/a.go", "The file is never closed."},
		{gate, "src/b.go", "The file is never closed."},
		{gate, "src/a.go", "The file is closed twice."},
		{gate, "src/a.go", "文件没有关闭"},
		{gate, "src/a.go", "!!!"},
		{gate, "src/a.go", "???"},
	} {
		if got := fingerprint(other[0], other[1], other[2]); got == id {
			t.Errorf("%q has the same id", other)
		}
	}
	if fingerprint(gate, "a", "!!!") == fingerprint(gate, "a", "???") {
		t.Error("texts of punctuation alone are all the same")
	}
}

func TestLine(t *testing.T) {
	for given, want := range map[string]string{
		`12`: `12`, `"12"`: `12`, `"10-12"`: `"10-12"`, `1.5`: `"1.5"`, `0`: `"0"`, `"007"`: `"007"`, `-1`: `"-1"`,
		`99999999999999999999`: `"99999999999999999999"`, `null`: `""`, `" 3 "`: `3`, `"?"`: `"?"`, `1e3`: `"1e3"`,
	} {
		var line Line
		check(t, json.Unmarshal([]byte(given), &line))
		got, err := json.Marshal(line)
		check(t, err)
		if string(got) != want {
			t.Errorf("%s became %s, want %s", given, got, want)
		}
	}
}

// The decoder takes what the published schema takes, and nothing else.
func TestDecoderAgreesWithTheSchema(t *testing.T) {
	schema := compileSchema(t)
	agree := func(t testing.TB, document any) (valid bool) {
		t.Helper()
		text, err := json.Marshal(document)
		check(t, err)
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		check(t, err)
		_, decodeErr := decodeAnswer(text)
		schemaErr := schema.Validate(doc)
		if (decodeErr == nil) != (schemaErr == nil) {
			t.Errorf("%s\ndecoder: %v\nschema: %v", text, decodeErr, schemaErr)
		}
		return schemaErr == nil
	}
	for _, odd := range oddities {
		agree(t, odd)
		agree(t, map[string]any{"status": "fail", "violations": []any{odd}})
		for _, name := range []string{"status", "message", "violations", "Status", "other"} {
			agree(t, map[string]any{"status": "pass", name: odd})
		}
		for _, name := range []string{"id", "file", "line", "issue", "fix", "priority", "status", "File", "other"} {
			finding := map[string]any{"file": "a", "issue": "b"}
			finding[name] = odd
			agree(t, map[string]any{"status": "fail", "violations": []any{finding}})
		}
	}
	valid := 0
	rapid.Check(t, func(rt *rapid.T) {
		if agree(t, documents.Draw(rt, "document")) {
			valid++
		}
		if t.Failed() {
			rt.FailNow()
		}
	})
	if valid == 0 {
		t.Error("no document was valid: the test tests nothing")
	}
}

func compileSchema(t testing.TB) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(answerSchema))
	check(t, err)
	c := jsonschema.NewCompiler()
	check(t, c.AddResource("answer.json", doc))
	schema, err := c.Compile("answer.json")
	check(t, err)
	return schema
}

var (
	// oddities are values that belong nowhere.
	oddities = []any{nil, true, 1, 1.5, "", " ", "\t\n", "\u00a0", "\v\f", "x", "PASS", []any{}, map[string]any{}, []any{nil}}
	findings = object(map[string]*rapid.Generator[any]{
		"id": sample("a", nil), "file": sample("a.go", "a.go", " x"), "line": sample(1, "1-2", nil, 2.5, 1e30),
		"issue": sample("bad", "bad", "\x00"), "fix": sample("fix", nil), "priority": sample("critical", "high", "medium", "low", nil),
		"status": sample("new", nil), "File": sample("x"),
	})
	documents = object(map[string]*rapid.Generator[any]{
		"status": sample("pass", "fail"), "message": sample("fine", nil), "Status": sample("pass"),
		"violations": rapid.OneOf(rapid.Just[any](nil), rapid.Map(rapid.SliceOfN(findings, 0, 2), func(l []any) any { return l })),
	})
)

func sample(values ...any) *rapid.Generator[any] { return rapid.SampledFrom(values) }

// object has most of the members, most of them as they should be.
func object(members map[string]*rapid.Generator[any]) *rapid.Generator[any] {
	return rapid.Custom(func(t *rapid.T) any {
		if rapid.IntRange(0, 30).Draw(t, "odd object") == 0 {
			return rapid.SampledFrom(oddities).Draw(t, "object")
		}
		out := map[string]any{}
		for name, values := range members {
			switch rapid.IntRange(0, 12).Draw(t, name) {
			case 0:
			case 1:
				out[name] = rapid.SampledFrom(oddities).Draw(t, name)
			default:
				out[name] = values.Draw(t, name)
			}
		}
		return out
	})
}
