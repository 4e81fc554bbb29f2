package plain

import (
	"strings"
	"testing"
)

func TestIsName(t *testing.T) {
	for name, want := range map[string]bool{
		"a": true, "0b5e7b5c-1a2B_Z": true, strings.Repeat("x", 64): true,
		"": false, strings.Repeat("x", 65): false, ".": false, "..": false, "a/b": false, `a\b`: false, "a b": false, "a\n": false, "a\x00b": false, "é": false, "a.b": false,
	} {
		if got := IsName(name, 64); got != want {
			t.Errorf("IsName(%.80q) = %t", name, got)
		}
	}
}

func TestInLine(t *testing.T) {
	for name, want := range map[string]string{
		"a/b c.go":                 "a/b c.go",
		"测试.go":                    "测试.go",
		"two\nlines":               `"two\nlines"`,
		"bell\a":                   `"bell\a"`,
		" blank ":                  `" blank "`,
		"broken\xff":               `"broken\xff"`,
		"":                         `""`,
		strings.Repeat("x", 30):    strings.Repeat("x", 17) + "…",
		strings.Repeat("\x00", 30): `"` + strings.Repeat(`\x00`, 4) + "…",
	} {
		if got := InLine(name, 20); got != want {
			t.Errorf("InLine(%q) = %q, not %q", name, got, want)
		}
	}
}
