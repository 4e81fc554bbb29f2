package protect

import (
	"context"
	"maps"
	"slices"

	"github.com/stopgate/stopgate/internal/gate/gauntlet/change"
	"github.com/stopgate/stopgate/internal/sys/git"
)

// followed adds the files that went along with a branch of a remote, also where that was rewritten: they are what git
// makes of what the session found, of what the branch had before it was fetched and of what it had then. HEAD must
// have that: a file of a branch that was merely fetched is there because the agent took it. By history alone, the
// version that a colleague replaced looks like a person's.
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
	branches := f.reached(ctx, f.repo().Fetched(ctx, f.base.Began))
	if len(branches) == 0 {
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
	for _, branch := range branches {
		to := branch[0].To
		now, err := f.repo().Listed(ctx, to, names...)
		if err != nil {
			continue
		}
		for _, step := range branch {
			comes := f.along(ctx, step.From, now, found, names)
			var all []change.Difference
			for _, name := range names {
				if _, goes := comes.Files[name]; goes && !comes.Conflicts[name] {
					all = append(all, left[name])
				}
			}
			f.add(ctx, f.attributesOf(to, work), existing(comes.Files), all)
			if names = slices.DeleteFunc(names, func(name string) bool { return f.theirs[name] }); len(names) == 0 {
				return
			}
		}
	}
}

// reached keeps of each branch the steps up to the newest one that HEAD has, or that a merge under way brings in. One
// that the session found brings nothing, as long as HEAD has all that the session found.
func (f *foreign) reached(ctx context.Context, branches [][]git.Fetch) (all [][]git.Fetch) {
	var fetched, tips []string
	for _, branch := range branches {
		for _, step := range branch {
			fetched = append(fetched, step.To)
		}
	}
	for _, tip := range f.tips {
		tips = append(tips, tip.Tip)
	}
	outside, err := f.repo().Outside(ctx, fetched, tips...)
	if err != nil {
		return nil
	}
	fresh := fetched
	if f.at.Merge == f.base.Head {
		if fresh, err = f.repo().Outside(ctx, fetched, f.base.Head); err != nil {
			return nil
		}
	}

	const most = 20 // each takes a few processes
	for _, branch := range branches {
		i := slices.IndexFunc(branch, func(step git.Fetch) bool {
			return !slices.Contains(outside, step.To) && slices.Contains(fresh, step.To)
		})
		if i >= 0 && len(all) < most {
			all = append(all, branch[i:])
		}
	}
	return all
}

// along is what becomes of files that go along with a branch, from a commit that it had. One that the branch has
// deleted is there without an id.
func (f *foreign) along(ctx context.Context, from string, now, found map[string]git.Blob, names []string) git.Merged {
	none := git.Merged{}
	before, err := f.repo().Listed(ctx, from, names...)
	if err != nil {
		return none // it is not kept for ever
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
