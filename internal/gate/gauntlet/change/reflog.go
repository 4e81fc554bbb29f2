package change

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/sys/digest"
	"github.com/stopgate/stopgate/internal/sys/git"
	"github.com/stopgate/stopgate/internal/sys/paths"
	"github.com/stopgate/stopgate/internal/sys/regular"
)

// Start is when a session began to work in a tree.
type Start struct {
	Session string    // what tells it from others; empty: not known
	Time    time.Time // zero: not known
	Reflog  Reflog    // of HEAD then; zero: not known, Time counts
	// Elsewhere are commits that the session made in other worktrees.
	Elsewhere []string
	// Passed are commits that HEAD was when gates passed in this session.
	Passed []string
	// Rules are those by which git ignored files then, see KeepRules; empty: not known, Time counts.
	Rules string
}

// Reflog is what git had written down of HEAD by some moment.
type Reflog struct {
	Size int64 `json:"size"` // 0: there was none
	// Sum is of the end of that much, see sumWindow: another repository may have taken its
	// place.
	Sum string `json:"sum"`
	// Head is the commit that HEAD was; empty where that is not known.
	Head string `json:"head,omitempty"`
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

// FoundReflog is the reflog that a session begins with in the worktree at root. Where git writes none, as
// core.logAllRefUpdates or another format of refs may have it, the commit that HEAD is has to do.
func FoundReflog(ctx context.Context, root string, environ []string) Reflog {
	r := ReflogOf(root)
	if r != (Reflog{}) {
		return r
	}
	if _, inRepository := paths.GitRoot(root); inRepository {
		r.Head = git.At(root, environ).Head(ctx)
	}
	return r
}

// HeadOf is the commit that HEAD is in the worktree at root, as its reflog has it; empty where that is not known.
func HeadOf(root string) string {
	file, size, err := reflogOf(root)
	if err != nil {
		return ""
	}
	defer file.Close()
	const enough = 64 << 10 // for one entry
	text := make([]byte, min(size, enough))
	if _, err := file.ReadAt(text, size-int64(len(text))); err != nil {
		return ""
	}
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	if last, _ := parseMove(lines[len(lines)-1]); git.IsID(last.to) {
		return last.to
	}
	return ""
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
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	last, _ := parseMove(lines[len(lines)-1])
	return Reflog{size, digest.Hex(text), last.to}
}

// begins reports whether a reflog goes on from this one.
func (r Reflog) begins(file *os.File, size int64) bool {
	return r.Size > 0 && r.Size <= size && reflogAt(file, r.Size).Sum == r.Sum
}

// isKnown reports whether anything is known of what HEAD was.
func (r Reflog) isKnown() bool { return r.Size > 0 || r.Head != "" }

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

// move is a line of a reflog: HEAD went from one commit to another.
type move struct {
	from, to string
	email    string // of the user who moved it
	at       time.Time
	what     string // was done
}

// parseMove reads a line: the ids before and after, who, when, and after a tab what was done.
func parseMove(line string) (m move, ok bool) {
	head, what, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
	fields := strings.Fields(head)
	if len(fields) < 4 {
		return move{}, false
	}
	seconds, err := strconv.ParseInt(fields[len(fields)-2], 10, 64)
	if err != nil {
		return move{}, false
	}
	email := strings.Trim(fields[len(fields)-3], "<>")
	return move{fields[0], fields[1], email, time.Unix(seconds, 0), what}, true
}

// moves are those since a session began. whole is false where the reflog is not the one that it
// found: one that was cut off tells nothing of what it lacks.
func moves(gitDir string, since Start) (all []move, whole bool) {
	file, size, err := openReflog(gitDir)
	if err != nil {
		return nil, !since.Reflog.isKnown()
	}
	defer file.Close()
	known, from := since.Reflog.begins(file, size), int64(0)
	if known {
		from = since.Reflog.Size
	}
	text, _, err := entries(file, from, size)
	if err != nil {
		return nil, false
	}
	for line := range strings.Lines(text) {
		if m, ok := parseMove(line); ok && (known || !m.at.Before(since.Time.Truncate(time.Second))) {
			all = append(all, m)
		}
	}
	return all, known || !since.Reflog.isKnown()
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
		move, ok := parseMove(line)
		if !ok {
			continue
		}
		id, then := move.to, move.at
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
