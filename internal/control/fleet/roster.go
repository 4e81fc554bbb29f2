package fleet

import (
	"context"
	"time"

	"github.com/stopgate/stopgate/internal/control/fleet/link"
	"github.com/stopgate/stopgate/internal/sys/pause"
)

// roster keeps to the fleet's records of its machines, as long as the link lasts.
func (f *Fleet) roster(ctx context.Context, l *link.Link) {
	for ctx.Err() == nil {
		err := f.readRoster(ctx, l)
		if ctx.Err() == nil {
			f.warn("cannot read who is in the fleet", err)
		}
		_ = pause.For(ctx, time.Second)
	}
}

// readRoster reads the records, and again whenever one has changed.
func (f *Fleet) readRoster(ctx context.Context, l *link.Link) error {
	from, err := l.Log.Barrier(ctx)
	if err != nil {
		return err
	}
	if err := f.enrol(ctx, l); err != nil {
		return err
	}
	for _, err := range l.Log.Watch(ctx, link.MemberOf(""), from) {
		if err == nil {
			err = f.enrol(ctx, l)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (f *Fleet) enrol(ctx context.Context, l *link.Link) error {
	records, err := f.Members(ctx, l)
	if len(records) == 0 {
		return err
	}
	f.warn("a record of the fleet is invalid", err)
	f.mu.Lock()
	f.records = records
	observer := f.observer
	f.mu.Unlock()
	here := map[string]bool{}
	for _, m := range records {
		here[m.Name] = true
	}
	f.others.Keep(here)
	for _, name := range observer.Members() {
		if !here[name] {
			observer.Forget(name)
		}
	}
	return nil
}
