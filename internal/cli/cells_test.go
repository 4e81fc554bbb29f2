package cli

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestClean(t *testing.T) {
	for text, want := range map[string]string{
		"plain\n":                            "plain",
		"\x1b[1;31mred\x1b[0m text":          "red text",
		"two\r\nlines":                       "two  lines",
		"a\tb":                               "a b",
		"\x1b]0;a title\aafter":              "after",
		"\x1b]8;;http://x\x1b\\link":         "link",
		"bell\a and \x00 nul":                "bell and  nul",
		"\x1b[2":                             "",
		"\x1b":                               "",
		"\x1b(Bset":                          "Bset",
		"turned \u202earound":                "turned around",
		"broken \xff\xfe bytes":              "broken \ufffd\ufffd bytes",
		"日本":                                 "日本",
		strings.Repeat("x", 2*maxClean):      strings.Repeat("x", maxClean),
		"\x1b]" + strings.Repeat("x", 1<<20): "",
	} {
		if got := clean(text); got != want {
			t.Errorf("clean(%.40q) = %.40q, not %.40q", text, got, want)
		}
	}
}

func TestLastDrawn(t *testing.T) {
	for line, want := range map[string]string{"10%\r50%\r100%\r\n": "100%", "plain": "plain", "dos\r\n": "dos", "": ""} {
		if got := lastDrawn(line); got != want {
			t.Errorf("lastDrawn(%q) = %q, not %q", line, got, want)
		}
	}
}

func FuzzClean(f *testing.F) {
	f.Add("\x1b[31mred\x1b[0m")
	f.Add("\x1b]0;title\x1b\\")
	f.Add("a\rb\n")
	f.Fuzz(func(t *testing.T, text string) {
		got := clean(text)
		if !utf8.ValidString(got) || strings.ContainsFunc(got, func(r rune) bool { return !unicode.IsPrint(r) }) {
			t.Errorf("clean(%q) = %q", text, got)
		}
		if clean(got) != got && len(got) <= maxClean { // a broken byte becomes three
			t.Errorf("clean(%q) = %q, which is not clean", text, got)
		}
	})
}

func TestCells(t *testing.T) {
	for text, want := range map[string]int{
		"": 0, "abc": 3, "日本": 4, "e\u0301": 1, "🙂": 2, "\x1b[31mred\x1b[0m": 3, "✓": 1, "…": 1, "한": 2, "ﾊﾝ": 2,
	} {
		if got := cells(text); got != want {
			t.Errorf("cells(%q) = %d, not %d", text, got, want)
		}
	}
}

func TestCut(t *testing.T) {
	for _, test := range []struct {
		text  string
		width int
		want  string
	}{
		{"short", 5, "short"},
		{"longer", 5, "long…"},
		{"日本語", 5, "日本…"},
		{"日本語", 4, "日…"},
		{"ab", 1, "…"},
		{"ab", 0, ""},
		{"ab", -3, ""},
		{"", 0, ""},
	} {
		if got := cut(test.text, test.width); got != test.want {
			t.Errorf("cut(%q, %d) = %q, not %q", test.text, test.width, got, test.want)
		}
	}
}

// TestPadIsExact holds whatever is written in columns.
func TestPadIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := clean(rapid.String().Draw(t, "text"))
		width := rapid.IntRange(0, 40).Draw(t, "width")
		if got := cells(pad(text, width)); got != width {
			t.Errorf("pad(%q, %d) takes %d columns", text, width, got)
		}
	})
}
