package trust

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/stopgate/stopgate/internal/sys/plain"
)

// linkedDir is the directory that .gauntlet leads to, as an approval has it; empty where it is not a link.
func linkedDir(root, live string) string {
	info, err := os.Lstat(live)
	if err != nil || info.Mode()&fs.ModeSymlink == 0 {
		return ""
	}
	real, err := filepath.EvalSymlinks(live)
	if err != nil {
		return ""
	}
	if top, err := filepath.EvalSymlinks(root); err == nil {
		if rel, err := filepath.Rel(top, real); err == nil && filepath.IsLocal(rel) {
			return filepath.ToSlash(rel)
		}
	}
	return real
}

// realDir is the same directory in the project at root, which may be another worktree.
func realDir(root, linked string) string {
	if linked == "" || filepath.IsAbs(linked) {
		return linked
	}
	return filepath.Join(root, filepath.FromSlash(linked))
}

// left names the files of the directory that .gauntlet led to that are not as approved, once it leads
// elsewhere: a command that names the directory would run them. A branch that does not have it
// leaves nothing.
func (p *place) left() (changed []string) {
	if p.real == "" {
		return nil
	}
	was, err := filepath.EvalSymlinks(p.real)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if now, err := filepath.EvalSymlinks(p.live); err == nil && now == was {
		return nil
	}
	live, err := readTree(p.real)
	if err != nil {
		return []string{plain.Line(err.Error())}
	}
	for _, name := range changes(p.files, live) {
		changed = append(changed, path.Join(plain.Name(filepath.Base(p.real)), name))
	}
	return changed
}

// linkAgain has .gauntlet lead to where it did, and puts aside what is in its place.
func (p *place) linkAgain(r *Restoration) (err error) {
	if _, err := os.Lstat(p.live); err == nil {
		if r.Aside, err = p.putAside(p.aside, []string{""}); err != nil {
			return err
		}
		r.Moved = append(r.Moved, "")
	}
	target := p.real
	if within, err := filepath.Rel(filepath.Dir(p.live), p.real); err == nil && filepath.IsLocal(within) {
		target = within // out of the project a relative one would depend on the way that root was reached by
	}
	return os.Symlink(target, p.live)
}
