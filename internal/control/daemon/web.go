package daemon

import (
	"context"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/control/web"
)

var _ web.Plane = (*plane)(nil)

// ControlUI implements api.Plane.
func (p *plane) ControlUI(ctx context.Context, c daemonapi.UIControl) (daemonapi.UI, error) {
	return p.ui(ctx, c)
}

// Changes implements web.Plane.
func (p *plane) Changes() (work, journal <-chan struct{}) {
	return p.core.news.rung(), p.ingest.moved.rung()
}
