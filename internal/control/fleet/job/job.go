// Package job says what becomes of a job that any host of a fleet may do. It is a function of what
// happened: the facts of a job are the events of its subject in the fleet's store, and the one whose append
// wins has decided.
//
// A job is done in attempts. An attempt belongs to the member that claimed it, until it ends, or is given
// up because the member was not heard of. What is said for an attempt that is not the job's any more is
// refused: a member that comes back finds that out before it does anything.
package job

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"
)

// State is where a job stands.
type State string

// The states.
const (
	Pending State = "pending" // it waits for a member
	Claimed State = "claimed" // a member has it, and has not started it yet
	Running State = "running"
	Asking  State = "asking" // its member is lost, and a person decides
	Ended   State = "ended"
)

// OnLost is what happens when the member that has a job is not heard of any more.
type OnLost string

// A person is asked where nothing else is said: processes on another machine cannot be ended from afar, so a
// second attempt may run beside the first.
const (
	Ask   OnLost = "ask"
	Again OnLost = "again"
)

// Spec is what is to be done.
type Spec struct {
	Project string   `json:"project"` // its name: each member maps it to a path
	Command string   `json:"command"`
	Args    []string `json:"args,omitempty"`
	Needs   []string `json:"needs,omitempty"` // labels that a member must have
	Host    string   `json:"host,omitempty"`  // the only member that may do it
	OnLost  OnLost   `json:"on_lost,omitempty"`
	Cap     string   `json:"cap,omitempty"` // that it counts against
	USD     float64  `json:"usd,omitempty"` // reserved of the cap where the runbook has no budget
	// Worker means that Command is a worker, which has an item of a queue with these Vars.
	Worker bool              `json:"worker,omitempty"`
	Vars   map[string]string `json:"vars,omitempty"`
}

// Job is a job as its facts say it is.
type Job struct {
	ID      string
	Spec    Spec
	Added   time.Time
	By      string // the member that added it, as it says itself: the signature proves it
	State   State
	Attempt int               // the number of the last claim, from 1; 0 before the first
	Member  string            // that has it, or had it last
	Refused map[string]string // by member, why it did not start it
	// Begun means that this attempt was started, also while it is lost.
	Begun bool
	// Losses counts how often a member was not heard of: each is a question of its own.
	Losses int
	// Waiting means that a person has decided to wait for the member: it is not asked about again before the
	// member was heard of.
	Waiting bool
	// Decided is what a person decided when its member was lost the last time, one of Choices, and DecidedBy the
	// member where that was.
	Decided, DecidedBy string
	// Cancelling means that a person wants it to end: its member sees to that.
	Cancelling bool
	Status     string // of a job that has ended: done, failed, cancelled
	Reason     string
	EndedBy    string    // the member that said so: its own, or one where a person decided
	USD        float64   // that its attempts have cost, as far as they said
	Since      time.Time // of its state
	Signature  []byte    // of the member that added it
}

// Type is what a fact says.
type Type string

// The facts.
const (
	Added      Type = "added"
	HasClaimed Type = "claimed"
	Started    Type = "started"
	HasRefused Type = "refused"
	HasEnded   Type = "ended"
	Lost       Type = "lost"
	Found      Type = "found"
	Retried    Type = "retried"
	Cancelling Type = "cancelling"
)

// Fact is something that happened to a job.
type Fact struct {
	Type    Type      `json:"type"`
	Time    time.Time `json:"time"`
	By      string    `json:"by,omitempty"` // the member that says it
	Attempt int       `json:"attempt,omitempty"`
	Spec    *Spec     `json:"spec,omitempty"`
	Status  string    `json:"status,omitempty"`
	Reason  string    `json:"reason,omitempty"`
	USD     float64   `json:"usd,omitempty"`     // that the attempt has cost
	Reserve float64   `json:"reserve,omitempty"` // of a claim: what it takes of the cap
	// Signature is that of the member that added the job, of what Signed says.
	Signature []byte `json:"signature,omitempty"`
}

// ErrStale says that the job is not that attempt's any more.
var ErrStale = errors.New("the job no longer belongs to this attempt")

// ErrState says that the job does not stand where that could be done.
var ErrState = errors.New("not possible now")

// decided is what a person has chosen where another member than its own says something about a job that is lost.
var decided = map[Type]string{Found: "wait", Retried: "again", HasEnded: "cancel"}

