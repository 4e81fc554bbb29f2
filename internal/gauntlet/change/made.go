package change

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/environ"
	"github.com/stopgate/stopgate/internal/paths"
	"github.com/stopgate/stopgate/internal/regular"
)

// Start is when a session began to work in a tree.
type Start struct {
	Time   time.Time // zero: not known
	Reflog Reflog    // of HEAD then; zero: not known, Time counts
}

// Reflog is what git had written down of HEAD by some moment.
type Reflog struct {
	Size int64 `json:"size"`
	// Sum is of the end of that much, see sumWindow: another repository may have taken its
	// place.
	Sum string `json:"sum"`
}

const (
	// maxReflog bounds how much of a reflog is read, from its end: about 100000 entries.
	maxReflog = 16 << 20
	// sumWindow is how much of a reflog tells it from others. A reflog of any length is
	// known by it: one that was not would be told by the times in it, which an agent can
	// choose.
	sumWindow = 1 << 20
)

// ReflogOf is that of the worktree at root; zero where there is none.
func ReflogOf(root string) Reflog {
	file, size, err := reflogOf(root)
	if err != nil {
		return Reflog{}
	}
	defer file.Close()
	return reflogAt(file, size)
}

// GoesOn reports whether the reflog of the worktree at root still begins so.
func (r Reflog) GoesOn(root string) bool {
	file, size, err := reflogOf(root)
	if err != nil {
		return false
	}
	defer file.Close()
	return r.begins(file, size)
}

// reflogOf opens the reflog of the worktree at root.
func reflogOf(root string) (file *os.File, size int64, err error) {
	gitDir, found := paths.GitDir(root)
	if !found {
		return nil, 0, fmt.Errorf("%s is not in a repository", root)
	}
	return openReflog(gitDir)
}

// openReflog opens the reflog of HEAD.
func openReflog(gitDir string) (file *os.File, size int64, err error) {
	file, err = regular.Open(filepath.Join(gitDir, "logs", "HEAD"))
	if err != nil {
		return nil, 0, err
	}
	info, err := file.Stat()
	if err != nil {
		file.Close()
		return nil, 0, err
	}
	return file, info.Size(), nil
}

// reflogAt is what a reflog was when it had that size; zero where it cannot be read.
func reflogAt(file *os.File, size int64) Reflog {
	text := make([]byte, min(size, sumWindow))
	if _, err := file.ReadAt(text, size-int64(len(text))); err != nil {
		return Reflog{}
	}
	sum := sha256.Sum256(text)
	return Reflog{size, hex.EncodeToString(sum[:])}
}

// begins reports whether a reflog goes on from this one.
func (r Reflog) begins(file *os.File, size int64) bool {
	return r.Size > 0 && r.Size <= size && reflogAt(file, r.Size) == r
}

// entries reads a reflog from some place on, or as much of its end as may be read, and
// gives where that is. It begins with a whole line.
func entries(file *os.File, from, size int64) (text string, at int64, err error) {
	at = max(from, size-maxReflog)
	all, err := io.ReadAll(io.NewSectionReader(file, at, size-at))
	if err != nil {
		return "", 0, err
	}
	if text = string(all); at > from {
		_, rest, _ := strings.Cut(text, "\n")
		at += int64(len(text) - len(rest))
		text = rest
	}
	return text, at, nil
}

// Made lists the commits that were made in this worktree since a session began, the oldest
// first. What came from elsewhere, by a pull, a checkout or a merge without conflicts, was
// not made here.
func (w *Worktree) Made(p Position, since Start) []string { return reflog(p, since, makes) }

// Picked lists those of Made that a rebase took over as they were.
func (w *Worktree) Picked(p Position, since Start) []string { return reflog(p, since, picks) }

