package protect

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestUnified(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		before, after string
		want          []string
	}{
		{"a\n", "a\n", nil},
		{"", "a\nb\n", []string{"@@ -0,0 +1,2 @@", "+a", "+b"}},
		{"a\n", "", []string{"@@ -1,1 +0,0 @@", "-a"}},
		{"1\n2\n3\n4\n5\n6\n", "1\n2\n3\n4\nx\n6\n", []string{"@@ -2,5 +2,5 @@", " 2", " 3", " 4", "-5", "+x", " 6"}},
		{
			"a\n1\n2\n3\n4\n5\n6\n7\nb\n", "A\n1\n2\n3\n4\n5\n6\n7\nb\nc\n",
			[]string{"@@ -1,4 +1,4 @@", "-a", "+A", " 1", " 2", " 3", "@@ -7,3 +7,4 @@", " 6", " 7", " b", "+c"},
		},
		{ // as with diff -u, six lines between two changes do not make two hunks
			"a\n1\n2\n3\n4\n5\n6\nb\n", "A\n1\n2\n3\n4\n5\n6\nB\n",
			[]string{"@@ -1,8 +1,8 @@", "-a", "+A", " 1", " 2", " 3", " 4", " 5", " 6", "-b", "+B"},
		},
	} {
		if diff := cmp.Diff(test.want, Unified(test.before, test.after)); diff != "" {
			t.Errorf("%q to %q:\n%s", test.before, test.after, diff)
		}
	}
}

// The old text and the diff make the new one, and the heads of hunks tell the truth.
func TestUnifiedCanBeApplied(t *testing.T) {
	t.Parallel()
	text := rapid.Map(rapid.SliceOfN(rapid.SampledFrom([]string{"a\n", "b\n", "c\n"}), 0, 30), func(lines []string) string { return strings.Join(lines, "") })
	rapid.Check(t, func(t *rapid.T) {
		before, after := text.Draw(t, "before"), text.Draw(t, "after")
		diff := Unified(before, after)
		if got := apply(t, before, diff); got != after {
			t.Fatalf("%q and\n%s\nmake %q, not %q", before, strings.Join(diff, "\n"), got, after)
		}
	})
}

func apply(t *rapid.T, before string, diff []string) string {
	old := split(before)
	var out []string
	at := 0
	for len(diff) > 0 {
		var from, lines, newFrom, newLines int
		if _, err := fmt.Sscanf(diff[0], "@@ -%d,%d +%d,%d @@", &from, &lines, &newFrom, &newLines); err != nil {
			t.Fatalf("%q: %v", diff[0], err)
		}
		start := from - min(1, lines) // 0 lines are named by the line before them
		out, at = append(out, old[at:start]...), start
		if len(out) != newFrom-min(1, newLines) {
			t.Fatalf("%q is at line %d of the new text", diff[0], len(out))
		}
		for diff = diff[1:]; len(diff) > 0 && diff[0][0] != '@'; diff = diff[1:] {
			sign, line := diff[0][0], diff[0][1:]
			if sign != '+' {
				if old[at] != line {
					t.Fatalf("%q is not line %d", line, at)
				}
				at, lines = at+1, lines-1
			}
			if sign != '-' {
				out, newLines = append(out, line), newLines-1
			}
		}
		if lines != 0 || newLines != 0 {
			t.Fatalf("a head is wrong by %d and %d", lines, newLines)
		}
	}
	out = append(out, old[at:]...)
	return strings.Join(append(out, ""), "\n")
}
