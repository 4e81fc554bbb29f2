package workspace

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/control/engine"
	"github.com/stopgate/stopgate/internal/sys/disk"
	"github.com/stopgate/stopgate/internal/sys/git"
	"github.com/stopgate/stopgate/internal/sys/paths"
	"github.com/stopgate/stopgate/internal/sys/pause"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// makeWorktree makes a branch, registers a worktree for it and fills that. What it is about to make is
// on record before.
func (w held) makeWorktree(ctx context.Context, r record, t engine.WorkspaceTask) (engine.WorkspaceMade, error) {
	top, found := paths.GitRoot(t.Project)
	if !found {
		return engine.WorkspaceMade{}, failed("%s is not in a git repository: use workspace = { folder = \"copy\" }, or git init", t.Project)
	}
	repo := w.repo(top)
	r.Repo, r.Branch = top, t.Branch
	if err := w.alone(top, func() error { return w.register(ctx, repo, &r, t) }); err != nil {
		return engine.WorkspaceMade{}, err
	}
	if err := w.repo(r.Dir).Checkout(ctx); err != nil {
		return engine.WorkspaceMade{}, fmt.Errorf("check out %q: %w", r.Branch, unwritten(err))
	}
	if !disk.IsDir(filepath.Join(r.Dir, filepath.FromSlash(t.Within))) {
		return engine.WorkspaceMade{}, failed("%q has no directory %q, where the project is: commit it, or choose another base", t.Base, t.Within)
	}

	r.State = ready
	if err := w.write(r); err != nil {
		return engine.WorkspaceMade{}, err
	}
	return engine.WorkspaceMade{Commit: r.Commit, Note: w.missing(ctx, repo, r)}, nil
}

// unwritten adds the usual cause to an error for which git does not say why.
func unwritten(err error) error {
	if strings.Contains(err.Error(), "unable to write file") {
		return fmt.Errorf("%w (is the disk full?)", err)
	}
	return err
}

// register makes the branch and the worktree, in which nothing is checked out yet.
func (w held) register(ctx context.Context, repo git.Repo, r *record, t engine.WorkspaceTask) error {
	if err := w.choose(ctx, repo, r, t); err != nil {
		return unborn(ctx, repo, err)
	}
	if err := w.write(*r); err != nil {
		return err
	}
	if r.Branched {
		err := locked(ctx, func() error {
			return repo.CreateBranch(ctx, r.Branch, r.Commit, "stopgate: workspace "+filepath.Base(r.Dir))
		})
		if err != nil {
			return fmt.Errorf("create branch %q: %w", r.Branch, err)
		}
	}
	return locked(ctx, func() error { return repo.AddWorktree(ctx, r.Dir, r.Branch) })
}

// choose finds the commit to start from, and whether the branch is to be made.
func (w held) choose(ctx context.Context, repo git.Repo, r *record, t engine.WorkspaceTask) error {
	switch is, err := repo.IsBranchName(ctx, t.Branch); {
	case errors.Is(err, git.ErrNotInstalled):
		return failed("git was not found on the PATH that the daemon was started with")
	case err != nil:
		return err
	case !is:
		return failed("%s is not a valid branch name: change the branch of the workspace", plain.Name(t.Branch))
	}

	tip, _, err := repo.Commit(ctx, "refs/heads/"+t.Branch)
	switch {
	case err == nil && !t.Again:
		return w.taken(ctx, repo, t.Branch)
	case err == nil:
		r.Commit = tip
		return w.free(ctx, repo, t.Branch)
	case !errors.Is(err, git.ErrNoSuchRef):
		return err
	}

	r.Branched = true
	r.Commit, err = Base(ctx, repo, t.Base)
	if errors.Is(err, git.ErrNoSuchRef) {
		return failed("the base %s does not exist in %s: fetch it, or choose another base", plain.Name(t.Base), r.Repo)
	}
	return err
}

// Base is the commit that the name of a base means: a branch first, then whatever else it is, then a branch of the
// remote, as in a fresh clone.
func Base(ctx context.Context, repo git.Repo, name string) (commit string, err error) {
	if name == "" {
		name = "HEAD"
	}
	for _, revision := range []string{"refs/heads/" + name, name, "refs/remotes/origin/" + name} {
		if commit, _, err = repo.Commit(ctx, revision); !errors.Is(err, git.ErrNoSuchRef) {
			return commit, err
		}
	}
	return "", err
}

// unborn is the error of a repository without a commit, which has no base.
func unborn(ctx context.Context, repo git.Repo, err error) error {
	if _, _, none := repo.Commit(ctx, "HEAD"); err != nil && errors.Is(none, git.ErrNoSuchRef) {
		if name, branch := repo.UnbornBranch(ctx); branch == nil && name != "" {
			return failed("the repository has no commit on %s yet: commit something first", plain.Name(name))
		}
	}
	return err
}

// taken says what has the branch that is there already.
func (w held) taken(ctx context.Context, repo git.Repo, branch string) error {
	all, err := worktrees(ctx, repo)
	if err != nil {
		return err
	}
	name := plain.Name(branch)
	i := slices.IndexFunc(all, func(t git.Worktree) bool { return t.Branch == branch })
	if i < 0 {
		return failed("branch %s already exists: if it was merged, delete it with git branch -d; or choose a name of its own, such as %s-${pipeline_id}", name, name)
	}
	if r, err := w.read(all[i].Dir); err == nil && filepath.Dir(all[i].Dir) == w.root && r.Owner != "" {
		return failed("branch %s is used by another pipeline or agent run (%s) in %s: wait for it, or choose a name of its own, such as %s-${pipeline_id}", name, r.Owner, all[i].Dir, name)
	}
	return failed("branch %s is checked out in %s: choose a name of its own, such as %s-${pipeline_id}", name, all[i].Dir, name)
}

