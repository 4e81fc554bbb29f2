//go:build unix

package supervisor

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stopgate/stopgate/internal/sys/regular"
)

// foreign are things that may have the name of one of our files.
func foreign(t *testing.T) map[string]func(path string) {
	target := filepath.Join(t.TempDir(), "target")
	check(t, os.WriteFile(target, []byte(`{"count":7}`), 0o600))
	t.Cleanup(func() {
		if text, err := os.ReadFile(target); err != nil || string(text) != `{"count":7}` {
			t.Errorf("the target of the link holds %q, %v", text, err)
		}
	})
	return map[string]func(path string){
		"link":      func(path string) { check(t, os.Symlink(target, path)) },
		"dead link": func(path string) { check(t, os.Symlink(target+"-none", path)) },
		"loop":      func(path string) { check(t, os.Symlink(path, path)) },
		"device":    func(path string) { check(t, os.Symlink(os.DevNull, path)) },
		"pipe":      func(path string) { check(t, syscall.Mkfifo(path, 0o600)) },
		"directory": func(path string) { check(t, os.MkdirAll(filepath.Join(path, "full"), 0o700)) },
	}
}

func TestStateThatIsNoFile(t *testing.T) {
	for name, put := range foreign(t) {
		t.Run(name, func(t *testing.T) {
			d := newDir(t)
			check(t, os.MkdirAll(d.path, 0o700))
			put(d.StateFile(someSession))
			if s := readState(t, d, someSession); !s.Damaged || s.Count != 0 {
				t.Errorf("read as %+v", s)
			}
			update(t, d, someSession, countOne)
			if s := readState(t, d, someSession); s.Damaged || s.Count != 1 {
				t.Errorf("then read as %+v", s)
			}
			if !exists(d.StateFile(someSession) + ".damaged") {
				t.Error("it is not kept")
			}
		})
	}
}

func TestFilesToAppendToThatAreNone(t *testing.T) {
	for name, put := range foreign(t) {
		t.Run(name, func(t *testing.T) {
			d := newDir(t)
			check(t, os.MkdirAll(d.path, 0o700))
			put(d.OutputFile(someSession))
			put(d.LogFile())
			if _, err := d.OpenOutput(someSession); !errors.Is(err, regular.ErrNotRegular) {
				t.Errorf("output: %v", err)
			}
			if err := d.Log(noon, "x"); !errors.Is(err, regular.ErrNotRegular) {
				t.Errorf("log: %v", err)
			}
		})
	}
}

func TestLockThatIsNone(t *testing.T) {
	for name, put := range foreign(t) {
		t.Run(name, func(t *testing.T) {
			d := newDir(t)
			check(t, os.MkdirAll(d.path, 0o700))
			put(d.lockFile(someSession))
			put(d.join(logLockName))
			_, err := d.Update(t.Context(), someSession, noon, func(*State) error { return nil })
			if link := name != "pipe" && name != "directory"; link && err == nil {
				t.Error("a link was locked")
			}
		})
	}
}

// A state that cannot be read is not one that is not there.
func TestStateThatCannotBeRead(t *testing.T) {
	d := newDir(t)
	check(t, os.WriteFile(d.path, nil, 0o600)) // a file in place of the directory
	if s, err := d.Read(someSession); !errors.Is(err, syscall.ENOTDIR) {
		t.Errorf("read %+v, %v", s, err)
	}
}

func TestDirectoryBehindALink(t *testing.T) {
	real := newDir(t)
	check(t, os.MkdirAll(real.path, 0o700))
	link := At(filepath.Join(t.TempDir(), "link"))
	check(t, os.Symlink(real.path, link.path))
	update(t, link, someSession, countOne)
	check(t, link.Log(noon, "x"))
	if s := readState(t, real, someSession); s.Count != 1 || !exists(real.LogFile()) {
		t.Errorf("%+v", s)
	}
}
