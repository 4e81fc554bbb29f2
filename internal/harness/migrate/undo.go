package migrate

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/sys/atomicfile"
	"github.com/stopgate/stopgate/internal/sys/digest"
	"github.com/stopgate/stopgate/internal/sys/jsonfile"
	"github.com/stopgate/stopgate/internal/sys/regular"
)

// Undone is a migration that was undone.
type Undone struct {
	Tools    []string  `json:"tools"`
	Restored []string  `json:"restored"` // files that are again what they were
	Merged   []string  `json:"merged"`   // files that were changed since: only the migration's change was taken back
	Removed  []string  `json:"removed"`  // files that the migration had made
	Changed  []Changed `json:"changed"`  // files that were changed since and stay as they are
}

// Changed is a file that was changed after the migration.
type Changed struct {
	Path string `json:"path"`
	Copy string `json:"copy,omitempty"` // the file as it was; empty where the migration made it
}

// ChangedError names the files that were changed after the migration, and were not restored.
type ChangedError struct{ Files []Changed }

func (e ChangedError) Error() string {
	var paths []string
	for _, file := range e.Files {
		paths = append(paths, file.Path)
	}
	return "changed since the migration, and not restored: " + strings.Join(paths, ", ")
}

// NothingError says that there is nothing to undo in a project, and where there is.
type NothingError struct{ Elsewhere string }

func (e NothingError) Error() string {
	if e.Elsewhere == "" {
		return "there is no migration to undo here"
	}
	return "there is no migration to undo here; the last one was in " + e.Elsewhere
}

// Undo takes the project's last migration back: each file has again the bytes and the mode that it had,
// and what the migration made is removed. A file that was changed since then is not overwritten. In a JSON
// file only the migration's own change is taken back, where that is exact; others stay, and are named in a
// ChangedError. They are what is left to undo. An undo that was killed is simply done again.
func (s Store) Undo(root string) (Undone, error) {
	release, err := s.lock()
	if err != nil {
		return Undone{}, err
	}
	defer release()
	if err := s.sweep(); err != nil {
		return Undone{}, err
	}
	m, err := s.last(root)
	if err != nil {
		return Undone{}, err
	}
	results, err := s.restore(m)
	if err != nil {
		return Undone{}, err
	}

	undone := Undone{Tools: m.Tools, Restored: []string{}, Merged: []string{}, Removed: []string{}, Changed: []Changed{}}
	var left []kept
	for i, k := range m.Files {
		switch results[i] {
		case restored:
			undone.Restored = append(undone.Restored, k.Path)
		case merged:
			undone.Merged = append(undone.Merged, k.Path)
		case removed:
			undone.Removed = append(undone.Removed, k.Path)
		case stays:
			undone.Changed = append(undone.Changed, Changed{k.Path, m.copyOf(k)})
			left = append(left, k)
		}
	}
	if len(left) == 0 {
		return undone, m.forget()
	}
	m.Files, m.Done = left, true // a new migration does not have to wait for these
	if err := m.write(); err != nil {
		return undone, err
	}
	return undone, ChangedError{undone.Changed}
}

// Undoable is a migration that Undo could take back.
type Undoable struct {
	Root  string
	Tools []string
}

// Undoable lists the migrations of all projects, the oldest first.
func (s Store) Undoable() (list []Undoable, err error) {
	all, err := s.all()
	for _, m := range all {
		list = append(list, Undoable{m.Root, m.Tools})
	}
	return list, err
}

// Migrated are the files that the migrations of a project have changed.
func (s Store) Migrated(root string) (paths []string, err error) {
	all, err := s.all()
	for _, m := range all {
		for _, k := range m.Files {
			if m.Root == root {
				paths = append(paths, k.Path)
			}
		}
	}
	return paths, err
}

// last is the project's last migration.
func (s Store) last(root string) (*manifest, error) {
	all, err := s.all()
	if err != nil {
		return nil, err
	}
	for i := len(all) - 1; i >= 0; i-- {
		if all[i].Root == root {
			return &all[i], nil
		}
	}
	if len(all) > 0 {
		return nil, NothingError{all[len(all)-1].Root}
	}
	return nil, NothingError{}
}

// fileResult is what became of a file.
type fileResult int

const (
	restored fileResult = iota // it is what it was
	merged                     // it was changed since, and the migration's change is taken back in it
	removed                    // the migration had made it
	stays                      // it was changed since
)

// restore makes each file what it was, the last one first.
func (s Store) restore(m *manifest) ([]fileResult, error) {
	results := make([]fileResult, len(m.Files))
	for i := len(m.Files) - 1; i >= 0; i-- {
		k := m.Files[i]
		err := jsonfile.WithLock(k.Path, func(f *jsonfile.File) (err error) {
			results[i], err = m.restoreLocked(k, f)
			return err
		})
		if err != nil {
			return nil, err
		}
		s.changed()
	}
	return results, nil
}

// restoreLocked looks under the lock: another program may have just changed the file.
func (m *manifest) restoreLocked(k kept, f *jsonfile.File) (fileResult, error) {
	now := ""
	if f.Exists {
		now = digest.Hex(f.Text)
	}
	changed := now != k.Before && now != k.After

	if k.made() {
		if changed {
			return stays, nil
		}
		m.sweepBeside(k, nil)
		return removed, remove(k)
	}

	text, err := regular.Read(filepath.Join(m.dir, k.Copy), jsonfile.MaxSize)
	if err != nil {
		return stays, err
	}
	if digest.Hex(text) != k.Before {
		return stays, fmt.Errorf("the backup %s is damaged; %s was not restored", filepath.Join(m.dir, k.Copy), k.Path)
	}

	m.sweepBeside(k, text)
	switch {
	case changed:
		return m.merge(k, f, text)
	case now == k.Before && f.Mode == k.Mode:
		return restored, nil
	}
	f.Mode = k.Mode
	return restored, f.Write(text)
}

// merge takes back the migration's own change of a file that was changed since.
func (m *manifest) merge(k kept, f *jsonfile.File, before []byte) (fileResult, error) {
	after := m.result(k)
	if filepath.Ext(k.Path) != ".json" || after == nil || !f.Exists {
		return stays, nil
	}
	text, ok := putBack(before, after, f.Text)
	if !ok {
		return stays, nil
	}
	return merged, f.Write(text)
}

// sweepBeside removes what a killed migration left beside a file: the beginning of its new or old content in
// a temporary file. One without content may be that of another program, unless the directory is the
// migration's own.
func (m *manifest) sweepBeside(k kept, before []byte) {
	dir := filepath.Dir(k.Path)
	for _, path := range atomicfile.Temporary(dir) {
		text, err := regular.Read(path, jsonfile.MaxSize)
		if err != nil {
			continue
		}
		ours := bytes.HasPrefix(m.result(k), text) || bytes.HasPrefix(before, text)
		if ours && (len(text) > 0 || slices.Contains(k.Dirs, dir)) {
			_ = os.Remove(path) // it does no harm
		}
	}
}

// remove takes away a file that the migration made, and the directories that came with it and are empty.
func remove(k kept) error {
	if err := os.Remove(k.Path); err != nil && !os.IsNotExist(err) {
		return err
	}
	for _, dir := range k.Dirs {
		_ = os.Remove(dir) // fails where something else is in it
	}
	return nil
}
