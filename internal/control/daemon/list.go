package daemon

import (
	"context"
	"iter"
	"slices"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/control/api"
	"github.com/stopgate/stopgate/internal/control/engine"
	"github.com/stopgate/stopgate/internal/control/runbook"
)

// Owners are in the order that the state keeps, so that a page costs no more than what is passed over
// on the way to its end.
func (p *plane) Owners(_ context.Context, q *api.Query) (api.Page[daemonapi.Owner], error) {
	held := p.core.heldOwners()
	var found []*engine.Owner // one more than the page has
	for _, o := range p.core.unknown() {
		if len(found) <= q.Limit && isAfter(placeOf(o), q.After) && wants(q, o, held) {
			found = append(found, o)
		}
	}

	p.core.look(func(s *engine.State) {
		all := s.After
		if onlyLive(q, held) {
			all = s.LiveAfter
		}
		for o := range all(engine.Place(q.After)) {
			if len(found) > q.Limit {
				return
			}
			if wants(q, o, held) {
				found = append(found, o)
			}
		}
	})

	page := api.Page[*engine.Owner]{Items: found}
	if len(found) > q.Limit {
		page = api.Page[*engine.Owner]{Items: found[:q.Limit], Next: placeOf(found[q.Limit-1])}
	}
	return api.View(page, func(o *engine.Owner) daemonapi.Owner { return p.ownerView(o, false) }), nil
}

// onlyLive reports whether a query asks for none that is at its end. One that is held may be that.
func onlyLive(q *api.Query, held map[string]string) bool {
	atEnd := func(status string) bool {
		return status == runbook.EndDone || status == runbook.EndFailed || status == runbook.EndCancelled || status == "held" && len(held) > 0
	}
	return len(q.Status) > 0 && !slices.ContainsFunc(q.Status, atEnd)
}

// placeOf is an owner's place in lists. Those that are held and unknown have no time: they come first.
func placeOf(o *engine.Owner) api.Place { return api.PlaceOf(o.Created, o.ID) }

// isAfter reports whether a place is behind another one, if there is one.
func isAfter(at, other api.Place) bool { return other == (api.Place{}) || at.Compare(other) > 0 }

// wants reports whether a query asks for an owner.
func wants(q *api.Query, o *engine.Owner, held map[string]string) bool {
	now := status(o)
	if held[engine.Subject(o.Kind, o.ID)] != "" {
		now = "held"
	}
	return api.Is(q.Kind, string(o.Kind)) && belongs(q, o) && ofParent(q, o) && api.Is(q.Name, o.Name) && api.Is(q.Command, o.Command) &&
		q.Allows(now) && q.AllowsTime(o.Created)
}

// ofParent reports whether a query asks for what has such a parent: none, where it does not say.
func ofParent(q *api.Query, o *engine.Owner) bool {
	parent := ""
	if o.Parent != nil {
		parent = o.Parent.ID
	}
	return q.Parent == parent || q.Parent == api.AnyParent
}

// belongs reports whether a query asks for what is the owner's.
func belongs(q *api.Query, o *engine.Owner) bool {
	return api.Is(q.Project, o.Project) && api.Is(q.Owner, o.ID)
}

// ownedBy are all owners that a query may be about, the newest first.
func (p *plane) ownedBy(q *api.Query) []*engine.Owner {
	if q.Owner == "" {
		return p.core.owners()
	}
	if o := p.core.owner(q.Owner); o != nil {
		return []*engine.Owner{o}
	}
	return nil
}

// listedAgent is an agent before it is shown: most of them are not on the page.
type listedAgent struct {
	owner *engine.Owner
	visit *engine.Visit // where the owner has left it
}

func (a listedAgent) place() api.Place {
	if a.visit == nil {
		return api.Place{Time: a.owner.Agent.Started, ID: a.owner.Agent.ID}
	}
	return api.Place{Time: a.visit.Started, ID: a.visit.AgentID}
}

func (a listedAgent) view() daemonapi.Agent {
	if a.visit == nil {
		return agentView(a.owner)
	}
	return pastView(a.owner, *a.visit)
}

func (p *plane) Agents(_ context.Context, q *api.Query) (api.Page[daemonapi.Agent], error) {
	page := api.PageOf(p.agentsFor(q), listedAgent.place, q)
	return api.View(page, func(a listedAgent) daemonapi.Agent { return p.around(a.view(), false) }), nil
}

