package protect

import (
	"cmp"
	"context"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/gate/gauntlet/change"
	"github.com/stopgate/stopgate/internal/sys/digest"
	"github.com/stopgate/stopgate/internal/sys/git"
	"github.com/stopgate/stopgate/internal/sys/regular"
)

// maxCommits bounds how many commits of a session are looked into. Where there are more,
// nothing counts as the work of others.
const maxCommits = 200

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
	tips := []git.Location{at}
	if merged := p.mergeHead(ctx, b, at); merged.Complete {
		tips = append(tips, merged)
	}
	for _, tip := range tips {
		if tip.Tip == b.Head || tip.Merge == "" {
			continue
		}
		p.broughtBy(ctx, b, at, tip, all, out)
	}
	return out
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

// broughtBy adds to out what a tip brought. On another branch than the session's first, which
// has lost nothing, a file need not have been changed to be another one.
func (p Place) broughtBy(ctx context.Context, b *base, at, tip git.Location, all []change.Difference, out map[string]bool) {
	repo := p.repo()
	names, err := repo.Changed(ctx, tip.Merge, tip.Tip)
	if err != nil {
		return
	}
	changed := map[string]bool{}
	for _, name := range names {
		changed[name] = true
	}
	switched := p.switched(ctx, b, at)
	inGit := map[string][]change.Difference{} // by what git knows of: a file, or the submodule around it
	for _, d := range all {
		name := cmp.Or(p.moduleOf(d.Path), d.Path)
		if changed[name] || switched {
			inGit[name] = append(inGit[name], d)
		}
	}
	if len(inGit) == 0 {
		return
	}

	names = slices.Sorted(maps.Keys(inGit))
	agents, ok := p.agents(ctx, b, at, tip.Tip, names)
	if !ok {
		return
	}
	comes, err := p.becomes(ctx, b, at, tip, switched, names)
	if err != nil {
		return
	}
	edited := p.edited(ctx, b, all)
	var own []change.Difference
	for name, inside := range inGit {
		switch d := inside[0]; {
		case agents[name] || comes.Conflicts[name]:
		case d.Path != name:
			p.inModule(ctx, comes.Files[name], name, inside, out)
		case !edited[name]:
			own = append(own, d)
		}
	}
	for _, d := range clean(ctx, repo, comes.Files, "", own) {
		out[d.Path] = true
	}
}

// becomes is what files are by the commits of a tip. Of a file that both sides changed it is what git makes
// of the two: one side alone would lack what a person wrote.
func (p Place) becomes(ctx context.Context, b *base, at, tip git.Location, switched bool, names []string) (git.Merged, error) {
	repo := p.repo()
	listed, err := repo.Listed(ctx, tip.Tip, names...)
	comes := git.Merged{Files: listed, Conflicts: map[string]bool{}}
	if err != nil || switched || tip.Merge == b.Head {
		return comes, err
	}
	before, err := repo.Listed(ctx, tip.Merge, names...)
	if err != nil {
		return comes, err
	}
	found, err := repo.Listed(ctx, b.Head, names...)
	if err != nil {
		return comes, err
	}
	both := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return found[name] == before[name] || found[name] == listed[name] })
	if len(both) == 0 {
		return comes, nil
	}
	merged, err := repo.Merge(ctx, b.Head, tip.Tip, both)
	if err != nil {
		return comes, err
	}
	held, err := p.held(ctx, b, at, tip, both)
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
func (p Place) held(ctx context.Context, b *base, at, tip git.Location, names []string) (map[string][]git.Blob, error) {
	if len(p.worktree().Picked(position(at), b.since())) > 0 {
		return nil, nil
	}
	return p.repo().Held(ctx, tip.Merge, tip.Tip, names)
}

// edited lists the files that the session found otherwise than their commit has them. No commit that comes
// later goes on from that.
func (p Place) edited(ctx context.Context, b *base, all []change.Difference) map[string]bool {
	edited := map[string]bool{}
	var names []string
	for _, d := range all {
		if _, copied := b.Copies[d.Path]; copied || slices.Contains(b.Uncopied, d.Path) {
			edited[d.Path] = true
			names = append(names, d.Path)
		}
	}
	if len(names) == 0 {
		return edited
	}
	listed, err := p.repo().Listed(ctx, b.Head, names...)
	if err != nil {
		return edited
	}
	names = slices.DeleteFunc(names, func(name string) bool { _, has := listed[name]; return !has })
	_ = p.repo().Contents(ctx, p.stored(listed, names), maxContent, func(i int, content []byte) { // what cannot be read stays edited
		if b.record.State(names[i]) == (change.State{Kind: kindOf(listed[names[i]].Mode), Sum: digest.Hex(content)}) {
			delete(edited, names[i])
		}
	})
	return edited
}

// inModule adds what a submodule has by the commit that the project around it names.
func (p Place) inModule(ctx context.Context, commit git.Blob, module string, all []change.Difference, out map[string]bool) {
	if commit.Mode != moduleMode {
		return
	}
	inner := git.At(p.abs(module), p.Environ)
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
	for _, d := range clean(ctx, inner, listed, module+"/", all) {
		out[d.Path] = true
	}
}

