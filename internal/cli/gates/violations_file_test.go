package gates

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/gate/gauntlet/review"
	"github.com/stopgate/stopgate/internal/project/config"
)

// TestAnswerInKeepsTheRest: an agent may have laid the file out anew and added to
// it; none of that is ours to change.
func TestAnswerInKeepsTheRest(t *testing.T) {
	before := `{ "adapter": "claude", "status":"fail","rawOutput" : "x",
	"mine": [1.50, {"a" : null}],
  "violations": [
    {"id":"aa","file":"a.go","line":3,"issue":"one","priority":"high","status":"new"},
    {"id" : "bb", "file":"b.go", "status" : "new", "issue":"two", "note":"kept", "result": null, "priority":"low"}
  ] }
`
	got, found, err := answerIn([]byte(before), &review.Violation{ID: "bb", Status: review.Fixed, Result: "a \"word\"\n"})
	if err != nil || !found {
		t.Fatal(found, err)
	}
	want := strings.Replace(before, `"status" : "new", "issue":"two", "note":"kept", "result": null`,
		`"status" : "fixed", "issue":"two", "note":"kept", "result": "a \"word\"\n"`, 1)
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
	// A result that was not there comes last.
	got, _, err = answerIn([]byte(before), &review.Violation{ID: "aa", Status: review.Skipped, Result: "why"})
	if err != nil || !strings.Contains(string(got), `"status":"skipped","result":"why"}`) {
		t.Errorf("%v\n%s", err, got)
	}
}

// TestAnswerInChangesTwoFields of one violation, whatever else a reviewer wrote.
func TestAnswerInChangesTwoFields(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		file := review.File{Adapter: "claude", Timestamp: time.Unix(1e9, 0).UTC(), Status: review.Fail, RawOutput: rapid.String().Draw(t, "raw")}
		ids := rapid.SliceOfNDistinct(rapid.StringMatching(`[0-9a-f]{4}`), 1, 4, rapid.ID).Draw(t, "ids")
		for _, id := range ids {
			file.Violations = append(file.Violations, review.Violation{
				ID: id, File: rapid.String().Draw(t, "file"), Issue: rapid.String().Draw(t, "issue"), Priority: config.High, Status: review.New,
				Result: rapid.SampledFrom([]string{"", "said before"}).Draw(t, "before"),
			})
		}
		v := file.Violations[rapid.IntRange(0, len(ids)-1).Draw(t, "which")]
		v.Status = rapid.SampledFrom([]review.Standing{review.Fixed, review.Skipped}).Draw(t, "status")
		v.Result = rapid.String().Draw(t, "result")
		edited, found, err := answerIn(file.Encode(), &v)
		if err != nil || !found {
			t.Fatal(found, err)
		}
		for i := range file.Violations {
			if file.Violations[i].ID == v.ID {
				file.Violations[i].Status, file.Violations[i].Result = v.Status, v.Result
			}
		}
		got, err := review.ParseFile(edited)
		if err != nil {
			t.Fatal(err)
		}
		want, err := review.ParseFile(file.Encode())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}

func FuzzAnswerIn(f *testing.F) {
	f.Add([]byte(`{"status":"fail","violations":[{"id":"aa","status":"new"}]}`))
	f.Add([]byte(`{"status":"fail","violations":[{"id":"aa","status":"new","status":"new"}]}`))
	f.Add([]byte(`{"status":"fail","violations":[{"id":"aa"}],"violations":[]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		edited, found, err := answerIn(text, &review.Violation{ID: "aa", Status: review.Fixed, Result: "done"})
		if err != nil || !found {
			return
		}
		if !json.Valid(edited) {
			t.Errorf("%q became %q", text, edited)
		}
		file, err := review.ParseFile(edited)
		if err != nil {
			t.Fatalf("%q became %q: %v", text, edited, err)
		}
		for _, v := range file.Violations {
			if v.ID == "aa" {
				if v.Status != review.Fixed || v.Result != "done" {
					t.Errorf("%q became %q", text, edited)
				}
				return
			}
		}
	})
}

func TestFindViolation(t *testing.T) {
	all := []openViolation{{Violation: review.Violation{ID: "3fa91c02beef"}}, {Violation: review.Violation{ID: "3fb000000000"}}, {Violation: review.Violation{ID: "3fa"}}}
	for id, want := range map[string]string{"3fa91c02beef": "3fa91c02beef", "3fa9": "3fa91c02beef", "3fb": "3fb000000000", "3fa": "3fa"} {
		if v, err := findViolation(all, id); err != nil || v.ID != want {
			t.Errorf("findViolation(%q) = %q, %v", id, v.ID, err)
		}
	}
	for id, hint := range map[string]string{
		"3f": "  3fa\n  3fa91c02beef\n  3fb000000000", "": "list them with: stopgate violations list", "zz": "list them with: stopgate violations list", "3fa91c02bexf": "did you mean 3fa91c02beef?",
	} {
		_, err := findViolation(all, id)
		if usage, ok := err.(term.UsageError); !ok || usage.Hint != hint {
			t.Errorf("findViolation(%q): %v, not a hint %q", id, err, hint)
		}
	}
	if _, err := findViolation(nil, "3fa"); err == nil {
		t.Error("found in nothing")
	}
}

// TestWriteTellsOfBrokenFiles and passes over those that are gone.
func TestWriteTellsOfBrokenFiles(t *testing.T) {
	dir := t.TempDir()
	good, broken := filepath.Join(dir, "good.json"), filepath.Join(dir, "broken.json")
	for path, text := range map[string]string{good: `{"status":"fail","violations":[{"id":"aa","status":"new"}]}`, broken: `{"status":`} {
		check(t, os.WriteFile(path, []byte(text), 0o644))
	}
	v := openViolation{Violation: review.Violation{ID: "aa", Status: review.Fixed, Result: "done"}, files: []string{filepath.Join(dir, "gone.json"), broken, good}}
	errs := v.write()
	if len(errs) != 1 || !strings.Contains(errs[0].Error(), "broken.json: not JSON") {
		t.Errorf("%v", errs)
	}
	if text, _ := os.ReadFile(good); !strings.Contains(string(text), `"fixed"`) {
		t.Errorf("the good file was not written: %s", text)
	}
	if text, _ := os.ReadFile(broken); string(text) != `{"status":` {
		t.Errorf("the broken file was changed: %s", text)
	}
}
