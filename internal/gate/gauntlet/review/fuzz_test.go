package review

import (
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/project/config"
)

func FuzzParseAnswer(f *testing.F) {
	for _, seed := range []string{passed, failed, "```json\n" + failed + "\n```", `{"a":` + failed + " x " + passed, `{"` + passed, "{\"status\":\"fail\",\"violations\":[{\"file\":\"\xff\",\"issue\":\"\\ud800\"}]}"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, output []byte) {
		answer, err := ParseAnswer(gate, output, []Violation{leak})
		if err != nil {
			if answer.Pass || answer.Violations != nil {
				t.Fatalf("%v, and yet %+v", err, answer)
			}
			return
		}
		if answer.Pass == (len(answer.Violations) > 0) {
			t.Fatalf("neither passed nor failed: %+v", answer)
		}
		for _, v := range answer.Violations {
			if len(v.ID) != 12 || v.Status != New || !utf8.ValidString(v.File+v.Issue+v.Fix) || !v.Priority.AtLeast(config.Low) {
				t.Fatalf("%+v", v)
			}
		}
		// Whatever a reviewer said, the file that tells the agent can be read back.
		file := File{Adapter: "a", Status: Fail, Violations: answer.Violations}
		if answer.Pass {
			file.Status = Pass
		}
		back, err := ParseFile(file.Encode())
		check(t, err)
		if diff := cmp.Diff(file, back); diff != "" {
			t.Fatal(diff)
		}
	})
}

func FuzzParseFile(f *testing.F) {
	f.Add(File{Adapter: "claude", Status: Fail, RawOutput: "<raw>", Violations: []Violation{leak}}.Encode())
	f.Add([]byte(`{"status":"fail","violations":[{"status":"skipped","result":null}]}`))
	f.Add([]byte(`{"status":"fail","violations":[{"id":"x","line":1e9,"status":"done"}]}`))
	f.Add([]byte("{\"status\":\"pass\",\"violations\":[]}\n// done"))
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := ParseFile(data)
		if err != nil {
			return
		}
		back, err := ParseFile(file.Encode())
		if err != nil {
			t.Fatalf("%v\n%s", err, file.Encode())
		}
		if diff := cmp.Diff(file.Encode(), back.Encode()); diff != "" {
			t.Fatal(diff)
		}
		after, _ := ApplyEdits([]Violation{leak}, file, func(Violation) bool { return false })
		if len(after) != 1 || after[0].ID != leak.ID || after[0].Issue != leak.Issue || after[0].Priority != leak.Priority {
			t.Fatalf("more than status and result was taken over: %+v", after)
		}
	})
}
