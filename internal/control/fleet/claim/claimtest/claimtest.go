// Package claimtest has machines for tests of the fleet's jobs.
package claimtest

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/stopgate/stopgate/internal/control/fleet/claim"
	"github.com/stopgate/stopgate/internal/control/fleet/job"
)

var _ claim.Machine = (*Yard)(nil)

// Yard is a machine of a test. What is started there stays when a member is killed.
type Yard struct {
	mu       sync.Mutex
	labels   []string
	room     int
	attempts map[string]*trial
	notices  []claim.Notice
	released map[string]bool

	Wrong  error        // why nothing fits
	Refuse error        // why nothing starts
	USD    float64      // the budget of every runbook
	Point  func(string) // is called around everything that a crash may come between
}

type trial struct {
	task   claim.Task
	starts int
	claim.Attempt
}

// New is a machine with room for so many jobs.
func New(room int, labels ...string) *Yard {
	return &Yard{room: room, labels: labels, attempts: map[string]*trial{}, released: map[string]bool{}, Point: func(string) {}}
}

func (y *Yard) Labels() []string { return y.labels }

func (y *Yard) Room() int {
	y.mu.Lock()
	defer y.mu.Unlock()
	return y.room - y.running()
}

// Running is how many attempts run.
func (y *Yard) Running() int {
	y.mu.Lock()
	defer y.mu.Unlock()
	return y.running()
}

// Notices are what people were told.
func (y *Yard) Notices() []claim.Notice {
	y.mu.Lock()
	defer y.mu.Unlock()
	return slices.Clone(y.notices)
}

// Released reports whether an attempt may begin new effects.
func (y *Yard) Released(owner string) bool {
	y.mu.Lock()
	defer y.mu.Unlock()
	return y.released[owner]
}

// Restart is a daemon that begins anew there.
func (y *Yard) Restart() {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.released = map[string]bool{}
}

func (y *Yard) running() (n int) {
	for _, a := range y.attempts {
		if !a.Ended {
			n++
		}
	}
	return n
}

func (y *Yard) Fits(context.Context, job.Job) (float64, error) { return y.USD, y.Wrong }

func (y *Yard) Start(_ context.Context, owner string, j job.Job) error {
	y.Point("start")
	defer y.Point("started")
	y.mu.Lock()
	defer y.mu.Unlock()
	if y.Refuse != nil {
		return y.Refuse
	}
	if y.attempts[owner] == nil {
		y.attempts[owner] = &trial{task: claim.Task{Job: j.ID, Again: j.Spec.OnLost == job.Again}}
		y.attempts[owner].starts++
	}
	return nil
}

func (y *Yard) Attempt(owner string) (claim.Attempt, bool) {
	y.mu.Lock()
	defer y.mu.Unlock()
	if a := y.attempts[owner]; a != nil {
		return a.Attempt, true
	}
	return claim.Attempt{}, false
}

func (y *Yard) Attempts() map[string]claim.Task {
	y.mu.Lock()
	defer y.mu.Unlock()
	all := map[string]claim.Task{}
	for owner, a := range y.attempts {
		if !a.Ended {
			all[owner] = a.task
		}
	}
	return all
}

func (y *Yard) Cancel(_ context.Context, owner, why string) error {
	y.Point("cancel")
	defer y.Point("cancelled")
	y.mu.Lock()
	defer y.mu.Unlock()
	if a := y.attempts[owner]; a != nil && !a.Ended {
		a.Attempt = claim.Attempt{Ended: true, Status: "cancelled", Reason: why}
	}
	return nil
}

func (y *Yard) Release(owner string) {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.released[owner] = true
}

func (y *Yard) Tell(_ context.Context, n claim.Notice) {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.notices = append(y.notices, n)
}

// Finish ends what runs there.
func (y *Yard) Finish(status string, usd float64) {
	y.mu.Lock()
	defer y.mu.Unlock()
	for _, a := range y.attempts {
		if !a.Ended {
			a.Attempt = claim.Attempt{Ended: true, Status: status, USD: usd}
		}
	}
}

// Owners are the ids of all attempts that were started there.
func (y *Yard) Owners() []string {
	y.mu.Lock()
	defer y.mu.Unlock()
	return slices.Sorted(maps.Keys(y.attempts))
}

// Jobs are those that something was started for there, each as often as it was.
func (y *Yard) Jobs() (all []string) {
	y.mu.Lock()
	defer y.mu.Unlock()
	for _, owner := range slices.Sorted(maps.Keys(y.attempts)) {
		for range y.attempts[owner].starts {
			all = append(all, y.attempts[owner].task.Job)
		}
	}
	return all
}
