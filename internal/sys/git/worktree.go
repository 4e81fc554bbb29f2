package git

import (
	"context"
	"errors"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/stopgate/stopgate/internal/sys/environ"
)

// What follows writes to the repository: it makes and removes branches and worktrees. No hook of the
// repository runs for it, since hooks may come with what is checked out, and nothing goes on in the
// background.

// Holding is the repository with a file that git keeps open as long as it runs: the lock on it is held
// until then, also when we are killed.
func (r Repo) Holding(file *os.File) Repo {
	r.held = file
	return r
}

// change is write for a command that takes milliseconds. Killed in the middle, it would leave a lock
// behind that keeps all others out.
func (r Repo) change(ctx context.Context, args ...string) error {
	r.brief = true
	return r.write(ctx, args...)
}

// write is run for a command that changes something. Each is one process: git's own children would go
// on when it is killed.
func (r Repo) write(ctx context.Context, args ...string) error {
	settings := []string{"-c", "core.hooksPath=" + os.DevNull, "-c", "gc.auto=0", "-c", "maintenance.auto=false"}
	r.env = environ.Without(r.env, func(name string) bool { return name == workTreeVariable }) // it may make another one
	_, err := r.exec(ctx, nil, &strings.Builder{}, func() {}, slices.Concat(settings, args)...)
	if failed, ok := errors.AsType[*Error](err); ok {
		failed.Command = args[0]
	}
	return err
}

const heads = "refs/heads/"

// IsBranchName reports whether git takes a name for a branch.
func (r Repo) IsBranchName(ctx context.Context, name string) (bool, error) {
	if name == "HEAD" || strings.HasPrefix(name, "-") || strings.ContainsRune(name, 0) {
		return false, nil
	}
	_, err := r.output(ctx, "check-ref-format", heads+name)
	if code(err) > 0 {
		return false, nil
	}
	return err == nil, err
}

// CreateBranch makes a branch at a commit, which must be an id that git gave. It fails where there is a
// branch of that name. The message stands in the branch's log.
func (r Repo) CreateBranch(ctx context.Context, name, commit, message string) error {
	return r.change(ctx, "update-ref", "--create-reflog", "-m", message, heads+name, commit, strings.Repeat("0", len(commit)))
}

// DeleteBranch removes a branch that is at a commit. It fails where the branch has moved on.
func (r Repo) DeleteBranch(ctx context.Context, name, commit string) error {
	return r.change(ctx, "update-ref", "-d", heads+name, commit)
}

// AddWorktree registers a worktree for a branch that no other one has. Nothing is checked out in it.
func (r Repo) AddWorktree(ctx context.Context, dir, branch string) error {
	return r.change(ctx, "worktree", "add", "--quiet", "--no-checkout", "--", dir, branch)
}

// Checkout puts the files of HEAD into the worktree, in place of what is there.
func (r Repo) Checkout(ctx context.Context) error {
	return r.write(ctx, "reset", "--hard", "--quiet", "--no-recurse-submodules")
}

// DropWorktree forgets a worktree whose directory is gone, also one that is locked.
func (r Repo) DropWorktree(ctx context.Context, dir string) error {
	return r.change(ctx, "worktree", "remove", "--force", "--force", "--", dir)
}

// Worktree is one of a repository.
type Worktree struct {
	Dir    string
	Branch string // without refs/heads/; empty when detached
	Locked bool
	Reason string // of the lock
}

// Worktrees lists those of the repository, the main one first. Git before 2.36 has no way to list a
// directory with a newline in its name.
func (r Repo) Worktrees(ctx context.Context) (all []Worktree, err error) {
	out, err := r.output(ctx, "worktree", "list", "--porcelain")
	for line := range strings.Lines(out) {
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if key == "worktree" {
			all = append(all, Worktree{Dir: value})
		}
		if len(all) == 0 {
			continue
		}
		switch last := &all[len(all)-1]; key {
		case "branch":
			last.Branch = strings.TrimPrefix(value, heads)
		case "locked":
			last.Locked, last.Reason = true, value
		}
	}
	return all, err
}

// Loose counts the commits that only this worktree holds, by its HEAD or its own refs: they go when it
// is removed.
func (r Repo) Loose(ctx context.Context) (int, error) {
	own := []string{"refs/worktree", "refs/bisect", "refs/rewritten"}
	args := []string{"rev-list", "--count", "HEAD"}
	for _, refs := range own {
		args = append(args, "--glob="+refs)
	}
	args = append(args, "--not")
	for _, refs := range own {
		args = append(args, "--exclude="+refs+"/*")
	}
	return r.count(ctx, append(args, "--glob=refs/", "--")...)
}

// Unpushed counts the commits that the repository holds, by its refs or HEAD, and no remote of it does.
func (r Repo) Unpushed(ctx context.Context) (int, error) {
	return r.count(ctx, "rev-list", "--count", "HEAD", "--all", "--not", "--remotes", "--")
}

// Ahead counts the commits of tip that are not part of the history of from. Both must be ids that git
// gave.
func (r Repo) Ahead(ctx context.Context, from, tip string) (int, error) {
	return r.count(ctx, "rev-list", "--count", tip, "--not", from, "--")
}

// Subjects are the abbreviated ids and first lines of the commits of HEAD that are not part of the
// history of from, the newest first and no more than most. It must be an id that git gave.
func (r Repo) Subjects(ctx context.Context, from string, most int) ([]string, error) {
	out, err := r.output(ctx, "log", "--no-show-signature", "--no-color", "--format=%h %s", "--max-count="+strconv.Itoa(most), "HEAD", "--not", from, "--")
	if err != nil || out == "" {
		return nil, err
	}
	return strings.Split(strings.TrimSuffix(out, "\n"), "\n"), nil
}

func (r Repo) count(ctx context.Context, args ...string) (int, error) {
	out, err := r.output(ctx, args...)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(out))
}
