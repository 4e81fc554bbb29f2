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
		text = CommentOut(text, ignored[0].Line)
	}
	if diff := cmp.Diff(want, string(text)); diff != "" {
		t.Error(diff)
	}
	if ignored, others := file.Ignored(text); len(ignored)+len(others) > 0 {
		t.Error(ignored, others)
	}
	for _, line := range []int{0, -1, 12, 100} {
		if got := CommentOut([]byte(before), line); line != 12 && string(got) != before {
			t.Errorf("line %d: %s", line, got)
		}
	}
}
