package daemon

import (
	"bytes"
	"context"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/control/api"
	"github.com/stopgate/stopgate/internal/record/event"
	"github.com/stopgate/stopgate/internal/record/journal"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// Gates reads the journal from its end. The places of its records are positions.
func (p *plane) Gates(ctx context.Context, q *api.Query) (api.Page[daemonapi.GateRun], error) {
	page := api.Page[daemonapi.GateRun]{}
	before := journal.Position{}
	if q.After.ID != "" {
		at, err := journal.ParsePosition(q.After.ID)
		if err != nil {
			return page, invalid("cursor: it is that of another list")
		}
		before = at
	}
	judged := func(json []byte) bool { return bytes.Contains(json, []byte(`"trees":[`)) && ctx.Err() == nil }
	last := api.Place{}
	for entry, err := range journal.New(p.opts.journalDir(), journal.Limits{}).Backward(before, judged) {
		if err != nil {
			return page, failure("unavailable", "cannot read the journal: "+plain.Line(err.Error()), "")
		}
		if !wantsRun(q, entry.Record) {
			continue
		}
		if len(page.Items) == q.Limit {
			page.Next = last
			break
		}
		page.Items = append(page.Items, gateRunView(entry.Record))
		last = api.Place{ID: entry.Position.String()}
	}
	return page, ctx.Err()
}

func wantsRun(q *api.Query, r *event.Record) bool {
	return r.Kind == event.Answered && len(r.Trees) > 0 && api.Is(q.Project, r.Project) && api.Is(q.Session, r.Session) &&
		q.Allows(r.Decision) && q.AllowsTime(r.Time)
}

func gateRunView(r *event.Record) daemonapi.GateRun {
	view := daemonapi.GateRun{
		ID: r.Call, Time: r.Time, Event: r.Event, Session: r.Session, Project: r.Project,
		Decision: r.Decision, DurationMS: r.DurationMS,
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
