package fleet

import (
	"context"
	"slices"
	"time"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/control/api"
	"github.com/stopgate/stopgate/internal/control/fleet/ask"
	"github.com/stopgate/stopgate/internal/project/config"
)

const (
	// shownFor is how long others see what has ended.
	shownFor = 24 * time.Hour
	// mostShown is how many owners others see of this machine: those that live first, then the newest.
	mostShown = 1000
	// lookedAt is among how many of the newest those are looked for that ended lately.
	lookedAt = 5000
)

// source is what this machine shows of itself.
type source struct{ f *Fleet }

func (s source) Shown(ctx context.Context) ([]daemonapi.Owner, error) {
	live := &api.Query{Parent: api.AnyParent, Status: []string{"queued", "running", "waiting", "held"}}
	shown, err := s.collect(ctx, live, mostShown, func(*daemonapi.Owner) bool { return true })
	if err != nil || len(shown) >= mostShown {
		return shown, err
	}
	ended := &api.Query{Parent: api.AnyParent, Status: []string{"done", "failed", "cancelled"}}
	more, err := s.collect(ctx, ended, mostShown-len(shown), s.recent)
	return append(shown, more...), err
}

// collect are the newest owners that a query lets through and that are wanted, so many at most.
func (s source) collect(ctx context.Context, q *api.Query, most int, wanted func(*daemonapi.Owner) bool) (found []daemonapi.Owner, err error) {
	q.Limit = 200
	for range lookedAt / q.Limit {
		page, err := s.f.Plane.Owners(ctx, q)
		if err != nil {
			return nil, err
		}
		found = append(found, slices.DeleteFunc(page.Items, func(o daemonapi.Owner) bool { return !wanted(&o) })...)
		if len(found) >= most {
			return found[:most], nil
		}
		if q.After = page.Next; page.Next == (api.Place{}) {
			break
		}
	}
	return found, nil
}

// recent reports whether others see an owner.
func (s source) recent(o *daemonapi.Owner) bool {
	return o.Ended == nil || s.f.Now().Sub(*o.Ended) < shownFor
}

func (s source) Show(ctx context.Context, id string) (o daemonapi.Owner, shown bool, err error) {
	o, err = s.f.Plane.Owner(ctx, id)
	if daemonapi.Code(err) == "not_found" {
		return daemonapi.Owner{}, false, nil
	}
	return o, err == nil && o.ID == id && s.recent(&o), err
}

// Words reports whether the users of all members may see what runs here: everyone in the fleet can read a view.
func (s source) Words() bool {
	allow, me := s.f.Config().Fleet.Allow, s.f.record(s.f.Me()).User
	for _, m := range s.f.members() {
		if !ask.May(allow, me, m.User, config.FleetView) {
			return false
		}
	}
	return true
}
