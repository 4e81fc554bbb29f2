package protect

import (
	"context"
	"maps"
	"slices"

	"github.com/stopgate/stopgate/internal/gate/gauntlet/change"
	"github.com/stopgate/stopgate/internal/sys/git"
)

// withEdits puts on top of files what the session found in them that no commit has, as a stash does that git or a
// person puts back after a pull. A file is left out where git cannot, or where it is not known what was found.
func (f *foreign) withEdits(ctx context.Context, files map[string]git.Blob, all []change.Difference) (map[string]git.Blob, []change.Difference) {
	edited := f.edited(ctx, all)
	if len(edited) == 0 {
		return files, all
	}
	found, err := f.repo().Listed(ctx, f.base.Head, slices.Sorted(maps.Keys(edited))...)
	if err != nil {
		found = nil
	}
	files = maps.Clone(files)
	all = slices.DeleteFunc(slices.Clone(all), func(d change.Difference) bool {
		if !edited[d.Path] {
			return false
		}
		file, ok := f.withEdit(ctx, d.Path, found[d.Path], files[d.Path])
		files[d.Path] = file
		return !ok
	})
	return files, all
}

// withEdit is a file with what the session found of it on top, which came from a commit's.
func (f *foreign) withEdit(ctx context.Context, name string, from, now git.Blob) (git.Blob, bool) {
	text, copied := f.base.Copies[name]
	if !copied || !from.Regular() || !now.Regular() || f.base.record.State(name).Kind == "l" {
		return git.Blob{}, false
	}
	stored := f.stored(map[string]git.Blob{name: from}, []string{name})
	id, err := f.aside.Keep(ctx, f.base.Head, stored[0].Path, text)
	if err != nil {
		return git.Blob{}, false
	}
	edit := git.Blob{Mode: from.Mode, ID: id}
	merged, err := f.aside.MergeFiles(ctx, map[string]git.Blob{name: now}, map[string]git.Blob{name: from}, map[string]git.Blob{name: edit}, []string{name})
	if err != nil || merged.Conflicts[name] {
		return git.Blob{}, false
	}
	return merged.Files[name], true
}

// edited lists the files that the session found otherwise than their commit has them.
func (f *foreign) edited(ctx context.Context, all []change.Difference) map[string]bool {
	edited := map[string]bool{}
	var names []string
	for _, d := range all {
		if _, copied := f.base.Copies[d.Path]; copied || slices.Contains(f.base.Uncopied, d.Path) {
			edited[d.Path] = true
			names = append(names, d.Path)
		}
	}
	if len(names) == 0 {
		return edited
	}
	listed, err := f.repo().Listed(ctx, f.base.Head, names...)
	if err != nil {
		return edited
	}
	names = slices.DeleteFunc(names, func(name string) bool { _, has := listed[name]; return !has })
	_ = f.aside.Contents(ctx, f.base.Head, f.stored(listed, names), maxWritten, func(i int, content []byte) { // what cannot be read stays edited
		if f.base.record.State(names[i]) == (change.State{Kind: kindOf(listed[names[i]].Mode), Sum: sumOf(content)}) {
			delete(edited, names[i])
		}
	})
	return edited
}
