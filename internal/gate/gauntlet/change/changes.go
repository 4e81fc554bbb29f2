package change

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/sys/git"
)

// Set is what changed.
type Set struct {
	// All means that everything counts as changed. Note says why, or why changes are not counted from the base.
	All  bool
	Note string
	// Files are the changed files of the project, deleted ones and both names
	// of moved ones included: relative to its root, slash-separated, with the
	// bytes that they have, sorted, each once. With All they are all files.
	Files []string
}

// span is the part of history that a scope is about.
type span struct {
	from, to string // commits or trees
	worktree bool   // and what differs from "to" since then
}

func (w *Worktree) span(ctx context.Context, scope Scope, p Position) (span, error) {
	switch {
	case scope.Commit != "":
		id, parent, err := w.repo.Commit(ctx, scope.Commit)
		if parent == "" {
			parent = git.EmptyTree(id)
		}
		return span{from: parent, to: id}, err
	case scope.Uncommitted, scope.Visiting:
		return span{from: p.Head, to: p.Head, worktree: true}, nil
	case scope.CI:
		return span{from: p.MergeBase, to: p.Head}, nil
	}
	return span{from: p.MergeBase, to: p.Head, worktree: true}, nil
}

// all reports whether everything counts as changed.
func (s Scope) all(p Position) bool { return p.Note != "" && s.Commit == "" && !s.Visiting }

// Changes lists what changed within the scope; p is the position for the same
// scope.
func (w *Worktree) Changes(ctx context.Context, scope Scope, p Position) (Set, error) {
	if scope.all(p) {
		files, err := w.files(ctx, p)
		return Set{All: true, Note: p.Note, Files: files}, err
	}

	span, err := w.span(ctx, scope, p)
	if err != nil {
		return Set{}, err
	}

	var files []string
	if span.from != span.to {
		if files, err = w.repo.Changed(ctx, span.from, span.to); err != nil {
			return Set{}, err
		}
	}
	if span.worktree {
		now, err := w.uncommitted(ctx, p)
		if err != nil {
			return Set{}, err
		}
		changed, untracked := slices.Concat(now.changed, now.concealed), slices.DeleteFunc(now.untracked, isEditors)
		loose := slices.DeleteFunc(slices.Concat(changed, untracked), scope.foundSo)
		files = slices.Concat(files, loose, scope.Altered)
	}

	made, err := w.made(ctx, scope, p)
	return Set{Note: p.Landed, Files: w.project(append(files, made...))}, err
}

// foundSo reports whether a file, or a folder with all that is in it, is known to be as the session found it.
func (s Scope) foundSo(name string) bool {
	if s.Moved == nil || slices.Contains(s.Moved, Everything) {
		return false
	}
	name = strings.TrimSuffix(name, "/")
	_, is := slices.BinarySearch(s.Moved, name)
	next, _ := slices.BinarySearch(s.Moved, name+"/")
	return !is && (next == len(s.Moved) || !strings.HasPrefix(s.Moved[next], name+"/"))
}

// made lists the files of those commits that count wherever the base is, as far as they
// are part of this history.
func (w *Worktree) made(ctx context.Context, scope Scope, p Position) (files []string, err error) {
	_, touched, err := w.within(ctx, scope.Made, p.Head)
	return slices.Concat(slices.Collect(maps.Values(touched))...), err
}

// Files lists all that could count as changed: where git cannot tell, all files of the project. A repository within the
// project is one name.
func (w *Worktree) Files(ctx context.Context) ([]string, error) {
	p, err := w.Position(ctx, Scope{Uncommitted: true})
	if err != nil {
		return nil, err
	}
	return w.files(ctx, p)
}

// files lists all files of the project.
func (w *Worktree) files(ctx context.Context, p Position) ([]string, error) {
	if !p.Git {
		found := w.walk(ctx)
		return found.names, found.err
	}
	list, err := w.repo.Files(ctx)
	return w.project(slices.Concat(list.Tracked, w.withoutWorktrees(list.Untracked))), err
}

// uncommitted are the files that differ from HEAD, in the index or on disk,
// and those of which git can show no difference: it does not track them or was
// told not to look.
type uncommitted struct{ changed, untracked, concealed []string }

func (w *Worktree) uncommitted(ctx context.Context, p Position) (now uncommitted, err error) {
	status, err := w.repo.Status(ctx)
	if err != nil {
		return now, err
	}
	for _, name := range status.Changed {
		now.changed = append(now.changed, strings.TrimPrefix(name, p.Prefix))
	}
	for _, name := range status.Untracked {
		now.untracked = append(now.untracked, strings.TrimPrefix(name, p.Prefix))
	}
	now.untracked = w.withoutWorktrees(now.untracked)
	now.concealed, err = w.concealed(ctx)
	return now, err
}

// project keeps what is part of the project, in order. A repository within it
// is one name.
func (w *Worktree) project(names []string) []string {
	var files []string
	for _, name := range names {
		if name = strings.TrimSuffix(name, "/"); w.holds(name) {
			files = append(files, name)
		}
	}
	slices.Sort(files)
	return slices.Compact(files)
}
