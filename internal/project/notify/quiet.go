package notify

import (
	"time"

	"github.com/stopgate/stopgate/internal/project/config"
)

// QuietUntil is when the quiet hours end in which a moment lies, by the clock of its
// location; the zero time where it lies in none. It looks at the clock minute by minute:
// an hour that is left out or comes twice in the night needs no rule then.
func QuietUntil(q config.Quiet, now time.Time) time.Time {
	if !quiet(q, now) {
		return time.Time{}
	}
	t := now.Truncate(time.Minute)
	for quiet(q, t) {
		t = t.Add(time.Minute)
	}
	return t
}

// quiet reports whether a moment lies in quiet hours.
func quiet(q config.Quiet, t time.Time) bool {
	hour, minute, _ := t.Clock()
	at := config.TimeOfDay(hour*60 + minute)
	switch {
	case q.None():
		return false
	case q.From < q.To:
		return q.From <= at && at < q.To
	}
	return q.From <= at || at < q.To
}
