package change

import (
	"cmp"
	"context"
	"runtime"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/sys/git"
	"github.com/stopgate/stopgate/internal/sys/paths"
)

const (
	// maxNested is of how many repositories within a tree git lists the files. Each takes it some milliseconds.
	maxNested = 100
	// maxDepth is how deep they may be within each other.
	maxDepth = 8
)

// inner is what a folder holds that git does not look into.
type inner struct {
	listing
	repository bool
}

// unfold adds what is in the folders that git does not look into, and gives those that are repositories. Of a
// submodule, and of a repository that it does not track, git lists the name alone, even where .git is gone from it. Of
// more than git can be asked for all files are listed, also those that it ignores.
func (w *Worktree) unfold(ctx context.Context, s *snapshot, found listing) (all listing, repositories []string) {
	next := slices.Concat(found.nested, s.directories(found.names))
	for depth := 0; len(next) > 0; depth++ {
		most := maxNested - len(repositories)
		if depth == maxDepth {
			most = 0
		}
		folders := make([]inner, len(next))
		spread(runtime.GOMAXPROCS(0), atOnce, len(next), 1, func(i int) { folders[i] = w.lookInto(ctx, next[i], i < most) })

		found.names = without(found.names, next)
		var names, deeper []string
		for i, folder := range folders {
			if folder.err != nil {
				return listing{err: folder.err}, nil
			}
			if folder.repository {
				repositories = append(repositories, next[i])
			}
			found.why, found.blind = cmp.Or(found.why, folder.why), found.blind || folder.blind
			found.unread = append(found.unread, folder.unread...)
			names, deeper = append(names, folder.names...), append(deeper, folder.nested...)
		}
		slices.Sort(names)
		found.names = merge(found.names, names)
		next = slices.Concat(deeper, s.directories(names))
	}
	slices.Sort(repositories)
	return found, repositories
}

// lookInto lists the files below a folder: those that git does not ignore, where it is a repository and git is asked, or
// else all.
func (w *Worktree) lookInto(ctx context.Context, name string, ask bool) inner {
	if ask && paths.IsTop(w.abs(name)) {
		files, err := git.At(w.abs(name), w.environ).Files(ctx)
		if err == nil {
			return inner{w.listing(files, name+"/", ""), true}
		}
		if ctx.Err() != nil {
			return inner{listing: listing{err: err}}
		}
	}
	walk := walker{w: w}
	err := walk.folder(ctx, name, -1)
	return inner{listing: walk.found(err)}
}

// withoutWorktrees drops the linked worktrees that Claude Code keeps within their repository from names of git's: they are
// trees of their own. One in another place, as packages/new, is also a part of the tree, which gates may be for.
func (w *Worktree) withoutWorktrees(names []string) []string {
	return slices.DeleteFunc(names, func(name string) bool {
		folder, nested := strings.CutSuffix(name, "/")
		return nested && strings.Contains("/"+folder, "/.claude/worktrees/") && paths.IsWorktreeOf(w.abs(folder), w.root)
	})
}

// directories are those of some sorted names that are folders. What is known is a file unless it has changed.
func (s *snapshot) directories(names []string) (folders []string) {
	k := 0
	for _, name := range names {
		for k < len(s.known) && s.known[k].path < name {
			k++
		}
		if k < len(s.known) && s.known[k].path == name && s.now != nil && s.now[k] == s.known[k].stat {
			continue
		}
		if now, err := s.dir.lstat(name); err == nil && now.isA(typeDirectory) {
			folders = append(folders, name)
		}
	}
	return folders
}

func without(names, others []string) []string {
	gone := map[string]bool{}
	for _, name := range others {
		gone[name] = true
	}
	return slices.DeleteFunc(names, func(name string) bool { return gone[name] })
}

// repositoryOf is the deepest of some repositories within the tree that a file is in; empty: the tree's own.
func repositoryOf(name string, repositories map[string]string) string {
	for dir := name; ; {
		at := strings.LastIndexByte(dir, '/')
		if at < 0 {
			return ""
		}
		dir = dir[:at]
		if _, is := repositories[dir]; is {
			return dir
		}
	}
}
