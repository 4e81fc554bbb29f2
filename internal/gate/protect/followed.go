package protect

import (
	"context"
	"maps"
	"slices"

	"github.com/stopgate/stopgate/internal/gate/gauntlet/change"
	"github.com/stopgate/stopgate/internal/sys/git"
)

// followed adds the files that went along with a branch of a remote, also where that was rewritten: they are what git
// makes of what the session found, of what the branch had before it was fetched and of what it has now. By history
// alone, the version that a colleague replaced looks like a person's.
func (f *foreign) followed(ctx context.Context) {
	left := map[string]change.Difference{}
	for _, d := range f.all {
		if !f.theirs[d.Path] && f.moduleOf(d.Path) == "" {
			left[d.Path] = d
		}
	}
	if len(left) == 0 {
		return
	}
	fetched := f.repo().Fetched(f.base.Began)
	if len(fetched) == 0 {
		return
	}

	names := slices.Sorted(maps.Keys(left))
	work, ok := f.agents(ctx, f.at.Head, names)
	if !ok {
		return
	}
	names = slices.DeleteFunc(names, func(name string) bool { return work.touched[name] })
	found, err := f.repo().Listed(ctx, f.base.Head, names...)
	if err != nil {
		return
	}
	for _, branch := range fetched {
		comes := f.along(ctx, branch, found, names)
		var all []change.Difference
		for _, name := range names {
			if _, goes := comes.Files[name]; goes && !comes.Conflicts[name] {
				all = append(all, left[name])
			}
		}
		f.add(ctx, f.attributesOf(branch.To, work), existing(comes.Files), all)
	}
}

// along is what becomes of files that go along with a branch. One that the branch has deleted is there without an id.
func (f *foreign) along(ctx context.Context, branch git.Fetch, found map[string]git.Blob, names []string) git.Merged {
	none := git.Merged{}
	before, err := f.repo().Listed(ctx, branch.From, names...)
	if err != nil {
		return none // it is not kept for ever
	}
	now, err := f.repo().Listed(ctx, branch.To, names...)
	if err != nil {
		return none
	}
	moved := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return before[name] == now[name] })
	comes, err := f.aside.MergeFiles(ctx, found, before, now, moved)
	if err != nil {
		return none
	}
	for _, name := range moved {
		if _, has := comes.Files[name]; !has {
			comes.Files[name] = git.Blob{}
		}
	}
	return comes
}

// existing are the files that there are.
func existing(files map[string]git.Blob) map[string]git.Blob {
	files = maps.Clone(files)
	maps.DeleteFunc(files, func(_ string, blob git.Blob) bool { return blob == git.Blob{} })
	return files
}
