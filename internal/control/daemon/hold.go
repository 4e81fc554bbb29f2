package daemon

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/control/engine"
	"github.com/stopgate/stopgate/internal/control/runbook"
	"github.com/stopgate/stopgate/internal/control/store"
)

// heldFor is why an owner is held; "" where it is not.
func (c *core) heldFor(id string) string {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if len(c.state.Held) == 0 { // as nearly always, and lists ask for each owner
		return ""
	}
	for _, kind := range kinds {
		if why := c.state.Held[engine.Subject(kind, id)]; why != "" {
			return why
		}
	}
	return ""
}

var kinds = []engine.Kind{engine.Pipeline, engine.AgentRun}

// heldOwners are those that are held, by their subjects, with why.
func (c *core) heldOwners() map[string]string {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return maps.Clone(c.state.Held)
}

// unknown are the held owners whose ids are all that is known.
func (c *core) unknown() (owners []*engine.Owner) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	for _, kind := range kinds {
		for _, subject := range slices.Sorted(maps.Keys(c.state.Held)) {
			if id, _ := ownerOf(subject); subject == engine.Subject(kind, id) && c.state.Owner(id) == nil {
				owners = append(owners, &engine.Owner{ID: id, Kind: kind, Status: engine.Running, Plan: &runbook.Plan{}})
			}
		}
	}
	return owners
}

// known is the owner with an id, also one that is held and unknown; nil where there is none.
func (c *core) known(id string) *engine.Owner {
	if o := c.owner(id); o != nil {
		return o
	}
	for _, o := range c.unknown() {
		if o.ID == id {
			return o
		}
	}
	return nil
}

// refuseHeld is what comes of an input for an owner that is held.
func refuseHeld(why string) error {
	return &engine.Refusal{Code: "conflict", Why: "it is held, because its record is damaged: " + why + "; give it up with: stopgate pipeline cancel --give-up"}
}

// examine finds out whether damage concerns the owner alone: then that is held, and the error is
// a refusal. It is called by whose turn it is.
func (c *core) examine(ctx context.Context, id string, err error) error {
	o := c.owner(id)
	if o == nil || !errors.Is(err, store.ErrDamaged) {
		return err
	}
	subject := engine.Subject(o.Kind, id)
	_, broken := c.store.Head(ctx, subject)
	if broken == nil {
		for _, broken = range c.store.Read(ctx, subject, store.Position(o.Version)) {
			if broken != nil {
				break
			}
		}
	}
	if !errors.Is(broken, store.ErrDamaged) {
		return err
	}
	why := reason(broken)
	c.hold(subject, why)
	return refuseHeld(why)
}

// hold lets nothing move an owner any more. The others go on.
func (c *core) hold(subject, why string) {
	id, _ := ownerOf(subject)
	c.mu.Lock()
	held := maps.Clone(c.state.Held)
	if held == nil {
		held = map[string]string{}
	}
	held[subject] = why
	c.state.Held = held
	delete(c.unsure, id) // it stays unknown
	c.mu.Unlock()
	c.news.Ring()
	c.held(subject, why)
}

// damageSubject has an event for each owner that people were told of because it is held.
const damageSubject = "daemon.damage"

// tellHeld tells people of an owner that is held: in the daemon's status as long as it is, and once
// by a message. That is on record before it is sent.
func (d *daemon) tellHeld(subject, why string) {
	id, _ := ownerOf(subject)
	o := d.core.known(id)
	what := daemonapi.KindWord(string(o.Kind)) + " " + id
	d.Log.Error("an owner is held, because its events cannot be read", "owner", id, "error", why)
	d.core.trouble.set(what, errors.New("held, because its record is damaged: "+why))
	d.telling.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if !d.first(ctx, subject, why) {
			return
		}
		text := "Its record is damaged: " + why + ". The daemon does nothing more for it; what it has running continues. " +
			"Other pipelines are not affected. See stopgate log verify; stopgate pipeline cancel --give-up " + id + " gives it up"
		err := d.people.Notify(ctx, o, engine.Effect{Kind: engine.NotifyPerson, Title: what + " is held", Text: text})
		if err != nil {
			d.Log.Error("cannot tell that an owner is held", "owner", id, "error", err)
		}
	})
}

// first reports whether people were not told yet that an owner is held.
func (d *daemon) first(ctx context.Context, subject, why string) bool {
	err := d.recordDamage(ctx, "damage-", subject, struct {
		V       int       `json:"v"`
		Subject string    `json:"subject"`
		Why     string    `json:"why"`
		Time    time.Time `json:"time"`
	}{1, subject, why, d.Now().UTC()})
	return err == nil
}

// checkEvery is how often the whole store is verified, the first time when the daemon starts: what
// lies behind a snapshot is not read otherwise.
const checkEvery = 24 * time.Hour

// checkStore verifies the store. An owner that has not ended and whose chain is damaged is held,
// also if its state is known from a snapshot.
func (d *daemon) checkStore(ctx context.Context) error {
	s, ok := d.store.(interface {
		Verify(ctx context.Context) (store.Report, error)
	})
	if !ok {
		return nil
	}
	d.house.Lock() // nothing is trimmed meanwhile
	defer d.house.Unlock()
	report, err := s.Verify(ctx)
	if ctx.Err() != nil {
		return ctx.Err() // whatever SQLite says of it
	}
	if err != nil || !report.Damaged() {
		return err
	}
	for _, f := range report.Findings {
		id, ours := ownerOf(f.Subject)
		if o := d.core.owner(id); ours && o != nil && !o.Terminal() && d.core.heldFor(id) == "" {
			d.core.hold(f.Subject, f.String())
		}
	}
	return fmt.Errorf("%w, see stopgate log verify: %s", store.ErrDamaged, report.Findings[0])
}
