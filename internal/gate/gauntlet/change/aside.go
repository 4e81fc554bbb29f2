package change

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/sys/disk"
	"github.com/stopgate/stopgate/internal/sys/paths"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// Aside says what a session has put where no gate looks: commits on other branches, a stash,
// and files that rules of the session's own make git ignore, also in the repositories within the tree.
func (w *Worktree) Aside(ctx context.Context, scope Scope, p Position, t Tree, since Start) (all []string) {
	if since.Time.IsZero() {
		return nil
	}
	if p.Git {
		if branches := w.branches(ctx, scope, p, since); len(branches) > 0 {
			all = append(all, "commits on "+list(branches))
		}
		all = append(all, left(w.root, w.common(p), "", since.Time)...)
	}
	for _, name := range t.repositories {
		if common, _, found := paths.Repository(w.abs(name)); found && w.holds(name) {
			all = append(all, left(w.abs(name), common, " in "+list([]string{name}), since.Time)...)
		}
	}
	if ignored := w.newlyIgnored(ctx, scope, p, t, since); len(ignored) > 0 {
		all = append(all, "files that git ignores by a new rule ("+list(ignored)+")")
	}
	return all
}

// left says what the repository of a directory has kept of work since a moment that is not in the worktree. where says in
// which repository.
func left(dir, common, where string, since time.Time) (all []string) {
	if anyNewer(stashes(common), since) {
		all = append(all, "a stash"+where+" (git stash list)")
	}
	if anyNewer(autostashes(dir), since) {
		all = append(all, "an autostash of a rebase or merge in progress"+where+" (git status)")
	}
	if anyNewer(waiting(dir), since) {
		all = append(all, "commits that wait in an unfinished cherry-pick, revert or am"+where+" (git status)")
	}
	return all
}

// AsideStamp changes when Aside may say something else although the tree is the same.
func (w *Worktree) AsideStamp(p Position, t Tree) (stamp string) {
	stamp = stampOf(slices.Concat(w.ruleFiles().files, stashes(w.common(p)))) + stampOf(unfinished(w.root))
	for _, name := range w.unlistedRules(t) {
		stamp += name + " " + stampOf([]string{w.abs(name)})
	}
	for _, name := range t.repositories {
		if common, _, found := paths.Repository(w.abs(name)); found {
			stamp += stampOf(slices.Concat(w.rulesWithin(w.abs(name)).files, stashes(common))) + stampOf(unfinished(w.abs(name)))
		}
	}
	return stamp
}

// stashes are the files by which a repository has stashes. One that is made by plumbing has no log.
func stashes(common string) []string {
	return []string{filepath.Join(common, "logs", "refs", "stash"), filepath.Join(common, "refs", "stash")}
}

// autostashes are the files in which a rebase or merge in progress names the commit that holds what was uncommitted in
// the worktree of a directory. When it ends, git takes the work back, or puts it into a stash.
func autostashes(dir string) []string {
	own, found := paths.GitDir(dir)
	if !found {
		return nil
	}
	return []string{
		filepath.Join(own, "rebase-merge", "autostash"), filepath.Join(own, "rebase-apply", "autostash"), filepath.Join(own, "MERGE_AUTOSTASH"),
	}
}

// waiting are the files that say how far a cherry-pick, revert or am in progress is in the worktree of a directory, if more
// commits or patches wait than the one at which it has stopped. What waits in a rebase is on the branch that it rewrites.
func waiting(dir string) (files []string) {
	own, found := paths.GitDir(dir)
	if !found {
		return nil
	}
	if todo := filepath.Join(own, "sequencer", "todo"); strings.Count(textOf(todo), "\n") > 1 {
		files = append(files, todo)
	}

	number := func(name string) int {
		n, _ := strconv.Atoi(strings.TrimSpace(textOf(filepath.Join(own, "rebase-apply", name)))) // there may be none
		return n
	}
	isAm := disk.Exists(filepath.Join(own, "rebase-apply", "applying"))
	if isAm && number("next") < number("last") {
		files = append(files, filepath.Join(own, "rebase-apply", "next"))
	}
	return files
}

// unfinished are the files of what is in progress in the worktree of a directory.
func unfinished(dir string) []string { return append(autostashes(dir), waiting(dir)...) }

// stampOf changes when one of the files does.
func stampOf(files []string) (stamp string) {
	for _, file := range files {
		if info, err := os.Stat(file); err == nil {
			stamp += fmt.Sprint(info.Size(), info.ModTime().UnixNano(), " ")
		}
	}
	return stamp
}

// branches are those that have a commit of the session's that HEAD does not have, and no HEAD had at which the gates
// passed. Where no branch here has it, a remote or a tag may.
func (w *Worktree) branches(ctx context.Context, scope Scope, p Position, since Start) (names []string) {
	outside, err := w.repo.Outside(ctx, scope.Made, append([]string{p.Head}, since.Passed...)...)
	if err != nil {
		return nil // it is only told
	}
	const most = 100 // on the command line; the latest
	outside = outside[max(0, len(outside)-most):]
	if names, err = w.repo.BranchesWith(ctx, outside...); err == nil && len(names) == 0 {
		names, _ = w.repo.SharedWith(ctx, outside...)
	}
	return names
}

// newer reports whether a file, or the link that leads to it, was written since a moment.
func newer(file string, since time.Time) bool {
	info, err := os.Stat(file)
	if err == nil && !info.ModTime().Before(since) {
		return true
	}
	link, err := os.Lstat(file)
	return err == nil && !link.ModTime().Before(since)
}

// anyNewer reports whether one of the files was written since a moment.
func anyNewer(files []string, since time.Time) bool {
	return slices.ContainsFunc(files, func(file string) bool { return newer(file, since) })
}

// common is what the worktrees of the repository share.
func (w *Worktree) common(p Position) string {
	if dir, _, found := paths.Repository(w.root); found {
		return dir
	}
	return p.GitDir
}

// list is the first few of many names.
func list(names []string) string {
	const most = 5
	if more := len(names) - most; more > 0 {
		return list(names[:most]) + fmt.Sprintf(" and %d more", more)
	}
	return plain.Line(strings.Join(names, ", "))
}
