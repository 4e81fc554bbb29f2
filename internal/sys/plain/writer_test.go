package plain

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestE19Name(t *testing.T) {
	for name, want := range map[string]string{
		"a.go": "a.go", "a b.go": "a b.go", "日本.md": "日本.md",
		"":                "\"\"",
		"a\nb":            `"a\nb"`,
		"a\x1b[2Kb":       `"a\x1b[2Kb"`,
		"a\u202eb":        `"a\u202eb"`,
		"a\u200bb":        `"a\u200bb"`,
		"\xffa":           `"\xffa"`,
		" a":              `" a"`,
		`"a"`:             `"\"a\""`,
		"a\u009bb":        `"a\u009bb"`,
		"a\u00a0b\ufeffc": `"a\u00a0b\ufeffc"`,
	} {
		if got := Name(name); got != want {
			t.Errorf("Name(%q) = %s, want %s", name, got, want)
		}
	}
}

func TestE19Writer(t *testing.T) {
	for text, want := range map[string]string{
		"plain\n\tlines\n":            "plain\n\tlines\n",
		"\x1b[31mred\x1b[0m \x1b[2mx": "\x1b[31mred\x1b[0m \x1b[2mx",
		"\x1b[2Kgone":                 `\x1b[2Kgone`,
		"\x1b[1A\x1b[8mx":             `\x1b[1A\x1b[8mx`,
		"\x1b]0;title\a rest":         `\x1b]0;title\a rest`,
		"10%\r20%":                    "10%20%",
		"turned \u202earound":         `turned \u202earound`,
		"bad \xff":                    "bad \ufffd",
		"\u009b2J":                    `\u009b2J`,
		"日本 é":                        "日本 é",
	} {
		for split := range len(text) + 1 {
			var b strings.Builder
			w := Writer(&b)
			for _, part := range []string{text[:split], text[split:], "."} {
				if n, err := w.Write([]byte(part)); n != len(part) || err != nil {
					t.Fatal(n, err)
				}
			}
			if b.String() != want+"." {
				t.Errorf("%q, in two at %d: %q", text, split, b.String())
			}
		}
	}
}

func FuzzWriter(f *testing.F) {
	f.Add("\x1b[31mred\x1b[0m\x1b]0;x\a\u202e\xff")
	f.Fuzz(func(t *testing.T, text string) {
		var b strings.Builder
		if _, err := Writer(&b).Write([]byte(text + "end")); err != nil {
			t.Fatal(err)
		}
		got := b.String()
		for _, c := range colours {
			got = strings.ReplaceAll(got, string(c), "")
		}
		hidden := func(r rune) bool { return !unicode.IsPrint(r) && r != '\n' && r != '\t' }
		if !utf8.ValidString(got) || strings.ContainsFunc(got, hidden) || !strings.HasSuffix(got, "end") {
			t.Errorf("%q became %q", text, got)
		}
	})
}
