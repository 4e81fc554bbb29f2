package term

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestWrap(t *testing.T) {
	for _, test := range []struct {
		text  string
		width int
		want  []string
	}{
		{"", 10, []string{""}},
		{"one two three", 80, []string{"one two three"}},
		{"one two three", 8, []string{"one two", "three"}},
		{"one two three", 7, []string{"one two", "three"}},
		{"a\nb\r\nc\rd", 80, []string{"a", "b", "c", "d"}},
		{"  one two three", 10, []string{"  one two", "  three"}},
		{"- one two three", 10, []string{"- one two", "  three"}},
		{"12. one two three", 12, []string{"12. one two", "    three"}},
		{"rm  -rf   /a b", 9, []string{"rm  -rf", "/a b"}},
		{"abcdefghij", 4, []string{"abcd", "efgh", "ij"}},
		{"日本語の名前", 5, []string{"日本", "語の", "名前"}},
		{"a\tb", 80, []string{"a    b"}},
		{"\x1b[31mred\x07\u202e", 80, []string{"?[31mred??"}},
		{strings.Repeat("x", 6000), 6000, []string{strings.Repeat("x", 6000)}},
		{"        deep text", 8, []string{"", "deep", "text"}},
		{"ab ", 2, []string{"ab"}},
	} {
		if diff := cmp.Diff(test.want, Wrap(test.text, test.width)); diff != "" {
			t.Errorf("%.40q in %d:\n%s", test.text, test.width, diff)
		}
	}
}

func TestReflow(t *testing.T) {
	for text, want := range map[string][]string{
		"one\ntwo three\n":                {"one two", "three"},
		"one\n\ntwo":                      {"one", "", "two"},
		"one:\n  two\n  three\nfour five": {"one:", "  two", "  three", "four", "five"},
		"- one two\n- three":              {"- one", "  two", "- three"},
		"":                                {""},
	} {
		if diff := cmp.Diff(want, Reflow(text, 8)); diff != "" {
			t.Errorf("%q:\n%s", text, diff)
		}
	}
}

// No line is too long, none of the text is lost, and nothing steers the terminal.
func TestWrapLosesNothing(t *testing.T) {
	text := rapid.OneOf(rapid.String(), rapid.StringOf(rapid.SampledFrom([]rune("ab 1.-*\n\t日\x1b"))))
	rapid.Check(t, func(t *rapid.T) {
		text, width := text.Draw(t, "text"), rapid.IntRange(2, 40).Draw(t, "width")
		lines := Wrap(text, width)
		bare := func(s string) string { return strings.Join(strings.Fields(s), "") }
		if got, want := bare(strings.Join(lines, "\n")), bare(strings.Join(legible(text), "\n")); got != want {
			t.Fatalf("%q became %q", want, got)
		}
		for _, line := range lines {
			if Cells(line) > width {
				t.Fatalf("%d columns for %d: %q", Cells(line), width, line)
			}
			if strings.ContainsAny(line, "\x1b\r\n\x07") {
				t.Fatalf("%q", line)
			}
		}
	})
}
