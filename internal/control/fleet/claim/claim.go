// Package claim is a member's part in the fleet's jobs: it takes those that this machine can do, starts them,
// and says how they ended.
//
// It may be killed at any moment. What it has taken is on the board, and the id of what it starts for an attempt is
// always the same, so that beginning anew starts nothing twice.
package claim

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"sync"
	"time"

	"github.com/stopgate/stopgate/internal/control/fleet/board"
	"github.com/stopgate/stopgate/internal/control/fleet/job"
	"github.com/stopgate/stopgate/internal/sys/pause"
)

// Machine is where this member does its jobs. All methods may be called at once.
type Machine interface {
	// Labels are what jobs may need of a machine, and this one has.
	Labels() []string
	// Room is how many more jobs may be started now.
	Room() int
	// Fits is why a job cannot be started here; nil where it can. usd is the budget of its runbook; 0 where that has
	// none.
	Fits(ctx context.Context, j job.Job) (usd float64, err error)
	// Start starts an attempt under an id, once. ErrLater says that it is not known whether it did.
	Start(ctx context.Context, owner string, j job.Job) error
	// Attempt is what was started under an id; false where nothing was.
	Attempt(owner string) (Attempt, bool)
	// Attempts are those that have not ended, by id.
	Attempts() map[string]Task
	// Cancel ends an attempt. Cancelling it again for the same reason changes nothing.
	Cancel(ctx context.Context, owner, why string) error
	// Release lets an attempt begin new effects that this process has found running: until then it holds them back,
	// because the job may be another member's by now.
	Release(owner string)
	// Tell tells people of this machine something.
	Tell(ctx context.Context, n Notice)
}

// Notice is something that people are told.
type Notice struct {
	Title, Text string
	Project     string // its name in the fleet
	// Decision is the id of what they are asked, with the answers that there are; empty where they are not.
	Decision string
	Options  []string
}

// Task is what an attempt is for.
type Task struct {
	Job   string
	Again bool // the others do it again when this machine loses the fleet
}

// Unheard is why a machine ends an attempt by itself.
const Unheard = "this machine had no connection to the fleet for 20 seconds, and the fleet does the job again"

// Attempt is how far an attempt is.
type Attempt struct {
	Ended  bool
	Status string // done, failed, cancelled
	Reason string
	USD    float64
}

// ErrLater says that a machine cannot do something now, and may later.
var ErrLater = errors.New("not now")

// Member takes jobs for a machine.
type Member struct {
	Name    string
	Board   *board.Board
	Machine Machine
	Log     *slog.Logger
	Now     func() time.Time
	// Wake makes it look: an attempt may have ended, or there is room. It may be nil.
	Wake <-chan struct{}
	// Heard reports whether the fleet has just acknowledged a beat of this machine; nil where it always has. A machine
	// that was cut off would end at once what it takes: the others are about to give that up.
	Heard func() bool

	mu     sync.Mutex
	passed map[string]string // jobs that wait, and why this member does not take them

	revoked map[string]bool // attempts that were cancelled because their jobs gave them up
}

// glance is how often a member looks without being told to: its configuration may have changed, and what failed
// is tried again.
const glance = 5 * time.Second

// breath is the least time between two looks: in a busy fleet there is news all the time.
const breath = 20 * time.Millisecond

// Run takes jobs until the context ends.
func (m *Member) Run(ctx context.Context) {
	for ctx.Err() == nil {
		news := m.Board.News()
		m.Look(ctx)
		timer := time.NewTimer(glance)
		select {
		case <-ctx.Done():
		case <-news:
		case <-m.Wake:
		case <-timer.C:
		}
		timer.Stop()
		_ = pause.For(ctx, breath) // the loop looks whether it has ended
	}
}

