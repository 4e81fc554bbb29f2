package effect

import (
	"github.com/stopgate/stopgate/internal/agents/errand"
	"github.com/stopgate/stopgate/internal/control/engine"
)

// relate carries out what an owner has to do with its children, or with its parent. What the parent
// hears is how far the owner is now.
func (t *task) relate() error {
	children, e := t.opts.Children, t.effect
	switch {
	case children == nil:
		return &errand.Failure{Why: "pipelines in pipelines are not supported here"}
	case e.Kind == engine.StartChild:
		return children.Start(t.acting, t.newest(), e.Target)
	case e.Kind == engine.CancelChild:
		return children.Cancel(t.acting, e.Target, e.Key, e.Text)
	}
	return children.Report(t.acting, t.newest(), e.Key)
}

// newest is the owner as it is known now.
func (t *task) newest() *engine.Owner {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.line.owner
}
