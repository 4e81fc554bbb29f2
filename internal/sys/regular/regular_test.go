package regular

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	check(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func TestReadUpToTheLimit(t *testing.T) {
	for _, text := range []string{"", "1", "12345"} {
		path := write(t, text)
		for name, read := range map[string]func(string, int64) ([]byte, error){"Read": Read, "ReadNoFollow": ReadNoFollow, "Head": Head} {
			if got, err := read(path, 5); string(got) != text || err != nil {
				t.Errorf("%s of %q: %q, %v", name, text, got, err)
			}
		}
	}
}

func TestReadRefusesALargerFile(t *testing.T) {
	path := write(t, "123456")
	for name, read := range map[string]func(string, int64) ([]byte, error){"Read": Read, "ReadNoFollow": ReadNoFollow} {
		got, err := read(path, 5)
		if got != nil || !errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), path+" is larger than 5 bytes") {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if got, err := Head(path, 5); string(got) != "12345" || err != nil {
		t.Errorf("Head: %q, %v", got, err)
	}
}

func TestWhatIsNotThere(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing")
	for name, err := range failures(missing) {
		if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestDirectory(t *testing.T) {
	for name, err := range failures(t.TempDir()) {
		if !errors.Is(err, ErrNotRegular) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestHeadIn(t *testing.T) {
	path := write(t, "text")
	root, err := os.OpenRoot(filepath.Dir(path))
	check(t, err)
	defer root.Close()
	if text, err := HeadIn(root, "file", 3); err != nil || string(text) != "tex" {
		t.Errorf("%q, %v", text, err)
	}
	if _, err := HeadIn(root, ".", 3); !errors.Is(err, ErrNotRegular) {
		t.Errorf("a directory: %v", err)
	}
}

// failures are what each function says of a path that is no regular file.
func failures(path string) map[string]error {
	file, open := Open(path)
	file.Close()
	file, noFollow := OpenNoFollow(path)
	file.Close()
	_, read := Read(path, 5)
	_, readNoFollow := ReadNoFollow(path, 5)
	_, head := Head(path, 5)
	_, headNoFollow := HeadNoFollow(path, 5)
	return map[string]error{
		"Open": open, "OpenNoFollow": noFollow, "Read": read, "ReadNoFollow": readNoFollow, "Head": head, "HeadNoFollow": headNoFollow,
	}
}
