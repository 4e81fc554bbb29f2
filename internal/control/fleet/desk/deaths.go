package desk

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/control/fleet/board"
	"github.com/stopgate/stopgate/internal/control/fleet/claim"
	"github.com/stopgate/stopgate/internal/control/fleet/job"
	"github.com/stopgate/stopgate/internal/sys/pause"
)

// goneAfter is how long a member may be missing among those of the fleet before its jobs are lost: the list
// may not be complete at the beginning.
const goneAfter = time.Minute

// How long a member that was stopped is waited for: it may be started again, or be booted. Then its jobs are done
// again, or people are asked.
const (
	stoppedAgain = 5 * time.Minute
	stoppedAsk   = time.Hour
)

// deaths says which jobs are lost, because their members are.
type deaths struct {
	desk    *Desk
	member  string
	board   *board.Board
	peers   func() []daemonapi.FleetMember
	missing map[string]time.Time // members with jobs that are not in the fleet, since when; by the monotonic clock
	stopped map[string]time.Time // members that were stopped, since when that is known
}

func (d *deaths) run(ctx context.Context) {
	for range pause.Every(ctx, time.Second) {
		d.look(ctx)
	}
}

// look says of each job whose member is lost that it is.
func (d *deaths) look(ctx context.Context) {
	var lost map[string]bool
	for _, j := range d.board.Live() {
		if j.State != job.Claimed && j.State != job.Running || j.Member == d.member || j.Waiting {
			continue
		}
		now := time.Now()
		if lost == nil {
			lost = d.lost(now)
		}
		if lost[j.Member] || d.waitedFor(j, now) {
			d.lose(ctx, j)
		}
	}
}

// waitedFor reports whether a job's member was stopped, and was waited for long enough.
func (d *deaths) waitedFor(j job.Job, now time.Time) bool {
	since, stopped := d.stopped[j.Member]
	long := stoppedAsk
	if j.Spec.OnLost == job.Again {
		long = stoppedAgain
	}
	return stopped && now.Sub(since) >= long
}

// lost are the members that are, or have left. A machine that sleeps is waited for. It notes those that were stopped.
func (d *deaths) lost(now time.Time) map[string]bool {
	lost, there := map[string]bool{}, map[string]bool{}
	for _, p := range d.peers() {
		there[p.Name] = true
		lost[p.Name] = p.State == "lost"
		if _, known := d.stopped[p.Name]; p.State != "stopped" {
			delete(d.stopped, p.Name)
		} else if !known {
			d.stopped[p.Name] = now
		}
	}

	for _, j := range d.board.Live() {
		if j.State == job.Pending {
			continue
		}
		if there[j.Member] || !there[d.member] { // without ourselves the list is not complete
			delete(d.missing, j.Member)
			continue
		}
		since, known := d.missing[j.Member]
		if !known {
			d.missing[j.Member] = now
		}
		lost[j.Member] = known && now.Sub(since) >= goneAfter
	}
	return lost
}

// lose says that a job is lost. The member whose word wins tells people.
func (d *deaths) lose(ctx context.Context, was job.Job) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()

	j, err := d.board.Change(ctx, was.ID, func(j job.Job) (job.Fact, error) {
		if j.Member != was.Member {
			return job.Fact{}, job.ErrStale
		}
		return j.Lose(d.member, was.Attempt, d.desk.time())
	})
	switch {
	case errors.Is(err, job.ErrStale) || errors.Is(err, job.ErrState): // another one was first, or it has ended
		return
	case err != nil:
		d.desk.Log.Warn("cannot say that a job is lost", "job", was.ID, "error", err)
		return
	}

	d.desk.Log.Warn("a job is lost with its machine", "job", j.ID, "machine", was.Member, "attempt", was.Attempt, "then", j.State)
	n := claim.Notice{
		Title: fmt.Sprintf("Job %s on %s is lost", j.Spec.Command, was.Member), Project: j.Spec.Project,
		Text: d.why(was.Member) + ".",
	}
	switch j.State {
	case job.Asking:
		n.Decision, n.Options = job.Question(j.ID, j.Losses), job.Choices
		n.Text += " Wait for it, do the job again, or cancel it?"
	case job.Pending:
		n.Text += " The job is done again, on the first machine that can take it."
	}
	d.desk.Machine.Tell(ctx, n)
}

// why says what became of a member.
func (d *deaths) why(member string) string {
	for _, p := range d.peers() {
		if p.Name == member && p.State == "stopped" {
			return p.Why()
		}
	}
	return member + " has not reported for a minute"
}
