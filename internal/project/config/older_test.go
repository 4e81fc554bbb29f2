package config

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestIssue19CommentingOutAKey(t *testing.T) {
	const before = `name: old
entry_points:
  - label: x
    path: .
    extra:
      a: 1

      # about b
      b: [1,
        2]
    checks: [lint]
`
	const want = `# name: old
entry_points:
  - # label: x
    path: .
    # extra:
    #   a: 1

    #   # about b
    #   b: [1,
    #     2]
    checks: [lint]
`
	text := []byte(before)
	file := NewOlderFile("project", "config.yml", "config.yml")
	for range 3 {
		ignored, others := file.Ignored(text)
		if len(ignored) == 0 || len(others) > 0 {
			t.Fatal(ignored, others)
		}
		after, ok := file.CommentOut(text, ignored[0])
		if !ok {
			t.Fatal(ignored[0])
		}
		text = after
	}
	if diff := cmp.Diff(want, string(text)); diff != "" {
		t.Error(diff)
	}
	if ignored, others := file.Ignored(text); len(ignored)+len(others) > 0 {
		t.Error(ignored, others)
	}
	for _, line := range []int{0, -1, 12, 100} {
		if got := commentOut([]byte(before), line); line != 12 && string(got) != before {
			t.Errorf("line %d: %s", line, got)
		}
	}
}

// In braces a key shares its line with others. None of them may become a comment with it.
func TestIssue19CommentingOutAKeyTakesNothingElse(t *testing.T) {
	for before, want := range map[string]string{
		"entry_points: [\n  {path: a, title: T},\n  {path: b},\n]\n":                     "",
		"entry_points: [{path: a, title: T}]\n":                                          "",
		"entry_points:\n  - {title: T, path: a}\n":                                       "",
		"entry_points:\n  - {path: a,\n     title: T, checks: [x],\n     reviews: []}\n": "",
		"entry_points:\n  - {path: a,\n     title: T}\n":                                 "",
		"entry_points:\n  - {path: a,\n     title: T,\n     checks: [x]}\n":              "entry_points:\n  - {path: a,\n     # title: T,\n     checks: [x]}\n",
		"title: &a x\nbase_branch: *a\n":                                                 "",
		"log_dir: &a x\ntitle: &a y\nbase_branch: *a\n":                                  "",
		"\"title\": T\r\nmode: observe\r\n":                                              "# \"title\": T\r\nmode: observe\r\n",
		"title: T\rmode: observe\r":                                                      "# title: T\rmode: observe\r",
		"mode: observe\ntitle:\n- a\n- b\nquiet: true\n":                                 "mode: observe\n# title:\n# - a\n# - b\nquiet: true\n",
		"title: \"a\n\nb\"\nmode: observe\n":                                             "",
	} {
		file := NewOlderFile("project", "config.yml", "config.yml")
		ignored, _ := file.Ignored([]byte(before))
		if len(ignored) != 1 {
			t.Fatalf("%q: %v", before, ignored)
		}
		got, ok := file.CommentOut([]byte(before), ignored[0])
		if ok != (want != "") || ok && string(got) != want || !ok && string(got) != before {
			t.Errorf("%q became %q (%t), want %q", before, got, ok, want)
		}
	}
}
