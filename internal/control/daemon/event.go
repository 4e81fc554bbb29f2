package daemon

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"iter"
	"slices"
	"sort"
	"strconv"
	"time"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/control/api"
	"github.com/stopgate/stopgate/internal/control/engine"
	"github.com/stopgate/stopgate/internal/control/store"
)

func (p *plane) Events(ctx context.Context, q *api.Query, after uint64) iter.Seq2[daemonapi.Event, error] {
	if after == api.Now {
		after = uint64(p.core.position())
	}

	return func(yield func(daemonapi.Event, error) bool) {
		for e, err := range p.core.store.Watch(ctx, "", store.Position(after)) {
			var step engine.Step
			wanted := false
			if err == nil {
				step, wanted, err = p.asked(q, e)
			}
			if err != nil {
				yield(daemonapi.Event{}, asFailure(err))
				return
			}
			if !wanted {
				continue
			}

			view := eventView(e.Position, step, q.Data)
			if now := p.core.reached(ctx, step.Owner, e.Position); now != nil && now.Version == view.Position {
				owner := ownerView(now, true)
				view.Now = &owner
			}
			if !yield(view, nil) {
				return
			}
		}
	}
}

// asked is the step of an event, and whether a query asks for it.
func (p *plane) asked(q *api.Query, e store.Event) (step engine.Step, wanted bool, err error) {
	id, ours := ownerOf(e.Subject)
	if !ours || !api.Is(q.Owner, id) {
		return step, false, nil
	}
	if o := p.core.owner(id); q.Project != "" && (o == nil || o.Project != q.Project) {
		return step, false, nil
	}
	named := func(name string) bool { return bytes.Contains(e.Data, []byte(name)) }
	if len(q.Types) > 0 && !slices.ContainsFunc(q.Types, named) { // decoding takes longer
		return step, false, nil
	}
	step, err = engine.DecodeStep(e.Data)
	if err != nil {
		return step, false, err
	}
	typed := len(q.Types) == 0 || slices.ContainsFunc(step.Facts, func(f engine.Fact) bool { return slices.Contains(q.Types, f.EventType()) })
	return step, typed && q.AllowsTime(step.Time), nil
}

// eventView is a step as others see it.
func eventView(position store.Position, step engine.Step, data bool) daemonapi.Event {
	view := daemonapi.Event{
		Position: uint64(position), Owner: step.Owner, Cause: step.Cause,
		Time: step.Time.UTC().Truncate(time.Millisecond), Facts: []string{},
	}
	for _, fact := range step.Facts {
		view.Facts = append(view.Facts, fact.EventType())
		if data {
			view.Data = append(view.Data, daemonapi.Fact{Type: fact.EventType(), Data: factData(fact)})
		}
	}
	return view
}

// factData is what a fact says, but for plans, which are large, and for the values of environment
// variables, which may be secret.
func factData(fact engine.Fact) map[string]any {
	if created, is := fact.(engine.Created); is {
		created.Plan = nil
		passed := map[string]string{}
		for name := range created.Passed {
			passed[name] = "…"
		}
		created.Passed = passed
		fact = created
	}

	data := map[string]any{}
	text, err := json.Marshal(fact)
	if err != nil {
		return data // it came from JSON: this does not happen
	}

	exact := json.NewDecoder(bytes.NewReader(text))
	exact.UseNumber()
	_ = exact.Decode(&data) // it is an object
	if _, created := fact.(engine.Created); created {
		delete(data, "plan")
	}
	return data
}

const (
	// firstWindow is how many events are read first for a page, and nextWindow how many of those before
	// them each time after. The store reads ahead: many small windows cost more.
	firstWindow = 128
	nextWindow  = 512
	// mostLooked bounds what a page costs whose query asks for few of many events.
	mostLooked = firstWindow + nextWindow
)

func (p *plane) History(ctx context.Context, q *api.Query, before uint64) (api.Page[daemonapi.Event], error) {
	end := min(store.Position(before), p.core.position()+1)
	page := api.Page[daemonapi.Event]{}
	next := func(at uint64) api.Place { return api.Place{ID: strconv.FormatUint(at, 10)} }
	looked := 0

	for e, err := range p.core.backwards(ctx, q.Owner, end) {
		var step engine.Step
		wanted := false
		if err == nil {
			step, wanted, err = p.asked(q, e)
		}
		if err != nil {
			return page, asFailure(err)
		}

		switch {
		case wanted && len(page.Items) == q.Limit:
			page.Next = next(page.Items[q.Limit-1].Position)
			return page, nil
		case wanted:
			page.Items = append(page.Items, eventView(e.Position, step, q.Data))
		}
		if looked++; looked == mostLooked {
			page.Next = next(uint64(e.Position))
			return page, nil
		}
	}
	return page, nil
}

// backwards are the events before a position, the newest first, of an owner or of all, as far as they
// have not been trimmed.
func (c *core) backwards(ctx context.Context, owner string, end store.Position) iter.Seq2[store.Event, error] {
	if owner != "" {
		return c.backwardsOf(ctx, owner, end)
	}
	read := func(after store.Position) iter.Seq2[store.Event, error] { return c.store.ReadAll(ctx, after) }
	return func(yield func(store.Event, error) bool) {
		for window := store.Position(firstWindow); end > 1; window = nextWindow {
			start := store.Position(1)
			if end > window {
				start = end - window
			}
			events, last, err := untrimmed(read, start, end)
			if !handBack(events, err, yield) || last {
				return
			}
			end = start
		}
	}
}

// backwardsOf is backwards for the events of one owner.
func (c *core) backwardsOf(ctx context.Context, owner string, end store.Position) iter.Seq2[store.Event, error] {
	return func(yield func(store.Event, error) bool) {
		for _, kind := range kinds {
			read := func(after store.Position) iter.Seq2[store.Event, error] {
				return c.store.Read(ctx, engine.Subject(kind, owner), after)
			}
			events, _, err := untrimmed(read, 1, end)
			if !handBack(events, err, yield) {
				return
			}
		}
	}
}

func handBack(events []store.Event, err error, yield func(store.Event, error) bool) (more bool) {
	if err != nil {
		yield(store.Event{}, err)
		return false
	}
	for _, e := range slices.Backward(events) {
		if !yield(e, nil) {
			return false
		}
	}
	return true
}

// untrimmed are the events from one position to before another that have not been trimmed. It reports
// whether some have been.
func untrimmed(read func(after store.Position) iter.Seq2[store.Event, error], start, end store.Position) (events []store.Event, trimmed bool, err error) {
	events, err = eventsIn(read, start, end)
	if !errors.Is(err, store.ErrTrimmed) {
		return events, false, err
	}
	there := sort.Search(int(end-start), func(i int) bool {
		for _, err := range read(start - 1 + store.Position(i)) {
			return !errors.Is(err, store.ErrTrimmed)
		}
		return true
	})
	events, err = eventsIn(read, start+store.Position(there), end)
	if errors.Is(err, store.ErrTrimmed) { // while it was looked for
		err = nil
	}
	return events, true, err
}

func eventsIn(read func(after store.Position) iter.Seq2[store.Event, error], start, end store.Position) (events []store.Event, err error) {
	for e, err := range read(start - 1) {
		switch {
		case err != nil:
			return nil, err
		case e.Position >= end:
			return events, nil
		}
		events = append(events, e)
	}
	return events, nil
}
