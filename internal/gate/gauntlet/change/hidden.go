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

	"github.com/stopgate/stopgate/internal/sys/regular"
)

// maxTraced is the size of the largest file that is read to look for a trace. Source files
// are smaller.
const maxTraced = 4 << 20

// Trace is the trace of a file that reviewers were shown, as it is now; empty where there is none.
func (w *Worktree) Trace(d Diff, name string) Trace {
	content, err := w.head(d.called(w.local(name)), maxTraced)
	if err != nil {
		return ""
	}
	return traceOf(content)
}

// local is a file's name relative to the root, however a reviewer wrote it.
func (w *Worktree) local(name string) string {
	return path.Clean(strings.TrimPrefix(filepath.ToSlash(name), w.slashRoot()))
}

// called is the one file of the diff that a reviewer may mean by a name: some add the prefix of a diff
// to it, or leave out folders. The name itself where there is none, or more than one.
func (d Diff) called(name string) string {
	if d.sights[name] == seen {
		return name
	}
	_, plain, _ := strings.Cut(name, "/") // a/ or b/
	if (name == "a/"+plain || name == "b/"+plain) && d.sights[plain] == seen {
		return plain
	}
	found := name
	for file, how := range d.sights {
		if how != seen || !strings.HasSuffix(file, "/"+name) {
			continue
		}
		if found != name {
			return name
		}
		found = file
	}
	return found
}

// Hidden is why a reader of the diff cannot know what became of a file; empty if it can:
// the diff shows the file, or that it was deleted, or it is as it was at the base.
//
// A file that is gone, or most of it, may have moved to where no diff shows it. It is known by its
// trace, in what was written since then.
func (w *Worktree) Hidden(ctx context.Context, view *View, name string, trace Trace, since time.Time) (why string, err error) {
	d := view.Diff
	name = w.local(name)
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
		return w.goneTo(ctx, view, name, trace, since)
	case !view.Include(name):
		return "", nil // the diff is not about it
	case info.Mode()&os.ModeSymlink != 0:
		return w.linkedTo(d, name, trace), nil
	case !info.Mode().IsRegular():
		return IsSpecial, nil
	case d.sights[name] == seen:
		return w.emptied(ctx, view, name, trace, since)
	}

	same, err := w.asAtBase(ctx, d, name)
	switch {
	case err != nil:
		return "", err
	case same:
		return w.emptied(ctx, view, name, trace, since)
	}
	return "git does not show it", nil
}

// emptied is where most of the lines went that a file had which reviewers see; empty if it has them,
// or they are gone.
func (w *Worktree) emptied(ctx context.Context, view *View, name string, trace Trace, since time.Time) (why string, err error) {
	content, err := w.head(name, maxTraced)
	if trace == "" || err != nil || trace.Leads(content) {
		return "", nil
	}
	return w.moved(ctx, view, name, trace, since)
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
func (w *Worktree) goneTo(ctx context.Context, view *View, name string, trace Trace, since time.Time) (why string, err error) {
	if view.sights[name] != deleted && view.base != "" && view.Include(name) {
		if _, tracked, err := w.repo.BlobAt(ctx, view.base, name); tracked || err != nil {
			return "git does not show that it was deleted", err // a sparse checkout
		}
	}
	if trace == "" {
		return view.anything(), nil
	}
	return w.moved(ctx, view, name, trace, since)
}

// linkedTo is why what a link leads to cannot be seen.
func (w *Worktree) linkedTo(d Diff, name string, trace Trace) string {
	real, target, err := w.leadsTo(name)
	if real == "" || err == nil && d.sights[target] == seen {
		return "" // it leads nowhere, or to what is seen
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
