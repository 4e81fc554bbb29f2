package protect

import (
	"context"
	"slices"

	"github.com/stopgate/stopgate/internal/gauntlet/change"
)

// Look finds the protected files that the session has touched and no person approved.
// Git is asked nothing where nothing differs, unless new files count.
func (p Place) Look(ctx context.Context) ([]Touch, error) {
	b, err := p.base(ctx)
	if err != nil {
		return nil, err
	}
	return p.look(ctx, b)
}

func (p Place) look(ctx context.Context, b *base) ([]Touch, error) {
	var more []string
	if p.config().New {
		names, _, err := p.names(ctx)
		if err != nil {
			return nil, err
		}
		more = names
	}
	all, err := p.worktree().Differences(ctx, b.record.Filter(p.protects), more)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	approved := p.approvals()
	if len(touches(all, approved, nil)) == 0 {
		return nil, nil
	}
	found := touches(all, approved, p.others(ctx, b, all))
	p.follow(ctx, b, found)
	p.contents(ctx, b, found, func(t *Touch, before string) { t.Notes = p.notes(t, before) })
	return found, nil
}

// follow finds where deleted files are now, among those that were not there at the base.
func (p Place) follow(ctx context.Context, b *base, found []Touch) {
	if !slices.ContainsFunc(found, func(t Touch) bool { return t.What == Deleted }) {
		return
	}
	listing, err := p.repo().Files(ctx)
	if err != nil {
		return // that they are gone is what matters
	}
	const most = 500 // files that are read for it
	var names []string
	for _, name := range slices.Concat(listing.Untracked, listing.Tracked) {
		if !b.record.Has(name) && len(names) < most {
			names = append(names, name)
		}
	}
	now, err := p.worktree().Record(ctx, names)
	if err != nil {
		return
	}
	states := map[string]change.State{}
	for _, name := range now.Names() {
		states[name] = now.State(name)
	}
	renamed(found, states)
}

// notes name what a touch weakens, as far as the text is known.
func (p Place) notes(t *Touch, before string) []string {
	if t.What == Renamed || t.What == Added || t.What == Mode {
		return nil
	}
	after, state, ok := p.present(t.Path)
	if !ok || state != t.Is {
		return nil
	}
	const most = 20 // of one file
	return capped(weakened(t.Path, before, string(after)), most)
}
