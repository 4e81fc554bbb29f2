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
