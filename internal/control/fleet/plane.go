package fleet

import (
	"context"
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
	l := list[daemonapi.Owner]{
		own:   p.Plane.Owners,
		path:  map[string]string{"pipeline": "/v1/pipelines", "run": "/v1/runs"}[q.Kind],
		place: func(o daemonapi.Owner) api.Place { return api.PlaceOf(o.Created, o.ID) },
		away:  p.away,
	}
	l.shown = func(o *daemonapi.Owner) (daemonapi.Owner, bool) { return *o, wantsOwner(q, o) }
	return merge(ctx, p, q, l)
}

// wantsOwner reports whether a query asks for an owner.
func wantsOwner(q *api.Query, o *daemonapi.Owner) bool {
	return api.Is(q.Kind, o.Kind) && api.Is(q.Project, o.Project) && api.Is(q.Owner, o.ID) &&
		(q.Parent == o.Parent || q.Parent == api.AnyParent) && api.Is(q.Name, o.Name) && api.Is(q.Command, o.Command) &&
		q.Allows(o.Status) && q.AllowsTime(o.Created)
}

// Agents implements api.Plane. Of all machines those are listed that owners have now, of one also those before.
func (p *Plane) Agents(ctx context.Context, q *api.Query) (api.Page[daemonapi.Agent], error) {
	l := list[daemonapi.Agent]{
		own: p.Plane.Agents, path: "/v1/agents", past: "all",
		place: func(a daemonapi.Agent) api.Place { return api.Place{Time: a.Started, ID: a.ID} },
		away: func(host string, a daemonapi.Agent) daemonapi.Agent {
			a.Away = p.awayFrom(host)
			return a
		},
	}
	l.shown = func(o *daemonapi.Owner) (a daemonapi.Agent, wanted bool) {
		if o.Agent == nil {
			return a, false
		}
		a = *o.Agent
		return a, api.Is(q.Project, o.Project) && api.Is(q.Owner, o.ID) && api.Is(q.Name, a.Name) && q.Allows(a.Status) && q.AllowsTime(a.Started)
	}
	return merge(ctx, p, q, l)
}

// Decisions implements api.Plane. Those that are settled are of this machine, or of the one that is asked for.
func (p *Plane) Decisions(ctx context.Context, q *api.Query) (api.Page[daemonapi.Decision], error) {
	l := list[daemonapi.Decision]{
		own: p.Plane.Decisions, path: "/v1/decisions", past: "settled",
		place: func(d daemonapi.Decision) api.Place { return api.Place{Time: d.Created, ID: d.ID} },
		away: func(host string, d daemonapi.Decision) daemonapi.Decision {
			d.Away = p.awayFrom(host)
			return d
		},
	}
	l.shown = func(o *daemonapi.Owner) (d daemonapi.Decision, wanted bool) {
		if o.Decision == nil || q.Past {
			return d, false
		}
		d = *o.Decision
		return d, api.Is(q.Project, o.Project) && api.Is(q.Owner, o.ID) && api.Is(q.Name, o.Name) && q.AllowsTime(d.Created)
	}
	return merge(ctx, p, q, l)
}

// list is a list of one kind of things.
type list[T any] struct {
	own   func(context.Context, *api.Query) (api.Page[T], error)
	path  string                             // of the list of one other machine; empty where that is not asked for
	past  string                             // the parameter that asks for those before
	shown func(o *daemonapi.Owner) (T, bool) // what another machine shows, if it is wanted
	away  func(host string, item T) T        // it, with where it is
	place func(T) api.Place                  // in the list
}

// merge is a page of what this machine and the others have. Without a fleet it costs nothing. One other machine, by
// its name, is asked itself, if it can be.
func merge[T any](ctx context.Context, p *Plane, q *api.Query, l list[T]) (page api.Page[T], err error) {
	here := q.Host == "" || p.isHere(q.Host)
	switch {
	case q.Host != "" && here, here && p.f.others.Empty():
		return l.own(ctx, q)
	case !here && !p.f.knows(q.Host):
		return page, p.stranger(q.Host)
	case !here && l.path != "":
		if page, err := there(ctx, p, q, l); err == nil {
			return page, nil
		}
	case here:
		if page, err = l.own(ctx, q); err != nil {
			return page, err
		}
	}
	all := api.PageOf(func(yield func(T) bool) {
		for _, item := range page.Items {
			if !yield(item) {
				return
			}
		}
		for member, o := range p.f.others.All() {
			if !api.Is(q.Host, member) {
				continue
			}
			if item, wanted := l.shown(o); wanted && !yield(l.away(member, item)) {
				return
			}
		}
	}, l.place, q)
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
