package change

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/sys/regular"
)

// Diff is a unified diff, and what it does not show.
type Diff struct {
	Text []byte
	// Missing is what changed and is not shown, or not whole, in the order of the diff.
	Missing []Missing

	sights map[string]sight
	base   string // commit or tree that the diff is from; empty: every file counts as new
}

// Missing is a file or a folder that a diff does not show in full.
type Missing struct{ Name, Why string }

// Why something is missing in a diff.
const (
	IsBinary     = "binary"
	IsRepository = "a separate repository"
	IsCut        = "too long"
	IsUnreadable = "cannot be read"
	IsSpecial    = "neither a file nor a link"
	IsFiltered   = "changed by a git clean filter"
)

// sight is how a diff shows a file.
type sight int

const (
	unseen  sight = iota
	deleted       // as one that is not there any more
	seen          // as it is now, whole
)

// Diff compares the files that Changes lists for the same scope and include selects. Files
// that git cannot compare, untracked ones above all, are shown whole, as additions; of a
// binary file it only says that it changed. What attributes say about a file is not asked.
//
// A diff that would be longer than limit lacks hunks or files, and its last line names the
// files.
func (w *Worktree) Diff(ctx context.Context, scope Scope, p Position, include func(name string) bool, limit int64) (Diff, error) {
	patch := &patch{
		limit: int(limit), include: func(name string) bool { return w.holds(name) && include(name) },
		sights: map[string]sight{},
	}

	var added []string
	var base string
	var err error
	if scope.all(p) {
		added, err = w.files(ctx, p)
	} else {
		added, base, err = w.compare(ctx, scope, p, patch)
	}
	if err != nil {
		return Diff{}, err
	}

	slices.Sort(added)
	for _, name := range slices.Compact(added) {
		if err := context.Cause(ctx); err != nil {
			return Diff{}, err
		}
		if patch.include(strings.TrimSuffix(name, "/")) {
			w.add(patch, name)
		}
	}
	return Diff{Text: patch.end(), Missing: patch.missing, sights: patch.sights, base: base}, nil
}

// compare has git write what it can compare, and lists what it cannot.
func (w *Worktree) compare(ctx context.Context, scope Scope, p Position, patch *patch) (added []string, base string, err error) {
	span, err := w.span(ctx, scope, p)
	if err != nil {
		return nil, "", err
	}
	if span.worktree {
		now, err := w.uncommitted(ctx, p)
		if err != nil {
			return nil, "", err
		}
		added = append(now.untracked, now.concealed...)
		span.to = "" // the working tree
	}
	if err := w.write(ctx, patch, span); err != nil {
		return nil, "", err
	}
	if span.worktree {
		if err := w.nameFiltered(ctx, patch); err != nil {
			return nil, "", err
		}
		added = append(added, patch.unseen(scope.Altered)...)
	}
	return added, span.from, w.writeMade(ctx, scope, p, patch)
}

// unseen keeps the files that the diff does not show.
func (p *patch) unseen(names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return p.sights[name] != unseen })
}

// write has git write a span.
func (w *Worktree) write(ctx context.Context, patch *patch, span span) error {
	if err := w.repo.Diff(ctx, patch, span.from, span.to); err != nil {
		return err
	}
	patch.flush() // the last file
	return w.compareText(ctx, patch, span)
}

// writeMade shows each commit that counts as changed although the base has it, as it was made.
// It says nothing about the files as they are now. The other commits are in the diff, or not in this
// history.
func (w *Worktree) writeMade(ctx context.Context, scope Scope, p Position, now *patch) error {
	pushed, touched, err := w.within(ctx, scope.Made, p.MergeBase)
	if err != nil || len(pushed) == 0 {
		return err
	}
	commits, err := w.repo.Parents(ctx, pushed)
	if err != nil {
		return err
	}

	var files map[string]bool // of the commit that is being written
	then := now.aside(func(name string) bool { return files[name] })
	then.asText = true
	then.heading = func(id string) string {
		files = map[string]bool{}
		for _, name := range touched[id] {
			files[name] = true
		}
		return "Commit " + id + ", which " + p.Base + " already has:\n"
	}
	if err := w.repo.DiffEach(ctx, then, commits); err != nil {
		return err
	}
	now.join(then)
	return nil
}

