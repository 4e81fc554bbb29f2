package protect

import (
	"context"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/gate/gauntlet/change"
	"github.com/stopgate/stopgate/internal/sys/git"
	"github.com/stopgate/stopgate/internal/sys/paths"
)

// maxCommits bounds how many commits of a session are looked into. Where there are more,
// nothing counts as the work of others.
const maxCommits = 200

// work is what the commits of a session did.
type work struct {
	touched    map[string]bool // those of the files in question that they touched
	attributes bool            // they touched attributes, by which git writes files
}

// agents tells what commits of the session did to some files: those that the reflog shows
// were made here, and those that no remote has and that are as young as the session. What a
// rebase took over as it was is by those who wrote it.
func (f *foreign) agents(ctx context.Context, tip string, names []string) (w work, ok bool) {
	if _, known := f.made[tip]; !known {
		f.made[tip] = f.commits(ctx, tip)
	}
	made := f.made[tip]
	if !made.known {
		return w, false
	}

	prefix := f.at.Prefix(paths.Canonical(f.Project.Root))
	w.touched = map[string]bool{}
	for id, parents := range made.parents {
		var below []string
		for _, name := range made.files[id] {
			w.attributes = w.attributes || path.Base(name) == ".gitattributes"
			if name, is := strings.CutPrefix(name, prefix); is {
				below = append(below, name)
			}
		}
		if len(parents) == 2 {
			var err error
			if below, err = f.resolved(ctx, id, parents, names); err != nil {
				return w, false
			}
		}
		for _, name := range below {
			w.touched[name] = true
		}
	}
	return w, true
}

// commits are those of a session, with what they come from and the files that they touched.
type commits struct {
	parents, files map[string][]string // files are named from the top of the work tree
	known          bool
}

// commits looks at those of the session that a tip has, or that were made here.
func (f *foreign) commits(ctx context.Context, tip string) (c commits) {
	all, ok := f.sessions(ctx, tip)
	if !ok {
		return c
	}
	var err error
	if c.parents, err = f.repo().AllParents(ctx, all); err != nil || len(c.parents) != len(all) { // of one that is gone it cannot be told
		return c
	}
	c.files, err = f.top().Touched(ctx, all)
	c.known = err == nil
	return c
}

// top is the repository, called at the top of the work tree.
func (f *foreign) top() git.Repo {
	return git.At(filepath.Join(paths.Canonical(f.Project.Root), filepath.FromSlash(f.at.Up)), f.Environ)
}

// attributesOf is the commit whose attributes say how git writes the files of a tip: what the session found, where
// it changed them itself.
func (f *foreign) attributesOf(tip string, w work) string {
	if w.attributes {
		return f.base.Head
	}
	return tip
}

// resolved lists those of some files that a merge has otherwise than git makes them of its parents.
func (f *foreign) resolved(ctx context.Context, merge string, parents, names []string) (otherwise []string, err error) {
	has, err := f.repo().Listed(ctx, merge, names...)
	if err != nil {
		return nil, err
	}
	merged, err := f.aside.Merge(ctx, parents[0], parents[1], names)
	for _, name := range names {
		if merged.Conflicts[name] || merged.Files[name] != has[name] {
			otherwise = append(otherwise, name)
		}
	}
	return otherwise, err
}

// sessions lists the commits of the session.
func (f *foreign) sessions(ctx context.Context, tip string) (all []string, ok bool) {
	repo, tree, b := f.repo(), f.worktree(), f.base
	commits := map[string]bool{}
	made, err := tree.Made(ctx, position(f.at), b.since())
	if err != nil {
		return nil, false
	}
	for _, id := range made {
		commits[id] = true
	}

	old := []string{b.Head}
	if b.Unseen {
		if where, err := tree.Position(ctx, change.Scope{Base: f.Project.Config.Gauntlet.BaseBranch}); err == nil && where.BaseCommit != "" {
			old = append(old, where.BaseCommit)
		}
	}

	beyond, err := repo.Beyond(ctx, tip, old, !b.Unseen, maxCommits+1)
	if err != nil {
		return nil, false
	}
	for _, c := range beyond {
		if b.Unseen || !c.Time.Before(b.Began.Truncate(time.Second)) {
			commits[c.ID] = true
		}
	}
	if len(commits) > maxCommits {
		return nil, false
	}

	written, err := repo.Authored(ctx, tree.Picked(position(f.at), b.since()))
	if err != nil {
		return nil, false
	}
	for id, when := range written {
		if when.Before(b.Began.Truncate(time.Second)) {
			delete(commits, id)
		}
	}
	return slices.Collect(maps.Keys(commits)), true
}

// position is where a worktree stands, for what asks its reflog.
func position(at git.Location) change.Position {
	return change.Position{Git: true, GitDir: filepath.FromSlash(at.GitDir), Head: at.Head}
}

func (b *base) since() change.Start { return change.Start{Time: b.Began, Reflog: b.Reflog} }