// After is the job after a fact. Facts that do not fit change nothing: the store kept them out.
func (j Job) After(f Fact) Job {
	before := j.State
	j.USD += f.USD
	if choice := decided[f.Type]; before == Asking && choice != "" && f.By != j.Member {
		j.Decided, j.DecidedBy = choice, f.By
	}

	switch f.Type {
	case Added:
		if f.Spec != nil && j.State == "" {
			j.Spec, j.Added, j.By, j.State = *f.Spec, f.Time, f.By, Pending
			j.Signature = f.Signature
		}
	case HasClaimed:
		j.State, j.Member, j.Attempt = Claimed, f.By, f.Attempt
		j.Begun, j.Waiting = false, false
	case Started:
		j.State, j.Begun = Running, true
	case Found:
		if j.State = Claimed; j.Begun {
			j.State = Running
		}
		j.Waiting = f.By != j.Member
	case HasRefused:
		j.State = Pending
		refused := map[string]string{f.By: f.Reason}
		for member, why := range j.Refused {
			if member != f.By {
				refused[member] = why
			}
		}
		j.Refused = refused
	case Lost:
		j.State = Asking
		j.Losses++
	case Retried:
		j.State, j.Refused, j.Cancelling = Pending, nil, false
	case Cancelling:
		j.Cancelling = true
	case HasEnded:
		j.State, j.Status, j.Reason, j.EndedBy = Ended, f.Status, f.Reason, f.By
	}

	if j.State != before {
		j.Since = f.Time
	}
	return j
}

// Remains is a job that ended long ago, so that only its last fact is left. Its member is the one that wrote that fact.
func Remains(id string, f Fact) Job {
	j := Job{ID: id, Member: f.By, Attempt: f.Attempt}.After(f)
	j.Since = f.Time
	return j
}

// Trimmed reports whether only the job's last fact is left: see Remains.
func (j Job) Trimmed() bool { return j.State == Ended && j.Spec.Command == "" }

// May reports whether a member may claim the job, as far as the job says.
func (j Job) May(member string, labels []string) bool {
	_, refused := j.Refused[member]
	return j.State == Pending && !j.Cancelling && !refused && (j.Spec.Host == "" || j.Spec.Host == member) &&
		!slices.ContainsFunc(j.Spec.Needs, func(need string) bool { return !slices.Contains(labels, need) })
}

// Claim takes the job for a member, where it may cost so much: what the runbook there says, else what the job
// says.
func (j Job) Claim(member string, labels []string, usd float64, now time.Time) (Fact, error) {
	if !j.May(member, labels) {
		return Fact{}, j.not("claimed by " + member)
	}
	if usd == 0 {
		usd = j.Spec.USD
	}
	return Fact{Type: HasClaimed, Time: now, By: member, Attempt: j.Attempt + 1, Reserve: usd}, nil
}

// current checks that an attempt is the one that the job is in.
func (j Job) current(member string, attempt int, states ...State) error {
	switch {
	case j.Member != member || j.Attempt != attempt || j.State == Pending || j.State == Ended:
		return fmt.Errorf("%w: attempt %d of %s", ErrStale, attempt, member)
	case !slices.Contains(states, j.State):
		return j.not("in this attempt")
	}
	return nil
}

// Start says that an attempt has begun.
func (j Job) Start(member string, attempt int, now time.Time) (Fact, error) {
	return Fact{Type: Started, Time: now, By: member, Attempt: attempt}, j.current(member, attempt, Claimed)
}

// Refuse gives a claim back: the member cannot do the job, and does not get it again. One that is being
// cancelled ends.
func (j Job) Refuse(member string, attempt int, why string, now time.Time) (Fact, error) {
	if j.Cancelling {
		return j.End(member, attempt, "cancelled", why, 0, now)
	}
	return Fact{Type: HasRefused, Time: now, By: member, Attempt: attempt, Reason: why}, j.current(member, attempt, Claimed)
}

// End says how an attempt ended and what it cost. Also one that was lost, while no person has decided: nothing
// was done in its place.
func (j Job) End(member string, attempt int, status, reason string, usd float64, now time.Time) (Fact, error) {
	f := Fact{Type: HasEnded, Time: now, By: member, Attempt: attempt, Status: status, Reason: reason, USD: usd}
	return f, j.current(member, attempt, Claimed, Running, Asking)
}

// GiveBack ends an attempt for a job that is done again where its member loses the fleet: the member has ended
// it by itself, because the others are about to begin another one.
func (j Job) GiveBack(member string, attempt int, reason string, usd float64, now time.Time) (Fact, error) {
	if j.Cancelling || j.Spec.OnLost != Again {
		return j.End(member, attempt, "cancelled", reason, usd, now)
	}
	return Fact{Type: Retried, Time: now, By: member, Attempt: attempt, Reason: reason, USD: usd}, j.current(member, attempt, Claimed, Running, Asking)
}