// nameFiltered names the files whose content git sees only through a clean filter.
func (w *Worktree) nameFiltered(ctx context.Context, patch *patch) error {
	names, err := w.repo.Filtered(ctx)
	if err != nil || len(names) == 0 {
		return err
	}
	blobs, err := w.repo.Blobs(ctx)
	if err != nil {
		return err
	}
	for _, name := range names {
		if info, err := os.Lstat(w.abs(name)); err == nil && info.Mode().IsRegular() && patch.include(name) && !w.isBlob(ctx, name, blobs[name]) {
			patch.absent("File ", name, " is changed by a git clean filter", IsFiltered)
		}
	}
	return nil
}

// compareText shows the files that git calls binary and that are not. An attribute is
// enough to make git do so, even one in .git/info/attributes, which is never committed.
func (w *Worktree) compareText(ctx context.Context, patch *patch, span span) error {
	var text []string
	for _, name := range patch.binary {
		why := ""
		if span.worktree {
			why = w.opaque(name, int64(patch.limit))
		}
		if why == "" {
			text = append(text, name)
		} else {
			patch.absent("Binary file ", name, " changed", why)
		}
	}
	patch.binary, patch.asText = nil, true
	if len(text) > 0 {
		if err := w.repo.DiffText(ctx, patch, span.from, span.to, text); err != nil {
			return err
		}
	}
	patch.flush()
	return nil
}

// opaque is why a file cannot be shown; empty if it can. Git would take the memory to read
// one that is larger than a whole diff may be.
func (w *Worktree) opaque(name string, limit int64) (why string) {
	info, err := os.Lstat(w.abs(name))
	switch {
	case err != nil:
		return IsUnreadable
	case !info.Mode().IsRegular():
		return "" // git shows what a link is
	case info.Size() > limit:
		return IsCut
	}
	content, err := w.head(name, limit)
	switch {
	case err != nil:
		return IsUnreadable
	case isBinary(content):
		return IsBinary
	}
	return ""
}

// add shows a file as if it were new. Of one that is larger than what may be
// shown no more is read than tells that it is.
func (w *Worktree) add(patch *patch, name string) {
	info, err := os.Lstat(w.abs(name))
	switch {
	case errors.Is(err, os.ErrNotExist):
		patch.line("File ", name, " is gone")
		patch.see(name, deleted)
	case err != nil:
		patch.absent("File ", name, " cannot be read", IsUnreadable)
	case info.IsDir() && !isReadable(w.abs(name)):
		patch.absent("Folder ", strings.TrimSuffix(name, "/"), " cannot be read", IsUnreadable)
	case info.IsDir():
		patch.absent("Repository ", strings.TrimSuffix(name, "/"), " changed", IsRepository)
	case info.Mode()&os.ModeSymlink != 0:
		target, _ := os.Readlink(w.abs(name))
		patch.addition(name, "120000", []byte(target))
	case !info.Mode().IsRegular():
		patch.absent("File ", name, " is neither a file nor a link", IsSpecial)
	default:
		content, err := w.head(name, int64(patch.limit)+1)
		if err != nil {
			patch.absent("File ", name, " cannot be read", IsUnreadable)
			return
		}
		mode := "100644"
		if info.Mode()&0o111 != 0 {
			mode = "100755"
		}
		patch.addition(name, mode, content)
	}
}

// isReadable reports whether a folder can be listed.
func isReadable(dir string) bool {
	_, err := os.ReadDir(dir)
	return err == nil
}

// head reads the beginning of a file.
func (w *Worktree) head(name string, most int64) ([]byte, error) {
	return regular.HeadNoFollow(w.abs(name), most)
}
