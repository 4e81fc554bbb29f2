package logdir

import (
	"os"
	"path/filepath"
	"testing"
)

func TestFindFollowsALogIntoTheArchive(t *testing.T) {
	d := At(t.TempDir())
	path := filepath.Join(d.Path(), "check_._t.1.log")
	if got := Find(path); got != "" {
		t.Errorf("before: %q", got)
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := Find(path); got != path {
		t.Errorf("there: %q", got)
	}
	if _, err := d.Clean(); err != nil {
		t.Fatal(err)
	}
	if got := Find(path); got != d.Archived(path) {
		t.Errorf("archived: %q", got)
	}
	if err := os.RemoveAll(d.Path()); err != nil {
		t.Fatal(err)
	}
	if got := Find(path) + Find(""); got != "" {
		t.Errorf("gone: %q", got)
	}
}
