package protect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/stopgate/stopgate/internal/gate/gauntlet/change"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// Look finds the protected files that the session has touched and no person approved.
// Git is asked nothing where nothing differs, unless new files count.
//
// An error means that there may be more than those found: files that the base has are
// compared whatever state git is in.
func (p Place) Look(ctx context.Context) ([]Touch, error) {
	b, fault := p.base(ctx)
	if b == nil {
		return nil, fault
	}
	found, err := p.look(ctx, b)
	return found, cmp.Or(fault, err)
}

func (p Place) look(ctx context.Context, b *base) ([]Touch, error) {
	more, fault := p.added(ctx)
	all, err := p.worktree().Differences(ctx, b.record.Filter(func(name string) bool { return p.holds(b, name) }), more)
	if err != nil || len(all) == 0 {
		return nil, cmp.Or(fault, err)
	}
	approved := p.approvals()
	if len(touches(all, approved, nil)) == 0 {
		return nil, fault
	}

	ctx, cancel := limit(ctx)
	defer cancel()
	found := touches(all, approved, p.others(ctx, b, all))
	p.follow(ctx, b, found)
	p.contents(ctx, b, found, func(t *Touch, before string) { t.Notes = p.notes(t, before) })
	for i, t := range found {
		if link := b.Targets[t.Path]; link != "" && !p.protects(t.Path) {
			found[i].Notes = slices.Insert(t.Notes, 0, plain.Name(link)+" is a link to "+plain.Name(t.Path))
		}
	}
	return found, fault
}

// added lists the protected files that there are, where new ones count.
func (p Place) added(ctx context.Context) ([]string, error) {
	if !p.config().New {
		return nil, nil
	}
	ctx, cancel := limit(ctx)
	defer cancel()
	names, _, err := p.names(ctx)
	if err != nil {
		return names, fmt.Errorf("list new files: %w", err)
	}
	return names, nil
}

// patience is how long git may take for one part of a look, as for what the gates look at.
const patience = 30 * time.Second

var errSilent = errors.New("git timed out")

// limit is for one part of a look, and leaves half of the time that there is to the others: a
// pipe in the place of a .gitignore makes git wait for ever, and must not keep us from saying so.
func limit(ctx context.Context) (context.Context, context.CancelFunc) {
	most := patience
	if at, set := ctx.Deadline(); set {
		most = min(most, time.Until(at)/2)
	}
	return context.WithTimeoutCause(ctx, most, errSilent)
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
	return plain.Few(weakened(t.Path, before, string(after)), most)
}
