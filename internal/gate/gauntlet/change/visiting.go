package change

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/sys/git"
	"github.com/stopgate/stopgate/internal/sys/lazyregexp"
)

// Visiting reports whether HEAD has only gone to commits of others, by a checkout or a pull, since the session found or left a
// tree in which it has altered nothing. In a worktree that git made in the session nothing was found: its files have to be those
// of its commit. A commit is by others if the session did not make it, see Made, and if it is older than the session, or another
// user made it and a remote has it. What cannot be told is the session's.
func (w *Worktree) Visiting(ctx context.Context, scope Scope, p Position, t Tree, found Baseline, since Start) bool {
	if !p.Git || p.Head == p.MergeBase || since.Time.IsZero() {
		return false
	}
	all, whole := moves(p.GitDir, since)
	if !whole || len(all) == 0 || all[len(all)-1].to != p.Head {
		return false
	}

	isNew := found.Tree == ""
	from := p.MergeBase
	if !isNew {
		was, err := w.kept(found)
		if err != nil {
			return false
		}
		from = was.heads[""]
	}
	if isNew && !all[0].begins() || !onlyVisits(all, from) {
		return false
	}

	own, _, err := w.within(ctx, scope.Made, p.Head)
	return err == nil && len(own) == 0 && w.areOthers(ctx, p.Head, from, all, since.Time) && (!isNew || w.isCommit(ctx, t, p.Head))
}

// visits are what git writes into the reflog when HEAD goes to commits that were there, or to what a remote had. The commits
// that it makes are Made. By a reset or a rebase a branch may lose some, and a merge is for the session to answer for.
var visits = lazyregexp.New(`^(checkout|pull|fetch|commit|cherry-pick|revert|am\b|Branch|merge (refs/remotes|origin|upstream)/)`)

// joins is what it writes when a pull or a fetch brings a branch of the same repository, and ofRemote when that is one that a
// remote had.
var (
	joins    = lazyregexp.New(`^(pull|fetch)[^:]* \.( |:)`)
	ofRemote = lazyregexp.New(`^[^:]* \. (refs/remotes|origin|upstream)/`)
)

// onlyVisits reports whether all moves since HEAD was at a commit, or since there is a log of it, are visits.
func onlyVisits(all []move, from string) bool {
	for _, m := range slices.Backward(all) {
		if m.from != m.to && !m.begins() && !m.isVisit() {
			return false
		}
		if m.from == from {
			break
		}
	}
	return true
}

// isVisit reports whether HEAD has gone to a commit that another made, as far as the reflog says what was done.
func (m move) isVisit() bool {
	if joins.Get().MatchString(m.what) && !ofRemote.Get().MatchString(m.what) {
		return false
	}
	return visits.Get().MatchString(m.what)
}

// begins reports whether a move is the one with which git makes a worktree.
func (m move) begins() bool { return strings.Trim(m.from, "0") == "" && m.what == "" }

// areOthers reports whether the commits that tip has and from does not are older than a moment, or those of other users than
// the one who moved HEAD, and a remote has them.
func (w *Worktree) areOthers(ctx context.Context, tip, from string, all []move, since time.Time) bool {
	since = since.Truncate(time.Second)
	young, err := w.repo.History(ctx, []string{tip}, from, since)
	if err != nil || len(young) == 0 {
		return err == nil
	}
	for _, commit := range young {
		if slices.ContainsFunc(all, func(m move) bool { return m.email == "" || m.email == commit.Email }) {
			return false
		}
	}

	const most = 10_000 // as many as History gives
	var before []string
	if from != "" {
		before = []string{from}
	}
	local, err := w.repo.Beyond(ctx, tip, before, true, most)
	return err == nil && !slices.ContainsFunc(local, func(commit git.Dated) bool { return !commit.Time.Before(since) })
}

// isCommit reports whether the files of the project in a tree are those of a commit, byte by byte, and no others.
func (w *Worktree) isCommit(ctx context.Context, t Tree, commit string) bool {
	blobs, err := w.repo.Listed(ctx, commit)
	if err != nil || !t.Exact {
		return false
	}
	maps.DeleteFunc(blobs, func(name string, blob git.Blob) bool { return blob.IsRepository() || !w.holds(name) })
	for _, file := range t.files {
		if !w.holds(file.path) {
			continue
		}
		blob, has := blobs[file.path]
		if !has || kindOf(blob) != file.stat.kind() || !w.isBlob(ctx, file.path, blob) {
			return false
		}
		delete(blobs, file.path)
	}
	return len(blobs) == 0
}
