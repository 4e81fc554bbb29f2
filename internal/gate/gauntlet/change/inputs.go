package change

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/stopgate/stopgate/internal/project/glob"
)

// Inputs is like Tree for the files of the project that the patterns name,
// whether or not git ignores them. Git is not asked. A pattern without wildcards
// names a file or everything in a folder.
func (w *Worktree) Inputs(ctx context.Context, patterns []string) (Tree, error) {
	return w.snapshot(ctx, false, func(ctx context.Context, _ func()) (all listing) {
		for _, pattern := range patterns {
			found := w.match(ctx, path.Clean(pattern))
			all.names = append(all.names, found.names...)
			all.why = cmp.Or(all.why, found.why)
			all.err = cmp.Or(all.err, found.err)
		}
		slices.Sort(all.names)
		all.names = slices.Compact(all.names)
		return all
	})
}

func (w *Worktree) match(ctx context.Context, pattern string) listing {
	if path.IsAbs(pattern) || pattern == ".." || strings.HasPrefix(pattern, "../") || !doublestar.ValidatePattern(pattern) {
		return listing{why: fmt.Sprintf("%q is not a pattern for files in the project", pattern)}
	}
	walk := walker{w: w}
	if !glob.IsPattern(pattern) {
		err := walk.named(ctx, pattern)
		return listing{names: walk.list, why: walk.why, err: err}
	}
	base, rest := doublestar.SplitPattern(pattern)
	depth := -1
	if !strings.Contains(rest, "**") && !strings.Contains(rest, "{") {
		depth = 1 + strings.Count(rest, "/")
	}
	err := walk.folder(ctx, base, depth)
	matching := slices.DeleteFunc(walk.list, func(name string) bool {
		return !glob.Match(pattern, name)
	})
	if err == nil && strings.Contains(pattern, "[") { // which may be a folder's name
		literal := walker{w: w}
		err = literal.named(ctx, pattern)
		matching, walk.why = append(matching, literal.list...), cmp.Or(walk.why, literal.why)
	}
	return listing{names: matching, why: walk.why, err: err}
}

// named collects a file, or what is below a folder.
func (k *walker) named(ctx context.Context, name string) error {
	dir, err := openFolder(k.w.root)
	if err != nil {
		return err
	}
	defer dir.close()
	switch s, err := dir.lstat(name); {
	case err != nil:
		k.why = reason(name, err)
	case s.isA(typeDirectory):
		return k.folder(ctx, name, -1)
	case s.exists():
		k.list = append(k.list, name)
	}
	return nil
}
