package jsonfile

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
	"github.com/stopgate/stopgate/internal/sys/statefile"
)

func with(t *testing.T, path string, do func(f *File) error) {
	t.Helper()
	check(t, WithLock(path, do))
}

// A file that we made goes with its folders, and then nothing is known of it.
func TestWhatWeMadeIsRemoved(t *testing.T) {
	path := testFile(t)
	with(t, path, func(f *File) error { return f.Make([]byte("{}")) })
	with(t, path, func(f *File) error {
		if !f.Made() {
			t.Error("it is not known as ours")
		}
		return f.Remove()
	})
	if _, err := os.Lstat(filepath.Dir(path)); err == nil {
		t.Error("its folder is left")
	}
	with(t, path, func(f *File) error {
		if !f.Made() {
			t.Error("forgotten too soon")
		}
		return f.Forget()
	})
	put(t, path, "{}") // by a person
	with(t, path, func(f *File) error {
		if f.Made() {
			t.Error("a person's file is known as ours")
		}
		return nil
	})
}

// A link leads to a file that others may use: that is emptied.
func TestWhatALinkLeadsToStays(t *testing.T) {
	path, link := testFile(t), filepath.Join(t.TempDir(), "link.json")
	with(t, path, func(f *File) error { return f.Make([]byte(`{"a":1}`)) })
	environtest.Symlink(t, path, link)
	with(t, link, func(f *File) error { return f.Remove() })
	same(t, "file", get(t, path), "{}\n")
}

// A note about another file says nothing about this one.
func TestANoteAboutAnotherFile(t *testing.T) {
	path := testFile(t)
	with(t, path, func(f *File) error { return f.Make([]byte("{}")) })
	with(t, path, func(f *File) error {
		note, err := f.madePath()
		check(t, err)
		check(t, statefile.Write(note, made{Path: path + "2"}))
		if f.Made() {
			t.Error("it counts")
		}
		return nil
	})
}

// Who may read the file may reach it, and no one else: settings hold tokens. The backup is for its owner alone.
func TestModesOfWhatIsMade(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no mode bits")
	}
	for mode, folder := range map[fs.FileMode]fs.FileMode{0o600: 0o700, 0o640: 0o750, 0o644: 0o755, 0o604: 0o705} {
		if got := dirMode(mode); got != folder {
			t.Errorf("%v: %v", mode, got)
		}
	}

	path := testFile(t, "{}")
	check(t, os.Chmod(path, 0o644))
	with(t, path, func(f *File) error { return f.Keep() })
	info, err := os.Stat(BackupPath(path))
	if check(t, err); info.Mode().Perm() != 0o600 {
		t.Errorf("the backup is %v", info.Mode())
	}
}

// What is written can be read again, up to the last byte.
func TestTheLargestFile(t *testing.T) {
	path := testFile(t, "{}")
	text := []byte(strings.Repeat(" ", MaxSize+1))
	with(t, path, func(f *File) error {
		check(t, f.Write(text[1:]))
		if f.Write(text) == nil {
			t.Error("a larger one was written")
		}
		return nil
	})
	if _, err := ReadText(path); err != nil {
		t.Error(err)
	}
}
