package effect

import (
	"context"
	"time"

	"github.com/stopgate/stopgate/internal/agents/errand"
	"github.com/stopgate/stopgate/internal/control/engine"
)

// Notifier tells people something.
type Notifier interface {
	// Held is how long nobody is told anything about an owner; 0 where people may be told.
	Held(o *engine.Owner) time.Duration
	// Notify tells people what an effect says. It is never called again for that effect:
	// nobody knows what somebody has got who did not answer.
	Notify(ctx context.Context, o *engine.Owner, e engine.Effect) error
}

// mayTell waits until people may be told: before the start is on record, so that what waits
// is found again after a crash, and is dropped with the decision that it tells of. It is
// false when it is no longer wanted, and when the worker stops.
func (t *task) mayTell() bool {
	for t.wanted() {
		left := t.opts.Notifier.Held(t.owner)
		if left <= 0 {
			return true
		}
		select {
		case <-time.After(min(left, longestHold)):
		case <-t.line.changed:
		case <-t.running.Done():
			return false
		}
	}
	return false
}

// longestHold is when it is looked again whether people may be told: a clock may be set, a
// machine may have slept, and a person may want to be told after all.
const longestHold = time.Minute

// tell tells people.
func (t *task) tell() error {
	if err := t.opts.Notifier.Notify(t.acting, t.owner, t.effect); err != nil {
		return &errand.Failure{Why: err.Error()}
	}
	return nil
}
