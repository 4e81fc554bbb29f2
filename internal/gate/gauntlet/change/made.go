package change

import (
	"context"
	"regexp"
	"slices"
	"time"

	"github.com/stopgate/stopgate/internal/sys/git"
	"github.com/stopgate/stopgate/internal/sys/lazyregexp"
	"github.com/stopgate/stopgate/internal/sys/paths"
)

// Made lists the commits of a session: those that were made in this worktree since it began,
// those of the user that it brought here from other places of this machine, and those that it
// made in other worktrees. What came by a pull or a checkout is by others.
func (w *Worktree) Made(ctx context.Context, p Position, since Start) ([]string, error) {
	if !p.Git || since.Time.IsZero() {
		return nil, nil
	}
	all, whole := moves(p.GitDir, since)
	commits := slices.Concat(made(all, makes.Get()), since.Elsewhere)
	brought := slices.DeleteFunc(all, func(m move) bool { return alone.Get().MatchString(m.what) && !merges.Get().MatchString(m.what) })
	if head := since.Reflog.Head; !whole && head != "" && head != p.Head {
		brought = append(brought, w.unlogged(ctx, since.Reflog, p.Head))
	}
	own, err := w.own(ctx, brought, since.Time)
	return append(commits, own...), err
}

// unlogged is the move from the HEAD that the session found to the one now, for moves that no reflog shows. If git never kept a
// reflog here, the agent did not remove it, and only commits by the user count as the session's.
func (w *Worktree) unlogged(ctx context.Context, since Reflog, head string) move {
	m := move{from: since.Head, to: head}
	if since.Size == 0 {
		m.email = w.repo.Committer(ctx)
	}
	return m
}

// MadeAt lists the commits that the reflog of the worktree at root shows were made there since
// a session began.
func MadeAt(root string, since Start) []string {
	gitDir, found := paths.GitDir(root)
	if !found || since.Time.IsZero() {
		return nil
	}
	all, _ := moves(gitDir, since)
	return made(all, makes.Get())
}

// Picked lists those of Made that a rebase took over as they were.
func (w *Worktree) Picked(p Position, since Start) []string {
	all, _ := moves(p.GitDir, since)
	return made(all, picks.Get())
}

// makes are what git writes into the reflog when it makes a commit.
var makes = lazyregexp.New(`^(commit|cherry-pick|revert|am\b|(merge|pull)\b[^:]*: Merge made|(rebase|pull)[^:]*\((pick|squash|fixup|reword|edit|continue)\))`)

// picks are what a rebase writes into it for a commit that it takes over as it is.
var picks = lazyregexp.New(`^(rebase|pull)[^:]*\(pick\)`)

// alone are what it writes when nothing is brought here from this machine: HEAD has one commit
// more, goes to another branch, or to what a remote had.
var alone = lazyregexp.New(`^(commit|cherry-pick|revert|am\b|rebase|pull|clone|checkout|fetch|Branch|(merge|reset: moving to) (refs/remotes|origin|upstream)/)`)

// merges is what it writes for a merge with conflicts.
var merges = lazyregexp.New(`^commit \(merge\)`)

// made lists the commits that moves of some kind led to.
func made(all []move, kind *regexp.Regexp) (commits []string) {
	for _, m := range all {
		if kind.MatchString(m.what) {
			commits = append(commits, m.to)
		}
	}
	return commits
}

// own lists the commits that moves brought and that are as young as the session, by the user
// who moved HEAD; by anyone where that is not known.
func (w *Worktree) own(ctx context.Context, brought []move, since time.Time) (commits []string, err error) {
	if len(brought) == 0 {
		return nil, nil
	}
	var tips []string
	for _, m := range brought {
		tips = append(tips, m.to)
	}
	history, err := w.repo.History(ctx, tips, brought[0].from, since.Truncate(time.Second))
	if err != nil {
		return nil, err
	}
	for _, m := range brought {
		before := reach(history, m.from)
		for id := range reach(history, m.to) {
			if c := history[id]; !before[id] && (m.email == "" || m.email == c.Email) {
				commits = append(commits, id)
			}
		}
	}
	slices.Sort(commits)
	return slices.Compact(commits), nil
}

// reach are the commits of a history that one comes from, with itself.
func reach(history map[string]git.Past, tip string) map[string]bool {
	seen := map[string]bool{}
	for next := []string{tip}; len(next) > 0; {
		id := next[len(next)-1]
		next = next[:len(next)-1]
		if past, known := history[id]; known && !seen[id] {
			seen[id] = true
			next = append(next, past.Parents...)
		}
	}
	return seen
}