// agentsFor are the agents that a query asks for.
func (p *plane) agentsFor(q *api.Query) iter.Seq[listedAgent] {
	return func(yield func(listedAgent) bool) {
		for _, o := range p.ownedBy(q) {
			if !belongs(q, o) {
				continue
			}
			for a := range agentsOf(o, q.Past) {
				if p.wantsAgent(q, a) && !yield(a) {
					return
				}
			}
		}
	}
}

// agentsOf are an owner's agent and, with past, those that it had. One that was started again is one.
func agentsOf(o *engine.Owner, past bool) iter.Seq[listedAgent] {
	return func(yield func(listedAgent) bool) {
		if o.Agent != nil && !yield(listedAgent{owner: o}) || !past {
			return
		}
		for i := range o.History {
			visit := &o.History[i]
			if visit.AgentID == "" || o.Agent != nil && o.Agent.ID == visit.AgentID {
				continue
			}
			if !entersAgain(o.History[i+1:], visit.AgentID) && !yield(listedAgent{o, visit}) {
				return
			}
		}
	}
}

// entersAgain reports whether a later visit has the agent.
func entersAgain(later []engine.Visit, agent string) bool {
	for i := range later { // visits are large to copy
		if later[i].AgentID == agent {
			return true
		}
	}
	return false
}

func (p *plane) wantsAgent(q *api.Query, a listedAgent) bool {
	return q.AllowsTime(a.place().Time) && api.Is(q.Name, a.name()) && (len(q.Status) == 0 || q.Allows(p.statusOf(a)))
}

func (a listedAgent) name() string {
	if a.visit == nil {
		return a.owner.Agent.Name
	}
	return agentOf(a.owner, a.visit.Step)
}

// statusOf is the status that the agent is shown with.
func (p *plane) statusOf(a listedAgent) string {
	if a.visit != nil {
		return "exited"
	}
	return p.withPlace(agentView(a.owner)).Status
}

// listedDecision is a decision before it is shown.
type listedDecision struct {
	owner *engine.Owner
	*engine.Decision
	job *daemonapi.Decision // in their place, about a job of the fleet
}

func (d listedDecision) place() api.Place {
	if d.job != nil {
		return api.Place{Time: d.job.Created, ID: d.job.ID}
	}
	return api.Place{Time: d.Created, ID: d.ID}
}

func (p *plane) decisionView(d listedDecision) daemonapi.Decision {
	if d.job != nil {
		return *d.job
	}
	return p.ofJob(d.owner, decisionView(d.owner, *d.Decision))
}

func (p *plane) Decisions(_ context.Context, q *api.Query) (api.Page[daemonapi.Decision], error) {
	all := func(yield func(listedDecision) bool) {
		owners := p.ownedBy
		if !q.Past && q.Owner == "" { // what is at its end asks nothing
			owners = func(*api.Query) []*engine.Owner { return p.core.live() }
		}
		for _, o := range owners(q) {
			if !belongs(q, o) || !api.Is(q.Name, o.Name) {
				continue
			}
			for d := range decisionsOf(o, q.Past) {
				if q.AllowsTime(d.Created) && !yield(listedDecision{owner: o, Decision: d}) {
					return
				}
			}
		}
		for d := range p.jobQuestions(q) {
			if !yield(listedDecision{job: &d}) {
				return
			}
		}
	}
	page := api.PageOf(all, listedDecision.place, q)
	return api.View(page, p.decisionView), nil
}

// jobQuestions are the decisions about jobs of the fleet that a query asks for.
func (p *plane) jobQuestions(q *api.Query) iter.Seq[daemonapi.Decision] {
	return func(yield func(daemonapi.Decision) bool) {
		if p.desk == nil || q.Past {
			return
		}
		for d := range p.desk.Questions() {
			if p.asksFor(q, d) && !yield(d) {
				return
			}
		}
	}
}

// asksFor reports whether a query asks for a decision about a job. Its project has a name, and people ask by its root.
func (p *plane) asksFor(q *api.Query, d daemonapi.Decision) bool {
	here := q.Project != "" && q.Project == p.rootOf(d.Project)
	return (here || api.Is(q.Project, d.Project)) && api.Is(q.Name, d.Name) && api.Is(q.Owner, d.Owner) && q.AllowsTime(d.Created)
}

// decisionsOf are an owner's open decision, or those that are settled.
func decisionsOf(o *engine.Owner, settled bool) iter.Seq[*engine.Decision] {
	return func(yield func(*engine.Decision) bool) {
		if !settled && o.Decision != nil {
			yield(o.Decision)
		}
		for i := range o.Settled {
			if !settled || !yield(&o.Settled[i]) {
				return
			}
		}
	}
}
