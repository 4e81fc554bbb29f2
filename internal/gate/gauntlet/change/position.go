package change

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/stopgate/stopgate/internal/sys/disk"
	"github.com/stopgate/stopgate/internal/sys/git"
	"github.com/stopgate/stopgate/internal/sys/paths"
	"github.com/stopgate/stopgate/internal/sys/regular"
)

// Position is where the working tree stands.
type Position struct {
	// Git means that there is a repository and that git can read it.
	Git bool
	// Note says, for a person, why everything counts as changed. It is empty
	// where only some of it does.
	Note string

	Toplevel string // of the repository's work tree
	Prefix   string // of the project's root below it: "" or "a/b/"
	GitDir   string // absolute

	Head   string // commit; empty before the first one
	Branch string // short name, also before the first commit; HEAD when detached

	Base       string // the ref that was used
	BaseCommit string // empty: there is none
	MergeBase  string // empty: there is none
	// Landed says, for a person, that the base that was asked for has the commit already, and what Base is instead.
	Landed string
}

// BaseError is a base that a person named and that cannot be used.
type BaseError struct{ Base, Hint string }

func (e *BaseError) Error() string { return fmt.Sprintf("no such ref: %s", e.Base) }

// Position finds out where the tree stands. That there is no repository, or none
// that git can read, is no error: then everything counts as changed. That git is
// missing although there is a repository is one (git.ErrNotInstalled).
func (w *Worktree) Position(ctx context.Context, scope Scope) (Position, error) {
	return w.PositionBeside(ctx, scope, nil)
}

// PositionBeside is Position beside a look at the tree, which tree waits for: what git has listed there need not be asked
// for again.
func (w *Worktree) PositionBeside(ctx context.Context, scope Scope, tree func() (Tree, error)) (Position, error) {
	location, base, err := w.locate(ctx, scope)
	if err == nil && !location.Inside {
		err = &git.Error{Command: "rev-parse", Message: "not a working tree"}
	}
	if err == nil && location.Up != "" {
		err = w.ignored(ctx, tree)
	}
	if err != nil {
		return w.lost(scope, err)
	}

	p := Position{
		Git: true, GitDir: filepath.FromSlash(location.GitDir), Head: location.Head,
		Toplevel: filepath.Join(w.root, filepath.FromSlash(location.Up)), Prefix: location.Prefix(w.root),
	}
	if p.Head == "" {
		return w.unborn(ctx, scope, p)
	}

	p.Branch = strings.TrimPrefix(location.Branch, "refs/heads/")
	if base != "" {
		p.Head, p.Base, p.BaseCommit, p.MergeBase = location.Tip, base, location.Base, location.Merge
	}
	if scope.Explicit && base == "" {
		return Position{}, &BaseError{scope.Base, "see git branch --all, or run git fetch"}
	}

	switch {
	case !scope.needsBase():
	case scope.CI && scope.Before != "" && p.MergeBase != "" && p.MergeBase == p.Head:
		return w.landed(ctx, scope, p)
	default:
		p.Note = p.without(scope)
	}
	return p, nil
}

// landed is the position of a commit that the base has already: what the push brought counts, and where
// that is not known, everything. A push can also go back to an older commit.
func (w *Worktree) landed(ctx context.Context, scope Scope, p Position) (Position, error) {
	at, err := w.repo.Locate(ctx, scope.Before, p.Head)
	if err != nil {
		return p, err
	}
	has := p.Base + " already has this commit"
	if !at.Complete || at.Merge == "" || at.Merge == p.Head {
		p.Base, p.BaseCommit, p.MergeBase = "", "", ""
		p.Note = has + ", and what it had before is not known here, so every file counts as changed"
		return p, nil
	}
	p.Base, p.BaseCommit, p.MergeBase = scope.Before, at.Base, at.Merge
	p.Landed = fmt.Sprintf("%s, so changes are counted from %s", has, scope.Before)
	return p, nil
}

func (s Scope) needsBase() bool { return s.Commit == "" && !s.Uncommitted }

// without says what is missing to tell changes from what was there before.
func (p Position) without(scope Scope) string {
	switch {
	case p.Base == "" && scope.Base == "":
		return "base origin/main not found, so every file counts as changed (set base_branch)"
	case p.Base == "":
		return fmt.Sprintf("base %s not found, so every file counts as changed (set base_branch)", scope.Base)
	case p.MergeBase == "":
		return fmt.Sprintf("HEAD and %s have no commit in common (is the clone shallow?), so every file counts as changed", p.Base)
	}
	return ""
}

// Baseless reports whether every file counts as changed for want of a base.
func (p Position) Baseless() bool { return p.Head != "" && p.Note != "" }

