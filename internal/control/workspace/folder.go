package workspace

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/control/engine"
	"github.com/stopgate/stopgate/internal/control/runbook"
	"github.com/stopgate/stopgate/internal/sys/disk"
	"github.com/stopgate/stopgate/internal/sys/pause"
)

// makeFolder makes a folder, with a copy of the project or empty.
func (w held) makeFolder(ctx context.Context, r record) (engine.WorkspaceMade, error) {
	if r.Kind == runbook.FolderCopy && !disk.IsDir(r.Project) {
		return engine.WorkspaceMade{}, failed("the project %s does not exist", r.Project)
	}
	if err := w.write(r); err != nil {
		return engine.WorkspaceMade{}, err
	}
	err := os.Mkdir(r.Dir, 0o755)
	if err == nil && r.Kind == runbook.FolderCopy {
		err = w.copyTree(ctx, r.Project, r.Dir)
	}
	if err != nil {
		return engine.WorkspaceMade{}, err
	}
	r.State = ready
	return engine.WorkspaceMade{}, w.writeLater(ctx, r)
}

// writeLater writes a record that is younger than all files of its folder: what is changed after it is
// work. The clock of a file system ticks every few milliseconds.
func (w held) writeLater(ctx context.Context, r record) error {
	limited, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	for range pause.Doubling(limited, 2*time.Millisecond, 100*time.Millisecond) {
		if err := w.write(r); err != nil {
			return err
		}
		made, err := os.Lstat(w.file(r.Dir))
		if at, known := changedAt(r.Dir); err != nil || !known || made.ModTime().After(at) {
			return err
		}
	}
	return nil // more counts as work than is
}

// copied reports whether a file of that type is part of a copy. Sockets, pipes and devices belong to
// processes of the original.
func copied(kind fs.FileMode) bool {
	return kind.IsRegular() || kind.IsDir() || kind == fs.ModeSymlink
}

// copyTree copies a directory but for the workspaces themselves, which may lie in it, and for what is
// git's: the file .git would make the copy the same worktree as the original. Directories get
// their mode when they are full: one may not be writable.
func (w held) copyTree(ctx context.Context, from, to string) error {
	var modes []func() error
	state := filepath.Dir(w.root)
	err := filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if errors.Is(err, fs.ErrNotExist) && path != from {
			return nil // it was removed meanwhile
		}
		if err != nil {
			return err
		}

		if entry.IsDir() && (entry.Name() == ".git" || path == state || disk.Same(path, state)) {
			return filepath.SkipDir
		}
		if entry.Name() == ".git" {
			return nil
		}

		name, err := filepath.Rel(from, path)
		if err != nil || !copied(entry.Type()) {
			return err
		}

		target := filepath.Join(to, name)
		info, err := entry.Info()
		switch {
		case err != nil:
			return err
		case entry.IsDir():
			modes = append(modes, func() error {
				return errors.Join(os.Chmod(target, info.Mode().Perm()), os.Chtimes(target, info.ModTime(), info.ModTime()))
			})
			if name == "." {
				return nil
			}
			return os.Mkdir(target, 0o700)
		case entry.Type() == fs.ModeSymlink:
			link, err := linkInCopy(path, from, to)
			if err != nil {
				return err
			}
			return os.Symlink(link, target)
		}
		return copyFile(path, target, info)
	})

	for i := len(modes) - 1; i >= 0 && err == nil; i-- {
		err = modes[i]()
	}
	return err
}

// linkInCopy is where a link leads in a copy. One that leads into the original by its full path leads
// into the copy.
func linkInCopy(path, from, to string) (string, error) {
	link, err := os.Readlink(path)
	if below, inside := strings.CutPrefix(link, from+string(filepath.Separator)); inside {
		link = filepath.Join(to, below)
	}
	return link, err
}

func copyFile(path, target string, info fs.FileInfo) (err error) {
	in, err := os.Open(path)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(target, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Chmod(info.Mode().Perm()), out.Close(), os.Chtimes(target, info.ModTime(), info.ModTime()))
}
