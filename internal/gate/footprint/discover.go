package footprint

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/stopgate/stopgate/internal/harness/hook"
	"github.com/stopgate/stopgate/internal/harness/settings"
	"github.com/stopgate/stopgate/internal/sys/disk"
	"github.com/stopgate/stopgate/internal/sys/paths"
)

// Candidate is a project that a session may have worked in although no hook named it.
type Candidate struct {
	Root string
	Name string // by which the session's transcript has it
	Top  string // of a worktree
}

// Worktrees are the same places as the roots in those worktrees of their repositories that
// are newer than a moment, each once; since no moment also in the main one. The roots themselves are not among them.
func Worktrees(roots []string, than time.Time) (all []Candidate) {
	type place struct{ common, within string }
	seen := map[string]bool{}
	var places []place
	for _, root := range roots {
		seen[paths.Canonical(root)] = true
		if common, within, found := paths.Repository(root); found {
			places = append(places, place{common, within})
		}
	}

	looked := map[place]bool{}
	tops := map[string][]string{}
	for _, p := range places {
		if looked[p] {
			continue // most roots are worktrees of one repository
		}
		looked[p] = true
		if _, listed := tops[p.common]; !listed {
			tops[p.common] = paths.WorktreesSince(p.common, than)
		}

		for _, top := range tops[p.common] {
			root := filepath.Join(top, filepath.FromSlash(p.within))
			if !disk.IsDir(root) {
				continue // the branch there does not have it
			}
			if !seen[paths.Canonical(root)] {
				seen[paths.Canonical(root)] = true
				all = append(all, Candidate{root, filepath.Base(top), top})
			}
		}
	}
	return all
}

// Stand remembers where git has the tree at root, so that it is found if it is moved.
func (t *Tree) Stand(root string) {
	t.GitDir, t.Common, t.Within, t.Born = "", "", "", 0
	if gitDir, found := paths.GitDir(root); found {
		t.GitDir = paths.Canonical(gitDir)
		t.Born = bornAt(t.GitDir)
	}
	if common, within, found := paths.Repository(root); found {
		t.Common, t.Within = paths.Canonical(common), within
	}
}

// Now is where a red tree is that was at root: still there, or where git, or one of the places
// that the session knows, has its worktree. It is empty where none of them has it: then it was
// moved or deleted by hand.
func (t Tree) Now(root string, known []string) string {
	if !t.hasRepository() {
		return ""
	}
	if t.isAt(root) {
		return root
	}
	for _, place := range append([]string{t.moved()}, known...) {
		if place != "" && t.isWorktree(place) {
			return place
		}
	}
	return ""
}

// Removed reports whether git no longer has the worktree of a red tree, which is gone or has made room for another
// worktree. Its commits are in the repository.
func (t Tree) Removed(root string) bool {
	if !t.isLinked() || !t.hasRepository() || !isGone(t.GitDir) && !t.isReborn() {
		return false
	}
	return isGone(root) || t.Born != 0 && t.isPlace(root)
}

// isReborn reports whether git's directory for a worktree is now that of a later one. Git names them by the last part of
// their paths.
func (t Tree) isReborn() bool {
	return t.isLinked() && t.Born != 0 && !isGone(t.GitDir) && bornAt(t.GitDir) != t.Born
}

// bornAt is when git made a linked worktree; zero where that is not known. It writes this file once: to move, repair or lock
// a worktree changes others.
func bornAt(gitDir string) int64 {
	info, err := os.Stat(filepath.Join(gitDir, "commondir"))
	if err != nil || !IsLinked(gitDir) {
		return 0
	}
	return info.ModTime().UnixNano()
}

// hasRepository reports whether a tree's repository is where it was; one without any has it always.
func (t Tree) hasRepository() bool {
	return t.Common == "" || disk.Exists(t.Common) && paths.Canonical(t.Common) == t.Common
}

// isAt reports whether what is at a red tree's root is still that tree, and not a folder, a clone
// or a link to another tree.
func (t Tree) isAt(root string) bool {
	if !disk.IsDir(root) {
		return false
	}
	if paths.Canonical(root) != root {
		return t.isWorktree(root)
	}
	if !t.isLinked() {
		return true
	}
	if t.Born != 0 {
		return t.isWorktree(root)
	}
	return t.isPlace(root)
}

// isPlace reports whether the tree's place in a worktree of its repository is at a root.
func (t Tree) isPlace(root string) bool {
	common, within, found := paths.Repository(root)
	return found && common == t.Common && within == t.Within && disk.IsDir(root) && paths.Canonical(root) == root
}

// isWorktree reports whether a place is the tree in the same linked worktree, wherever that is.
func (t Tree) isWorktree(place string) bool {
	gitDir, found := paths.GitDir(place)
	if !found || !t.isLinked() || t.isReborn() || paths.Canonical(gitDir) != t.GitDir || !disk.IsDir(place) {
		return false
	}
	_, within, found := paths.Repository(place)
	return found && within == t.Within
}

func (t Tree) isLinked() bool { return IsLinked(t.GitDir) }

// IsLinked reports whether a git directory is that of a linked worktree, and may go with it.
func IsLinked(gitDir string) bool { return filepath.Base(filepath.Dir(gitDir)) == "worktrees" }

// moved is where git has a tree's worktree now; empty where git does not know.
func (t Tree) moved() string {
	if top := paths.WorktreeOf(t.GitDir); top != "" {
		return filepath.Join(top, filepath.FromSlash(t.Within))
	}
	return ""
}

func isGone(path string) bool {
	_, err := os.Lstat(path)
	return errors.Is(err, fs.ErrNotExist)
}

// Edited are the directories of the files that a tool has written; none where it names no file, or
// writes none.
func Edited(use hook.ToolUse, cwd string) (dirs []string) {
	if !settings.Edits(use.ToolName) {
		return nil
	}
	for _, path := range use.Files() {
		if !filepath.IsAbs(path) {
			path = filepath.Join(cwd, path)
		}
		dirs = append(dirs, filepath.Dir(path))
	}
	return dirs
}