// locate looks for the first base that exists. The name that comes with the
// location is empty if none does.
func (w *Worktree) locate(ctx context.Context, scope Scope) (at git.Location, base string, err error) {
	for i, c := range scope.candidates() {
		if c.base == originHead && !w.mayHaveOriginHead() || i > 0 && at.Head != "" && c.base == git.OriginMain && !at.HasOriginMain {
			continue // it is not there, and a call of git takes milliseconds
		}
		at, err = w.repo.Locate(ctx, c.base, c.tip)
		if err != nil || !at.Inside || at.Head == "" {
			return at, "", err
		}
		if at.Complete {
			if c.base == originHead && at.BaseRef != "" {
				c.base = at.BaseRef
			}
			return at, strings.TrimPrefix(c.base, "refs/remotes/"), nil
		}
	}
	if at.Branch = headOf(at.GitDir); at.Head == "" || at.Branch == "" {
		at, err = w.repo.Locate(ctx, "", "HEAD")
	}
	return at, "", err
}

// mayHaveOriginHead reports whether the remote's default branch can be known. Git
// keeps it in a file of its own, unless refs are tables or the repository is
// elsewhere.
func (w *Worktree) mayHaveOriginHead() bool {
	top, found := paths.GitRoot(w.root)
	dir := filepath.Join(top, ".git")
	if !found || !disk.IsDir(dir) {
		return true
	}
	return disk.Exists(filepath.Join(dir, "reftable")) || disk.Exists(filepath.Join(dir, filepath.FromSlash(originHead)))
}

// headOf is the branch that a git directory's HEAD names; empty where only git
// can say.
func headOf(gitDir string) string {
	text, _ := regular.Read(filepath.Join(gitDir, "HEAD"), 4<<10) // git knows what cannot be read
	branch, found := strings.CutPrefix(strings.TrimSuffix(string(text), "\n"), "ref: ")
	if !found || !strings.HasPrefix(branch, "refs/heads/") || branch == "refs/heads/.invalid" {
		return ""
	}
	return branch
}

// originHead is the remote's default branch.
const originHead = "refs/remotes/origin/HEAD"

type candidate struct{ base, tip string }

// candidates are what may serve as a base, the best first.
func (s Scope) candidates() (list []candidate) {
	bases := []string{s.Base}
	switch {
	case s.Base == "":
		bases = []string{originHead, git.OriginMain}
	case s.CI && !s.Explicit: // a checkout has no branch but its own
		bases = append(bases, "refs/remotes/origin/"+s.Base)
	}
	tips := []string{"HEAD"}
	if s.CI && s.Head != "" { // a checkout of a pull request's own commit does not have the merge that CI names
		tips = []string{s.Head, "HEAD"}
	}
	for _, tip := range tips {
		for _, base := range bases {
			list = append(list, candidate{base, tip})
		}
	}
	if s.CI && !s.Explicit {
		list = append(list, candidate{cmp.Or(s.Before, "HEAD^"), "HEAD"})
	}
	return list
}

func (w *Worktree) unborn(ctx context.Context, scope Scope, p Position) (Position, error) {
	if scope.Explicit {
		if _, _, err := w.repo.Commit(ctx, scope.Base); errors.Is(err, git.ErrNoSuchRef) {
			return Position{}, &BaseError{scope.Base, "there are no commits yet"}
		}
	}
	p.Note = "no commits yet, so every file counts as changed"
	branch, err := w.repo.UnbornBranch(ctx)
	p.Branch = branch
	return p, err
}

// lost is the position of a tree that git does not know.
func (w *Worktree) lost(scope Scope, err error) (Position, error) {
	note := "git failed: " + err.Error()
	failed := (*git.Error)(nil)
	switch {
	case w.noRepository(err):
		note = "no git repository, so every file counts as changed"
	case errors.Is(err, errIgnored):
		note = "git ignores the whole project, so every file counts as changed"
	case !errors.As(err, &failed) && !errors.Is(err, git.ErrNotRepository):
		return Position{}, err // git did not even run
	}
	if scope.Explicit {
		return Position{}, &BaseError{scope.Base, note}
	}
	return Position{Note: note}, nil
}

// errIgnored means that a repository around the project has nothing of it: the project is not in that repository, but
// in a folder that it ignores, as a home with dotfiles does. Git would never see a change in it.
var errIgnored = errors.New("git ignores the project")

// ignored is errIgnored where that is so.
func (w *Worktree) ignored(ctx context.Context, tree func() (Tree, error)) error {
	if tree != nil {
		switch seen, err := tree(); {
		case err != nil:
			return err
		case seen.holding == nothing:
			return errIgnored
		case seen.holding == something:
			return nil
		}
	}
	if files, err := w.repo.Files(ctx); err != nil || files.HasBelow() {
		return err
	}
	return errIgnored
}

// noRepository reports whether err means that there is none, so that git has
// nothing to say. One that is there and damaged is something else.
func (w *Worktree) noRepository(err error) bool {
	if !errors.Is(err, git.ErrNotRepository) && !errors.Is(err, git.ErrNotInstalled) {
		return false
	}
	_, found := paths.GitRoot(w.root)
	return !found
}

// Reachable reports whether commit is part of the history of tip.
func (w *Worktree) Reachable(ctx context.Context, commit, tip string) (bool, error) {
	return w.repo.Reachable(ctx, commit, tip)
}
