package daemon

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/control/engine"
	"github.com/stopgate/stopgate/internal/control/intake"
	"github.com/stopgate/stopgate/internal/control/store"
)

// loader makes the state of the store's events. An owner whose events cannot all be read is held;
// where the heads or the newest snapshot are damaged, nothing can be told of any, and it refuses,
// unless it was told not to.
type loader struct {
	store   store.Store
	despite bool // go on without what is damaged

	state *engine.State
	from  store.Position // of the snapshot
	last  store.Position // of the newest event that the state has
	lost  []string       // what it went on without, in words
}

func (l *loader) load(ctx context.Context) error {
	if err := l.begin(ctx); err != nil {
		return err
	}

	unread := l.readAll(ctx)
	heads, err := l.store.Heads(ctx)
	if err := l.forgive(err); err != nil {
		return err
	}

	err = unread
	if errors.Is(err, store.ErrDamaged) || errors.Is(err, store.ErrTrimmed) && l.despite {
		err = l.readEach(ctx, heads)
	}
	if err != nil {
		return err
	}

	if err := l.compareProjects(heads); err != nil {
		return err
	}
	if err := l.compare(heads); err != nil {
		return err
	}
	l.forgetAbandoned(ctx)
	return nil
}

// compareProjects finds events of projects that are missing: what was started already would be
// started again.
func (l *loader) compareProjects(heads map[string]store.Head) error {
	versions := map[string]store.Position{}
	for root, p := range l.state.Intake {
		versions[intake.Subject(root)] = store.Position(p.Version)
	}
	for subject, head := range heads {
		if intake.IsSubject(subject) && head.Position != versions[subject] {
			if err := l.forgive(fmt.Errorf("%w: %s ends at event %d, but event %d is the last that is there", store.ErrDamaged, subject, head.Position, versions[subject])); err != nil {
				return err
			}
		}
	}
	return nil
}

// forgive is for what keeps the daemon from starting. Told to start despite it, it is kept for
// people to see.
func (l *loader) forgive(err error) error {
	if !l.despite || !errors.Is(err, store.ErrDamaged) {
		return err
	}
	l.lost = append(l.lost, err.Error())
	return nil
}

// begin takes the newest snapshot.
func (l *loader) begin(ctx context.Context) error {
	l.state, l.from, l.last = engine.NewState(), 0, 0
	snapshot, err := l.store.LoadSnapshot(ctx)
	if err == nil && snapshot.Damaged > 0 {
		err = fmt.Errorf("%w: the newest snapshot, at event %d, was changed; the one at event %d and the events after it stand in for it", store.ErrDamaged, snapshot.Damaged, snapshot.Position)
	}
	if err := l.forgive(err); err != nil || snapshot.Position == 0 {
		return err
	}
	state, err := engine.DecodeState(snapshot.Data)
	if err != nil {
		return fmt.Errorf("snapshot at %d: %w", snapshot.Position, err)
	}
	l.state, l.from, l.last = state, snapshot.Position, snapshot.Position
	return nil
}

// readAll adds the events behind the snapshot.
func (l *loader) readAll(ctx context.Context) error {
	for e, err := range l.store.ReadAll(ctx, l.from) {
		if err == nil {
			err = l.take(e)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// take adds an event.
func (l *loader) take(e store.Event) error {
	l.last = max(l.last, e.Position)
	if intake.IsSubject(e.Subject) {
		return takeProject(l.state.Intake, e)
	}
	id, ours := ownerOf(e.Subject)
	if _, held := l.state.Held[e.Subject]; !ours || held {
		return nil
	}
	owner, err := fold(l.state.Owner(id), e)
	if err != nil {
		return err
	}
	l.state.Put(owner)
	return nil
}

// readEach adds the events of one subject after the other, and holds the owners of those that
// cannot be read.
func (l *loader) readEach(ctx context.Context, heads map[string]store.Head) error {
	lost := l.lost
	if err := l.begin(ctx); err != nil { // some have been added already
		return err
	}
	l.lost = lost

	for _, subject := range slices.Sorted(maps.Keys(heads)) {
		l.last = max(l.last, heads[subject].Position)
		if _, ours := ownerOf(subject); !ours && !intake.IsSubject(subject) || heads[subject].Position <= l.from {
			continue
		}

		for e, err := range l.store.Read(ctx, subject, l.from) {
			if err == nil {
				err = l.take(e)
			}
			if errors.Is(err, store.ErrDamaged) || errors.Is(err, store.ErrTrimmed) {
				if intake.IsSubject(subject) {
					if err := l.forgive(err); err != nil {
						return err
					}
				} else if !l.deleted(ctx, subject, heads[subject]) {
					l.hold(subject, reason(err))
				}
				break
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// deleted reports whether an owner is known to be gone, by its last event.
func (l *loader) deleted(ctx context.Context, subject string, head store.Head) bool {
	for e, err := range l.store.Read(ctx, subject, head.Position-1) {
		step, unread := engine.DecodeStep(e.Data)
		return err == nil && unread == nil && slices.ContainsFunc(step.Facts, func(f engine.Fact) bool {
			_, gone := f.(engine.OwnerDeleted)
			return gone
		})
	}
	return false
}

// compare compares what was read with where the heads say that the chains end. An owner whose
// end is missing is held. Heads that do not know of events which are there are damaged.
func (l *loader) compare(heads map[string]store.Head) error {
	for _, o := range l.state.Owners() {
		subject := engine.Subject(o.Kind, o.ID)
		head, version := heads[subject].Position, store.Position(o.Version)
		if _, held := l.state.Held[subject]; held || head == version {
			continue
		}
		if head > version {
			l.hold(subject, fmt.Sprintf("its events after %d are missing: it ended at %d", version, head))
			continue
		}
		why := fmt.Sprintf("the table of heads says that it ends at event %d, but it ends at event %d", head, version)
		if err := l.forgive(fmt.Errorf("%w: %s: %s", store.ErrDamaged, subject, why)); err != nil {
			return err
		}
		l.hold(subject, why)
	}
	for subject, head := range heads {
		if _, ours := ownerOf(subject); ours && head.Position > l.last {
			l.hold(subject, fmt.Sprintf("its events up to %d are missing", head.Position))
		}
	}
	return nil
}

// hold marks an owner as one that nothing moves.
func (l *loader) hold(subject, why string) {
	if l.state.Held == nil {
		l.state.Held = map[string]string{}
	}
	if l.state.Held[subject] == "" {
		l.state.Held[subject] = why
	}
}

// reason is what is wrong with a subject, without what an error of the store says besides.
func reason(err error) string {
	text := err.Error()
	if _, after, ok := strings.Cut(text, store.ErrDamaged.Error()+": "); ok {
		text = after
	}
	text, _, _ = strings.Cut(text, `: "stopgate log verify"`)
	return text
}

// ownerOf is the owner that a subject's events are about.
func ownerOf(subject string) (id string, ours bool) {
	kind, id, _ := strings.Cut(subject, ".")
	return id, kind == string(engine.Pipeline) || kind == string(engine.AgentRun)
}
