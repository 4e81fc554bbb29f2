package member

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/nats-io/nats.go"

	"github.com/stopgate/stopgate/internal/control/fleet/link"
	"github.com/stopgate/stopgate/internal/control/store"
	"github.com/stopgate/stopgate/internal/control/store/jetstream"
)

// Append puts the record into the fleet's store. hub is the certificate of the hub that does it; nil where the
// fleet has none. The error is store.ErrConflict where another one did it at the same time.
func (r Record) Append(ctx context.Context, log *jetstream.Store, fleet string, hub *tls.Certificate) error {
	subject := link.MemberOf(r.Name)
	head, err := log.Head(ctx, subject)
	if err != nil {
		return err
	}
	data, err := r.Sign(fleet, head.Hash, hub)
	if err != nil {
		return err
	}
	_, err = log.Append(ctx, store.NewEvent{Subject: subject, ID: ulid.Make().String(), Expected: head.Position, Data: data})
	return err
}

// Members are the records of all members, also of those that left, by name. Events that are not records are
// in the error; the others are returned all the same.
func (id Identity) Members(ctx context.Context, log *jetstream.Store) (all []Record, err error) {
	events, wrong := log.Last(ctx, link.MemberOf(""))
	if wrong != nil && !errors.Is(wrong, store.ErrDamaged) {
		return nil, wrong
	}
	for _, e := range events {
		r, err := id.Read(e)
		if err != nil {
			wrong = errors.Join(wrong, err)
			continue
		}
		all = append(all, r)
	}
	return all, wrong
}

// ErrTaken says that a fleet has a member of a name.
var ErrTaken = errors.New("the name is taken")

// Enroll makes this machine a member of a fleet without hubs: it writes its own record.
func (id Identity) Enroll(ctx context.Context, stateDir string, now time.Time) error {
	return id.WithLink(ctx, stateDir, func(l *link.Link) error {
		members, err := id.Members(ctx, l.Log)
		if err != nil {
			return err
		}
		for _, m := range members {
			if m.Name == id.Name && !m.Left && m.Key != id.Key {
				return fmt.Errorf("%w: %s is in the fleet already; choose another name with --name", ErrTaken, id.Name)
			}
		}
		return Record{Name: id.Name, User: id.User, Key: id.Key, Time: now.UTC().Truncate(time.Second)}.Append(ctx, l.Log, id.Fleet, nil)
	})
}

// Retire takes a member of a fleet without hubs away.
func (id Identity) Retire(ctx context.Context, stateDir, name string, now time.Time) error {
	return id.WithLink(ctx, stateDir, func(l *link.Link) error {
		members, err := id.Members(ctx, l.Log)
		if err != nil {
			return err
		}
		at := slices.IndexFunc(members, func(m Record) bool { return m.Name == name })
		switch {
		case at < 0:
			return fmt.Errorf("the fleet has no member %s", name)
		case members[at].Left:
			return nil
		}
		left := members[at]
		left.Left, left.Time = true, now.UTC().Truncate(time.Second)
		return left.Append(ctx, l.Log, id.Fleet, nil)
	})
}

// WithLink has something done with a link to the fleet.
func (id Identity) WithLink(ctx context.Context, stateDir string, do func(l *link.Link) error, options ...nats.Option) error {
	nc, err := Connect(ctx, stateDir, id, options...)
	if err != nil {
		return err
	}
	defer nc.Close()
	l, err := link.Open(ctx, nc, id.Fleet, id.Name)
	if err != nil {
		return err
	}
	defer l.Close()
	return do(l)
}
