package fleet

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/control/fleet/beat"
	"github.com/stopgate/stopgate/internal/control/fleet/link"
	"github.com/stopgate/stopgate/internal/control/fleet/view"
	"github.com/stopgate/stopgate/internal/sys/pause"
)

// follow reads what all members say about themselves, as long as the link lasts.
func (f *Fleet) follow(ctx context.Context, l *link.Link) {
	for ctx.Err() == nil {
		reading, cancel := context.WithCancelCause(ctx)
		go f.watch(reading, cancel)
		err := l.Follow(reading, &reader{f, l, f.Observer()}, l.AllViews(), l.Beat("*"))
		cancel(nil)
		if ctx.Err() == nil {
			f.warn("reading what the machines of the fleet show again", err)
		}
		_ = pause.For(ctx, 500*time.Millisecond)
	}
}

var errDeaf = errors.New("own beats are acknowledged and do not come back")

// watch ends a reading in which nothing comes although the servers take our beats.
func (f *Fleet) watch(ctx context.Context, end context.CancelCauseFunc) {
	const patience = 20 * time.Second // more than the 12 s that an observer takes to find that it hears nothing
	for pause.For(ctx, patience) == nil {
		if unheard, ever := f.heart.Unheard(); ever && unheard < 2*beat.Every && !f.Observer().Linked() {
			end(errDeaf)
			return
		}
	}
}

// reader hands on what members say.
type reader struct {
	f        *Fleet
	l        *link.Link
	observer *beat.Observer
}

func (r *reader) Begin() {
	r.observer.Begin()
	r.f.others.Begin()
	r.f.publisher.Begin()
}

func (r *reader) Take(m link.Message) {
	if member, ok := strings.CutPrefix(m.Subject, r.l.Beat("")); ok {
		if link.CheckName(member) == nil {
			r.observer.Hear(member, m.Data, m.Time)
		}
		return
	}
	switch member, owner, ok := view.Split(r.l.Names, m.Subject); {
	case !ok || link.CheckName(member) != nil:
	case member == r.l.Member:
		r.f.publisher.Take(owner, m)
	case r.f.isStranger(member):
	default:
		r.f.others.Take(member, owner, m.Data)
	}
}

func (r *reader) Caught() {
	r.f.others.Caught()
	r.f.publisher.Caught()
}

// isStranger reports whether a member is not in the fleet any more.
func (f *Fleet) isStranger(member string) bool {
	return len(f.members()) > 0 && f.record(member).Name == ""
}
