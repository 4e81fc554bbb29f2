package disk

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

func TestQuestions(t *testing.T) {
	dir := t.TempDir()
	file, other, missing := filepath.Join(dir, "file"), filepath.Join(dir, "other"), filepath.Join(dir, "missing")
	for _, path := range []string{file, other} {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string][3]bool{dir: {true, true, false}, file: {true, false, true}, missing: {}} {
		if got := [3]bool{Exists(path), IsDir(path), IsRegular(path)}; got != want {
			t.Errorf("%s: %v, want %v", path, got, want)
		}
	}
	if !Same(file, dir+"/./file") || Same(file, other) || Same(missing, missing) {
		t.Error("files are mixed up")
	}
	if entries, err := List(missing); len(entries) > 0 || err != nil {
		t.Errorf("a missing directory: %v, %v", entries, err)
	}
	if _, err := List(file); err == nil {
		t.Error("a file is listed as a directory")
	}
	if err := Remove(missing); err != nil {
		t.Errorf("a missing file: %v", err)
	}
	if err := Remove(dir); err == nil {
		t.Error("a directory with files was removed")
	}
}

func TestPrune(t *testing.T) {
	dir := t.TempDir()
	now := time.Now()
	for name, age := range map[string]time.Duration{"young": time.Hour, "old": 3 * time.Hour, "lock": 3 * time.Hour} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, now.Add(-age), now.Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	Prune(dir, now.Add(-2*time.Hour), func(name string) bool { return name == "lock" })
	var left []string
	entries, _ := os.ReadDir(dir)
	for _, entry := range entries {
		left = append(left, entry.Name())
	}
	if !slices.Equal(left, []string{"lock", "young"}) {
		t.Errorf("left: %q", left)
	}
}
