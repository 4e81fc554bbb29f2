package protect

import (
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
// rebase or a change of branch. Each must be exactly what such a commit has, and no commit
// of the session may have touched the file. Whatever cannot be told is the agent's.
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
	agents, ok := p.agents(ctx, b, at, tip.Tip)
	if !ok {
		return
	}
	names, err := repo.Changed(ctx, tip.Merge, tip.Tip)
	if err != nil {
		return
	}
	changed := map[string]bool{}
	for _, name := range names {
		changed[name] = true
	}
	switched := p.switched(ctx, b, at)
	var own []change.Difference
	modules := map[string][]change.Difference{}
	for _, d := range all {
		module := p.moduleOf(d.Path)
		name := d.Path
		if module != "" {
			name = module
		}
		switch {
		case agents[name] || !changed[name] && !switched:
		case module != "":
			modules[module] = append(modules[module], d)
		default:
			own = append(own, d)
		}
	}
	for _, d := range clean(ctx, repo, tip.Tip, "", own) {
		out[d.Path] = true
	}
	for module, inside := range modules {
		p.inModule(ctx, tip.Tip, module, inside, out)
	}
}

// inModule adds what a submodule has by the commit that the project around it names.
func (p Place) inModule(ctx context.Context, commit, module string, all []change.Difference, out map[string]bool) {
	listed, err := p.repo().Listed(ctx, commit, module)
	if err != nil || listed[module].Mode != moduleMode {
		return
	}
	inner := git.At(p.abs(module), p.Environ)
	if at, err := inner.Locate(ctx, "", "HEAD"); err != nil || at.Head != listed[module].ID {
		return
	}
	for _, d := range clean(ctx, inner, listed[module].ID, module+"/", all) {
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

// agents lists the files that commits of the session touched: those that the reflog shows
// were made here, and those that no remote has and that are as young as the session. What a
// rebase took over as it was is by those who wrote it.
func (p Place) agents(ctx context.Context, b *base, at git.Location, tip string) (touched map[string]bool, ok bool) {
	repo, tree := p.repo(), p.worktree()
	position := change.Position{Git: true, GitDir: filepath.FromSlash(at.GitDir), Head: at.Head}
	since := change.Start{Time: b.Began, Reflog: b.Reflog}
	commits := map[string]bool{}
	made, err := tree.Made(ctx, position, since)
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
	written, err := repo.Authored(ctx, tree.Picked(position, since))
	if err != nil {
		return nil, false
	}
	for id, when := range written {
		if when.Before(b.Began) {
			delete(commits, id)
		}
	}
	ids := slices.Collect(maps.Keys(commits))
	known, err := repo.Parents(ctx, ids)
	if err != nil || len(known) != len(ids) { // of one that is gone it cannot be told
		return nil, false
	}
	files, err := repo.Touched(ctx, ids)
	if err != nil {
		return nil, false
	}
	touched = map[string]bool{}
	for _, names := range files {
		for _, name := range names {
			touched[name] = true
		}
	}
	return touched, true
}

// clean keeps the differences whose files are in the work tree as a commit has them. prefix
// is what the repository's names lack.
func clean(ctx context.Context, repo git.Repo, commit, prefix string, all []change.Difference) (same []change.Difference) {
	if len(all) == 0 {
		return nil
	}
	names := make([]string, len(all))
	for i, d := range all {
		names[i] = strings.TrimPrefix(d.Path, prefix)
	}
	listed, err := repo.Listed(ctx, commit, names...)
	if err != nil {
		return nil
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
