package daemon

import (
	"bytes"
	"context"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/control/api"
	"github.com/stopgate/stopgate/internal/record/event"
	"github.com/stopgate/stopgate/internal/record/journal"
	"github.com/stopgate/stopgate/internal/record/stops"
	"github.com/stopgate/stopgate/internal/sys/plain"
	"github.com/stopgate/stopgate/internal/sys/rawjson"
)

const (
	// mostRuns bounds the records that are decoded for a page whose query asks for few of them.
	mostRuns = 500
	// mostSegments bounds what is read for a page, in segments of the journal of up to 16 MiB.
	mostSegments = 2
	// longestHeadline is how much of a sentence about a stop is told, in bytes.
	longestHeadline = 1000
)

// Gates reads the journal from its end. The places of its records are positions. What a page may cost
// is bounded, so that it may have fewer runs than its limit although there are more.
func (p *plane) Gates(ctx context.Context, q *api.Query) (api.Page[daemonapi.GateRun], error) {
	page := api.Page[daemonapi.GateRun]{}
	before := journal.Position{}
	if q.After.ID != "" {
		at, err := journal.ParsePosition(q.After.ID)
		if err != nil {
			return page, invalid("cursor: it belongs to another list")
		}
		before = at
	}

	runs, segments := 0, 0
	last := api.Place{}
	for entry, err := range journal.New(p.opts.journalDir(), journal.Limits{}).Backward(before, judgedIn(ctx, q)) {
		if err != nil {
			return page, api.Refusal("unavailable", "cannot read the journal: "+plain.Line(err.Error()), "")
		}

		wanted := entry.Record != nil && wantsRun(q, entry.Record)
		switch {
		case wanted && len(page.Items) == q.Limit, runs == mostRuns, segments == mostSegments:
			page.Next = last
			return page, nil
		case wanted:
			page.Items = append(page.Items, gateRunView(entry.Record))
		case entry.Record == nil:
			segments++
		}
		if entry.Record != nil {
			runs++
		}
		last = api.Place{ID: entry.Position.String()}
	}
	return page, ctx.Err()
}

// judgedIn tells the JSON of a stop that gates have judged, and that a query may ask for. It is not
// decoded for that.
func judgedIn(ctx context.Context, q *api.Query) func(json []byte) bool {
	var parts [][]byte
	for field, value := range map[string]string{"project": q.Project, "session": q.Session} {
		quoted, err := rawjson.Marshal(value)
		if value != "" && err == nil && string(quoted) == `"`+value+`"` { // any other may be written in several ways
			parts = append(parts, []byte(`"`+field+`":`+string(quoted)))
		}
	}
	parts = append(parts, []byte(`"trees":[`))
	return func(json []byte) bool {
		for _, part := range parts {
			if !bytes.Contains(json, part) {
				return false
			}
		}
		return ctx.Err() == nil
	}
}

func wantsRun(q *api.Query, r *event.Record) bool {
	return r.Kind == event.Answered && len(r.Trees) > 0 && api.Is(q.Project, r.Project) && api.Is(q.Session, r.Session) &&
		q.Allows(r.Decision) && q.AllowsTime(r.Time)
}

func gateRunView(r *event.Record) daemonapi.GateRun {
	view := daemonapi.GateRun{
		ID: r.Call, Time: r.Time, Event: r.Event, Session: r.Session, Pane: plain.Line(r.Pane), Project: r.Project,
		Decision: r.Decision, DurationMS: r.DurationMS,
	}
	if stop := stops.Of(r); stop != nil {
		view.Result, view.Headline = string(stop.Decision), plain.Cut(plain.Line(stop.Headline()), longestHeadline)
		if stop.Gap != nil {
			view.NotEnforced = string(stop.Gap.Kind)
		}
	}
	for _, t := range r.Trees {
		tree := daemonapi.GateTree{Root: t.Root, Status: t.Status, Why: plain.Line(t.Why), More: t.More, Gates: []daemonapi.Gate{}}
		for _, g := range t.Gates {
			tree.Gates = append(tree.Gates, daemonapi.Gate{Job: plain.Line(g.Job), Outcome: g.Outcome, Why: plain.Line(g.Why), DurationMS: g.DurationMS, Log: g.Log})
		}
		view.Trees = append(view.Trees, tree)
	}
	return view
}