// switched reports whether the session has gone to another branch and the one that it began
// on still has all that it had.
func (p Place) switched(ctx context.Context, b *base, at git.Location) bool {
	if b.Branch == "" || b.Branch == at.Branch {
		return false
	}
	has, err := p.repo().Reachable(ctx, b.Head, b.Branch)
	return err == nil && has
}

// position is where a worktree stands, for what asks its reflog.
func position(at git.Location) change.Position {
	return change.Position{Git: true, GitDir: filepath.FromSlash(at.GitDir), Head: at.Head}
}

func (b *base) since() change.Start { return change.Start{Time: b.Began, Reflog: b.Reflog} }

// agents lists those of some files that commits of the session touched: those that the reflog shows
// were made here, and those that no remote has and that are as young as the session. What a
// rebase took over as it was is by those who wrote it.
func (p Place) agents(ctx context.Context, b *base, at git.Location, tip string, names []string) (touched map[string]bool, ok bool) {
	commits, ok := p.sessions(ctx, b, at, tip)
	if !ok {
		return nil, false
	}
	repo := p.repo()
	parents, err := repo.AllParents(ctx, commits)
	if err != nil || len(parents) != len(commits) { // of one that is gone it cannot be told
		return nil, false
	}
	files, err := repo.Touched(ctx, commits)
	if err != nil {
		return nil, false
	}
	touched = map[string]bool{}
	for _, id := range commits {
		if len(parents[id]) == 2 {
			if files[id], err = p.resolved(ctx, id, parents[id], names); err != nil {
				return nil, false
			}
		}
		for _, name := range files[id] {
			touched[name] = true
		}
	}
	return touched, true
}

// resolved lists those of some files that a merge has otherwise than git makes them of its parents.
func (p Place) resolved(ctx context.Context, merge string, parents, names []string) (otherwise []string, err error) {
	has, err := p.repo().Listed(ctx, merge, names...)
	if err != nil {
		return nil, err
	}
	merged, err := p.repo().Merge(ctx, parents[0], parents[1], names)
	for _, name := range names {
		if merged.Conflicts[name] || merged.Files[name] != has[name] {
			otherwise = append(otherwise, name)
		}
	}
	return otherwise, err
}

// sessions lists the commits of the session.
func (p Place) sessions(ctx context.Context, b *base, at git.Location, tip string) (all []string, ok bool) {
	repo, tree := p.repo(), p.worktree()
	commits := map[string]bool{}
	made, err := tree.Made(ctx, position(at), b.since())
	if err != nil {
		return nil, false
	}
	for _, id := range made {
		commits[id] = true
	}
	old := []string{b.Head}
	if b.Unseen {
		if where, err := tree.Position(ctx, change.Scope{Base: p.Project.Config.Gauntlet.BaseBranch}); err == nil && where.BaseCommit != "" {
			old = append(old, where.BaseCommit)
		}
	}
	beyond, err := repo.Beyond(ctx, tip, old, !b.Unseen, maxCommits+1)
	if err != nil {
		return nil, false
	}
	for _, c := range beyond {
		if b.Unseen || !c.Time.Before(b.Began.Truncate(time.Second)) {
			commits[c.ID] = true
		}
	}
	if len(commits) > maxCommits {
		return nil, false
	}
	written, err := repo.Authored(ctx, tree.Picked(position(at), b.since()))
	if err != nil {
		return nil, false
	}
	for id, when := range written {
		if when.Before(b.Began) {
			delete(commits, id)
		}
	}
	return slices.Collect(maps.Keys(commits)), true
}

// clean keeps the differences whose files are in the work tree as git has them in a list. prefix
// is what the list's names lack.
func clean(ctx context.Context, repo git.Repo, listed map[string]git.Blob, prefix string, all []change.Difference) (same []change.Difference) {
	names := make([]string, len(all))
	for i, d := range all {
		names[i] = strings.TrimPrefix(d.Path, prefix)
	}
	var regular []string
	var links []git.Stored
	var waiting, linked []change.Difference
	for i, d := range all {
		blob, has := listed[names[i]]
		switch {
		case !d.Is.Exists():
			if !has {
				same = append(same, d)
			}
		case !has || kindOf(blob.Mode) != d.Is.Kind && d.Is.Kind != d.Was.Kind:
		case d.Is.Kind == "l":
			links, linked = append(links, git.Stored{Blob: git.Blob{Mode: linkMode, ID: blob.ID}}), append(linked, d)
		case d.Is.Kind != change.Unreadable:
			regular, waiting = append(regular, names[i]), append(waiting, d)
		}
	}
	_ = repo.Contents(ctx, links, maxContent, func(i int, target []byte) { // what cannot be read is not the same
		if digest.Hex(target) == linked[i].Is.Sum {
			same = append(same, linked[i])
		}
	})
	ids, err := repo.Hash(ctx, regular)
	if err != nil {
		return same
	}
	for i, id := range ids {
		if id == listed[regular[i]].ID {
			same = append(same, waiting[i])
		}
	}
	return same
}