// reflog lists the commits that the reflog has since a session began, where what was done
// is what is looked for.
func reflog(p Position, since Start, what *regexp.Regexp) (commits []string) {
	if !p.Git || since.Time.IsZero() {
		return nil
	}
	file, size, err := openReflog(p.GitDir)
	if err != nil {
		return nil
	}
	defer file.Close()
	known, from := since.Reflog.begins(file, size), int64(0)
	if known {
		from = since.Reflog.Size
	}
	text, _, err := entries(file, from, size)
	if err != nil {
		return nil
	}
	for line := range strings.Lines(text) {
		commit, at := madeBy(line, what)
		if commit != "" && (known || !at.Before(since.Time.Truncate(time.Second))) {
			commits = append(commits, commit)
		}
	}
	return commits
}

// makes are what git writes into the reflog when it makes a commit.
var makes = regexp.MustCompile(`^(commit|cherry-pick|revert|am\b|merge [^:]*: Merge made|(rebase|pull)[^:]*\((pick|squash|fixup|reword|edit|continue)\))`)

// picks are what a rebase writes into it for a commit that it takes over as it is.
var picks = regexp.MustCompile(`^(rebase|pull)[^:]*\(pick\)`)

var anything = regexp.MustCompile(``)

// madeBy reads a line of a reflog: the ids before and after, who, when, and after a tab
// what was done. The commit is empty where none was made.
func madeBy(line string, want *regexp.Regexp) (commit string, at time.Time) {
	head, what, _ := strings.Cut(line, "\t")
	fields := strings.Fields(head)
	if len(fields) < 4 || !want.MatchString(what) {
		return "", at
	}
	seconds, err := strconv.ParseInt(fields[len(fields)-2], 10, 64)
	if err != nil {
		return "", at
	}
	return fields[1], time.Unix(seconds, 0)
}

// HeadAt is the commit that HEAD was at some moment, by the reflog of the worktree at root,
// and how long the reflog was then. Of a worktree that is younger it is the first one. The
// commit is empty where that is not known, as it is where the reflog has more since than is
// read.
func HeadAt(root string, at time.Time) (commit string, reflog Reflog) {
	file, size, err := reflogOf(root)
	if err != nil {
		return "", Reflog{}
	}
	defer file.Close()
	text, end, err := entries(file, 0, size)
	if err != nil {
		return "", Reflog{}
	}
	whole := end == 0
	for line := range strings.Lines(text) {
		end += int64(len(line))
		id, then := madeBy(line, anything)
		if id == "" {
			continue
		}
		if then.After(at) && (commit != "" || !whole) {
			break
		}
		commit, size = id, end
		if then.After(at) {
			break // whatever time the next one claims
		}
	}
	if commit == "" {
		return "", Reflog{}
	}
	return commit, reflogAt(file, size)
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
	if newer(filepath.Join(w.common(p), "logs", "refs", "stash"), since.Time) {
		all = append(all, "a stash (git stash list)")
	}
	if ignored := w.ignored(ctx, p, since.Time, files); len(ignored) > 0 {
		all = append(all, "files that git ignores by a new rule ("+list(ignored)+")")
	}
	return all
}

// AsideStamp changes when Aside may say something else although the tree is the same.
func (w *Worktree) AsideStamp(p Position) string {
	common := w.common(p)
	stamp := ""
	for _, file := range append(w.ruleFiles(p), filepath.Join(common, "logs", "refs", "stash")) {
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

// ruleFiles may say what git ignores, besides the .gitignore files of the tree.
func (w *Worktree) ruleFiles(p Position) []string {
	common := w.common(p)
	files := []string{filepath.Join(common, "info", "exclude"), filepath.Join(common, "config")}
	home := environ.Get(w.environ, "HOME")
	if home != "" {
		files = append(files, filepath.Join(home, ".gitconfig"), filepath.Join(home, ".config", "git", "ignore"), filepath.Join(home, ".config", "git", "config"))
	}
	return files
}

// newer reports whether a file was written since a moment.
func newer(file string, since time.Time) bool {
	info, err := os.Stat(file)
	return err == nil && !info.ModTime().Before(since)
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
		return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", more)
	}
	return strings.Join(names, ", ")
}
