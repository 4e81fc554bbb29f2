// Package beat says which machines of a fleet are there. Each member publishes a beat every few seconds, and
// each observes the beats of the others.
//
// Clocks of other machines and lifetimes of messages say nothing: servers may be an hour off. A member is
// judged by whether its counter moves, in the time of the observer's own monotonic clock, and only while the
// observer hears its own beats come back: then the way from a member to the observer works.
package beat

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/stopgate/stopgate/internal/control/fleet/link"
	"github.com/stopgate/stopgate/internal/sys/plain"
	"github.com/stopgate/stopgate/internal/sys/rawjson"
)

const (
	// Every is the time between two beats of a member.
	Every = 3 * time.Second
	// SilentAfter is how long a member may say nothing before that is shown: ten beats, and more than the
	// election of a leader takes.
	SilentAfter = 30 * time.Second
	// LostAfter is when a member counts as lost.
	LostAfter = 60 * time.Second
	// UnheardAfter is how long the observer may miss its own beats before it takes its link for broken. An
	// election takes up to 9 s.
	UnheardAfter = 12 * time.Second
)

// Beat is what a member says about itself.
type Beat struct {
	// Life is the id of the daemon that beats. Another one counts anew.
	Life  string `json:"life"`
	Count uint64 `json:"count"` // from 1
	// Boot is the machine's boot id, where there is one.
	Boot string `json:"boot,omitempty"`
	// Slept is for how many seconds the machine was suspended since it was booted, as far as is known.
	Slept float64 `json:"slept,omitempty"`
	// Sleeping means that the machine is about to be suspended: this is its last word until it wakes up.
	Sleeping bool `json:"sleeping,omitempty"`
	// Stopped means that the daemon ends because it was told to: this is the last word of its life.
	Stopped bool `json:"stopped,omitempty"`

	Version  string   `json:"version,omitempty"`
	User     string   `json:"user,omitempty"` // only to be shown: what it may do goes by its member record
	Labels   []string `json:"labels,omitempty"`
	Projects []string `json:"projects,omitempty"`
	Agents   int      `json:"agents"` // that run
	Room     int      `json:"room"`   // for so many more; -1 is any number
	// Passed are jobs that wait and that it does not take although it has what they need, with why.
	Passed map[string]string `json:"passed,omitempty"`
}

// A beat stays small whatever a configuration says.
const (
	mostNames = 200 // labels, and projects
	maxWord   = 100
	mostJobs  = 20
	maxWhy    = 200
)

// Encode is a beat as it is sent.
func (b Beat) Encode() ([]byte, error) {
	b.Labels = b.Labels[:min(len(b.Labels), mostNames)]
	b.Projects = b.Projects[:min(len(b.Projects), mostNames)]
	b.Passed = fewer(b.Passed)
	return rawjson.Marshal(b)
}

// Decode reads a beat. What a newer version says besides is passed over.
func Decode(text []byte) (b Beat, err error) {
	switch err := json.Unmarshal(text, &b); {
	case len(text) > link.MaxView:
		return Beat{}, fmt.Errorf("a beat of %d bytes", len(text))
	case err != nil:
		return Beat{}, fmt.Errorf("a beat: %w", err)
	case b.Life == "" || len(b.Life) > maxWord || b.Count == 0:
		return Beat{}, errors.New("a beat without a life or a count")
	}
	for _, word := range []*string{&b.Boot, &b.Version, &b.User} {
		*word = plain.Short(*word, maxWord)
	}
	notName := func(name string) bool { return link.CheckName(name) != nil }
	b.Labels = slices.DeleteFunc(b.Labels[:min(len(b.Labels), mostNames)], notName)
	b.Projects = slices.DeleteFunc(b.Projects[:min(len(b.Projects), mostNames)], notName)
	b.Passed = fewer(b.Passed)
	b.Agents, b.Room = max(b.Agents, 0), max(b.Room, -1)
	return b, nil
}

// fewer are some of the jobs, the first by their ids, with short reasons.
func fewer(jobs map[string]string) map[string]string {
	if len(jobs) == 0 {
		return nil
	}
	some := map[string]string{}
	for _, id := range slices.Sorted(maps.Keys(jobs)) {
		if len(some) == mostJobs {
			break
		}
		if len(id) <= maxWord {
			some[id] = plain.Short(jobs[id], maxWhy)
		}
	}
	return some
}
