package jsonfile

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
)

func set(name string, v any) func(*Document) error {
	return func(d *Document) error {
		d.Set(name, v)
		return nil
	}
}

func TestEditMakesAMissingFile(t *testing.T) {
	path := testFile(t)
	changed, err := Edit(path, set("a", 1))
	if err != nil || !changed {
		t.Fatalf("changed %v, error %v", changed, err)
	}
	same(t, "file", get(t, path), "{\n  \"a\": 1\n}\n")
	if runtime.GOOS == "windows" {
		return // no mode bits
	}
	for path, want := range map[string]fs.FileMode{path: 0o600, filepath.Dir(path): 0o700} {
		if info, _ := os.Stat(path); info.Mode().Perm() != want {
			t.Errorf("%s is %v", path, info.Mode())
		}
	}
}

func TestEditMakesAnEmptyObject(t *testing.T) {
	path := testFile(t)
	if changed, err := Edit(path, func(*Document) error { return nil }); err != nil || !changed {
		t.Fatalf("changed %v, error %v", changed, err)
	}
	same(t, "file", get(t, path), "{}\n")
}

func TestEditWritesOnlyWhatDiffers(t *testing.T) {
	for _, text := range []string{"", "{\"a\":1 }", "\ufeff{\r\n}"} {
		path := testFile(t, text)
		long := time.Date(2001, 2, 3, 4, 5, 6, 0, time.UTC)
		check(t, os.Chtimes(path, long, long))
		changed, err := Edit(path, func(*Document) error { return nil })
		info, _ := os.Stat(path)
		if err != nil || changed || !info.ModTime().Equal(long) || get(t, path) != text {
			t.Errorf("%q: changed %v, error %v, now %q", text, changed, err, get(t, path))
		}
	}
}

func TestEditLeavesTheFileWhenItFails(t *testing.T) {
	refusal := errors.New("no")
	for text, want := range map[string]string{
		"{\n\"a\":}": ":2:5: ",
		"[]":         ":1:1: the top level must be an object, is an array",
		`{"a":1}`:    "no",
	} {
		path := testFile(t, text)
		changed, err := Edit(path, func(d *Document) error {
			d.Set("a", 2)
			return refusal
		})
		if changed || err == nil || !strings.Contains(err.Error(), want) || get(t, path) != text {
			t.Errorf("%q: changed %v, error %v, now %q", text, changed, err, get(t, path))
		}
	}
	missing := testFile(t)
	if _, err := Edit(missing, func(*Document) error { return refusal }); !errors.Is(err, refusal) {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Dir(missing)); !errors.Is(err, fs.ErrNotExist) {
		t.Error("something was made")
	}
}

func TestEditKeepsModeAndLink(t *testing.T) {
	target, path := testFile(t, `{"a":1}`), testFile(t)
	os.Chmod(target, 0o640)
	os.MkdirAll(filepath.Dir(path), 0o755)
	environtest.Symlink(t, target, path)
	if _, err := Edit(path, set("a", 2)); err != nil {
		t.Fatal(err)
	}
	same(t, "target", get(t, target), `{"a":2}`)
	info, _ := os.Lstat(path)
	if info.Mode().Type() != fs.ModeSymlink {
		t.Error("the link is gone")
	}
	if info, _ := os.Stat(target); runtime.GOOS != "windows" && info.Mode().Perm() != 0o640 {
		t.Errorf("the target is %v", info.Mode())
	}
	os.Remove(target)
	if _, err := Edit(path, set("a", 3)); err == nil || !strings.Contains(err.Error(), "broken link") {
		t.Errorf("dangling link: %v", err)
	}
}

func TestEditLosesNothingWhenManyDo(t *testing.T) {
	const n = 50
	path := testFile(t)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			if _, err := Edit(path, set(fmt.Sprintf("k%d", i), i)); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	d, err := Read(path)
	check(t, err)
	if root, _ := d.Object(); len(root.Members) != n {
		t.Errorf("%d members:\n%s", len(root.Members), d.Text())
	}
}

func TestReadRefuses(t *testing.T) {
	if _, err := Read(testFile(t)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
	if _, err := Read(t.TempDir()); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("a directory: %v", err)
	}
	if _, err := Read(testFile(t, `{"a":"`+strings.Repeat("x", MaxSize)+`"}`)); err == nil || !strings.Contains(err.Error(), "larger than") {
		t.Errorf("a huge file: %v", err)
	}
	path := testFile(t, "{\n,}")
	if _, err := Read(path); err == nil || !strings.HasPrefix(err.Error(), path+":2:1: ") {
		t.Errorf("no JSON: %v", err)
	}
}

// What is written can be read again. Three thousand brackets, each on a line of its
// own, are far more text than before.
func TestEditRefusesToWriteTooMuch(t *testing.T) {
	path := testFile(t, "{\n}")
	deep := json.RawMessage(strings.Repeat("[", 3000) + strings.Repeat("]", 3000))
	if changed, err := Edit(path, set("a", deep)); changed || err == nil || !strings.Contains(err.Error(), "would become larger") {
		t.Errorf("changed %v, error %v", changed, err)
	}
	same(t, "file", get(t, path), "{\n}")
}