// Look does once what there is to do.
func (m *Member) Look(ctx context.Context) {
	for _, j := range m.Board.Live() {
		if j.Member == m.Name && j.State != job.Pending {
			m.logError("tend a job", j, m.tend(ctx, j))
		}
	}
	m.review(ctx)

	passed := map[string]string{}
	heard := m.heard()
	for _, j := range m.Board.Live() {
		if ctx.Err() != nil {
			return
		}
		if !j.May(m.Name, m.Machine.Labels()) {
			continue
		}

		usd, why := m.passes(ctx, j, heard)
		if why != "" {
			passed[j.ID] = why
			continue
		}
		m.logError("take a job", j, m.take(ctx, j, usd))
	}

	m.mu.Lock()
	defer m.mu.Unlock()
	m.passed = passed
}

// NoRoom is why a member does not take a job while it has as many as it may.
const NoRoom = "there is no room for another job"

// passes is why this member does not take a job that is for it; "" where it does.
func (m *Member) passes(ctx context.Context, j job.Job, heard bool) (usd float64, why string) {
	if !heard {
		return 0, "the fleet has not acknowledged this machine's reports for some seconds"
	}
	if m.Machine.Room() <= 0 { // before anything is read: there may be many jobs
		return 0, NoRoom
	}
	usd, err := m.Machine.Fits(ctx, j)
	if err != nil {
		return 0, err.Error()
	}
	return usd, ""
}

// Passes is why this member would not take a job that is for it; "" where it would, by what is known now.
func (m *Member) Passes(ctx context.Context, j job.Job) string {
	_, why := m.passes(ctx, j, m.heard())
	return why
}

func (m *Member) heard() bool { return m.Heard == nil || m.Heard() }

// Passed are the jobs that wait although this member has what they need, with why it does not take them.
func (m *Member) Passed() map[string]string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.passed)
}

// take claims a job and starts it. That another member was first, or that the cap is full, is no error.
func (m *Member) take(ctx context.Context, j job.Job, usd float64) error {
	claimed, err := m.Board.Claim(ctx, j.ID, m.Machine.Labels(), usd)
	if _, full := errors.AsType[*job.FullError](err); full || errors.Is(err, job.ErrState) {
		return nil
	}
	if err != nil {
		return err
	}
	m.Log.Info("took a job of the fleet", "job", j.ID, "command", j.Spec.Command, "attempt", claimed.Attempt)
	return m.begin(ctx, claimed)
}

// tend does what is next for an attempt of this member.
func (m *Member) tend(ctx context.Context, j job.Job) error {
	owner := job.Owner(j.ID, j.Attempt)
	attempt, started := m.Machine.Attempt(owner)
	switch {
	case started && attempt.Ended:
		return m.end(ctx, j, attempt)
	case j.State == job.Asking || j.Waiting:
		return m.comeBack(ctx, j)
	case !j.Begun:
		return m.resume(ctx, j)
	case !started:
		return m.end(ctx, j, Attempt{Status: "failed", Reason: "its pipeline is no longer on " + m.Name})
	}
	if j.Cancelling {
		return m.Machine.Cancel(ctx, owner, "job "+j.ID+" is cancelled")
	}
	return nil
}

// resume begins an attempt that was claimed and is not known to have begun: this process, or one before it, was
// interrupted. The others may have given it up since, so the job is read first.
func (m *Member) resume(ctx context.Context, j job.Job) error {
	if err := m.Board.Fresh(ctx, j.ID); err != nil {
		return err
	}
	now, _ := m.Board.Job(j.ID)
	if now.Member != j.Member || now.Attempt != j.Attempt || now.State != job.Claimed {
		return nil // the next look sees what it is
	}
	return m.begin(ctx, now)
}

// begin starts an attempt that was claimed, or refuses it.
func (m *Member) begin(ctx context.Context, j job.Job) error {
	owner := job.Owner(j.ID, j.Attempt)
	_, started := m.Machine.Attempt(owner)
	if j.Cancelling && !started {
		return m.change(ctx, j, func(now job.Job) (job.Fact, error) {
			return now.Refuse(m.Name, j.Attempt, "cancelled before it began", m.Now())
		})
	}
	err := m.Machine.Start(ctx, owner, j)
	switch {
	case errors.Is(err, ErrLater):
		return err
	case err != nil:
		m.Log.Warn("cannot start a job of the fleet", "job", j.ID, "error", err)
		return m.change(ctx, j, func(now job.Job) (job.Fact, error) {
			return now.Refuse(m.Name, j.Attempt, err.Error(), m.Now())
		})
	}
	m.Machine.Release(owner)
	return m.change(ctx, j, func(now job.Job) (job.Fact, error) { return now.Start(m.Name, j.Attempt, m.Now()) })
}

