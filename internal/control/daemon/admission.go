package daemon

import (
	"context"
	"strconv"

	"github.com/stopgate/stopgate/internal/control/engine"
	"github.com/stopgate/stopgate/internal/control/nudge"
)

// admission lets those begin that wait for room in their group. It is one process for all of them,
// and nothing else admits: so no more are inside than the limit allows. Who is inside, the owners
// themselves say, also to the next daemon.
type admission struct {
	core *core
	wake chan struct{}
}

func newAdmission(core *core) *admission {
	a := &admission{core: core, wake: make(chan struct{}, 1)}
	nudge.Reader(a.wake) // some may have waited for this daemon
	return a
}

func (a *admission) changed(before, after *engine.Owner) {
	if engine.Moved(before, after) {
		nudge.Reader(a.wake)
	}
}

func (a *admission) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-a.wake:
			if a.admit(ctx) != nil {
				return
			}
		}
	}
}

// admit admits all that there is room for. The error is the context's.
func (a *admission) admit(ctx context.Context) error {
	var due engine.Admission
	a.core.look(func(s *engine.State) { due = s.Admission() })
	for _, c := range due.Cancel {
		err := a.core.must(ctx, c.Owner, engine.Input{ID: "superseded:" + c.By, What: engine.Cancel{Why: c.Why}})
		if unlessRefused(err) != nil {
			return err
		}
	}
	for _, o := range due.Admit {
		err := a.core.must(ctx, o.ID, engine.Input{ID: "admit:" + strconv.FormatUint(o.Version, 10), What: engine.Admit{}})
		if unlessRefused(err) != nil {
			return err
		}
	}
	return nil
}
