package gauntlet

import (
	"context"
	"errors"
	"slices"
	"time"
)

const (
	// signalLag is how much later than what we started we may learn that all of us
	// are to end. Of 40 runs whose gate got SIGTERM just before us, 8 counted as
	// failed without this wait.
	signalLag = 100 * time.Millisecond
	// killedLag is the same where a signal ended a gate: it is hardly ever for another reason, and on a busy machine
	// ours came more than signalLag later.
	killedLag = 3 * time.Second
)

// interrupted reports whether somebody stopped the run. Where a gate failed, it
// waits a moment to tell a failure from a gate that was ended with us.
func interrupted(ctx context.Context, r *Result) bool {
	if failed := r.with(GateFailed); len(failed) > 0 {
		lag := signalLag
		if slices.ContainsFunc(failed, func(g GateResult) bool { return g.killed }) {
			lag = killedLag
		}
		timer := time.NewTimer(lag)
		defer timer.Stop()
		select {
		case <-ctx.Done():
		case <-timer.C:
		}
	}
	return errors.Is(ctx.Err(), context.Canceled)
}
