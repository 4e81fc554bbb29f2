package review

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/project/config"
)

func TestFileEncode(t *testing.T) {
	file := File{
		Adapter: "claude", Timestamp: time.Date(2026, 1, 2, 4, 4, 5, 6e6, time.FixedZone("", 3600)), Status: Fail,
		RawOutput: "<b> & \"c\"\n", Violations: []Violation{leak},
	}
	const want = `{
  "adapter": "claude",
  "timestamp": "2026-01-02T03:04:05.006Z",
  "status": "fail",
  "rawOutput": "<b> & \"c\"\n",
  "violations": [
    {
      "id": "ID",
      "file": "src/a.go",
      "line": 3,
      "issue": "a leak",
      "fix": "close it",
      "priority": "low",
      "status": "new"
    }
  ]
}`
	got := string(file.Encode())
	if diff := cmp.Diff(strings.Replace(want, "ID", leak.ID, 1), got); diff != "" {
		t.Error(diff)
	}
	back, err := ParseFile([]byte(got))
	check(t, err)
	file.Timestamp = file.Timestamp.UTC()
	if diff := cmp.Diff(file, back); diff != "" {
		t.Error(diff)
	}
	if empty := string(File{}.Encode()); !strings.Contains(empty, `"violations": []`) {
		t.Errorf("no violations are not a list: %s", empty)
	}
}

func TestParseFileNamesWhatIsWrong(t *testing.T) {
	good := `{"status":"fail","violations":[{"id":"1"},{"id":"2","status":"fixed","result":"done"}]}`
	if _, err := ParseFile([]byte(good)); err != nil {
		t.Error(err)
	}
	tests := []struct{ name, from, to, want string }{
		{"a word of its own", `"fixed"`, `"done"`, `violations[1]: status: "done" is not one of new, fixed, skipped`},
		{"a status that is no word", `"fixed"`, `true`, "violations[1]: status: it is not a string"},
		{"a result that is no text", `"done"`, `["a"]`, "violations[1]: result: it is not a string"},
		{"a violation that is none", `{"id":"1"}`, `"1"`, "violations[0]: it is not an object"},
		{"an id that is a number", `"1"`, `1`, "violations[0]: id: it is not a string"},
		{"the outcome", `"fail"`, `"resolved"`, `status: "resolved" is not one of pass, fail, error`},
		{"no violations", `"violations"`, `"solved"`, "violations: it is missing"},
		{"violations that are no list", `[{"id":"1"},`, `{"id":[`, "not JSON: line 1"},
		{"a trailing comma", `}]}`, "},\n]}", "not JSON: line 2"},
		{"cut off", `}]}`, `}]`, "not JSON: line 1: unexpected end"},
		{"not an object", good, `[]`, "it is not an object"},
		{"null", good, `null`, "it is not an object"},
		{"empty", good, ``, "not JSON"},
		{"a time that is none", `{"status"`, `{"timestamp":"today","status"`, "timestamp: it is not a valid time"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := ParseFile([]byte(strings.Replace(good, tt.from, tt.to, 1)))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %+v, %v; want %q", got, err, tt.want)
			}
		})
	}
}

func TestApplyEdits(t *testing.T) {
	critical := leak
	critical.Priority = config.Critical
	skipped := critical
	skipped.Status, skipped.Result = Skipped, "a person said so"
	entry := func(change func(*Violation)) []Violation {
		e := leak
		change(&e)
		return []Violation{e}
	}
	set := func(status Standing, result string) []Violation {
		return entry(func(v *Violation) { v.Status, v.Result = status, result })
	}
	tests := []struct {
		name    string
		open    Violation
		entries []Violation
		maySkip bool
		status  Standing
		result  string
		remark  string
	}{
		{name: "untouched", open: leak, entries: set(New, "thinking"), status: New},
		{name: "fixed", open: leak, entries: set(Fixed, "closed it"), status: Fixed, result: "closed it"},
		{name: "fixed without a word", open: leak, entries: set(Fixed, ""), status: Fixed},
		{name: "skipped", open: leak, entries: set(Skipped, "on purpose"), status: Skipped, result: "on purpose"},
		{name: "skipped without a reason", open: leak, entries: set(Skipped, " \n\t"), status: New, remark: "needs a reason"},
		{name: "critical", open: critical, entries: set(Skipped, "on purpose"), status: New, remark: "an agent cannot skip"},
		{name: "critical, allowed", open: critical, entries: set(Skipped, "on purpose"), maySkip: true, status: Skipped, result: "on purpose"},
		{name: "critical, skipped by a person before", open: skipped, entries: set(Skipped, "a person said so"), status: Skipped, result: "a person said so"},
		{name: "a skip outlives an old file", open: skipped, entries: set(New, ""), status: Skipped, result: "a person said so"},
		{name: "the entry is gone", open: leak, status: New, remark: "no longer in the file"},
		{name: "the id is lost", open: leak, entries: entry(func(v *Violation) { v.ID, v.Status, v.Issue = "", Fixed, "A  leak!" }), status: Fixed},
		{name: "the id is another's", open: leak, entries: entry(func(v *Violation) { v.ID, v.Status = "ffffffffffff", Fixed }), status: New, remark: "no longer in the file"},
		{name: "an unknown word", open: leak, entries: set("wontfix", "no"), status: New, remark: `invalid status "wontfix"`},
		{name: "nothing else is taken", open: leak, entries: entry(func(v *Violation) {
			v.Status, v.File, v.Issue, v.Priority, v.Line = Fixed, "other.go", "nothing", config.Low, "9"
		}), status: Fixed},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			after, remarks := ApplyEdits([]Violation{tt.open}, File{Violations: tt.entries}, func(Violation) bool { return tt.maySkip })
			want := tt.open
			want.Status, want.Result = tt.status, tt.result
			if diff := cmp.Diff([]Violation{want}, after); diff != "" {
				t.Error(diff)
			}
			switch {
			case tt.remark == "" && len(remarks) > 0:
				t.Errorf("remarked %q", remarks)
			case tt.remark != "" && (len(remarks) != 1 || !strings.Contains(remarks[0], tt.remark) || !strings.Contains(remarks[0], leak.ID)):
				t.Errorf("remarked %q, want %q and the id", remarks, tt.remark)
			}
		})
	}
}

func TestAgentsWordsAreBounded(t *testing.T) {
	entry := leak
	entry.Status, entry.Result = Fixed, strings.Repeat("ü", 5<<20)
	after, _ := ApplyEdits([]Violation{leak}, File{Violations: []Violation{entry}}, nil)
	if n := len(after[0].Result); n > maxResult+10 || n < maxResult {
		t.Errorf("%d bytes", n)
	}
}
