package keeper

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestShorten(t *testing.T) {
	for _, tt := range []struct {
		text string
		most int
		want string
	}{{"check:a:unit", 12, "check:a:unit"}, {"check:packages:unit", 12, "check…s:unit"}, {"ééééé", 3, "é…é"}} {
		if got := Shorten(tt.text, tt.most); got != tt.want {
			t.Errorf("%s: %s", tt.text, got)
		}
	}
}

// A list says how many lines it leaves out, whatever they are.
func TestListStaysInTheFrame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOfN(rapid.StringMatching(`[a-zé]{1,300}`), 1, 60).Draw(t, "lines")
		var f Frame
		f.Say("%s\n", strings.Repeat("x", rapid.IntRange(0, 560).Draw(t, "before")))
		f.List(lines)
		if n := utf8.RuneCountInString(f.Text); n > MaxFrame {
			t.Fatalf("%d characters", n)
		}
		if said := strings.Count(f.Text, "\n") - 1; said < len(lines) && !strings.Contains(f.Text, " more\n") {
			t.Fatalf("%d of %d lines, and not a word of the rest:\n%s", said, len(lines), f.Text)
		}
	})
}

func TestWordsStayInTheFrame(t *testing.T) {
	long := strings.Repeat("é", 2000)
	for _, text := range []string{Words("%s failed", "it"), Words("%s failed", long), Words("%s failed: %s", long, long)} {
		if n := utf8.RuneCountInString(text); n > MaxFrame || !strings.HasPrefix(text, "stopgate: ") || !strings.Contains(text, " failed") {
			t.Errorf("%d characters: %s", n, text)
		}
	}
}
