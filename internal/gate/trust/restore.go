package trust

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"syscall"
	"time"
)

// asideDir is where edited files are kept, below the approvals.
const asideDir = "aside"

// Restoration is what restoring came to.
type Restoration struct {
	Root     string   `json:"root"`
	Restored []string `json:"restored"`        // approved files that were written
	Moved    []string `json:"moved"`           // what was in their place, or beside them
	Aside    string   `json:"aside,omitempty"` // where that is now
}

// And is a restoration together with that of another directory, below which its files are.
func (r Restoration) And(below string, other Restoration) Restoration {
	r.Root = cmp.Or(r.Root, other.Root)
	r.Restored, r.Moved = append([]string{}, r.Restored...), append([]string{}, r.Moved...)
	for _, name := range other.Restored {
		r.Restored = append(r.Restored, path.Join("..", below, name))
	}
	for _, name := range other.Moved {
		r.Moved = append(r.Moved, path.Join("..", below, name))
	}
	r.Aside = cmp.Or(r.Aside, other.Aside)
	return r
}

// Restore makes .gauntlet of the project at root what was approved, to the last file. What
// was there instead is kept aside.
func (s Store) Restore(root string) (r Restoration, err error) {
	a, _, err := s.load(root)
	if errors.Is(err, fs.ErrNotExist) {
		return r, fmt.Errorf("%s was never approved: there is nothing to restore", s.live(root))
	}
	if err != nil {
		return r, err
	}
	unlock, err := s.lock()
	if err != nil {
		return r, err
	}
	defer unlock()
	c := s.content(root, a)
	r = Restoration{Root: root, Restored: []string{}, Moved: []string{}}
	return r, c.restore(&r)
}

func (p *place) restore(r *Restoration) (err error) {
	if len(p.left()) > 0 {
		if err := p.linkAgain(r); err != nil {
			return fmt.Errorf("restore %s: %w", p.live, err)
		}
	}

	var moved []string
	// Only a directory can hold the files; a link to one can, too.
	if info, statErr := os.Stat(p.live); statErr != nil || !info.IsDir() {
		if _, err := os.Lstat(p.live); err == nil {
			moved = []string{""}
		}
	} else if moved, err = p.foreign(p.live, ""); err != nil {
		return err
	}
	aside, err := p.putAside(p.aside, moved)
	r.Moved, r.Aside = append(r.Moved, moved...), cmp.Or(aside, r.Aside)
	if err != nil {
		return err
	}

	var missing []file
	for _, f := range p.files {
		if _, err := os.Lstat(p.path(f.Path)); err != nil {
			missing = append(missing, f)
			r.Restored = append(r.Restored, f.Path)
		}
	}
	if err := writeFiles(p.live, missing, 0o644); err != nil {
		return fmt.Errorf("restore %s: %w", p.live, err)
	}
	if seen := p.look(); !seen.exact() {
		return fmt.Errorf("restore %s: it was changed at the same time (%s)", p.live, Summary(seen.differences()))
	}
	return nil
}

func (p *place) path(name string) string { return filepath.Join(p.live, filepath.FromSlash(name)) }

// foreign lists what is below a directory and was not approved, or is not as it was.
func (p *place) foreign(dir, below string) (names []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		name := path.Join(below, entry.Name())
		switch {
		case entry.IsDir() && p.leadsTo(name):
			more, err := p.foreign(filepath.Join(dir, entry.Name()), name)
			if err != nil {
				return nil, err
			}
			names = append(names, more...)
		case !p.holds(name):
			names = append(names, name)
		}
	}
	return names, nil
}

// leadsTo reports whether an approved file is below a directory.
func (p *place) leadsTo(dir string) bool {
	return slices.ContainsFunc(p.files, func(f file) bool {
		for up := path.Dir(f.Path); up != "."; up = path.Dir(up) {
			if up == dir {
				return true
			}
		}
		return false
	})
}

// holds reports whether a file is there as it was approved.
func (p *place) holds(name string) bool {
	i := slices.IndexFunc(p.files, func(f file) bool { return f.Path == name })
	if i < 0 {
		return false
	}
	live, err := readFile(p.path(name), maxBytes)
	return err == nil && live.Hash == p.files[i].Hash && live.Exec == p.files[i].Exec
}

// putAside moves things out of .gauntlet into a new folder below dir; the empty name is .gauntlet
// itself.
func (p *place) putAside(dir string, names []string) (folder string, err error) {
	if len(names) == 0 {
		return "", nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	if folder, err = os.MkdirTemp(dir, time.Now().UTC().Format("20060102T150405Z-*")); err != nil {
		return "", err
	}
	for _, name := range names {
		to := filepath.Join(folder, filepath.Base(p.live), filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			return folder, err
		}
		if err := move(p.path(name), to); err != nil {
			return folder, fmt.Errorf("move %s aside: %w", p.path(name), err)
		}
	}
	return folder, nil
}

// forgetOldest removes all folders below dir but the newest, whose names begin with the time.
func forgetOldest(dir string, keep int) {
	entries, _ := os.ReadDir(dir) // by their names; there need not be any
	for _, entry := range entries[:max(0, len(entries)-keep)] {
		_ = os.RemoveAll(filepath.Join(dir, entry.Name())) // what stays is tried again the next time
	}
}

// move moves what is at a path, also to another file system.
func move(from, to string) error {
	err := os.Rename(from, to)
	if !errors.Is(err, syscall.EXDEV) {
		return err
	}

	info, err := os.Lstat(from)
	if err != nil {
		return err
	}
	switch {
	case info.IsDir():
		err = os.CopyFS(to, os.DirFS(from))
	case info.Mode()&fs.ModeSymlink != 0:
		var target string
		if target, err = os.Readlink(from); err == nil {
			err = os.Symlink(target, to)
		}
	case info.Mode().IsRegular():
		var data []byte
		if data, err = os.ReadFile(from); err == nil {
			err = os.WriteFile(to, data, info.Mode().Perm())
		}
	default: // a pipe or a socket has nothing to keep
		err = nil
	}
	if err != nil {
		return err
	}
	return os.RemoveAll(from)
}
