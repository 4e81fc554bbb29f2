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
	check(t, os.WriteFile(path, nil, 0o600))
	if got := Find(path); got != path {
		t.Errorf("there: %q", got)
	}
	if _, err := d.Clean(); err != nil {
		t.Fatal(err)
	}
	if got := Find(path); got != d.Archived(path) {
		t.Errorf("archived: %q", got)
	}
	check(t, os.RemoveAll(d.Path()))
	if got := Find(path) + Find(""); got != "" {
		t.Errorf("gone: %q", got)
	}
}