// free finds out whether a branch of ours, which is there, can be checked out.
func (w held) free(ctx context.Context, repo git.Repo, branch string) error {
	all, err := worktrees(ctx, repo)
	if err != nil {
		return err
	}
	for _, t := range all {
		if t.Branch == branch {
			return failed("branch %s of the workspace is checked out in %s: switch to another branch there", plain.Name(branch), t.Dir)
		}
	}
	return nil
}

// lockPatience is how long others may hold a lock of the repository. Git's own is a second at most.
const lockPatience = 20 * time.Second

// locked does something that git may refuse because another process changes the repository.
func locked(ctx context.Context, do func() error) error {
	limited, cancel := context.WithTimeout(ctx, lockPatience)
	defer cancel()
	var err error
	for range pause.Doubling(limited, 50*time.Millisecond, time.Second) {
		if err = do(); err == nil || !passes(err) {
			return err
		}
	}
	if ctx.Err() != nil || err == nil {
		return context.Cause(ctx)
	}
	return fmt.Errorf("%w; another git process is at work in the repository, or was killed: remove the lock if none is", err)
}

// passes reports whether an error of git goes away when another process is done: it holds a lock, or makes
// a worktree.
func passes(err error) bool {
	text := err.Error()
	return strings.Contains(text, ".lock': File exists") || strings.Contains(text, "bad object refs/") || // a branch that was just deleted
		(strings.Contains(text, "/worktrees/") || strings.Contains(text, "/worktrees'")) && strings.Contains(text, "No such file or directory")
}

// worktrees are the worktrees of a repository. Git fails to list them while another process removes one.
func worktrees(ctx context.Context, repo git.Repo) (all []git.Worktree, err error) {
	err = locked(ctx, func() (err error) { all, err = repo.Worktrees(ctx); return err })
	return all, err
}

// missing says what the project has and the worktree has not.
func (w held) missing(ctx context.Context, repo git.Repo, r record) string {
	var notes []string
	if status, err := repo.Status(ctx); err == nil {
		if n := len(status.Changed) + len(status.Untracked); n > 0 {
			notes = append(notes, counted(n, "uncommitted change")+" in "+r.Repo+" not in it")
		}
	}
	if modules := submodules(ctx, w.repo(r.Dir)); len(modules) > 0 {
		notes = append(notes, "submodules are not checked out: run git submodule update --init in the first step")
	}
	return strings.Join(notes, "; ")
}

// submodules are the paths of a worktree's submodules.
func submodules(ctx context.Context, repo git.Repo) (all []string) {
	blobs, _ := repo.Blobs(ctx) // what cannot be listed is told by others
	for name, blob := range blobs {
		if blob.Mode == gitlink {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return all
}

// gitlink is the mode of a submodule in the index.
const gitlink = "160000"

// clearWorktree makes git forget a worktree whose directory is gone, and removes its branch where that
// is ours and nothing was committed to it.
func (w held) clearWorktree(ctx context.Context, r record) error {
	repo := w.repo(r.Repo)
	if !disk.IsDir(r.Repo) {
		return nil // with the repository all of it is gone
	}

	all, err := worktrees(ctx, repo)
	if errors.Is(err, git.ErrNotRepository) {
		return nil
	}
	if err != nil {
		return err
	}

	for _, t := range all {
		if t.Dir == r.Dir || disk.Same(t.Dir, r.Dir) {
			if err := locked(ctx, func() error { return repo.DropWorktree(ctx, t.Dir) }); err != nil {
				return err
			}
		}
	}
	if err := dropLeftover(r); err != nil {
		return err
	}

	if !r.Branched || slices.ContainsFunc(all, func(t git.Worktree) bool { return t.Branch == r.Branch && t.Dir != r.Dir }) {
		return nil
	}
	tip, _, err := repo.Commit(ctx, "refs/heads/"+r.Branch)
	if err != nil || tip != r.Commit {
		if errors.Is(err, git.ErrNoSuchRef) {
			err = nil
		}
		return err
	}
	return locked(ctx, func() error { return repo.DeleteBranch(ctx, r.Branch, r.Commit) })
}

// dropLeftover removes what git keeps for a worktree and does not list, because it was killed before
// or after that was whole. The name is ours alone.
func dropLeftover(r record) error {
	common, _, found := paths.Repository(r.Repo)
	if !found {
		return nil
	}
	kept := filepath.Join(common, "worktrees", filepath.Base(r.Dir))
	if of := paths.WorktreeOf(kept); of != "" && of != r.Dir {
		return nil
	}
	return removeAll(kept)
}

// left says what stays of a workspace that is removed.
func (w held) left(ctx context.Context, r record) string {
	if r.Branch == "" {
		return ""
	}
	repo := w.repo(r.Repo)
	tip, _, err := repo.Commit(ctx, "refs/heads/"+r.Branch)
	if err != nil || tip == r.Commit && r.Branched {
		return ""
	}
	if n, err := repo.Ahead(ctx, r.Commit, tip); err == nil && n > 0 {
		return fmt.Sprintf("branch %s has %s", r.Branch, counted(n, "commit"))
	}
	return "branch " + r.Branch + " stays"
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
