// Package change knows what a working tree holds and what changed in it: where it
// stands (Position), which files count as changed (Set), how they changed (Diff),
// and whether the tree is the same as at another time (Tree).
//
// It never writes to the project or the repository. Its only file is a private
// index in our state directory, which spares it reading what it has read before.
package change

import (
	"context"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/stopgate/stopgate/internal/gate/gauntlet/logdir"
	"github.com/stopgate/stopgate/internal/sys/git"
)

// Scope says which changes count.
type Scope struct {
	// Base is the ref that changes are counted from. Empty is the remote's
	// default branch, or origin/main where the remote does not say.
	Base string
	// Explicit means that a person named Base for this run: it must exist.
	Explicit bool
	// Commit counts only what this commit changed.
	Commit string
	// Uncommitted counts only what is not committed.
	Uncommitted bool
	// CI counts only what is committed between Base and Head, or in the last
	// commit where the checkout does not have them.
	CI   bool
	Head string // empty: HEAD
	// Before is what CI had before the commit that it got. Changes are counted from there where Base
	// has that commit already, as after a push to the base branch. Empty: then nothing has changed.
	Before string
	// Made are commits that count as changed although the base has them, as those do that a
	// session made and pushed.
	Made []string
	// Altered are files that count as changed although git may say that they are not.
	Altered []string
	// Moved, unless it is nil, is all that is not as the session found it, sorted: files, and repositories within the
	// tree. Other files do not count because they are not committed.
	Moved []string
	// Visiting means that HEAD has only gone to commits of others: what is committed does not count, see Worktree.Visiting.
	Visiting bool
}

// Worktree is a project's files. Its methods may be called from several
// goroutines.
type Worktree struct {
	root      string // real path
	logDir    string // relative to root, slash-separated; empty: none
	indexFile string
	repo      git.Repo
	environ   []string
	now       func() time.Time

	shared func() bool // see logs

	mu     sync.Mutex
	loaded bool
	known  []entry  // what indexFile holds
	listed bool     // hidden is known
	hidden []string // tracked files whose changes git does not look for
}

// Open is the project at root. Nothing in logDir counts as part of it. indexFile
// is a cache that only this project uses; it and its directory need not exist.
func Open(root, logDir, indexFile string, environ []string, now func() time.Time) *Worktree {
	if real, err := filepath.EvalSymlinks(root); err == nil {
		root = real // git says "../x" from there
	}
	if rel, err := filepath.Rel(root, logDir); filepath.IsAbs(logDir) && err == nil {
		logDir = rel
	}
	if logDir != "" {
		logDir = path.Clean(filepath.ToSlash(logDir))
	}
	w := &Worktree{root: root, logDir: logDir, indexFile: indexFile, repo: git.At(root, environ), environ: environ, now: now}
	w.shared = sync.OnceValue(func() bool {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second) // a pipe named .gitignore holds git up
		defer cancel()
		return len(w.OthersInLogs(ctx)) > 0
	})
	return w
}

// logs reports whether a file is one of the log directory's. Where git tracks other files in it, it is a folder of the project
// that log_dir names by mistake: then only what runs write there counts as a log.
func (w *Worktree) logs(name string) bool {
	rest, ok := strings.CutPrefix(name, w.logDir)
	if w.logDir == "" || !ok || rest != "" && rest[0] != '/' {
		return false
	}
	rest = strings.TrimPrefix(rest, "/")
	if logdir.Writes(rest) || !isOther(rest) && !w.holdsOthers() {
		return true // git, which takes long, need not be asked
	}
	return !w.shared()
}

// isOther reports whether a path below the log directory is one that runs do not write, and that does more than have git
// keep the folder.
func isOther(path string) bool {
	keeps := []string{"", ".gitkeep", ".keep", ".gitignore", ".gitattributes"}
	return !logdir.Writes(path) && !slices.Contains(keeps, path)
}

// holdsOthers reports whether there is such a file or folder in the log directory now.
func (w *Worktree) holdsOthers() bool {
	entries, _ := os.ReadDir(w.abs(w.logDir)) // it need not be there
	return slices.ContainsFunc(entries, func(e os.DirEntry) bool { return isOther(e.Name()) })
}

// OthersInLogs lists the files in the log directory that git tracks and no run wrote, also deleted ones.
func (w *Worktree) OthersInLogs(ctx context.Context) (others []string) {
	if w.logDir == "" {
		return nil
	}
	listing, _ := w.repo.Files(ctx) // what git cannot list it does not track
	for _, name := range listing.Tracked {
		if rest, in := strings.CutPrefix(name, w.logDir+"/"); in && isOther(rest) {
			others = append(others, name)
		}
	}
	return others
}

// holds reports whether a file is part of the project, and not only of the
// repository around it.
func (w *Worktree) holds(name string) bool {
	return !strings.HasPrefix(name, "../") && !w.logs(name)
}

// abs is where a file of the project lies.
func (w *Worktree) abs(name string) string {
	return filepath.Join(w.root, filepath.FromSlash(name))
}
