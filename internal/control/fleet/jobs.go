package fleet

import (
	"context"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/control/api"
)

// Jobs implements api.Plane. A job that runs says so where its pipeline waits for a person.
func (p *Plane) Jobs(ctx context.Context, q *api.Query) (api.Page[daemonapi.Job], error) {
	page, err := p.Plane.Jobs(ctx, q)
	if err != nil {
		return page, err
	}
	var asks map[string]string
	for i := range page.Items {
		if j := &page.Items[i]; j.Status == "running" {
			if asks == nil {
				asks = p.asks(ctx)
			}
			waitFor(j, asks[j.Owner])
		}
	}
	return page, nil
}

// Job implements api.Plane. It also says of what kind its last attempt is, where this machine knows.
func (p *Plane) Job(ctx context.Context, id string) (daemonapi.Job, error) {
	j, err := p.Plane.Job(ctx, id)
	if err != nil || j.Owner == "" {
		return j, err
	}
	if o, known := p.shown(ctx, j.Owner); known {
		j.Kind = o.Kind
	}
	if j.Status == "running" {
		waitFor(&j, p.asks(ctx)[j.Owner])
	}
	return j, nil
}

func waitFor(j *daemonapi.Job, decision string) {
	if decision != "" {
		j.Asks = decision
		j.Waits = append(j.Waits, "decision "+decision[:min(len(decision), 8)]+" waits for an answer")
	}
}

// shown is an owner as this machine has it, or another one shows it. No machine is asked.
func (p *Plane) shown(ctx context.Context, id string) (daemonapi.Owner, bool) {
	if o, err := p.Plane.Owner(ctx, id); err == nil {
		return o, true
	}
	for _, o := range p.f.others.All() {
		if o.ID == id {
			return *o, true
		}
	}
	return daemonapi.Owner{}, false
}

// mostAsks is how many owners that wait are looked at. There are as many open decisions.
const mostAsks = 1000

// asks are the decisions that owners of all machines wait for, by owner. What a step of a pipeline runs asks for that too.
func (p *Plane) asks(ctx context.Context) map[string]string {
	asks := map[string]string{}
	page, err := p.Owners(ctx, &api.Query{Status: []string{"waiting"}, Parent: api.AnyParent, Limit: mostAsks})
	if err != nil { // then the jobs are shown without
		return asks
	}
	for i := range page.Items {
		o := &page.Items[i]
		if o.Decision == nil {
			continue
		}
		asks[o.ID] = o.Decision.ID
		if o.Parent != "" && asks[o.Parent] == "" {
			asks[o.Parent] = o.Decision.ID
		}
	}
	return asks
}
