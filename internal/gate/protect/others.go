package protect

import (
	"cmp"
	"context"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/gate/gauntlet/change"
	"github.com/stopgate/stopgate/internal/sys/git"
	"github.com/stopgate/stopgate/internal/sys/regular"
)

// others finds the differences that came with commits of others: by a pull, a merge, a
// rebase or a change of branch. Each must be exactly what git makes of such a commit and of what the
// session found, and no commit of the session may have touched the file. Whatever cannot be told is
// the agent's.
func (p Place) others(ctx context.Context, b *base, all []change.Difference) map[string]bool {
	out := map[string]bool{}
	at, err := p.repo().Locate(ctx, b.Head, "HEAD")
	if err != nil || b.Head == "" || !at.Complete || p.reflogCut(b) {
		return out
	}
	aside, err := p.aside(ctx, b)
	if err != nil {
		p.logf("look at what others changed in %s: %v", p.Project.Root, err)
		return out
	}
	defer aside.Close()
	f := &foreign{Place: p, base: b, at: at, aside: aside, all: all, theirs: out, made: map[string]commits{}}

	f.tips = []git.Location{at}
	if merged := p.mergeHead(ctx, b, at); merged.Complete {
		f.tips = append(f.tips, merged)
	}
	for _, tip := range f.tips {
		if tip.Tip != b.Head && tip.Merge != "" {
			f.broughtBy(ctx, tip)
		}
	}
	if at.Head != b.Head {
		f.followed(ctx)
	}
	return out
}

// foreign is what is looked at to tell what others changed.
type foreign struct {
	Place
	base   *base
	at     git.Location
	tips   []git.Location // at, and what a merge under way brings in
	aside  *git.Aside
	all    []change.Difference
	theirs map[string]bool    // of them, those that others made, by path
	made   map[string]commits // by tip: asking takes several processes
}

// reflogCut reports whether the reflog does not go on from what it was when the session
// began: then it tells nothing about what was made here.
func (p Place) reflogCut(b *base) bool {
	return b.Reflog.Size > 0 && !b.Reflog.GoesOn(p.Project.Root)
}

// mergeHead is the commit that a merge under way brings in, if there is one.
func (p Place) mergeHead(ctx context.Context, b *base, at git.Location) git.Location {
	text, err := regular.Read(filepath.Join(filepath.FromSlash(at.GitDir), "MERGE_HEAD"), maxContent)
	if err != nil {
		return git.Location{}
	}
	id, _, _ := strings.Cut(strings.TrimSpace(string(text)), "\n")
	merged, err := p.repo().Locate(ctx, b.Head, id)
	if err != nil {
		return git.Location{}
	}
	return merged
}

// broughtBy adds what a tip brought. On another branch than the session's first, which
// has lost nothing, a file need not have been changed to be another one.
func (f *foreign) broughtBy(ctx context.Context, tip git.Location) {
	names, err := f.repo().Changed(ctx, tip.Merge, tip.Tip)
	if err != nil {
		return
	}
	changed := map[string]bool{}
	for _, name := range names {
		changed[name] = true
	}
	switched := f.switched(ctx)
	inGit := map[string][]change.Difference{} // by what git knows of: a file, or the submodule around it
	for _, d := range f.all {
		name := cmp.Or(f.moduleOf(d.Path), d.Path)
		if changed[name] || switched {
			inGit[name] = append(inGit[name], d)
		}
	}
	if len(inGit) == 0 {
		return
	}

	names = slices.Sorted(maps.Keys(inGit))
	work, ok := f.agents(ctx, tip.Tip, names)
	if !ok {
		return
	}
	comes, err := f.becomes(ctx, tip, switched, names)
	if err != nil {
		return
	}
	var own []change.Difference
	for name, inside := range inGit {
		switch d := inside[0]; {
		case work.touched[name] || comes.Conflicts[name]:
		case d.Path != name:
			f.inModule(ctx, comes.Files[name], name, inside)
		default:
			own = append(own, d)
		}
	}
	f.add(ctx, f.attributesOf(tip.Tip, work), comes.Files, own)
}

