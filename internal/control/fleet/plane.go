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
	return merge(ctx, p, q, list[daemonapi.Owner]{
		own:   p.Plane.Owners,
		path:  map[string]string{"pipeline": "/v1/pipelines", "run": "/v1/runs"}[q.Kind],
		of:    func(o *daemonapi.Owner) *daemonapi.Owner { return o },
		wants: func(o *daemonapi.Owner) bool { return wantsOwner(q, o) },
		away:  p.away,
		place: func(o *daemonapi.Owner) api.Place { return api.PlaceOf(o.Created, o.ID) },
	})
}

// wantsOwner reports whether a query asks for an owner.
func wantsOwner(q *api.Query, o *daemonapi.Owner) bool {
	return api.Is(q.Kind, o.Kind) && api.Is(q.Project, o.Project) && api.Is(q.Owner, o.ID) &&
		(q.Parent == o.Parent || q.Parent == api.AnyParent) && api.Is(q.Name, o.Name) && api.Is(q.Command, o.Command) &&
		q.Allows(o.Status) && q.AllowsTime(o.Created)
}

// Agents implements api.Plane. Of all machines those are listed that owners have now, of one also those before.
func (p *Plane) Agents(ctx context.Context, q *api.Query) (api.Page[daemonapi.Agent], error) {
	return merge(ctx, p, q, list[daemonapi.Agent]{
		own: p.Plane.Agents, path: "/v1/agents", past: "all",
		of: func(o *daemonapi.Owner) *daemonapi.Agent { return o.Agent },
		wants: func(o *daemonapi.Owner) bool {
			a := o.Agent
			return api.Is(q.Project, o.Project) && api.Is(q.Owner, o.ID) && api.Is(q.Name, a.Name) && q.Allows(a.Status) && q.AllowsTime(a.Started)
		},
		away: func(host string, a daemonapi.Agent) daemonapi.Agent {
			a.Away = p.awayFrom(host)
			return a
		},
		place: func(a *daemonapi.Agent) api.Place { return api.Place{Time: a.Started, ID: a.ID} },
	})
}

// Decisions implements api.Plane. Those that are settled are of this machine, or of the one that is asked for.
func (p *Plane) Decisions(ctx context.Context, q *api.Query) (api.Page[daemonapi.Decision], error) {
	return merge(ctx, p, q, list[daemonapi.Decision]{
		own: p.Plane.Decisions, path: "/v1/decisions", past: "settled",
		of: func(o *daemonapi.Owner) *daemonapi.Decision { return o.Decision },
		wants: func(o *daemonapi.Owner) bool {
			return !q.Past && api.Is(q.Project, o.Project) && api.Is(q.Owner, o.ID) && api.Is(q.Name, o.Name) && q.AllowsTime(o.Decision.Created)
		},
		away: func(host string, d daemonapi.Decision) daemonapi.Decision {
			d.Away = p.awayFrom(host)
			return d
		},
		place: func(d *daemonapi.Decision) api.Place { return api.Place{Time: d.Created, ID: d.ID} },
	})
}

// list is a list of one kind of things.
type list[T any] struct {
	own   func(context.Context, *api.Query) (api.Page[T], error)
	path  string                        // of the list of one other machine; empty where that is not asked for
	past  string                        // the parameter that asks for those before
	of    func(o *daemonapi.Owner) *T   // what an owner that another machine shows has of it, or nil
	wants func(o *daemonapi.Owner) bool // of one that has it
	away  func(host string, item T) T   // it, with where it is
	place func(item *T) api.Place
}

// listed is a thing before it is shown: most of them are not on the page.
type listed[T any] struct {
	host string // empty for this machine
	item *T
}

// merge is a page of what this machine and the others have. Without a fleet it costs nothing. One other machine, by
// its name, is asked itself, if it can be.
func merge[T any](ctx context.Context, p *Plane, q *api.Query, l list[T]) (own api.Page[T], err error) {
	here := q.Host == "" || p.isHere(q.Host)
	switch {
	case q.Host != "" && here, here && p.f.others.Empty():
		return l.own(ctx, q)
	case !here && !p.f.knows(q.Host):
		return own, p.stranger(q.Host)
	case !here && l.path != "":
		if page, err := there(ctx, p, q, l); err == nil {
			return page, nil
		}
	case here:
		if own, err = l.own(ctx, q); err != nil {
			return own, err
		}
	}

	all := api.PageOf(l.all(p, q, own.Items), func(x listed[T]) api.Place { return l.place(x.item) }, q)
	page := api.View(all, func(x listed[T]) T {
		if x.host == "" {
			return *x.item
		}
		return l.away(x.host, *x.item)
	})
	if page.Next == (api.Place{}) {
		page.Next = own.Next // then the page is ours alone, and there is more of it
	}
	return page, nil
}

// all are the items of this machine, and those that others show.
func (l list[T]) all(p *Plane, q *api.Query, own []T) iter.Seq[listed[T]] {
	return func(yield func(listed[T]) bool) {
		for i := range own {
			if !yield(listed[T]{item: &own[i]}) {
				return
			}
		}
		for member, o := range p.f.others.All() {
			item := l.of(o)
			if item != nil && api.Is(q.Host, member) && l.wants(o) && !yield(listed[T]{member, item}) {
				return
			}
		}
	}
}

// isHere reports whether the name of a machine is that of this one.
func (p *Plane) isHere(host string) bool { return host == daemonapi.Here || host == p.f.Me() }

// stranger is the refusal of a name that no machine of the fleet has.
func (p *Plane) stranger(host string) error {
	name, me := p.f.Self()
	switch {
	case name == "":
		return api.Refusal("not_found", "this machine is not in a fleet, so there is no machine "+host, "see: stopgate fleet status")
	case len(p.f.members()) == 0:
		return api.Refusal("unavailable", "this machine is not connected to its fleet, and does not know whether there is a machine "+host, "see: stopgate fleet status")
	}
	names := []string{me}
	for _, m := range p.f.Status().Members {
		if m.Name != me {
			names = append(names, m.Name)
		}
	}
	return api.Refusal("not_found", "there is no machine "+host+" in the fleet", "there are: "+strings.Join(names, ", "))
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
