package term

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/stopgate/stopgate/internal/project/document"
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
		{"trust    edited: no gate  → stopgate trust --show", 30, []string{"trust    edited: no gate", "         → stopgate trust --show"}},
		{"      → install it, or set CLAUDE_BIN", 24, []string{"      → install it, or set CLAUDE_BIN"}},
		{"failed  → /a/very/long/path/of/a/file now", 12, []string{"failed", "→ /a/very/long/path/of/a/file now"}},
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

// Words stay whole and in their order, and a line is too long only where one word is, or a hint.
func TestFoldLosesNothing(t *testing.T) {
	text := rapid.StringOf(rapid.SampledFrom([]rune("abc   -→日")))
	rapid.Check(t, func(t *rapid.T) {
		text, width := Paint(true).Red(text.Draw(t, "text")), rapid.IntRange(2, 40).Draw(t, "width")
		lines := Fold(text, width)
		if diff := cmp.Diff(strings.Fields(bare(text)), strings.Fields(bare(strings.Join(lines, "\n")))); diff != "" {
			t.Fatal(diff)
		}
		for _, line := range lines {
			words := strings.Fields(bare(line))
			if len(words) > 1 && words[0] != hintMark && Cells(line) > width {
				t.Fatalf("%d columns for %d: %q", Cells(line), width, line)
			}
		}
	})
}

// What must stay as it is does, however often an output was made one for sentences.
func TestVerbatim(t *testing.T) {
	var b bytes.Buffer
	const line = "one two three\n"
	for name, out := range map[string]io.Writer{
		"plain":    &b,
		"text":     ProseIn(&b, 8),
		"twice":    ProseIn(ProseIn(&b, 8), 8),
		"terminal": stream{ProseIn(&b, 8), nil},
		"nested":   Prose(stream{ProseIn(&b, 8), nil}),
	} {
		b.Reset()
		if _, err := io.WriteString(Verbatim(out), line); err != nil || b.String() != line {
			t.Errorf("%s: %v: %q", name, err, b.String())
		}
	}
}

// What a fault says is folded, the line that it is about is not.
func TestPrintFault(t *testing.T) {
	var b bytes.Buffer
	f := document.Fault{Position: document.Position{File: "f", Line: 3, Column: 9}, Message: "is wrong in many ways", Excerpt: "one two three four\n        ^^^^^", Hint: "write it in another way"}
	PrintFault(ProseIn(&b, 20), "! ", f)
	for _, want := range []string{"! f:3:9: is wrong in\n", "\n  3 | one two three four\n    |         ^^^^^\n", "  hint: write it in\n"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	b.Reset()
	if PrintFault(&b, "! ", f); b.String() != "! "+f.Detail()+"\n" {
		t.Error(b.String())
	}
}

// In a pipe, people look for whole lines.
func TestProseInAPipe(t *testing.T) {
	var b bytes.Buffer
	long := strings.Repeat("word ", 100) + "\n"
	if _, err := Prose(&b).Write([]byte(long)); err != nil || b.String() != long {
		t.Errorf("%v: %q", err, b.String())
	}
}
