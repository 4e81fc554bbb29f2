package trust

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// sight is what .gauntlet holds beside or instead of what was approved.
type sight struct {
	marks   signature
	changed []string // approved files that are not as they were, or why that cannot be told
	added   []string // files that were not approved
	dirs    []string // directories that have none of the approved files
	caches  []string
}

func (s sight) exact() bool {
	return len(s.changed)+len(s.added)+len(s.dirs)+len(s.caches) == 0
}

func (s sight) differences() []string { return slices.Concat(s.changed, s.added) }

// look compares .gauntlet with the approved files. The marks are from before: a change
// during the comparison shows when they are looked at again.
func (p *place) look() (s sight) {
	var err error
	if s.marks, err = settled(p.live); err != nil {
		s.changed = []string{err.Error()}
		return s
	}

	live, err := readTree(p.live)
	if err != nil {
		s.changed = []string{err.Error()}
	}
	s.changed = append(s.changed, p.left()...)

	needed := map[string]bool{"": true, ".": true}
	approved := map[string]bool{}
	for _, f := range p.files {
		approved[f.Path] = true
		for dir := path.Dir(f.Path); !needed[dir]; dir = path.Dir(dir) {
			needed[dir] = true
		}
	}

	if err == nil {
		for _, change := range changes(p.files, live) {
			if !strings.HasSuffix(change, added) {
				s.changed = append(s.changed, change)
			}
		}
	}

	for name, mark := range s.marks {
		switch {
		case approved[name] || needed[name] && mark.at.isDir():
		case name == "":
		case isCache(name) || path.Base(name) == cacheDir && mark.at.isDir():
			s.caches = append(s.caches, name)
		case mark.at.isDir():
			s.dirs = append(s.dirs, name)
		default:
			s.added = append(s.added, name)
		}
	}
	slices.Sort(s.added)
	slices.Sort(s.caches)
	return s
}

// signature has a mark of every file and directory in .gauntlet, by its path; that of
// .gauntlet itself is under the empty one.
type signature map[string]mark

// mark is a path, and what it leads to where it is a link.
type mark struct{ at, to stamp }

func markOf(path string) (m mark, err error) {
	m.at, m.to, err = stampOf(path)
	return m, err
}

// stays reports whether a path leads to the same file, unchanged, or to the same directory,
// whatever was put into that.
func (m mark) stays(now mark) bool {
	if m.at.isDir() {
		return m.at.sameDir(now.at)
	}
	if m.to.isDir() {
		return m.at == now.at && m.to.sameDir(now.to)
	}
	return m == now
}

// settled is a signature that a later change is sure to alter. The kernel's clock for files
// goes in steps of up to 10 ms: two changes within one look the same.
func settled(dir string) (signature, error) {
	const step = 20 * time.Millisecond
	const tries = 5 // something that writes all the time is a change by itself
	for range tries {
		marks, err := sign(dir)
		if err != nil {
			return nil, err
		}
		newest := time.Unix(0, marks.newest())
		age := time.Since(newest)
		if age < 0 || age > step { // a clock that was set back says nothing
			return marks, nil
		}
		time.Sleep(step - age + time.Millisecond)
	}
	return nil, fmt.Errorf("%s is being written to", dir)
}

func (s signature) newest() (newest int64) {
	for _, m := range s {
		newest = max(newest, m.at.changed, m.to.changed)
	}
	return newest
}

// sign looks at everything below dir. What is not there has no marks.
func sign(dir string) (signature, error) {
	marks := signature{}
	top, err := markOf(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return marks, nil
	}
	marks[""] = top
	if err != nil || !top.to.isDir() {
		return marks, err
	}

	root, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, err
	}
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || path == root {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if len(marks) > 10*maxFiles { // caches are among them
			return fmt.Errorf("more than %d files", 10*maxFiles)
		}

		marks[filepath.ToSlash(rel)], err = markOf(path)
		if errors.Is(err, fs.ErrNotExist) && entry.Type()&fs.ModeSymlink != 0 {
			err = nil // a link to nowhere is a file that was not approved
		}
		return err
	})
	return marks, err
}
