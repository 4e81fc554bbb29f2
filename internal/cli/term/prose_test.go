package term

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestFold(t *testing.T) {
	for _, test := range []struct {
		text  string
		width int
		want  []string
	}{
		{"fits", 4, []string{"fits"}},
		{"one two three", 8, []string{"one two", "three"}},
		{"ok    trust: one two three", 20, []string{"ok    trust: one two", "      three"}},
		{"  - one two three", 12, []string{"  - one two", "    three"}},
		{"trust    edited: no gate  → stopgate trust --show", 30, []string{"trust    edited: no gate", "         → stopgate trust", "           --show"}},
		{"      → install it, or set CLAUDE_BIN", 24, []string{"      → install it, or", "        set CLAUDE_BIN"}},
		{"failed  → /a/very/long/path/of/a/file now", 12, []string{"failed", "→ /a/very/long/path/of/a/file", "  now"}},
		{"see /a/very/long/path/of/a/file now", 12, []string{"see", "/a/very/long/path/of/a/file", "now"}},
		{"a  b  c  d e f g h", 10, []string{"a  b  c  d", "   e f g h"}},
		{"\x1b[31mone two three\x1b[0m", 8, []string{"\x1b[31mone two\x1b[0m", "\x1b[31mthree\x1b[0m"}},
		{"\x1b[32mok\x1b[0m  one two three", 11, []string{"\x1b[32mok\x1b[0m  one two", "    three"}},
		{"日本 語の 名前", 6, []string{"日本", "語の", "名前"}},
	} {
		if diff := cmp.Diff(test.want, Fold(test.text, test.width)); diff != "" {
			t.Errorf("%q in %d:\n%s", test.text, test.width, diff)
		}
	}
}

// Words stay whole and in their order, and a line is too long only where one word is.
func TestFoldLosesNothing(t *testing.T) {
	text := rapid.StringOf(rapid.SampledFrom([]rune("abc   -→日")))
	rapid.Check(t, func(t *rapid.T) {
		text, width := Paint(true).Red(text.Draw(t, "text")), rapid.IntRange(2, 40).Draw(t, "width")
		lines := Fold(text, width)
		if diff := cmp.Diff(strings.Fields(bare(text)), strings.Fields(bare(strings.Join(lines, "\n")))); diff != "" {
			t.Fatal(diff)
		}
		for _, line := range lines {
			words := strings.Fields(strings.TrimPrefix(strings.TrimSpace(bare(line)), hintMark))
			if len(words) > 1 && Cells(line) > width {
				t.Fatalf("%d columns for %d: %q", Cells(line), width, line)
			}
		}
	})
}

// In a pipe, people look for whole lines.
func TestProseInAPipe(t *testing.T) {
	var b bytes.Buffer
	long := strings.Repeat("word ", 100) + "\n"
	if _, err := Prose(&b).Write([]byte(long)); err != nil || b.String() != long {
		t.Errorf("%v: %q", err, b.String())
	}
}
