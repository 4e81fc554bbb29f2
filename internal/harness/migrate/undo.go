package migrate

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/stopgate/stopgate/internal/sys/digest"
	"github.com/stopgate/stopgate/internal/sys/jsonfile"
	"github.com/stopgate/stopgate/internal/sys/regular"
)

// Undone is a migration that was undone.
type Undone struct {
	Tools    []string `json:"tools"`
	Restored []string `json:"restored"` // files that are again what they were
	Removed  []string `json:"removed"`  // files that the migration had made
}

// ChangedError names the files that were changed after the migration. Nothing was restored.
type ChangedError struct {
	Files   []string
	Backups string // the directory of the copies
}

func (e ChangedError) Error() string {
	return "changed since the migration: " + strings.Join(e.Files, ", ")
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
// and what the migration made is removed. A file that was changed since then is not overwritten: then
// nothing is restored at all. An undo that was killed is simply done again.
func (s Store) Undo(root string) (Undone, error) {
	release, err := s.lock()
	if err != nil {
		return Undone{}, err
	}
	defer release()
	m, err := s.last(root)
	if err != nil {
		return Undone{}, err
	}
	if changed, err := m.changed(); err != nil || len(changed) > 0 {
		if err == nil {
			err = ChangedError{changed, m.dir}
		}
		return Undone{}, err
	}
	if err := s.restore(m); err != nil {
		return Undone{}, err
	}
	undone := Undone{Tools: m.Tools, Restored: []string{}, Removed: []string{}}
	for _, k := range m.Files {
		if k.made() {
			undone.Removed = append(undone.Removed, k.Path)
		} else {
			undone.Restored = append(undone.Restored, k.Path)
		}
	}
	return undone, m.forget()
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

// changed lists the files that are neither as they were nor as the migration left them.
func (m *manifest) changed() (paths []string, err error) {
	for _, k := range m.Files {
		now, err := digestAt(k.Path)
		if err != nil {
			return nil, err
		}
		if now != k.Before && now != k.After {
			paths = append(paths, k.Path)
		}
	}
	return paths, nil
}

// restore makes each file what it was, the last one first.
func (s Store) restore(m *manifest) error {
	for i := len(m.Files) - 1; i >= 0; i-- {
		if err := m.restoreFile(m.Files[i]); err != nil {
			return err
		}
		s.changed()
	}
	return nil
}

func (m *manifest) restoreFile(k kept) error {
	return jsonfile.WithLock(k.Path, func(f *jsonfile.File) error { return m.restoreLocked(k, f) })
}

// restoreLocked looks once more, under the lock: another program may have just changed the file.
func (m *manifest) restoreLocked(k kept, f *jsonfile.File) error {
	now := ""
	if f.Exists {
		now = digest.Hex(f.Text)
	}
	if now != k.Before && now != k.After {
		return fmt.Errorf("%s has just been changed by another program", k.Path)
	}
	if k.made() {
		return remove(k)
	}
	text, err := regular.Read(filepath.Join(m.dir, k.Copy), jsonfile.MaxSize)
	if err != nil {
		return err
	}
	if digest.Hex(text) != k.Before {
		return fmt.Errorf("the backup %s is damaged; %s was not restored", filepath.Join(m.dir, k.Copy), k.Path)
	}
	if now == k.Before && f.Mode == k.Mode {
		return nil
	}
	f.Mode = k.Mode
	return f.Write(text)
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
