package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/stopgate/stopgate/internal/control/runbook"
	"github.com/stopgate/stopgate/internal/sys/disk"
	"github.com/stopgate/stopgate/internal/sys/git"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// lost says what work would be lost with a workspace; "" where none would. What cannot be told counts
// as work.
func (w held) lost(ctx context.Context, r record) string {
	ctx, cancel := w.inTime(ctx)
	defer cancel()
	var found []string
	var err error
	switch r.Kind {
	case runbook.Worktree:
		found, err = w.lostInWorktree(ctx, r)
	case runbook.FolderCopy:
		found, err = w.lostInCopy(ctx, r)
	}
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		found = append(found, "it is unknown whether work would be lost: "+plain.Line(err.Error()))
	}
	return strings.Join(found, "; ")
}

// lostInWorktree finds what no branch of the repository holds. Ignored files are not work.
func (w held) lostInWorktree(ctx context.Context, r record) (found []string, err error) {
	reason, byPerson, err := w.lockedByPerson(ctx, r)
	switch {
	case errors.Is(err, git.ErrNotRepository):
		return nil, fmt.Errorf("%s is no longer a git worktree", r.Dir)
	case err != nil:
		return nil, err
	case byPerson:
		return []string{strings.TrimSuffix("it is locked: "+plain.Line(reason), ": ")}, nil
	}

	repo := w.repo(r.Dir)
	status, err := repo.Status(ctx)
	if err != nil {
		return nil, err
	}
	found = named(found, status.Changed, "uncommitted change")
	found = named(found, status.Untracked, "untracked file")

	hidden, err := hiddenChanges(ctx, repo, r.Dir)
	if err != nil {
		return nil, err
	}
	found = named(found, hidden, "change that git was told not to see")

	n := 0
	err = locked(ctx, func() (err error) { n, err = repo.Loose(ctx); return err })
	if err != nil {
		return nil, err
	}
	if n > 0 {
		found = append(found, counted(n, "commit")+" on no branch")
	}
	return w.lostInSubmodules(ctx, repo, r.Dir, found)
}

func (w held) lockedByPerson(ctx context.Context, r record) (reason string, is bool, err error) {
	var all []git.Worktree
	err = w.alone(r.Repo, func() (err error) {
		all, err = worktrees(ctx, w.repo(r.Dir))
		return err
	})
	for _, t := range all {
		if t.Locked && disk.Same(t.Dir, r.Dir) {
			return t.Reason, true, err
		}
	}
	return "", false, err
}

// hiddenChanges are the files that git takes for unchanged because it was told to.
func hiddenChanges(ctx context.Context, repo git.Repo, dir string) (changed []string, err error) {
	files, err := repo.Files(ctx)
	if err != nil {
		return nil, err
	}

	var there []string
	for _, name := range files.Hidden {
		if disk.IsRegular(filepath.Join(dir, name)) {
			there = append(there, name)
		}
	}
	if len(there) == 0 {
		return nil, nil
	}

	blobs, err := repo.Blobs(ctx)
	if err != nil {
		return nil, err
	}

	ids, err := repo.Hash(ctx, there)
	for i, id := range ids {
		if blobs[there[i]].ID != id {
			changed = append(changed, there[i])
		}
	}
	return changed, err
}

// lostInSubmodules finds commits that only the repositories of submodules hold, which lie in the
// worktree's part of the git directory.
func (w held) lostInSubmodules(ctx context.Context, repo git.Repo, dir string, found []string) ([]string, error) {
	for _, name := range submodules(ctx, repo) {
		inner := filepath.Join(dir, name)
		if !disk.Exists(filepath.Join(inner, ".git")) {
			continue // it is not checked out
		}
		n, err := w.repo(inner).Unpushed(ctx)
		if err != nil {
			return nil, fmt.Errorf("submodule %s: %w", name, err)
		}
		if n > 0 {
			found = append(found, fmt.Sprintf("submodule %s has %s that no remote has", plain.Name(name), counted(n, "commit")))
		}
		if found, err = w.lostInSubmodules(ctx, w.repo(inner), inner, found); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// named adds how many there are of something, with the first few names.
func named(found, names []string, what string) []string {
	const shown = 3
	if len(names) == 0 {
		return found
	}
	var first []string
	for _, name := range names[:min(len(names), shown)] {
		first = append(first, plain.Name(name))
	}
	if len(names) > shown {
		first = append(first, "…")
	}
	return append(found, fmt.Sprintf("%s (%s)", counted(len(names), what), strings.Join(first, ", ")))
}

// lostInCopy are the files of a copy that were changed since it was made, and that the project does not
// have just like that.
func (w held) lostInCopy(ctx context.Context, r record) ([]string, error) {
	made, err := os.Lstat(w.file(r.Dir))
	if err != nil {
		return nil, err
	}

	var names []string
	dir := r.Dir
	err = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}

		name, err := filepath.Rel(dir, path)
		if err != nil || entry.IsDir() || !copied(entry.Type()) {
			return err
		}
		if at, known := changedAt(path); known && at.Before(made.ModTime()) {
			return nil
		}
		same, err := sameFile(path, filepath.Join(r.Project, name), r.Project, dir)
		if err == nil && !same {
			names = append(names, filepath.ToSlash(name))
		}
		return err
	})
	return named(nil, names, "new or changed file"), err
}

// sameFile reports whether a file is what copying the original makes of it. A copy that was not touched
// since has the time and the size of its original.
func sameFile(copied, original, from, to string) (bool, error) {
	a, err := os.Lstat(copied)
	if err != nil {
		return false, err
	}

	b, err := os.Lstat(original)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	case a.Mode().Type() != b.Mode().Type():
		return false, nil
	case a.Mode().Type() == fs.ModeSymlink:
		return sameLink(copied, original, from, to)
	case a.Size() != b.Size():
		return false, nil
	case a.ModTime().Equal(b.ModTime()):
		return true, nil
	}
	return sameContent(copied, original)
}

func sameLink(copied, original, from, to string) (bool, error) {
	target, err := os.Readlink(copied)
	if err != nil {
		return false, err
	}
	want, err := linkInCopy(original, from, to)
	return target == want, err
}

func sameContent(a, b string) (bool, error) {
	one, err := os.Open(a)
	if err != nil {
		return false, err
	}
	defer one.Close()
	other, err := os.Open(b)
	if err != nil {
		return false, err
	}
	defer other.Close()

	const piece = 64 << 10
	left, right := make([]byte, piece), make([]byte, piece)
	for {
		n, err := io.ReadFull(one, left)
		m, otherErr := io.ReadFull(other, right)
		if !bytes.Equal(left[:n], right[:m]) {
			return false, nil
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return true, nil
		}
		if err := errors.Join(err, otherErr); err != nil {
			return false, err
		}
	}
}
