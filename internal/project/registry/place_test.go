package registry

import (
	"path/filepath"
	"testing"
)

func TestFile(t *testing.T) {
	dir, home := t.TempDir(), t.TempDir()
	at := []string{"HOME=" + home}
	for _, tt := range []struct {
		name string
		env  []string
		want string
	}{
		{"keys/a", at, filepath.Join(dir, "keys", "a")},
		{"../a", at, filepath.Join(filepath.Dir(dir), "a")},
		{filepath.Join(home, "a"), nil, filepath.Join(home, "a")},
		{"~/keys/a", at, filepath.Join(home, "keys", "a")},
		{"~/a", nil, filepath.Join(dir, "~", "a")},
		{"~a", at, filepath.Join(dir, "~a")},
	} {
		if got := File(dir, tt.name, tt.env); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

func TestProgram(t *testing.T) {
	dir := t.TempDir()
	if path, found := Program(dir, "bin/deliver", nil); !found || path != filepath.Join(dir, "bin", "deliver") {
		t.Error(path, found)
	}
	if path, found := Program(dir, "no-such-program-9f", []string{"PATH=" + dir}); found {
		t.Error(path)
	}
}
