package change

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/stopgate/stopgate/internal/sys/git"
	"github.com/stopgate/stopgate/internal/sys/regular"
)

// maxTraced is the size of the largest file that is read to look for a trace. Source files
// are smaller.
const maxTraced = 4 << 20

// Trace is the trace of a file of the project as it is now; empty where there is none.
func (w *Worktree) Trace(name string) Trace {
	content, err := w.head(filepath.FromSlash(name), maxTraced)
	if err != nil {
		return ""
	}
	return TraceOf(content)
}

// Hidden is why a reader of the diff cannot know what became of a file; empty if it can:
// the diff shows the file, or that it was deleted, or it is as it was at the base.
//
// A file that is gone may have moved to where no diff shows it. It is known by its trace, in
// what was written since then.
func (w *Worktree) Hidden(ctx context.Context, d Diff, include func(name string) bool, name string, trace Trace, since time.Time) (why string, err error) {
	name = path.Clean(strings.TrimPrefix(filepath.ToSlash(name), w.slashRoot()))
	if !filepath.IsLocal(filepath.FromSlash(name)) || name == "." {
		return d.anything(), nil // it is about no file
	}
	if i := slices.IndexFunc(d.Missing, func(m Missing) bool { return m.Name == name || strings.HasPrefix(name, m.Name+"/") }); i >= 0 {
		return d.Missing[i].Why, nil
	}
	info, err := os.Lstat(w.abs(name))
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR):
		return IsUnreadable, nil
	case err != nil || info.IsDir():
		return w.goneTo(ctx, d, include, name, trace, since)
	case !include(name):
		return "", nil // the diff is not about it
	case info.Mode()&os.ModeSymlink != 0:
		return w.linkedTo(d, name, trace), nil
	case !info.Mode().IsRegular():
		return IsSpecial, nil
	case d.sights[name] == seen:
		return "", nil
	}
	if same, err := w.asAtBase(ctx, d, name); same || err != nil {
		return "", err
	}
	return "git does not show it", nil
}

func (w *Worktree) slashRoot() string { return filepath.ToSlash(w.root) + "/" }

// anything is one thing that is missing.
func (d Diff) anything() string {
	if len(d.Missing) == 0 {
		return ""
	}
	return d.Missing[0].Name + ": " + d.Missing[0].Why
}

// asAtBase reports whether a file that the diff does not show has the bytes that it had.
func (w *Worktree) asAtBase(ctx context.Context, d Diff, name string) (bool, error) {
	if d.base == "" || d.sights[name] == deleted {
		return false, nil
	}
	blob, found, err := w.repo.BlobAt(ctx, d.base, name)
	if err != nil || !found {
		return false, err
	}
	if w.isBlob(ctx, name, blob) {
		return true, nil
	}
	content, err := w.head(name, maxTraced)
	if err != nil {
		return false, nil
	}
	return isBlobOf(bytes.ReplaceAll(content, []byte("\r\n"), []byte("\n")), blob), nil
}

// goneTo is where the content of a file that is not there any more may be.
func (w *Worktree) goneTo(ctx context.Context, d Diff, include func(name string) bool, name string, trace Trace, since time.Time) (why string, err error) {
	if d.sights[name] != deleted && d.base != "" && include(name) {
		if _, tracked, err := w.repo.BlobAt(ctx, d.base, name); tracked || err != nil {
			return "git does not show that it was deleted", err // a sparse checkout
		}
	}
	if trace == "" {
		return d.anything(), nil
	}
	for _, m := range d.Missing {
		if w.holdsTrace(m.Name, trace) {
			return "it is in " + Quote(m.Name) + " now: " + m.Why, nil
		}
	}
	ignored, err := w.repo.Ignored(ctx)
	if errors.Is(err, git.ErrNotRepository) || errors.Is(err, git.ErrNotInstalled) {
		return "", nil // then everything is shown
	}
	if err != nil {
		return "", err
	}
	dir, err := openFolder(w.root)
	if err != nil {
		return "", err
	}
	defer dir.close()
	for _, other := range ignored {
		if err := context.Cause(ctx); err != nil {
			return "", err
		}
		if s, err := dir.lstat(other); err == nil && w.holds(other) && s.ctime >= since.UnixNano() && w.holdsTrace(other, trace) {
			return "it is in " + Quote(other) + " now, which git ignores", nil
		}
	}
	return "", nil
}

// linkedTo is why what a link leads to cannot be seen.
func (w *Worktree) linkedTo(d Diff, name string, trace Trace) string {
	real, err := filepath.EvalSymlinks(w.abs(name))
	if err != nil {
		return "" // it leads nowhere
	}
	target, err := filepath.Rel(w.root, real)
	if err == nil && d.sights[filepath.ToSlash(target)] == seen {
		return ""
	}
	if info, err := os.Stat(real); err == nil && info.IsDir() {
		return "" // a folder has no text
	}
	content, err := regular.Head(real, maxTraced)
	switch {
	case errors.Is(err, regular.ErrNotRegular):
		return IsSpecial
	case err != nil || !trace.Leads(content):
		return ""
	}
	return "it is a link to " + Quote(real) + " now"
}

// holdsTrace looks for a trace in a file, or in the files of a folder.
func (w *Worktree) holdsTrace(name string, trace Trace) bool {
	info, err := os.Lstat(w.abs(name))
	if err != nil || info.Mode().IsRegular() && info.Size() > maxTraced {
		return false
	}
	if !info.IsDir() {
		content, err := w.head(name, maxTraced)
		return err == nil && trace.Leads(content)
	}
	walk := walker{w: w}
	_ = walk.folder(context.Background(), name, -1) // what cannot be read holds nothing that we can know
	return slices.ContainsFunc(walk.list, func(name string) bool {
		content, err := w.head(name, maxTraced)
		return err == nil && trace.Leads(content)
	})
}
