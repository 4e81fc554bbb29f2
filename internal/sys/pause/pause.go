// Package pause waits between tries, for as long as a context lives.
package pause

import (
	"context"
	"math/rand/v2"
	"time"
)

// For waits, and returns the context's error where that has ended by then.
func For(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
	return ctx.Err()
}

// Every is a loop that looks, the first time at once and then at this interval, until the context
// ends. What takes longer than the interval is followed by the next look at once.
func Every(ctx context.Context, d time.Duration) func(look func() bool) {
	return func(look func() bool) {
		tick := time.NewTicker(d)
		defer tick.Stop()

		for look() {
			select {
			case <-tick.C:
			case <-ctx.Done():
				return
			}
		}
	}
}

// Doubling is a loop of tries, the first of them at once, until the context ends. Each pause is
// about twice as long as the one before, up to the longest: a little of it is chance, so that
// those that failed together do not come back together.
func Doubling(ctx context.Context, first, longest time.Duration) func(try func() bool) {
	return func(try func() bool) {
		for d := first; try() && For(ctx, min(d/2+rand.N(d), longest)) == nil; d = min(2*d, longest) {
		}
	}
}