// end says how an attempt ended.
func (m *Member) end(ctx context.Context, j job.Job, a Attempt) error {
	status := cmp.Or(a.Status, "failed")
	return m.change(ctx, j, func(now job.Job) (job.Fact, error) {
		if status == "cancelled" && a.Reason == Unheard {
			return now.GiveBack(m.Name, j.Attempt, a.Reason, a.USD, m.Now())
		}
		return now.End(m.Name, j.Attempt, status, a.Reason, a.USD, m.Now())
	})
}

// comeBack says that this member is here again, and goes on with its attempt. What others or people have
// decided meanwhile counts.
func (m *Member) comeBack(ctx context.Context, j job.Job) error {
	if err := m.Board.Fresh(ctx, j.ID); err != nil {
		return err
	}
	err := m.change(ctx, j, func(now job.Job) (job.Fact, error) { return now.Return(m.Name, j.Attempt, m.Now()) })
	if err == nil {
		m.Log.Info("a lost attempt is running again", "job", j.ID, "attempt", j.Attempt)
	}
	return err
}

// change changes a job. That it is not this member's any more, or stands elsewhere by now, is no error: the next
// look sees what it is.
func (m *Member) change(ctx context.Context, j job.Job, do func(job.Job) (job.Fact, error)) error {
	_, err := m.Board.Change(ctx, j.ID, do)
	if errors.Is(err, job.ErrStale) || errors.Is(err, job.ErrState) {
		return nil
	}
	return err
}

// review looks at what runs here for jobs: an attempt that its job has given up is cancelled, and people are told.
func (m *Member) review(ctx context.Context) {
	for owner, of := range m.Machine.Attempts() {
		id := of.Job
		j, known := m.Board.Job(id)
		switch {
		case known && m.has(j, owner):
			if j.State == job.Running || j.State == job.Ended {
				m.Machine.Release(owner)
			}
		case m.revoked[owner]:
		case m.Board.Fresh(ctx, id) != nil: // it cannot be known now
		default:
			m.revoke(ctx, owner, id)
		}
	}
}

// has reports whether a job is this member's in the attempt of an owner. One that this member has ended may go on:
// a person resumed it here.
func (m *Member) has(j job.Job, owner string) bool {
	return j.Member == m.Name && job.Owner(j.ID, j.Attempt) == owner && (j.State != job.Pending && j.State != job.Ended || j.State == job.Ended && j.EndedBy == m.Name)
}

// revoke cancels what runs for an attempt that the job has given up.
func (m *Member) revoke(ctx context.Context, owner, id string) {
	j, known := m.Board.Job(id)
	if m.has(j, owner) {
		return
	}
	if !known {
		m.Log.Warn("something runs for a job that the fleet does not know", "job", id, "id", owner)
		m.Machine.Release(owner)
		return
	}

	why := fmt.Sprintf("job %s was given up while %s did not report", id, m.Name)
	switch {
	case j.State == job.Ended:
		why += ": it is " + j.Status
	case j.Member != m.Name:
		why += ": " + j.Member + " does it now"
	}

	if err := m.Machine.Cancel(ctx, owner, why); err != nil {
		m.logError("cancel an attempt that was given up", j, err)
		return
	}

	if m.revoked == nil {
		m.revoked = map[string]bool{}
	}
	m.revoked[owner] = true
	m.Machine.Release(owner) // for what cancelling it leads to
	m.Log.Warn("cancelled an attempt that was given up", "job", id, "id", owner)
	m.Machine.Tell(ctx, Notice{Title: "An attempt was cancelled", Text: why, Project: j.Spec.Project})
}

func (m *Member) logError(what string, j job.Job, err error) {
	if err != nil && !errors.Is(err, context.Canceled) {
		m.Log.Error("cannot "+what, "job", j.ID, "error", err)
	}
}
