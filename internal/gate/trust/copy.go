package trust

import (
	"errors"
	"os"
	"path/filepath"
	"slices"

	"github.com/stopgate/stopgate/internal/sys/atomicfile"
)

// copyOf is the folder with the approved content. One that is damaged is made anew from
// the approval: what runs is what was approved, whatever became of the copy.
func (s Store) copyOf(key string, a *approval) (dir string, err error) {
	dir, unlocked := s.copyDir(key, a.Hash), s.unlockedDir(key, a.Hash)
	switch {
	case intact(dir, a):
		return dir, nil
	case intact(unlocked, a):
		return unlocked, nil
	}

	unlock, err := s.lock()
	if err != nil {
		return s.copyUnlocked(key, a)
	}
	defer unlock()
	return dir, s.makeCopy(key, a)
}

// copyUnlocked makes a copy where another process keeps the lock: a damaged copy and a call that
// hangs must not free an agent together. It touches nothing that another may use. The next change of
// the approval removes it.
func (s Store) copyUnlocked(key string, a *approval) (dir string, err error) {
	dir = s.unlockedDir(key, a.Hash)
	tmp, err := s.writeAside(key, a, filepath.Base(dir)+"-*")
	if err != nil {
		return "", err
	}
	if err := os.Rename(tmp, dir); err != nil {
		return tmp, nil // one that was made before and then damaged is in the way
	}
	return dir, nil
}

// makeCopy writes the copy under its hash. A sound one that is there already stays, so
// that a hook that reads it now is not disturbed.
func (s Store) makeCopy(key string, a *approval) error {
	target := s.copyDir(key, a.Hash)
	if intact(target, a) {
		return nil
	}
	tmp, err := s.writeAside(key, a, ".copy-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	if err := os.RemoveAll(target); err != nil {
		return err
	}
	return os.Rename(tmp, target)
}

// writeAside writes the content into a new folder, which gets its name when it is whole.
func (s Store) writeAside(key string, a *approval, pattern string) (dir string, err error) {
	if err := os.MkdirAll(s.folder(key), 0o700); err != nil {
		return "", err
	}
	if dir, err = os.MkdirTemp(s.folder(key), pattern); err != nil {
		return "", err
	}
	if err := writeFiles(dir, a.Files, 0o600); err != nil {
		return "", errors.Join(err, os.RemoveAll(dir))
	}
	return dir, nil
}

// intact reports whether a folder holds exactly the approved content.
func intact(dir string, a *approval) bool {
	files, err := readTree(dir)
	return err == nil && hashTree(files) == hashTree(a.Files)
}

// writeFiles writes files with a mode. Those that are executable are so for all who may read
// them.
func writeFiles(dir string, files []file, mode os.FileMode) error {
	for _, f := range files {
		mode := mode
		if f.Exec {
			mode |= mode >> 2 & 0o111
		}
		if err := atomicfile.Write(filepath.Join(dir, filepath.FromSlash(f.Path)), f.Data, mode); err != nil {
			return err
		}
	}
	return nil
}

// sweep removes all copies but those to keep, and what calls that were killed left.
func (s Store) sweep(key string, keep ...string) error {
	entries, err := os.ReadDir(s.folder(key))
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if entry.Name() != approvalFile && entry.Name() != spareFile && !slices.Contains(keep, entry.Name()) {
			if err := os.RemoveAll(filepath.Join(s.folder(key), entry.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s Store) copyDir(key, hash string) string { return filepath.Join(s.folder(key), hash) }

// unlockedDir is the copy that was made without the lock.
func (s Store) unlockedDir(key, hash string) string { return s.copyDir(key, hash) + "-unlocked" }