// add adds those of the differences that are what git makes of files, with what the session found of them that no
// commit has.
func (f *foreign) add(ctx context.Context, attributes string, files map[string]git.Blob, all []change.Difference) {
	if len(all) == 0 {
		return
	}
	files, all = f.withEdits(ctx, files, all)
	w := written{repo: f.repo(), aside: f.aside, attributes: attributes}
	for _, d := range w.same(ctx, files, f.stored, "", all) {
		f.theirs[d.Path] = true
	}
}

// becomes is what files are by the commits of a tip. Of a file that both sides changed it is what git makes
// of the two: one side alone would lack what a person wrote.
func (f *foreign) becomes(ctx context.Context, tip git.Location, switched bool, names []string) (git.Merged, error) {
	repo := f.repo()
	listed, err := repo.Listed(ctx, tip.Tip, names...)
	comes := git.Merged{Files: listed, Conflicts: map[string]bool{}}
	if err != nil || switched || tip.Merge == f.base.Head {
		return comes, err
	}

	before, err := repo.Listed(ctx, tip.Merge, names...)
	if err != nil {
		return comes, err
	}
	found, err := repo.Listed(ctx, f.base.Head, names...)
	if err != nil {
		return comes, err
	}

	both := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return found[name] == before[name] || found[name] == listed[name] })
	if len(both) == 0 {
		return comes, nil
	}
	merged, err := f.aside.Merge(ctx, f.base.Head, tip.Tip, both)
	if err != nil {
		return comes, err
	}

	held, err := f.held(ctx, tip, both)
	for _, name := range both {
		switch file, has := merged.Files[name]; {
		case slices.Contains(held[name], found[name]): // others had it, and went on from there
		case merged.Conflicts[name]:
			comes.Conflicts[name] = true
		case has:
			listed[name] = file
		default:
			delete(listed, name)
		}
	}
	return comes, err
}

// held is what files were in the commits that a tip has and the session did not find. What a rebase took over
// tells nothing of what others had.
func (f *foreign) held(ctx context.Context, tip git.Location, names []string) (map[string][]git.Blob, error) {
	if len(f.worktree().Picked(position(f.at), f.base.since())) > 0 {
		return nil, nil
	}
	return f.repo().Held(ctx, tip.Merge, tip.Tip, names)
}

// inModule adds what a submodule has by the commit that the project around it names. What its own repository had set
// when the session began is not known.
func (f *foreign) inModule(ctx context.Context, commit git.Blob, module string, all []change.Difference) {
	if commit.Mode != moduleMode {
		return
	}
	inner := git.At(f.abs(module), f.Environ)
	if at, err := inner.Locate(ctx, "", "HEAD"); err != nil || at.Head != commit.ID {
		return
	}

	var names []string
	for _, d := range all {
		names = append(names, strings.TrimPrefix(d.Path, module+"/"))
	}
	listed, err := inner.Listed(ctx, commit.ID, names...)
	if err != nil {
		return
	}

	aside, err := f.asideOf(inner, f.userConversion(ctx, inner), commit.ID)
	if err != nil {
		return
	}
	defer aside.Close()

	w := written{repo: inner, aside: aside, attributes: commit.ID}
	for _, d := range w.same(ctx, listed, storedAtTop, module+"/", all) {
		f.theirs[d.Path] = true
	}
}

// switched reports whether the session has gone to another branch and the one that it began
// on still has all that it had.
func (f *foreign) switched(ctx context.Context) bool {
	if f.base.Branch == "" || f.base.Branch == f.at.Branch {
		return false
	}
	has, err := f.repo().Reachable(ctx, f.base.Head, f.base.Branch)
	return err == nil && has
}
