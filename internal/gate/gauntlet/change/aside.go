package change

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/sys/paths"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// Aside says what a session has put where no gate looks: commits on other branches, a stash,
// and files that rules of the session's own make git ignore. files are those that changed.
func (w *Worktree) Aside(ctx context.Context, scope Scope, p Position, since Start, files []string) (all []string) {
	if !p.Git || since.Time.IsZero() {
		return nil
	}
	if branches := w.branches(ctx, scope, p); len(branches) > 0 {
		all = append(all, "commits on "+list(branches))
	}
	if newer(stashLog(w.common(p)), since.Time) {
		all = append(all, "a stash (git stash list)")
	}
	if ignored := w.ignored(ctx, p, since.Time, files); len(ignored) > 0 {
		all = append(all, "files that git ignores by a new rule ("+list(ignored)+")")
	}
	return all
}

// AsideStamp changes when Aside may say something else although the tree is the same.
func (w *Worktree) AsideStamp(p Position) string {
	return stampOf(append(w.ruleFiles(p), stashLog(w.common(p))))
}

func stashLog(common string) string { return filepath.Join(common, "logs", "refs", "stash") }

// stampOf changes when one of the files does.
func stampOf(files []string) (stamp string) {
	for _, file := range files {
		if info, err := os.Stat(file); err == nil {
			stamp += fmt.Sprint(info.Size(), info.ModTime().UnixNano(), " ")
		}
	}
	return stamp
}

// branches are those that have a commit of the session's that HEAD does not have.
func (w *Worktree) branches(ctx context.Context, scope Scope, p Position) (names []string) {
	outside, err := w.repo.Outside(ctx, scope.Made, p.Head)
	if err != nil {
		return nil // it is only told
	}
	const most = 100 // on the command line; the latest
	names, _ = w.repo.BranchesWith(ctx, outside[max(0, len(outside)-most):]...)
	return names
}

// ignored are the files that were written since a moment and that git ignores, where the
// rules are as new.
func (w *Worktree) ignored(ctx context.Context, p Position, since time.Time, changed []string) (names []string) {
	rules := slices.ContainsFunc(w.ruleFiles(p), func(file string) bool { return newer(file, since) })
	for _, name := range changed {
		rules = rules || path.Base(name) == ".gitignore" && newer(w.abs(name), since)
	}
	if !rules {
		return nil
	}
	all, _ := w.repo.IgnoredPlaces(ctx) // it is only told
	for _, name := range all {
		if w.holds(strings.TrimSuffix(name, "/")) && newer(w.abs(name), since) {
			names = append(names, name)
		}
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
