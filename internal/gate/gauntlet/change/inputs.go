package change

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/stopgate/stopgate/internal/project/glob"
	"github.com/stopgate/stopgate/internal/sys/disk"
	"github.com/stopgate/stopgate/internal/sys/paths"
)

// Inputs is like Tree for the files of the project that the patterns name,
// whether or not git ignores them. Git is not asked. A pattern without wildcards
// names a file or everything in a folder. Patterns are read from the project's root and from dir,
// a folder of it: what is too much there only makes a proof end earlier.
//
// With a pattern that no file matches the tree is not exact. It is misspelt, or its files come yet: what a gate reads is
// something else then.
//
// Links count with the file that a gate reads through them, also outside of the project. What
// is below a link to a folder counts where a pattern names the link or a path through it
// before its first wildcard; a wildcard leads into no link.
func (w *Worktree) Inputs(ctx context.Context, patterns []string, dir string) (Tree, error) {
	var names []string
	var leads []lead
	t, err := w.snapshot(ctx, false, func(ctx context.Context, _ func()) (all listing) {
		for _, pattern := range patterns {
			found := w.input(ctx, pattern, dir)
			all.names = append(all.names, found.names...)
			all.why = cmp.Or(all.why, found.why)
			all.err = cmp.Or(all.err, found.err)
		}
		slices.Sort(all.names)
		all.names = slices.Compact(all.names)
		names = slices.Clone(all.names)
		leads = w.follow(&all)
		return all
	})
	if len(leads) == 0 || t.ID == "" {
		return t, err
	}
	return t.followed(leads, names), err
}

// Unmatched lists those of the patterns that no file matches, as Inputs reads them.
func (w *Worktree) Unmatched(ctx context.Context, patterns []string, dir string) (none []string) {
	for _, pattern := range patterns {
		if found := w.input(ctx, pattern, dir); len(found.names) == 0 && found.err == nil {
			none = append(none, pattern)
		}
	}
	return none
}

// input lists the files that one pattern names.
func (w *Worktree) input(ctx context.Context, pattern, dir string) listing {
	found := w.match(ctx, path.Clean(pattern))
	if dir != "" && dir != "." && disk.IsDir(w.abs(dir)) {
		inside := w.match(ctx, path.Join(literally(dir), pattern))
		found.names = append(found.names, inside.names...)
		found.why, found.err = cmp.Or(found.why, inside.why), cmp.Or(found.err, inside.err)
	}
	if len(found.names) == 0 {
		found.why = cmp.Or(found.why, fmt.Sprintf("no file matches %q", pattern))
	}
	return found
}

// literally is a pattern for one folder, whatever its name looks like.
func literally(dir string) string {
	if !glob.IsPattern(dir) {
		return dir
	}
	var out strings.Builder
	for _, r := range dir {
		if glob.IsPattern(string(r)) {
			out.WriteRune('\\')
		}
		out.WriteRune(r)
	}
	return out.String()
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
	err := walk.through(ctx, base, depth)
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

// named collects a file, or what is below a folder, and both for a link that leads to one.
func (k *walker) named(ctx context.Context, name string) error {
	dir, err := openFolder(k.w.root)
	if err != nil {
		return err
	}
	defer dir.close()
	s, err := dir.lstat(name)
	if err != nil {
		k.why = reason(name, err)
		return nil
	}
	if s.exists() && !s.isA(typeDirectory) {
		k.list = append(k.list, name)
	}
	if s.isA(typeDirectory) || s.isA(typeLink) && disk.IsDir(k.w.abs(name)) {
		return k.through(ctx, name, -1)
	}
	return nil
}

// maxOutside is how many files outside of the project one pattern may name. A link may lead to a whole disk.
const maxOutside = 10_000

// through collects the files below dir, to which a link may lead.
func (k *walker) through(ctx context.Context, dir string, depth int) error {
	if name := nameBelow(paths.Canonical(k.w.root), paths.Canonical(k.w.abs(dir))); !filepath.IsAbs(name) {
		return k.folder(ctx, dir, depth)
	}
	k.most = maxOutside
	err := k.folder(ctx, dir, depth)
	if len(k.list) >= k.most {
		k.why = cmp.Or(k.why, fmt.Sprintf("%q leads to more than %d files", dir, maxOutside))
	}
	return err
}
