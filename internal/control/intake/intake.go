// Package intake is what projects start without a person: by the clock, and from their queues. It is
// pure, like the engine: a project is the fold of its facts, and each change of it is one event in
// the store.
package intake

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/sys/rawjson"
)

// Project is what a project starts by itself.
type Project struct {
	Root      string              `json:"root"`
	On        bool                `json:"on,omitempty"`        // a person wants its schedules to be kept
	Schedules map[string]Schedule `json:"schedules,omitempty"` // by their keys

	Workers map[string]bool  `json:"workers,omitempty"` // that a person started, by their names
	Items   map[string]*Item `json:"items,omitempty"`   // by their ids
	Serial  uint64           `json:"serial,omitempty"`  // counts items: they are taken in that order

	// Version is the position of the project's last event. The store gives it.
	Version uint64 `json:"version"`
}

// Schedule is how far a schedule is.
type Schedule struct {
	Times string    `json:"times"` // what After belongs to
	After time.Time `json:"after"` // everything that was due until then was dealt with
	Last  Start     `json:"last,omitzero"`
}

// Start is what became of a time at which something was due.
type Start struct {
	Due   time.Time `json:"due"`
	At    time.Time `json:"at"`
	Owner string    `json:"owner,omitempty"` // what was started
	Error string    `json:"error,omitempty"` // why nothing was
}

// Waits reports whether the project needs a daemon to start something.
func (p *Project) Waits() bool { return p.On || len(p.Workers) > 0 }

// Busy reports whether there may be something to do in the project.
func (p *Project) Busy() bool { return p.Waits() || len(p.Running()) > 0 }

// Fact is something that is true from now on. Its type says which fields it has.
type Fact struct {
	Type  Type      `json:"type"`
	Name  string    `json:"name,omitempty"` // of a schedule: its key
	Times string    `json:"times,omitempty"`
	Due   time.Time `json:"due,omitzero"`
	Owner string    `json:"owner,omitempty"`
	Error string    `json:"error,omitempty"`

	ID     string            `json:"id,omitempty"` // of an item
	Queue  string            `json:"queue,omitempty"`
	Key    string            `json:"key,omitempty"`
	Vars   map[string]string `json:"vars,omitempty"`
	Worker string            `json:"worker,omitempty"`
	Ready  time.Time         `json:"ready,omitzero"` // of an item that failed: when it is tried again
}

// Type is what a fact is about.
type Type string

// The types of facts.
const (
	ScheduleOn   Type = "schedule:on"
	ScheduleOff  Type = "schedule:off"
	ScheduleSeen Type = "schedule:seen" // it is new, or has other times
	ScheduleDue  Type = "schedule:due"  // its time was dealt with

	WorkerStarted Type = "worker:started"
	WorkerStopped Type = "worker:stopped"

	ItemAdded    Type = "item:added"
	ItemTaken    Type = "item:taken"    // by a worker; its owner is started next
	ItemReturned Type = "item:returned" // what was taken could not be started
	ItemDone     Type = "item:done"
	ItemFailed   Type = "item:failed" // it is tried again, or dead
	ItemRetried  Type = "item:retried"
	ItemDropped  Type = "item:dropped"
)

// Step is one event in the store.
type Step struct {
	Format  int       `json:"v"`
	Project string    `json:"project"` // root
	Time    time.Time `json:"time"`
	Facts   []Fact    `json:"facts"`
}

const format = 1

// prefix is how the subjects of projects begin.
const prefix = "intake."

// Subject is where a project's steps are.
func Subject(root string) string { return prefix + ID("project", root) + ID("root", root) }

// IsSubject reports whether a subject's events are about a project.
func IsSubject(subject string) bool { return strings.HasPrefix(subject, prefix) }

