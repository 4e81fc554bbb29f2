package gauntlet

import (
	"fmt"
	"time"
)

// Limit is what bounds the time of a whole run.
type Limit struct {
	Time time.Duration
	// Configured means that stop_hook.deadline says so; otherwise it is what the installed
	// hook leaves.
	Configured bool
}

// advice names what to raise for a gate that needs longer.
func (l Limit) advice() string {
	if l.Configured {
		return fmt.Sprintf("raise stop_hook.deadline (%s)", l.Time.Round(time.Second))
	}
	return fmt.Sprintf("raise the hook's timeout, which leaves %s (stopgate hooks install --timeout)", l.Time.Round(time.Second))
}
