package migrate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/sys/atomicfile"
	"github.com/stopgate/stopgate/internal/sys/digest"
	"github.com/stopgate/stopgate/internal/sys/disk"
	"github.com/stopgate/stopgate/internal/sys/jsonfile"
	"github.com/stopgate/stopgate/internal/sys/lockfile"
	"github.com/stopgate/stopgate/internal/sys/regular"
	"github.com/stopgate/stopgate/internal/sys/statefile"
)

// Store keeps the migrations of a machine in the state directory: each in a directory of its own, with a
// copy of every file that it changes and a manifest that names them.
type Store struct {
	dir string
	// changed is called after each change of a file; tests end the process there.
	changed func()
}

// NewStore is the store in a state directory.
func NewStore(stateDir string) Store {
	return Store{dir: filepath.Join(stateDir, "migrations"), changed: func() {}}
}

// manifest is what a migration does. It is durable before the first file changes, so what it says is
// enough to go back from any point.
type manifest struct {
	Root  string    `json:"root"`
	Tools []string  `json:"tools"`
	Time  time.Time `json:"time"`
	Files []kept    `json:"files"`
	Done  bool      `json:"done"` // all files were changed
	dir   string
}

// kept is a file before and after the change.
type kept struct {
	Path   string      `json:"path"`
	Before string      `json:"before"` // digest; empty: there was no such file
	After  string      `json:"after"`  // digest
	Mode   fs.FileMode `json:"mode"`   // before
	Copy   string      `json:"copy"`   // name of the copy beside the manifest; empty: there was no such file
	Result string      `json:"result"` // name of a copy of what it became
	Dirs   []string    `json:"dirs"`   // that are made with it, innermost first
}

// made reports whether the migration makes the file.
func (k kept) made() bool { return k.Copy == "" }

const (
	manifestFile = "manifest.json"
	// maxManifest is far above the few lines that each file takes.
	maxManifest = 8 << 20
	// lockWait ends only when another migration hangs: each takes milliseconds.
	lockWait = 30 * time.Second
)

func (s Store) lock() (release func(), err error) {
	return lockfile.Acquire(context.Background(), filepath.Join(s.dir, "lock"), lockWait)
}

// all are the migrations that can be undone, the oldest first.
func (s Store) all() ([]manifest, error) {
	numbers, err := s.numbers()
	if err != nil {
		return nil, err
	}
	var all []manifest
	for _, number := range numbers {
		dir := filepath.Join(s.dir, strconv.Itoa(number))
		m, err := statefile.Read[manifest](filepath.Join(dir, manifestFile), maxManifest)
		if errors.Is(err, fs.ErrNotExist) {
			continue // it was killed before it changed anything, or after it was undone
		}
		if err != nil {
			return nil, fmt.Errorf("cannot read %s: %w", filepath.Join(dir, manifestFile), err)
		}
		m.dir = dir
		all = append(all, m)
	}
	return all, nil
}

// numbers are the names of the directories, in their order.
func (s Store) numbers() (numbers []int, err error) {
	entries, err := disk.List(s.dir)
	for _, entry := range entries {
		if number, err := strconv.Atoi(entry.Name()); err == nil && entry.IsDir() {
			numbers = append(numbers, number)
		}
	}
	slices.Sort(numbers)
	return numbers, err
}

// sweep removes what is left of migrations that were killed before they changed anything, or after they were
// undone. The caller holds the lock.
func (s Store) sweep() error {
	numbers, err := s.numbers()
	for _, number := range numbers {
		dir := filepath.Join(s.dir, strconv.Itoa(number))
		if !disk.Exists(filepath.Join(dir, manifestFile)) {
			err = errors.Join(err, os.RemoveAll(dir))
		}
	}
	return err
}

// newDir is a directory for the next migration.
func (s Store) newDir() (string, error) {
	numbers, err := s.numbers()
	if err != nil {
		return "", err
	}
	next := 1
	if len(numbers) > 0 {
		next = numbers[len(numbers)-1] + 1
	}
	dir := filepath.Join(s.dir, strconv.Itoa(next))
	return dir, os.MkdirAll(dir, 0o700)
}

// keep copies every file that is to be changed, and then writes the manifest.
func (m *manifest) keep(changes []Change) error {
	for i, c := range changes {
		name := copyName(i, c.Path)
		k := kept{Path: c.Path, After: digest.Hex(c.After), Dirs: missingDirs(c.Path), Result: name + ".new"}
		if err := atomicfile.Write(filepath.Join(m.dir, k.Result), c.After, 0o600); err != nil {
			return fmt.Errorf("back up %s: %w", c.Path, err)
		}
		if !c.New() {
			info, err := os.Stat(c.Path)
			if err != nil {
				return err
			}
			k.Before, k.Mode, k.Copy = digest.Hex(c.Before), info.Mode().Perm(), name
			if err := atomicfile.Write(filepath.Join(m.dir, k.Copy), c.Before, 0o600); err != nil {
				return fmt.Errorf("back up %s: %w", c.Path, err)
			}
		}
		m.Files = append(m.Files, k)
	}
	return m.write()
}

// copyName is the name of a copy: a number, and what the file is called, for the person who looks for it.
func copyName(i int, path string) string {
	base := filepath.Base(path)
	const longest = 100 // with what is added it must still be a name
	return strconv.Itoa(i+1) + "-" + strings.ToValidUTF8(base[max(0, len(base)-longest):], "")
}

// copyOf is the path of a file's copy; empty where there was no such file.
func (m *manifest) copyOf(k kept) string {
	if k.made() {
		return ""
	}
	return filepath.Join(m.dir, k.Copy)
}

// result is the text that the migration gave a file; nil where it is not known.
func (m *manifest) result(k kept) []byte {
	text, err := regular.Read(filepath.Join(m.dir, k.Result), jsonfile.MaxSize)
	if err != nil || digest.Hex(text) != k.After {
		return nil
	}
	return text
}

func (m *manifest) write() error { return statefile.Write(filepath.Join(m.dir, manifestFile), m) }

// forget removes the manifest first: copies without one are remains.
func (m *manifest) forget() error {
	if err := disk.Remove(filepath.Join(m.dir, manifestFile)); err != nil {
		return err
	}
	return os.RemoveAll(m.dir)
}

// missingDirs are the directories above a file that do not exist, innermost first.
func missingDirs(path string) []string {
	dirs := []string{}
	for dir := filepath.Dir(path); !disk.Exists(dir); dir = filepath.Dir(dir) {
		dirs = append(dirs, dir)
	}
	return dirs
}