// ID is 16 hexadecimal digits that are the same for the same parts, and for no others.
func ID(parts ...string) string {
	text, err := json.Marshal(parts)
	if err != nil { // texts always can be
		panic(err)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// Encode is a step as it is stored.
func Encode(s Step) ([]byte, error) {
	s.Format = format
	return rawjson.Marshal(s)
}

// Decode reads what Encode wrote. A step that a newer stopgate wrote is an error that says so.
func Decode(text []byte) (s Step, err error) {
	if err := json.Unmarshal(text, &s); err != nil {
		return Step{}, fmt.Errorf("not a step: %w", err)
	}
	if s.Format != format {
		return Step{}, fmt.Errorf("a step of format %d was written by a newer stopgate; this one knows format %d", s.Format, format)
	}
	for _, f := range s.Facts {
		if _, known := changes[f.Type]; !known {
			return Step{}, fmt.Errorf("a fact of type %q was written by a newer stopgate", string(f.Type))
		}
	}
	return s, nil
}

// changes are what facts change, by their types.
var changes = map[Type]func(p *Project, f Fact, at time.Time){
	ScheduleOn:   scheduleOn,
	ScheduleOff:  func(p *Project, _ Fact, _ time.Time) { p.On = false },
	ScheduleSeen: scheduleSeen,
	ScheduleDue:  scheduleDue,

	WorkerStarted: func(p *Project, f Fact, _ time.Time) { p.switchWorker(f.Name, true) },
	WorkerStopped: func(p *Project, f Fact, _ time.Time) { p.switchWorker(f.Name, false) },

	ItemAdded:    itemAdded,
	ItemTaken:    onItem(itemTaken),
	ItemReturned: onItem(itemReturned),
	ItemDone:     onItem(func(i *Item, _ Fact) { i.State, i.Error = Done, "" }),
	ItemFailed:   onItem(itemFailed),
	ItemRetried:  onItem(func(i *Item, _ Fact) { i.State, i.Failures, i.Ready, i.Error = Pending, 0, time.Time{}, "" }),
	ItemDropped:  func(p *Project, f Fact, _ time.Time) { delete(p.Items, f.ID) },
}

// Apply is the fold: it changes the project.
func (p *Project) Apply(s Step) {
	for _, f := range s.Facts {
		changes[f.Type](p, f, s.Time)
	}
}

// scheduleOn begins anew: what was due while schedules were off is not started.
func scheduleOn(p *Project, _ Fact, at time.Time) {
	if p.On {
		return
	}
	p.On = true
	for key, s := range p.Schedules {
		s.After = at
		p.Schedules[key] = s
	}
}

func scheduleSeen(p *Project, f Fact, at time.Time) {
	s := p.Schedules[f.Name]
	s.Times, s.After = f.Times, at
	p.put(f.Name, s)
}

func scheduleDue(p *Project, f Fact, at time.Time) {
	s := p.Schedules[f.Name]
	if f.Due.After(s.After) {
		s.After = f.Due
	}
	s.Last = Start{Due: f.Due, At: at, Owner: f.Owner, Error: f.Error}
	p.put(f.Name, s)
}

func (p *Project) put(key string, s Schedule) {
	if p.Schedules == nil {
		p.Schedules = map[string]Schedule{}
	}
	p.Schedules[key] = s
}

// State is all projects, by their roots.
type State map[string]*Project

// Project is the one with a root. It is empty where nothing is known of it.
func (s State) Project(root string) *Project {
	if p := s[root]; p != nil {
		return p
	}
	return &Project{Root: root}
}

// Apply adds a step that is at a position.
func (s State) Apply(step Step, position uint64) {
	p := s.Project(step.Project)
	p.Apply(step)
	p.Version = position
	s[step.Project] = p
}

// Roots are those of all projects, in order.
func (s State) Roots() []string { return slices.Sorted(maps.Keys(s)) }

// Clone is a copy that stays as it is.
func (s State) Clone() State {
	if len(s) == 0 {
		return nil
	}
	all := State{}
	for root, p := range s {
		copied := *p
		copied.Schedules, copied.Workers = maps.Clone(p.Schedules), maps.Clone(p.Workers)
		copied.Items = make(map[string]*Item, len(p.Items))
		for id, item := range p.Items {
			one := *item // its values are never changed
			copied.Items[id] = &one
		}
		all[root] = &copied
	}
	return all
}
