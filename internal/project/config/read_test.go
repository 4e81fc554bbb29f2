//go:build unix

package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A file that cannot be read is one fault, without a line.
func TestUnreadable(t *testing.T) {
	for name, c := range map[string]struct {
		make func(path string) error
		want string
		is   error
	}{
		"missing":   {func(string) error { return nil }, "does not exist", fs.ErrNotExist},
		"directory": {func(p string) error { return os.Mkdir(p, 0o700) }, "is a directory, wanted a file", nil},
		"pipe":      {func(p string) error { return syscall.Mkfifo(p, 0o600) }, "is not a regular file", nil},
		"link":      {func(p string) error { return os.Symlink("gone", p) }, "is a link to a file that does not exist", nil},
		"loop":      {func(p string) error { return os.Symlink("config.yml", p) }, "cannot be read: too many levels of symbolic links", nil},
		"forbidden": {func(p string) error { return os.WriteFile(p, nil, 0) }, "cannot be read: permission denied", fs.ErrPermission},
		"large": {
			func(p string) error { return os.WriteFile(p, []byte(strings.Repeat("#\n", 1<<20)), 0o600) },
			"is larger than 1 MiB", nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "forbidden" && os.Geteuid() == 0 {
				t.Skip("root may read everything")
			}
			dir := t.TempDir()
			check(t, c.make(filepath.Join(dir, "config.yml")))
			err := soon(t, func() error {
				_, err := LoadProject(dir, ".gauntlet")
				return err
			})
			if want := ".gauntlet/config.yml: " + c.want; err == nil || err.Error() != want {
				t.Errorf("got %v, want %s", err, want)
			}
			if c.is != nil && !errors.Is(err, c.is) {
				t.Errorf("%v is not %v", err, c.is)
			}
		})
	}
}

// A device would never end; it must not even be opened.
func TestDeviceIsRefused(t *testing.T) {
	_, err := LoadGlobal("/dev/zero")
	if err == nil || err.Error() != "/dev/zero: is not a regular file" {
		t.Errorf("got %v", err)
	}
}

// soon fails the test when f does not return in time.
func soon(t *testing.T, f func() error) error {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- f() }()
	select {
	case err := <-done:
		return err
	case <-time.After(time.Minute):
		t.Fatal("still waiting after a minute")
		return nil
	}
}
