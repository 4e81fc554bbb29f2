package plain

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestLine(t *testing.T) {
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
		strings.Repeat("x", 2*maxLine):       strings.Repeat("x", maxLine),
		"\x1b]" + strings.Repeat("x", 1<<20): "",
	} {
		if got := Line(text); got != want {
			t.Errorf("Line(%.40q) = %.40q, not %.40q", text, got, want)
		}
	}
}

func TestLastDrawn(t *testing.T) {
	for line, want := range map[string]string{"10%\r50%\r100%\r\n": "100%", "plain": "plain", "dos\r\n": "dos", "": ""} {
		if got := LastDrawn(line); got != want {
			t.Errorf("LastDrawn(%q) = %q, not %q", line, got, want)
		}
	}
}

func FuzzLine(f *testing.F) {
	f.Add("\x1b[31mred\x1b[0m")
	f.Add("\x1b]0;title\x1b\\")
	f.Add("a\rb\n")
	f.Fuzz(func(t *testing.T, text string) {
		got := Line(text)
		if !utf8.ValidString(got) || strings.ContainsFunc(got, func(r rune) bool { return !unicode.IsPrint(r) }) {
			t.Errorf("Line(%q) = %q", text, got)
		}
		if Line(got) != got && len(got) <= maxLine { // a broken byte becomes three
			t.Errorf("Line(%q) = %q, which is not clean", text, got)
		}
	})
}

func TestText(t *testing.T) {
	for text, want := range map[string]string{
		"":                               "",
		"a\nb":                           "a\nb",
		"\tindented\n  too  ":            "\tindented\n  too",
		"\x1b[31mred\x1b[0m\n\x1b[2J":    "red\n",
		"1%\r2%\r3%\ndone":               "3%\ndone",
		"dos\r\nlines\r\n":               "dos\nlines\n",
		strings.Repeat("é", 600):         strings.Repeat("é", 500) + "…",
		strings.Repeat("x", 100_000):     strings.Repeat("x", 500) + "…",
		"\x1b]0;title\a after\nbell\a x": " after\nbell x",
	} {
		if got := Text(text); got != want {
			t.Errorf("Text(%.40q) = %.60q, not %.60q", text, got, want)
		}
	}
}

func TestWords(t *testing.T) {
	long := strings.Repeat("x", 2*maxLine)
	if got, want := Words("a \x1b[1mb\x1b[0m\x07\r\n\tc "+long), "a b\n\tc "+long; got != want {
		t.Errorf("%q", got)
	}
}