// Lose says that the member was not heard of for too long. By is the member that says so.
func (j Job) Lose(by string, attempt int, now time.Time) (Fact, error) {
	if err := j.current(j.Member, attempt, Claimed, Running); err != nil {
		return Fact{}, err
	}
	switch {
	case j.Waiting:
		return Fact{}, fmt.Errorf("%w: a person has decided to wait for %s", ErrState, j.Member)
	case j.Spec.OnLost == Again && j.Cancelling:
		return Fact{Type: HasEnded, Time: now, By: by, Attempt: attempt, Status: "cancelled", Reason: j.Member + " was lost while it was being cancelled"}, nil
	case j.Spec.OnLost == Again:
		return Fact{Type: Retried, Time: now, By: by, Attempt: attempt}, nil
	}
	return Fact{Type: Lost, Time: now, By: by, Attempt: attempt}, nil
}

// Return says that a member that was lost is there again, and its attempt goes on.
func (j Job) Return(member string, attempt int, now time.Time) (Fact, error) {
	states := []State{Asking}
	if j.Waiting {
		states = []State{Asking, Claimed, Running}
	}
	return Fact{Type: Found, Time: now, By: member, Attempt: attempt}, j.current(member, attempt, states...)
}

// Choices are what a person may decide about a job whose member is lost.
var Choices = []string{"wait", "again", "cancel"}

// Decide is what a person has decided: to wait for the member, to have the job done again elsewhere, or to
// give it up.
//
// It decides the question of that loss alone: the same attempt may be lost again later.
func (j Job) Decide(loss int, choice, by string, now time.Time) (Fact, error) {
	if j.State != Asking || j.Losses != loss {
		return Fact{}, j.not("decided")
	}
	f := Fact{Time: now, By: by, Attempt: j.Attempt}
	switch choice {
	case "wait":
		f.Type = Found
	case "again":
		f.Type = Retried
	case "cancel":
		f.Type, f.Status, f.Reason = HasEnded, "cancelled", "cancelled by "+by+" after "+j.Member+" was lost"
	default:
		return Fact{}, fmt.Errorf("%q is none of %v", choice, Choices)
	}
	return f, nil
}

// Cancel ends a job that no member has; the member that has one is told to.
func (j Job) Cancel(by string, now time.Time) (Fact, error) {
	switch j.State {
	case Pending, Asking:
		return Fact{Type: HasEnded, Time: now, By: by, Attempt: j.Attempt, Status: "cancelled", Reason: "cancelled by " + by}, nil
	case Claimed, Running:
		if j.Cancelling {
			return Fact{}, fmt.Errorf("%w: it is being cancelled already", ErrState)
		}
		return Fact{Type: Cancelling, Time: now, By: by, Attempt: j.Attempt}, nil
	}
	return Fact{}, j.not("cancelled")
}

// Abandon cancels a job whose member is away, for whatever reason: it cannot be told to end it. What still runs
// there is ended when it is back.
func (j Job) Abandon(by, why string, now time.Time) (Fact, error) {
	if j.State != Claimed && j.State != Running {
		return j.Cancel(by, now)
	}
	reason := fmt.Sprintf("cancelled by %s while %s was %s; it may still run there until %s is back", by, j.Member, why, j.Member)
	return Fact{Type: HasEnded, Time: now, By: by, Attempt: j.Attempt, Status: "cancelled", Reason: reason}, nil
}

// Over reports whether the attempt that a fact is about has come to its end by it: it holds nothing of a cap
// any more.
func (f Fact) Over() bool { return f.Type == HasEnded || f.Type == HasRefused || f.Type == Retried }

// Owner is the id of the pipeline or run that an attempt is on its member. It is always the same: an attempt is
// started once, however often its member begins anew.
func Owner(id string, attempt int) string { return hashed("owner", id, attempt) }

// Signed is what the member that adds a job signs: a job is a command that others run. Members may append to the
// subjects of all jobs, so that nothing else shows whose word it is.
func (j Job) Signed(fleet string) []byte {
	spec, err := json.Marshal(j.Spec)
	if err != nil {
		return nil
	}
	return fmt.Appendf(nil, "stopgate job\n%s\n%s\n%s\n%s", fleet, j.ID, j.By, spec)
}

// Question is the id of what people are asked when a job was lost for the nth time.
func Question(id string, loss int) string { return hashed("lost", id, loss) }

func hashed(what, id string, n int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\n%s\n%d", what, id, n))
	return hex.EncodeToString(sum[:8])
}

func (j Job) not(what string) error {
	state := string(j.State)
	if state == "" {
		state = "not added"
	}
	return fmt.Errorf("%w: job %s is %s and cannot be %s", ErrState, j.ID, state, what)
}
