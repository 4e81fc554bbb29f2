package environ

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

func TestLookup(t *testing.T) {
	env := []string{"A=1", "AB=2", "A=", "B", "C=x=y"}
	for name, want := range map[string]struct {
		value string
		found bool
	}{"A": {"", true}, "AB": {"2", true}, "B": {"", true}, "C": {"x=y", true}, "D": {"", false}, "": {"", false}} {
		if value, found := Lookup(env, name); value != want.value || found != want.found {
			t.Errorf("%q: %q, %t", name, value, found)
		}
	}
}

func TestLookPath(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no executable bits")
	}
	first, second := t.TempDir(), t.TempDir()
	for _, dir := range []string{first, second} {
		if err := os.WriteFile(filepath.Join(dir, "tool"), nil, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(first, "plain"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	env := []string{"PATH=" + second, "PATH=relative:" + first + ":" + second}
	if path, found := LookPath(env, "tool"); !found || path != filepath.Join(first, "tool") {
		t.Errorf("got %q, %t", path, found)
	}
	for _, name := range []string{"plain", "missing"} {
		if path, found := LookPath(env, name); found {
			t.Errorf("%s: %q", name, path)
		}
	}
	t.Chdir(first)
	if path, found := LookPath([]string{"PATH=."}, "tool"); found {
		t.Errorf("from the project: %q", path)
	}
}
