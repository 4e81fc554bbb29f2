package paths

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/sys/disk"
	"github.com/stopgate/stopgate/internal/sys/regular"
)

// Repository names the place of a directory in its repository, the same in each of its
// worktrees: git's common directory, and the way from the top of the worktree to the
// directory. It reads a file or two and asks no git: hooks ask on every call.
func Repository(dir string) (common, within string, found bool) {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	top, found := GitRoot(dir)
	if !found {
		return "", "", false
	}
	if common, found = commonDir(filepath.Join(top, ".git")); !found {
		return "", "", false
	}
	within, err := filepath.Rel(top, dir)
	return common, filepath.ToSlash(within), err == nil
}

// commonDir follows .git to what the worktrees of a repository share. In a linked worktree
// and a submodule .git is a file that names a directory, which in a worktree has a file
// that names the common one.
func commonDir(dotGit string) (dir string, found bool) {
	if dir, found = gitDir(dotGit); !found {
		return "", false
	}
	if shared := FirstLine(filepath.Join(dir, "commondir")); shared != "" {
		dir = below(dir, shared)
	}
	real, err := filepath.EvalSymlinks(dir)
	return real, err == nil
}

// MainWorktree is the top of the worktree with which the repository of a directory was made; of
// a submodule it is the submodule's own. A repository that is bare, or whose git directory lies
// elsewhere, does not say where that is, except to those in it.
func MainWorktree(dir string) (top string, found bool) {
	top, found = GitRoot(dir)
	if !found {
		return "", false
	}
	if own, known := gitDir(filepath.Join(top, ".git")); known && FirstLine(filepath.Join(own, "commondir")) == "" {
		return top, true // it is not a linked one
	}
	common, _, found := Repository(top)
	return filepath.Dir(common), found && filepath.Base(common) == ".git"
}

// GitDir is where git keeps what belongs to the worktree that a directory is in.
func GitDir(start string) (dir string, found bool) {
	top, found := GitRoot(start)
	if !found {
		return "", false
	}
	return gitDir(filepath.Join(top, ".git"))
}

// IsTop reports whether a directory is the top of a repository's work tree, and not only one that has a .git in it.
func IsTop(dir string) bool {
	gitDir, found := gitDir(filepath.Join(dir, ".git"))
	if !found {
		return false
	}
	_, err := os.Stat(filepath.Join(gitDir, "HEAD"))
	return err == nil
}

// BesideWorktrees reports whether a directory is in the folder around a bare repository and in none of its
// worktrees, which people keep in that folder: `git clone --bare URL .git`, then `git worktree add main`. That folder
// has no files of the repository, so it has none of its projects either: where there is one, it is not that folder.
func BesideWorktrees(dir string) bool {
	gitDir, found := GitDir(dir)
	return found && isBare(gitDir) && !inProject(dir)
}

// inProject reports whether a directory in a repository, or one above it there, has a .gauntlet.
func inProject(dir string) bool {
	for dir := range ancestors(dir) {
		if hasProject(dir) {
			return true
		}
	}
	return false
}

func hasProject(dir string) bool { return disk.Exists(filepath.Join(dir, GauntletDir)) }

// isBare reports whether a git directory looks like that of a repository without a work tree of its own. The setting
// alone does not say so: tools leave it in repositories that have one, and thereby an index. Two commands make any
// repository look so, which is why a .gauntlet counts for more.
func isBare(gitDir string) bool {
	for _, name := range []string{"index", "commondir"} { // the second is in a linked worktree's
		if disk.Exists(filepath.Join(gitDir, name)) {
			return false
		}
	}
	for _, name := range []string{"config", "config.worktree"} {
		const longest = 1 << 20
		text, _ := regular.Read(filepath.Join(gitDir, name), longest) // the second need not be there
		for line := range strings.Lines(string(text)) {
			key, value, _ := strings.Cut(line, "=")
			if strings.EqualFold(strings.TrimSpace(key), "bare") && strings.EqualFold(strings.TrimSpace(value), "true") {
				return true
			}
		}
	}
	return false
}

// WorktreeOf is the top of the linked worktree that git keeps gitDir for, by git's file
// there; empty where there is none. Since 2.48 git can write the way from gitDir instead of
// an absolute path.
func WorktreeOf(gitDir string) (top string) {
	if gitDir == "" {
		return ""
	}
	dotGit := FirstLine(filepath.Join(gitDir, "gitdir"))
	if dotGit == "" {
		return ""
	}
	return filepath.Dir(below(gitDir, dotGit))
}

// IsWorktreeOf reports whether top is that of a linked worktree of the repository that dir is in. Both git's file there and
// what git keeps for that worktree say so: a copy of a worktree is none.
func IsWorktreeOf(top, dir string) bool {
	own, found := gitDir(filepath.Join(top, ".git"))
	if !found || Canonical(WorktreeOf(own)) != Canonical(top) {
		return false
	}
	its, _ := commonDir(filepath.Join(top, ".git"))
	ours, _, found := Repository(dir)
	return found && its == ours
}

// Worktrees are the tops of a repository's worktrees, by its common directory.
func Worktrees(common string) (tops []string) { return WorktreesSince(common, time.Time{}) }

// WorktreesSince are the tops of those that are newer than a moment; the main one is as old as the repository.
func WorktreesSince(common string, than time.Time) (tops []string) {
	main := filepath.Dir(common)
	if than.IsZero() && filepath.Base(common) == ".git" && (!isBare(common) || hasProject(main)) {
		tops = append(tops, main)
	}
	entries, _ := os.ReadDir(filepath.Join(common, "worktrees")) // there need not be any
	for _, entry := range entries {
		gitDir := filepath.Join(common, "worktrees", entry.Name())
		if info, err := os.Stat(filepath.Join(gitDir, "gitdir")); err != nil || info.ModTime().Before(than) {
			continue
		}
		if top := WorktreeOf(gitDir); top != "" {
			tops = append(tops, top)
		}
	}
	return tops
}

func gitDir(dotGit string) (dir string, found bool) {
	info, err := os.Stat(dotGit)
	if err != nil {
		return "", false
	}
	if info.IsDir() {
		return dotGit, true
	}
	line, ok := strings.CutPrefix(FirstLine(dotGit), "gitdir:")
	return below(filepath.Dir(dotGit), strings.TrimSpace(line)), ok
}

// FirstLine is that of a short file of git's; empty where there is none.
func FirstLine(path string) string {
	const longest = 8 << 10 // a path
	text, err := regular.Read(path, longest)
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(text), "\n")
	return strings.TrimSuffix(line, "\r")
}

// below is a path that is relative to a directory unless it is absolute.
func below(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}
