package git

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/sys/environ"
	"github.com/stopgate/stopgate/internal/sys/paths"
)

// kept are the only GIT_ variables that git still gets, with identity. All others either point
// it to another repository, index or configuration (those of "git rev-parse
// --local-env-vars", which are set within git's own hooks), or change what it
// prints or how it reads a path.
var kept = []string{
	"GIT_CEILING_DIRECTORIES", "GIT_DISCOVERY_ACROSS_FILESYSTEM",
	"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM",
	"GIT_EXEC_PATH",
}

// identity says in whose name git writes notes. A project may set it for its agents, which read nothing by it.
var identity = []string{"GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"}

// workTree has git take the directory that holds .git for the top of the work tree, as we do: core.worktree and
// core.bare could make it look elsewhere, or nowhere. A .git that is not a repository is none to git either.
func workTree(dir string) []string {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	top, found := paths.GitRoot(dir)
	if dotGit := filepath.Join(top, ".git"); !found || dir == dotGit || strings.HasPrefix(dir, dotGit+string(filepath.Separator)) {
		return nil // it is not in a work tree
	}
	if !paths.IsTop(top) {
		return nil
	}
	return []string{workTreeVariable + "=" + top}
}

const workTreeVariable = "GIT_WORK_TREE"

// clean is the environment for git.
func clean(environment []string) []string {
	return append(
		environ.Without(environment, func(name string) bool {
			return strings.HasPrefix(strings.ToUpper(name), "GIT_") && !slices.Contains(kept, name) && !slices.Contains(identity, name)
		}),
		"GIT_OPTIONAL_LOCKS=0", // never write the index
		// Objects and parents as they are, and not as the repository would have them seen.
		"GIT_NO_REPLACE_OBJECTS=1",
		"GIT_GRAFT_FILE="+os.DevNull,
		"GIT_TERMINAL_PROMPT=0",
		"GIT_PAGER=cat",
		"LC_ALL=C", // we read git's messages
	)
}
