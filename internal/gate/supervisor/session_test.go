package supervisor

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestCheckSession(t *testing.T) {
	good := []string{
		"a", "abc123", "0b5c6f1e-9f0e-4d7e-8a53-0c2f5a0f4b11", "A.b_c-9", "..a", "-", "_", "lock",
		strings.Repeat("x", 128),
	}
	for _, id := range good {
		if err := CheckSession(id); err != nil {
			t.Errorf("%q: %v", id, err)
		}
	}
	for _, id := range hostileIDs() {
		err := CheckSession(id)
		if err == nil {
			t.Errorf("%.50q passes", id)
			continue
		}
		if text := err.Error(); len(text) > 700 || strings.ContainsAny(text, "\n\x00\x1b\u202e") {
			t.Errorf("%.50q: the error is %d bytes: %q", id, len(text), text)
		}
	}
}

// hostileIDs are ids that are no part of a file name.
func hostileIDs() []string {
	return []string{
		"", ".", "..", "....", "../../x", "a/b", "/etc/passwd", `a\b`, `..\x`, "a\x00b", "a\nb", "a b", "~", "a:b", "*",
		"\x1b[31m", "\u202eabc", "日本", "é", "\xff", "$(id)", "%2e%2e", "a;b", "NUL:",
		strings.Repeat("x", 129), strings.Repeat("x", 10_000), strings.Repeat("../", 10_000), strings.Repeat("\n", 10_000),
	}
}

func TestHostileSessionsTouchNothing(t *testing.T) {
	outside := t.TempDir()
	d := At(filepath.Join(outside, "a", "b", "ccc"))
	for _, id := range hostileIDs() {
		if _, err := d.Read(id); err == nil {
			t.Errorf("%.50q was read", id)
		}
		called := false
		_, err := d.Update(t.Context(), id, time.Now(), func(*State) error { called = true; return nil })
		if err == nil || called {
			t.Errorf("%.50q was updated", id)
		}
		if file, err := d.OpenOutput(id); err == nil {
			file.Close()
			t.Errorf("the output of %.50q was opened", id)
		}
	}
	if entries, err := os.ReadDir(outside); err != nil || len(entries) > 0 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}
