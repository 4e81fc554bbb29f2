package engine

import (
	"time"

	"github.com/stopgate/stopgate/internal/control/runbook"
)

// Input is something that happened.
type Input struct {
	// ID is unique. The same input, told again, has the same one: a hash of the hook
	// call that it came from, a person's request, an effect's key with what became of
	// it. The step's event in the store has an id made of it.
	ID string
	// Time is when it happened, for those who look; the engine takes no other.
	Time time.Time
	// Late means that it was found at catch-up: it changes state, but nothing is typed
	// and nobody is told because of it.
	Late bool
	// Journal marks inputs that come from the journal, which may be read twice.
	Journal bool
	What    Happening
}

// Happening is what happened. What agents, effects, commands and timers do is a Fact as well
// once it was heard, and has one type for both.
type Happening interface {
	// EventType is its name, such as agent:stop: the cause of the step that it leads to.
	EventType() string
}

// What people do.
type (
	// Create starts a pipeline, or an agent alone.
	Create struct {
		Owner   string
		Kind    Kind
		Name    string
		Command string
		Project string
		Cwd     string
		Vars    map[string]string
		Passed  map[string]string
		By      string // what started it, if that was not a person
		Job     *Job   // of a fleet, that it is an attempt of
		Plan    runbook.Plan
		Site    Site
		Parent  *Parent           // of a child
		Outputs map[string]Output // of a child: what its parent's steps left behind
	}
	// Cancel ends an owner by way of its on_cancel.
	Cancel struct{ Why string }
	// Resume goes on with an owner that failed or waits: at its step, with more vars
	// and, for an agent, a message.
	Resume struct {
		Message string
		Vars    map[string]string
	}
	// Answer answers a decision: with an option's name, with words, or both. Answers are
	// for the questions of an agent, one for each.
	Answer struct {
		Decision, Option, Message string
		Answers                   []string
	}
	// Tell is a person who writes to an agent: to that one, not to its successor.
	Tell struct{ AgentID, Message string }
	// Discard is a person who does not need a workspace any more that was kept.
	Discard struct{ Dir string }
	// Kill is a person who ends an agent's process. What follows is on_dead.
	Kill struct{ AgentID string }
)

// What the daemon does.
type (
	// CaughtUp comes once to each owner when the daemon has read everything that
	// happened while it was away: from here on things happen now.
	CaughtUp struct{}
	// Admit lets an owner begin that waits for room in its group.
	Admit struct{}
	// Forget ends the record of an owner that is at its end.
	Forget struct {
		By string // who wants it
	}
)

func (Create) EventType() string   { return "create" }
func (Cancel) EventType() string   { return "cancel" }
func (Resume) EventType() string   { return "resume" }
func (Answer) EventType() string   { return "answer" }
func (Tell) EventType() string     { return "tell" }
func (Kill) EventType() string     { return "kill" }
func (Discard) EventType() string  { return "discard" }
func (CaughtUp) EventType() string { return "caught_up" }
func (Admit) EventType() string    { return "admit" }
func (Forget) EventType() string   { return "forget" }
