package migrate

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/sys/jsonfile"
)

// UnfinishedError says that a migration was killed halfway.
type UnfinishedError struct{ Root string }

func (e UnfinishedError) Error() string {
	return "an earlier migration of " + e.Root + " was interrupted"
}

// Apply changes the files, all or none: where one cannot be changed, the others become again what they
// were. When the process is killed, Undo does that. It returns where the copies are.
func (s Store) Apply(root string, tools []string, changes []Change, now time.Time) (backups string, err error) {
	release, err := s.lock()
	if err != nil {
		return "", err
	}
	defer release()
	if err := s.sweep(); err != nil {
		return "", err
	}
	all, err := s.all()
	if err != nil {
		return "", err
	}
	for _, m := range all {
		if m.Root == root && !m.Done {
			return "", UnfinishedError{root}
		}
	}

	dir, err := s.newDir()
	if err != nil {
		return "", err
	}
	m := &manifest{Root: root, Tools: tools, Time: now, dir: dir}
	if err := m.keep(changes); err != nil {
		return "", errors.Join(err, os.RemoveAll(dir))
	}
	for i, c := range changes {
		if err := c.do(root); err != nil {
			m.Files = m.Files[:i] // the others are as they were, or another program's
			return "", errors.Join(err, s.takeBack(m))
		}
		s.changed()
	}
	m.Done = true
	return dir, m.write()
}

// takeBack undoes a migration that failed.
func (s Store) takeBack(m *manifest) error {
	results, err := s.restore(m)
	for i, result := range results {
		if result == stays {
			err = errors.Join(err, fmt.Errorf("%s has just been changed by another program", m.Files[i].Path))
		}
	}
	if err != nil {
		return fmt.Errorf("not all changes could be taken back, see: stopgate migrate --undo: %w", err)
	}
	return m.forget()
}

// do changes the file, if it is still what the plan was made for.
func (c Change) do(root string) error {
	return jsonfile.WithLock(c.Path, func(f *jsonfile.File) error {
		if f.Exists == c.New() || !bytes.Equal(f.Text, c.Before) {
			return fmt.Errorf("%s has just been changed by another program; nothing was migrated", c.Path)
		}
		if !f.Exists {
			f.Mode = newMode(root, c.Path)
		}
		return f.Write(c.After)
	})
}

// newMode is that of a new file: those of a project are shared, a person's own are not.
func newMode(root, path string) os.FileMode {
	if strings.HasPrefix(path, root+string(filepath.Separator)) {
		return 0o644
	}
	return 0o600
}
