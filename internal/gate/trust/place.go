package trust

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"time"

	"github.com/stopgate/stopgate/internal/sys/enclave"
)

// place is a .gauntlet, and what was approved of it.
type place struct {
	live  string // .gauntlet, which may be a link
	real  string // where it led when it was approved; empty: it was not a link
	at    time.Time
	files []file
	aside string // where things are put that are in the way
	// named reports, of another project's, whether anything names it that was approved of others; nil of the project's own.
	named func() bool
}

// place is the .gauntlet of the project at root, with what was approved of it.
func (s Store) place(root string, a *approval) place {
	return place{
		live: s.live(root), real: realDir(root, a.Real), at: a.Time, files: a.Files,
		aside: filepath.Join(s.dir, asideDir, ProjectKey(root)),
	}
}

// coverable reports why an enclave cannot be put over .gauntlet. There is one directory that it can be
// put over.
func (p *place) coverable() error {
	if left := p.left(); len(left) > 0 {
		return fmt.Errorf("%s led to %s when it was approved, and that is not as approved (%s)", p.live, p.real, Summary(left))
	}
	if _, err := os.Lstat(p.live); errors.Is(err, fs.ErrNotExist) {
		return nil // it is made
	}
	if info, err := os.Stat(p.live); err != nil || !info.IsDir() {
		return fmt.Errorf("%s is no longer a directory", p.live)
	}
	return nil
}

// cover is what an enclave has in place of a directory.
func (p *place) cover(dir string) enclave.Cover {
	cover := enclave.Cover{Dir: dir, Time: p.at}
	for _, f := range p.files {
		cover.Files = append(cover.Files, enclave.File{Path: f.Path, Exec: f.Exec, Data: f.Data})
	}
	return cover
}

// since compares .gauntlet with its marks from before.
func (p *place) since(before signature) difference {
	marks, err := sign(p.live)
	switch {
	case err != nil:
		return other
	case maps.Equal(marks, before):
		return same
	}
	for name, was := range before {
		if !was.stays(marks[name]) {
			return other
		}
	}
	return more
}

// remove takes caches away.
func (p *place) remove(caches []string) {
	for _, name := range caches {
		_ = os.RemoveAll(p.path(name)) // what stays is seen by the next look
	}
}

// tidy puts aside what commands wrote beside the approved files.
func (p *place) tidy() error {
	dir := filepath.Join(p.aside, "written")
	_, err := p.putAside(dir, p.look().added)
	forgetOldest(dir, keptWritten)
	return err
}

// keptWritten is how often what commands wrote is kept: one that writes there does it in every run.
// What a person has restored over is kept for good.
const keptWritten = 5

// view is what a place held at one moment.
type view struct {
	*place
	sight
}
