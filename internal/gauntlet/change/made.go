package change

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/paths"
)

// Start is when a session began to work in a tree.
type Start struct {
	Time   time.Time // zero: not known
	Reflog int64     // how long the reflog of HEAD was; 0: not known, Time counts
}

// ReflogSize is how long the reflog of the worktree at root is; 0 where there is none.
func ReflogSize(root string) int64 {
	gitDir, found := paths.GitDir(root)
	if !found {
		return 0
	}
	info, err := os.Stat(filepath.Join(gitDir, "logs", "HEAD"))
	if err != nil {
		return 0
	}
	return info.Size()
}

// maxReflog bounds how much of a reflog is read, from its end.
const maxReflog = 1 << 20

// Made lists the commits that were made in this worktree since a session began, the oldest
// first. What came from elsewhere, by a pull, a checkout or a merge without conflicts, was
// not made here.
func (w *Worktree) Made(p Position, since Start) (commits []string) {
	if !p.Git || since.Time.IsZero() {
		return nil
	}
	file, err := os.Open(filepath.Join(p.GitDir, "logs", "HEAD"))
	if err != nil {
		return nil
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	known := since.Reflog > 0 && since.Reflog <= info.Size()
	from := max(0, info.Size()-maxReflog)
	if known {
		from = max(from, since.Reflog)
	}
	lines := bufio.NewScanner(io.NewSectionReader(file, from, info.Size()-from))
	lines.Buffer(nil, maxReflog)
	for lines.Scan() {
		commit, at := madeBy(lines.Text())
		if commit != "" && (known || !at.Before(since.Time.Truncate(time.Second))) {
			commits = append(commits, commit)
		}
	}
	return commits
}

// makes are what git writes into the reflog when it makes a commit.
var makes = regexp.MustCompile(`^(commit|cherry-pick|revert|am\b|merge [^:]*: Merge made|(rebase|pull)[^:]*\((pick|squash|fixup|reword|edit|continue)\))`)

// madeBy reads a line of a reflog: the ids before and after, who, when, and after a tab
// what was done. The commit is empty where none was made.
func madeBy(line string) (commit string, at time.Time) {
	head, what, _ := strings.Cut(line, "\t")
	fields := strings.Fields(head)
	if len(fields) < 4 || !makes.MatchString(what) {
		return "", at
	}
	seconds, err := strconv.ParseInt(fields[len(fields)-2], 10, 64)
	if err != nil {
		return "", at
	}
	return fields[1], time.Unix(seconds, 0)
}

// Aside says what a session has put where no gate looks: commits on other branches, a stash,
// and files that rules of the session's own make git ignore. files are those that changed.
func (w *Worktree) Aside(ctx context.Context, scope Scope, p Position, since Start, files []string) (all []string) {
	if !p.Git || since.Time.IsZero() {
		return nil
	}
	if branches := w.branches(ctx, scope, p); len(branches) > 0 {
		all = append(all, "commits on "+list(branches))
	}
	if newer(filepath.Join(commonOf(p.GitDir), "logs", "refs", "stash"), since.Time) {
		all = append(all, "a stash (git stash list)")
	}
	if ignored := w.ignored(ctx, p, since.Time, files); len(ignored) > 0 {
		all = append(all, "files that git ignores by a new rule ("+list(ignored)+")")
	}
	return all
}

// AsideStamp changes when Aside may say something else although the tree is the same.
func AsideStamp(p Position) string {
	common := commonOf(p.GitDir)
	stamp := ""
	for _, name := range []string{"logs/refs/stash", "info/exclude"} {
		if info, err := os.Stat(filepath.Join(common, filepath.FromSlash(name))); err == nil {
			stamp += fmt.Sprint(info.Size(), info.ModTime().UnixNano(), " ")
		}
	}
	return stamp
}

// branches are those that have a commit of the session's that HEAD does not have.
func (w *Worktree) branches(ctx context.Context, scope Scope, p Position) (names []string) {
	seen := map[string]bool{}
	for _, commit := range scope.Made {
		if here, err := w.repo.Reachable(ctx, commit, p.Head); err != nil || here {
			continue
		}
		with, _ := w.repo.BranchesWith(ctx, commit) // it is only told
		for _, name := range with {
			if !seen[name] {
				seen[name] = true
				names = append(names, name)
			}
		}
	}
	return names
}

// ignored are the files that were written since a moment and that git ignores, where the
// rules are as new.
func (w *Worktree) ignored(ctx context.Context, p Position, since time.Time, changed []string) (names []string) {
	rules := newer(filepath.Join(commonOf(p.GitDir), "info", "exclude"), since)
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

// newer reports whether a file was written since a moment.
func newer(file string, since time.Time) bool {
	info, err := os.Stat(file)
	return err == nil && !info.ModTime().Before(since)
}

// commonOf is what the worktrees of a repository share.
func commonOf(gitDir string) string {
	text, err := os.ReadFile(filepath.Join(gitDir, "commondir"))
	if err != nil {
		return gitDir
	}
	dir := strings.TrimSpace(string(text))
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(gitDir, dir)
	}
	return dir
}

// list is the first few of many names.
func list(names []string) string {
	const most = 5
	if more := len(names) - most; more > 0 {
		return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", more)
	}
	return strings.Join(names, ", ")
}
