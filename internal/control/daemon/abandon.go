package daemon

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"maps"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/control/engine"
	"github.com/stopgate/stopgate/internal/control/nudge"
	"github.com/stopgate/stopgate/internal/control/store"
)

// abandon gives up an owner that is held: what runs for it is ended, its own pipelines are cancelled, and
// then it is forgotten. Its events stay as they are.
func (d *daemon) abandon(ctx context.Context, id string) (*engine.Owner, error) {
	o := d.core.known(id)
	if o == nil || d.core.heldFor(id) == "" {
		return nil, &engine.Refusal{Code: "conflict", Why: "it is not held: cancel it without giving it up"}
	}
	if err := errors.Join(d.endAll(ctx, o), d.core.cancelChildren(ctx, id), d.core.giveUpItems(ctx, id)); err != nil {
		return nil, err
	}
	if err := d.forgetHeld(ctx, engine.Subject(o.Kind, id), id); err != nil {
		return nil, err
	}
	nudge.Reader(d.groups.wake) // it may have taken room in a group
	d.core.trouble.set(daemonapi.KindWord(string(o.Kind))+" "+id, nil)
	d.Log.Info("an owner was given up", "owner", id)
	d.logError("cannot notify a pipeline that one it started was given up", unlessRefused(d.core.missChildren(ctx)))
	d.logError("cannot save a snapshot", d.save(ctx))
	return o, nil
}

// forgetHeld puts on record that an owner was given up. A snapshot has both, the record and what came of
// it, or neither.
func (d *daemon) forgetHeld(ctx context.Context, subject, id string) error {
	d.house.Lock()
	defer d.house.Unlock()
	if err := d.recordAbandoned(ctx, subject); err != nil {
		return err
	}
	d.core.release(subject, id)
	return nil
}

// endAll ends what runs for an owner: what is known of it, and what is found on disk.
func (d *daemon) endAll(ctx context.Context, o *engine.Owner) error {
	names, err := d.errands().Of(o.ID)
	if o.Agent != nil {
		names = append(names, o.Agent.ID)
	}
	if o.Shell != nil {
		names = append(names, o.Shell.Key)
	}
	for _, name := range names {
		kill := d.Agents.Kill
		if strings.HasPrefix(name, o.ID+"-") {
			kill = d.Shells.Kill
		}
		err = errors.Join(err, kill(ctx, name))
	}
	return err
}

// abandoned is the record of an owner that was given up.
type abandoned struct {
	V       int       `json:"v"`
	Subject string    `json:"subject"`
	GivenUp bool      `json:"given_up"`
	Time    time.Time `json:"time"`
}

func (d *daemon) recordAbandoned(ctx context.Context, subject string) error {
	return d.recordDamage(ctx, "given-up-", subject, abandoned{1, subject, true, d.Now().UTC()})
}

// recordDamage puts on record, once, what was done about an owner whose record is damaged.
func (d *daemon) recordDamage(ctx context.Context, did, subject string, what any) error {
	data, err := json.Marshal(what)
	if err != nil {
		return err
	}
	sum := sha256.Sum256([]byte(subject))
	for range 10 { // others may be recorded at the same time
		head, err := d.store.Head(ctx, damageSubject)
		if err != nil {
			return err
		}
		err = d.core.mark(ctx, store.NewEvent{
			Subject: damageSubject, ID: did + hex.EncodeToString(sum[:16]), Expected: head.Position, Data: data,
		})
		if !errors.Is(err, store.ErrConflict) {
			return err
		}
	}
	return store.ErrConflict
}

// release forgets an owner that was held.
func (c *core) release(subject, id string) {
	c.mu.Lock()
	held := maps.Clone(c.state.Held)
	delete(held, subject)
	c.state.Held = held
	c.state.Put(&engine.Owner{ID: id, Deleted: true})
	delete(c.unsure, id)
	c.mu.Unlock()
	c.news.Ring()
}

// forgetAbandoned takes those out of the state that were given up since the snapshot. What cannot be read of that is held
// again: a person is told, and can give it up again.
func (l *loader) forgetAbandoned(ctx context.Context) {
	for e, err := range l.store.Read(ctx, damageSubject, l.from) {
		if err != nil {
			return
		}
		var a abandoned
		if json.Unmarshal(e.Data, &a) != nil || !a.GivenUp {
			continue
		}
		if id, ours := ownerOf(a.Subject); ours {
			delete(l.state.Held, a.Subject)
			l.state.Put(&engine.Owner{ID: id, Deleted: true})
		}
	}
}
