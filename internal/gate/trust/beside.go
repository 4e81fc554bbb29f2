package trust

import (
	"bytes"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/stopgate/stopgate/internal/sys/paths"
)

// beside are the other approved .gauntlet of the repository that a command of the project at root may
// go to: all of its own worktree, and those of other worktrees that what was approved names. The branch
// of any other worktree may well have other files.
func (s Store) beside(root string) (all []*place) {
	root = paths.Canonical(root)
	common, _, found := paths.Repository(root)
	if !found {
		return nil
	}
	own, _ := paths.GitRoot(root)
	approvals := s.approvedIn(common)

	for _, top := range append(paths.Worktrees(common), own) { // git lists no submodule
		for within, a := range approvals {
			place := s.place(filepath.Join(top, filepath.FromSlash(within)), a)
			place.named = sync.OnceValue(func() bool { return top != own || isNamedWithin(top, within, approvals) })
			if top == own || isNamed(common, top, place.live, approvals) {
				all = append(all, &place)
			}
		}
	}
	slices.SortFunc(all, func(a, b *place) int { return strings.Compare(a.live, b.live) }) // the same in each run
	return all
}

// approvedIn are the approvals of a repository, by their places in it. They tell where they were given:
// the end of that path is the place, and the folder is named after both.
func (s Store) approvedIn(common string) map[string]*approval {
	all := map[string]*approval{}
	folders, _ := os.ReadDir(s.dir) // without any there is none
	for _, folder := range folders {
		a, err := s.read(folder.Name())
		if err != nil || a.Tree != s.tree {
			continue
		}
		within, parts := ".", strings.Split(filepath.ToSlash(a.Root), "/")
		for i := len(parts) - 1; i > 0; i-- {
			if repositoryKey(common, within) == folder.Name() {
				all[within] = a
			}
			within = strings.Join(parts[i:], "/")
		}
	}
	return all
}

// isNamedWithin reports whether what was approved of other projects names one of the same worktree: by its folder, or,
// where that is further up, by a way there.
func isNamedWithin(top, within string, approvals map[string]*approval) bool {
	names := []string{path.Base(within)}
	if within == "." {
		// The repository's own name is in many files that go nowhere.
		names = []string{top, filepath.Base(top) + "/" + paths.GauntletDir, "--show-toplevel", "--show-cdup", "--git-common-dir", "git worktree", "CLAUDE_PROJECT_DIR"}
	}
	for other, a := range approvals {
		if other == within {
			continue
		}
		from := names
		if within == "." || strings.HasPrefix(other, within+"/") {
			from = append([]string{".."}, names...)
		}
		words := wordsOf(from)
		if slices.ContainsFunc(a.Files, func(f file) bool { return words.Match(f.Data) }) {
			return true
		}
	}
	return false
}

// wordsOf matches any of the words, each as a whole: in "./pkg/x" and "$DIR/..", and not in "pkgs" or "./...".
func wordsOf(words []string) *regexp.Regexp {
	var quoted []string
	for _, word := range words {
		quoted = append(quoted, regexp.QuoteMeta(word))
	}
	return regexp.MustCompile(`(?:^|[^\w.-])(?:` + strings.Join(quoted, "|") + `)(?:$|[^\w.-])`)
}

// isNamed reports whether anything that was approved names a worktree: by its path, the last part of that,
// or by asking git for the main one.
func isNamed(common, top, live string, approvals map[string]*approval) bool {
	rel, err := filepath.Rel(filepath.Dir(top), live)
	if err != nil {
		return false
	}
	names := []string{top, "/" + filepath.ToSlash(rel)}
	if filepath.Dir(common) == paths.Canonical(top) {
		names = append(names, "git-common-dir", "git worktree")
	}
	for _, a := range approvals {
		for _, f := range a.Files {
			if slices.ContainsFunc(names, func(name string) bool { return bytes.Contains(f.Data, []byte(name)) }) {
				return true
			}
		}
	}
	return false
}
