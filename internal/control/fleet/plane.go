package fleet

import (
	"context"
	"iter"
	"strings"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/control/api"
)

// Plane is the control plane of a machine together with what others of its fleet show. Lists have what others
// published, with its age; what is about one thing goes to the machine that has it. Everything else, and all
// that hooks ask, is this machine's own.
type Plane struct {
	api.Plane // this machine's own
	f         *Fleet
}

var _ api.Plane = (*Plane)(nil)

// Merged is the plane of this machine with those of the others.
func (f *Fleet) Merged() *Plane { return &Plane{f.Options.Plane, f} }

// Fleet implements api.Plane.
func (p *Plane) Fleet(context.Context) daemonapi.Fleet { return p.f.Status() }

// Owners implements api.Plane.
func (p *Plane) Owners(ctx context.Context, q *api.Query) (api.Page[daemonapi.Owner], error) {
	place := func(o daemonapi.Owner) api.Place { return api.PlaceOf(o.Created, o.ID) }
	return merge(ctx, p, q, p.Plane.Owners, place, func(yield func(daemonapi.Owner) bool) {
		for member, o := range p.f.others.All() {
			if isOn(q, member) && wantsOwner(q, o) && !yield(p.away(member, *o)) {
				return
			}
		}
	})
}

// wantsOwner reports whether a query asks for an owner.
func wantsOwner(q *api.Query, o *daemonapi.Owner) bool {
	return api.Is(q.Kind, o.Kind) && api.Is(q.Project, o.Project) && api.Is(q.Owner, o.ID) &&
		(q.Parent == o.Parent || q.Parent == api.AnyParent) && api.Is(q.Name, o.Name) && api.Is(q.Command, o.Command) &&
		q.Allows(o.Status) && q.AllowsTime(o.Created)
}

// Agents implements api.Plane. Of other machines those are listed that owners have now.
func (p *Plane) Agents(ctx context.Context, q *api.Query) (api.Page[daemonapi.Agent], error) {
	place := func(a daemonapi.Agent) api.Place { return api.Place{Time: a.Started, ID: a.ID} }
	return merge(ctx, p, q, p.Plane.Agents, place, func(yield func(daemonapi.Agent) bool) {
		for member, o := range p.f.others.All() {
			a := o.Agent
			if a == nil || !isOn(q, member) || !api.Is(q.Project, o.Project) || !api.Is(q.Owner, o.ID) || !api.Is(q.Name, a.Name) ||
				!q.Allows(a.Status) || !q.AllowsTime(a.Started) {
				continue
			}
			if !yield(*p.away(member, *o).Agent) {
				return
			}
		}
	})
}

// Decisions implements api.Plane. Those that are settled are this machine's own.
func (p *Plane) Decisions(ctx context.Context, q *api.Query) (api.Page[daemonapi.Decision], error) {
	place := func(d daemonapi.Decision) api.Place { return api.Place{Time: d.Created, ID: d.ID} }
	return merge(ctx, p, q, p.Plane.Decisions, place, func(yield func(daemonapi.Decision) bool) {
		if q.Past {
			return
		}
		for member, o := range p.f.others.All() {
			d := o.Decision
			if d == nil || !isOn(q, member) || !api.Is(q.Project, o.Project) || !api.Is(q.Owner, o.ID) || !api.Is(q.Name, o.Name) || !q.AllowsTime(d.Created) {
				continue
			}
			if !yield(*p.away(member, *o).Decision) {
				return
			}
		}
	})
}

func isOn(q *api.Query, member string) bool { return api.Is(q.Host, member) }

// merge is a page of what this machine and the others have. Without a fleet it costs nothing.
func merge[T any](ctx context.Context, p *Plane, q *api.Query, own func(context.Context, *api.Query) (api.Page[T], error), place func(T) api.Place, others iter.Seq[T]) (api.Page[T], error) {
	here := q.Host == "" || p.isHere(q.Host)
	switch {
	case q.Host != "" && here, here && p.f.others.Empty():
		return own(ctx, q)
	case !here && !p.f.knows(q.Host):
		return api.Page[T]{}, p.stranger(q.Host)
	}
	var page api.Page[T]
	if here {
		var err error
		if page, err = own(ctx, q); err != nil {
			return page, err
		}
	}
	all := api.PageOf(func(yield func(T) bool) {
		for _, item := range page.Items {
			if !yield(item) {
				return
			}
		}
		others(yield)
	}, place, q)
	if all.Next == (api.Place{}) {
		all.Next = page.Next // then the page is ours alone, and there is more of it
	}
	return all, nil
}

// isHere reports whether the name of a machine is that of this one.
func (p *Plane) isHere(host string) bool { return host == daemonapi.Here || host == p.f.Me() }

// stranger is the refusal of a name that no machine of the fleet has.
func (p *Plane) stranger(host string) error {
	name, me := p.f.Self()
	switch {
	case name == "":
		return failure("not_found", "this machine is in no fleet, so there is no machine "+host, "see: stopgate fleet status")
	case len(p.f.members()) == 0:
		return failure("unavailable", "this machine is not connected to its fleet, and does not know whether there is a machine "+host, "see: stopgate fleet status")
	}
	names := []string{me}
	for _, m := range p.f.Status().Members {
		if m.Name != me {
			names = append(names, m.Name)
		}
	}
	return failure("not_found", "there is no machine "+host+" in the fleet", "there are: "+strings.Join(names, ", "))
}

// away is an owner of another machine, with where it is and how old that is.
func (p *Plane) away(member string, o daemonapi.Owner) daemonapi.Owner {
	o.Away = daemonapi.Away{Host: member, Heard: p.f.heard(member)}
	if o.Agent != nil {
		a := *o.Agent
		a.Away = o.Away
		o.Agent = &a
	}
	if o.Decision != nil {
		d := *o.Decision
		d.Away = o.Away
		o.Decision = &d
	}
	return o
}

func failure(code, text, hint string) error {
	return &api.Error{Failure: daemonapi.Failure{Code: code, Error: text, Hint: hint}}
}
