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
	// Shortened is what Claude Code's settings grant the hook where that is less than what it
	// was installed with; zero where they do not. An agent can write such settings.
	Shortened time.Duration
}

// Advice names what to raise for a gate that needs longer.
func (l Limit) Advice() string {
	if l.Shortened > 0 {
		return fmt.Sprintf("remove what shortens the hook's timeout to %s in the settings of Claude Code (see: stopgate doctor)", l.Shortened)
	}
	if l.Configured {
		return fmt.Sprintf("raise stop_hook.deadline (%s)", l.Time.Round(time.Second))
	}
	return fmt.Sprintf("raise the hook's timeout, which leaves %s (stopgate hooks install --timeout)", l.Time.Round(time.Second))
}
