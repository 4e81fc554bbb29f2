package daemon

import (
	"context"
	"slices"
	"time"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/control/api"
	"github.com/stopgate/stopgate/internal/control/engine"
	"github.com/stopgate/stopgate/internal/control/web"
	"github.com/stopgate/stopgate/internal/gate/doctor"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

var _ web.Plane = (*plane)(nil)

// ControlUI implements api.Plane.
func (p *plane) ControlUI(ctx context.Context, c daemonapi.UIControl) (daemonapi.UI, error) {
	return p.ui(ctx, c)
}

// Changes implements web.Plane.
func (p *plane) Changes() (work, journal <-chan struct{}) {
	return p.core.news.Rung(), p.ingest.moved.Rung()
}

// Seen implements api.Plane.
func (p *plane) Seen(_ context.Context, q *api.Query) (api.Page[daemonapi.Seen], error) {
	all, err := p.seen()
	if err != nil {
		return api.Page[daemonapi.Seen]{}, api.Refusal("unavailable", "cannot read the journal: "+plain.Line(err.Error()), "")
	}
	all = slices.DeleteFunc(all, func(s daemonapi.Seen) bool {
		return !api.Is(q.Session, s.ID) || !api.Is(q.Project, s.Project) || !q.Allows(s.State) || !q.AllowsTime(s.Since)
	})
	place := func(s daemonapi.Seen) api.Place { return api.Place{Time: s.Since, ID: s.ID} }
	return api.PageOf(slices.Values(all), place, q), nil
}

// mostProjects bounds the projects that are told of.
const mostProjects = 200

// Projects implements web.Plane.
func (p *plane) Projects() (roots []string) {
	p.core.look(func(s *engine.State) { roots = s.Projects(mostProjects) })
	return roots
}

// Workspaced implements web.Plane.
func (p *plane) Workspaced() map[string]string {
	projects := map[string]string{}
	p.core.look(func(s *engine.State) {
		for o := range s.After(engine.Place{}) {
			for _, w := range o.Workspaces {
				projects[o.WorkspacePath(w)] = o.Project
			}
		}
	})
	return projects
}

// Glance implements web.Plane.
func (p *plane) Glance(root string, now time.Time) doctor.Glance {
	return doctor.Look(p.opts.StateDir, p.global(), root, now)
}
