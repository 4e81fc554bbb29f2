package send

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/stopgate/stopgate/internal/session/wake"
)

// pace is how a letter is tried again.
type pace int

const (
	quick  pace = iota // soon, and then less and less often
	costly             // the same, but much less often: every try has an agent work for nothing
	slow               // now and then, until a person has put something right
	never              // no try will ever end otherwise
)

// failure is why a letter was not delivered.
type failure struct {
	reason string
	pace   pace
	after  time.Duration // what the gateway asked us to wait; 0: nothing
}

func (f *failure) Error() string { return f.reason }

// paceOf is how what failed so is tried again.
func paceOf(err error) pace {
	if f, ok := errors.AsType[*failure](err); ok {
		return f.pace
	}
	return quick
}

// passing is a failure that goes away by itself.
func passing(format string, args ...any) error {
	return &failure{reason: fmt.Sprintf(format, args...)}
}

// fixable is a failure that a person has to put right: a token, a name, a file.
func fixable(format string, args ...any) error {
	return &failure{reason: fmt.Sprintf(format, args...), pace: slow}
}

// refused is a failure of the letter itself.
func refused(format string, args ...any) error {
	return &failure{reason: fmt.Sprintf(format, args...), pace: never}
}

const (
	shortest = time.Second
	longest  = time.Minute
	// obeyed is the longest wait that a gateway may ask for, and the longest that a
	// clock that was set back can cost.
	obeyed = 10 * time.Minute
	// fixTime is how long a person has to fix what only a person can fix.
	fixTime = time.Hour
	// lifetime is how old a letter becomes that cannot be delivered.
	lifetime = 24 * time.Hour
	// fewest is how many tries fail in a row before any letter is given up, however
	// old, which takes most of an hour: the machine may have been off for a week, or its
	// clock set forward.
	fewest = 50
)

// pauseAfter is how long to wait after a try that failed, with so many before it. A little
// of it is chance, so that senders that failed together do not come back together.
func pauseAfter(before int, cause error) time.Duration {
	d := min(shortest<<min(before, 10), longest)
	if f, ok := errors.AsType[*failure](cause); ok {
		switch f.pace {
		case slow:
			d = longest
		case costly:
			d = min(shortest<<min(before, 10), obeyed)
		}
		d = max(d, min(f.after, obeyed))
	}
	return d + rand.N(d/10)
}

// untilNext is how long the letter with that state has to wait yet.
func (s Sender) untilNext(state wake.State) time.Duration {
	return min(max(state.NextTry.Sub(s.now()), 0), obeyed+obeyed/10)
}

// brokenSince is since when a person has to put something right, after this try.
func (t *try) brokenSince(now time.Time) time.Time {
	switch {
	case paceOf(t.err) != slow:
		return time.Time{}
	case t.before.Since.IsZero():
		return now
	}
	return t.before.Since
}

// giveUp is why the letter is dead after this try; empty if it is not. A gateway that
// stays broken fails every letter, so the tries of all of them count. But each letter
// has its own time: what was put a minute ago may be what a person sees arrive.
func (t *try) giveUp(since, now time.Time) string {
	age := now.Sub(t.letter.Time)
	switch {
	case t.before.Tries+1 < fewest:
		return ""
	case !since.IsZero() && min(now.Sub(since), age) >= fixTime:
		return fmt.Sprintf("not fixed within %s: %v", fixTime, t.err)
	case age >= lifetime:
		return fmt.Sprintf("not delivered within %s: %v", lifetime, t.err)
	}
	return ""
}
