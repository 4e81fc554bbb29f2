package change

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
)

// Diff is a unified diff of the files that Changes lists for the same scope and
// include selects. Files that git cannot compare, untracked ones above all, are
// shown whole, as additions; of a binary file it only says that it changed.
//
// A diff that would be longer than limit lacks hunks or files, and its last line
// names the files; then truncated is set.
func (w *Worktree) Diff(ctx context.Context, scope Scope, p Position, include func(name string) bool, limit int64) (diff []byte, truncated bool, err error) {
	patch := &patch{limit: int(limit), include: func(name string) bool { return w.holds(name) && include(name) }}
	var added []string
	if scope.all(p) {
		added, err = w.files(ctx, p)
	} else {
		added, err = w.compare(ctx, scope, p, patch)
	}
	if err != nil {
		return nil, false, err
	}
	slices.Sort(added)
	for _, name := range slices.Compact(added) {
		if err := context.Cause(ctx); err != nil {
			return nil, false, err
		}
		if patch.include(strings.TrimSuffix(name, "/")) {
			w.add(patch, name)
		}
	}
	diff, truncated = patch.end()
	return diff, truncated, nil
}

// compare has git write what it can compare, and lists what it cannot.
func (w *Worktree) compare(ctx context.Context, scope Scope, p Position, patch *patch) (added []string, err error) {
	span, err := w.span(ctx, scope, p)
	if err != nil {
		return nil, err
	}
	if span.worktree {
		if _, added, err = w.uncommitted(ctx, p); err != nil {
			return nil, err
		}
		span.to = "" // the working tree
	}
	err = w.repo.Diff(ctx, patch, span.from, span.to)
	patch.flush() // the last file
	return added, err
}

// add shows a file as if it were new. Of one that is larger than what may be
// shown no more is read than tells that it is.
func (w *Worktree) add(patch *patch, name string) {
	info, err := os.Lstat(w.abs(name))
	switch {
	case errors.Is(err, os.ErrNotExist):
		patch.line("File ", name, " is gone")
	case err != nil:
		patch.line("File ", name, " cannot be read")
	case info.IsDir():
		patch.line("Repository ", strings.TrimSuffix(name, "/"), " changed")
	case info.Mode()&os.ModeSymlink != 0:
		target, _ := os.Readlink(w.abs(name))
		patch.addition(name, "120000", []byte(target))
	case !info.Mode().IsRegular():
		patch.line("File ", name, " is neither a file nor a link")
	default:
		content, err := w.head(name, int64(patch.limit)+1)
		if err != nil {
			patch.line("File ", name, " cannot be read")
			return
		}
		mode := "100644"
		if info.Mode()&0o111 != 0 {
			mode = "100755"
		}
		patch.addition(name, mode, content)
	}
}

// head reads the beginning of a file.
func (w *Worktree) head(name string, most int64) ([]byte, error) {
	file, err := os.OpenFile(w.abs(name), os.O_RDONLY|openFlags, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, most))
}
