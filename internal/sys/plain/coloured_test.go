package plain

import (
	"strings"
	"testing"
)

func TestColoured(t *testing.T) {
	for text, want := range map[string]string{
		"":                                 "",
		"a\tb\n":                           "a\tb\n",
		"\x1b[1;31mred\x1b[0m":             "\x1b[1;31mred\x1b[0m",
		"\x1b[38:2::1:2:3mx\x1b[m":         "\x1b[38:2::1:2:3mx\x1b[m",
		"\x1b[2Jgone\x1b[H":                "gone",
		"\x1b]8;;http://x\x1b\\link":       "link",
		"\x1b]0;title\atext":               "text",
		"\x1b[>4;2mkeys":                   "keys",
		"a\x07b\r\x00c\u202e":              "abc",
		"\x1b":                             "",
		"\x1b[31":                          "",
		"\x1b[" + strings.Repeat("1;", 99): "",
	} {
		if got := Coloured(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// What is left has no sequence but those of looks, and doing it again changes nothing.
func FuzzColoured(f *testing.F) {
	f.Add("\x1b[1;31mred\x1b[0m \x1b]8;;x\x1b\\ \x1b\x1b[[31m")
	f.Fuzz(func(t *testing.T, text string) {
		got := Coloured(text)
		if Coloured(got) != got {
			t.Errorf("%q, again: %q", got, Coloured(got))
		}
		for rest := got; ; {
			at := strings.IndexByte(rest, '\x1b')
			if at < 0 {
				break
			}
			if lookOf(rest[at:]) == "" {
				t.Fatalf("%q", rest[at:])
			}
			rest = rest[at+1:]
		}
	})
}
