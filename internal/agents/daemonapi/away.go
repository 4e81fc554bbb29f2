package daemonapi

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/sys/plain"
)

// fresh is for how long a machine may be silent before people are told the age of what is shown of it. It
// says something every three seconds.
const fresh = 10 * time.Second

// KindWord is what people call an owner of a kind.
func KindWord(kind string) string {
	if kind == "run" {
		return "agent run"
	}
	return "pipeline"
}

// Line is the owner among others that an id prefix may mean.
func (o *Owner) Line() string {
	return fmt.Sprintf("  %s  %s %s%s, %s", o.ID, KindWord(o.Kind), plain.Line(o.Name), o.On(), o.Status)
}

// Line is the agent among others that an id prefix may mean.
func (a *Agent) Line() string {
	return fmt.Sprintf("  %s  agent %s%s, %s", a.ID, plain.Line(a.Name), a.On(), a.Status)
}

// State is what people are told of the agent's status: Claude Code that has not called a hook yet is starting.
func (a *Agent) State() string {
	if a.ClaudeCode && !a.Ready && a.Status == "running" {
		return "starting"
	}
	return plain.Line(a.Status)
}

// Here is the host of a Filter that asks for what is on this machine only.
const Here = "."

// IsFleetName reports whether a text can be the name of a machine or a project in a fleet: it is part of subjects.
func IsFleetName(name string) bool {
	return name != "" && len(name) <= 32 && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

// Fleet asks for the fleet. A daemon that knows of none, also an older one, answers with none.
func (c *Client) Fleet(ctx context.Context) (Fleet, error) {
	f, err := get[Fleet](ctx, c, "/v1/fleet")
	if Code(err) == "not_found" {
		return Fleet{}, nil
	}
	return f, err
}

// On is where something is, as the end of its name: " on vps". It is empty for this machine.
func (a Away) On() string {
	if a.Host == "" {
		return ""
	}
	return " on " + plain.Line(a.Host)
}

// Ago is how old what is shown may be, in words: "4 min ago". It is empty while that is fresh, and for what is on
// this machine.
func (a Away) Ago() string {
	if a.Host == "" || a.silence() < fresh {
		return ""
	}
	return Span(a.silence()) + " ago"
}

func (a Away) silence() time.Duration { return silenceOf(a.Heard) }

// silenceOf is a number of seconds. What no clock measures counts as the longest that makes sense.
func silenceOf(seconds float64) time.Duration {
	const most = 10 * 365 * 24 * 3600
	if seconds >= 0 && seconds <= most {
		return time.Duration(seconds * float64(time.Second))
	}
	return most * time.Second
}

// Span is a duration in one unit: "40 s", "4 min", "3 h", "5 days".
func Span(d time.Duration) string {
	switch {
	case d < time.Minute:
		return strconv.Itoa(int(d/time.Second)) + " s"
	case d < time.Hour:
		return strconv.Itoa(int(d/time.Minute)) + " min"
	case d < 48*time.Hour:
		return strconv.Itoa(int(d/time.Hour)) + " h"
	}
	return strconv.Itoa(int(d/(24*time.Hour))) + " days"
}

// memberStates are those in which a machine is away, the worst first.
var memberStates = []string{"lost", "silent", "stopped", "asleep", "unknown"}

// IsAway reports whether the machine does not answer now.
func (m FleetMember) IsAway() bool { return slices.Contains(memberStates, m.State) }

// Why says in words why a machine does not answer: "vps has not reported for 4 min".
func (m FleetMember) Why() string {
	silence := Span(silenceOf(m.Heard))
	switch m.State {
	case "lost":
		return m.Name + " is lost: it has not reported for " + silence
	case "silent":
		return m.Name + " has not reported for " + silence
	case "stopped":
		return m.Name + " was stopped " + silence + " ago"
	case "asleep":
		return m.Name + " has been asleep for " + silence
	case "unknown":
		return m.Name + " has never reported"
	}
	return ""
}

// Find is a machine by its name.
func (f *Fleet) Find(name string) (m FleetMember, found bool) {
	at := slices.IndexFunc(f.Members, func(m FleetMember) bool { return m.Name == name })
	if at < 0 {
		return m, false
	}
	return f.Members[at], true
}

// Away are the other machines that do not answer now. Without a connection nothing is known of them.
func (f *Fleet) Away() (away []FleetMember) {
	if !f.Connected {
		return nil
	}
	for _, m := range f.Members {
		if m.Name != f.Member && m.IsAway() {
			away = append(away, m)
		}
	}
	return away
}

// Line is how the fleet is, in a line: "lab: 3 machines, 1 silent".
func (f *Fleet) Line() string {
	parts := []string{plain.Count(len(f.Members), "machine")}
	switch {
	case !f.Connected && len(f.Members) == 0: // since the daemon began
		parts[0] = "not connected"
	case !f.Connected:
		parts = append(parts, "not connected")
	}

	away := f.Away()
	for _, state := range memberStates {
		n := 0
		for i := range away {
			if away[i].State == state {
				n++
			}
		}
		word := state
		if state == "unknown" {
			word = "not seen yet"
		}
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, word))
		}
	}

	return f.Name + ": " + strings.Join(parts, ", ")
}
