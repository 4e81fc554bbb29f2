//go:build unix

package regular

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func pipe(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pipe")
	check(t, syscall.Mkfifo(path, 0o600))
	return path
}

func link(t *testing.T, target string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "link")
	check(t, os.Symlink(target, path))
	return path
}

func TestPipesAndDevices(t *testing.T) {
	fifo := pipe(t)
	for _, path := range []string{fifo, link(t, fifo), os.DevNull, "/dev/zero", link(t, "/dev/zero")} {
		for name, err := range failures(path) {
			if !errors.Is(err, ErrNotRegular) {
				t.Errorf("%s of %s: %v", name, path, err)
			}
		}
	}
}

// A file may become a pipe between the look at it and the opening.
func TestWhatHasBecomeAPipe(t *testing.T) {
	fifo, file := pipe(t), write(t, "text")
	stat := func(string) (os.FileInfo, error) { return os.Stat(file) }
	opened, err := open(fifo, stat, os.OpenFile, os.O_RDONLY, 0)
	if !errors.Is(err, ErrNotRegular) {
		t.Error(err)
	}
	opened.Close()
}

// A file may become a link between the look at it and the opening.
func TestWhatHasBecomeALink(t *testing.T) {
	file := write(t, "text")
	stat := func(string) (os.FileInfo, error) { return os.Lstat(file) }
	opened, err := open(link(t, file), stat, os.OpenFile, os.O_RDONLY|NoFollow, 0)
	if err == nil {
		opened.Close()
		t.Error("it was followed")
	}
}

func TestOpenFile(t *testing.T) {
	const flags = os.O_WRONLY | os.O_CREATE | os.O_APPEND
	path := filepath.Join(t.TempDir(), "log")
	for range 2 {
		file, err := OpenFile(path, flags, 0o600)
		check(t, err)
		_, _ = file.WriteString("line\n")
		file.Close()
	}
	if got, err := Read(path, 100); string(got) != "line\nline\n" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	for _, other := range []string{pipe(t), link(t, path), link(t, filepath.Join(t.TempDir(), "missing"))} {
		file, err := OpenFile(other, flags, 0o600)
		if !errors.Is(err, ErrNotRegular) {
			t.Errorf("%s: %v", other, err)
		}
		file.Close()
	}
}

func TestLinks(t *testing.T) {
	path := link(t, write(t, "text"))
	if got, err := Read(path, 5); string(got) != "text" || err != nil {
		t.Errorf("Read: %q, %v", got, err)
	}
	if got, err := ReadNoFollow(path, 5); !errors.Is(err, ErrNotRegular) {
		t.Errorf("ReadNoFollow: %q, %v", got, err)
	}
}

// A file under /proc says that it is empty, and grows while it is read.
func TestSizeThatIsNotTrue(t *testing.T) {
	const path = "/proc/self/status"
	if _, err := os.Stat(path); err != nil {
		t.Skip("no /proc")
	}
	if got, err := Read(path, 1<<20); len(got) == 0 || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := Read(path, 5); !errors.Is(err, ErrTooLarge) {
		t.Errorf("%q, %v", got, err)
	}
}

func TestHeadInNoFollow(t *testing.T) {
	path := write(t, "text")
	dir := filepath.Dir(path)
	check(t, os.Symlink("file", filepath.Join(dir, "link")))
	check(t, syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600))
	root, err := os.OpenRoot(dir)
	check(t, err)
	defer root.Close()
	if text, err := HeadInNoFollow(root, "file", 3); err != nil || string(text) != "tex" {
		t.Errorf("%q, %v", text, err)
	}
	for _, name := range []string{"link", "pipe"} {
		if text, err := HeadInNoFollow(root, name, 3); !errors.Is(err, ErrNotRegular) {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
}
