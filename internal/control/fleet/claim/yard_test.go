package claim

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/control/fleet/board"
	"github.com/stopgate/stopgate/internal/control/fleet/job"
	"github.com/stopgate/stopgate/internal/control/fleet/link/linktest"
	"github.com/stopgate/stopgate/internal/sys/checktest"
	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
)

var check = checktest.OK

func TestMain(m *testing.M) {
	environtest.Clean()
	m.Run()
}

// yard is a machine of a test. What is started there stays when a member is killed.
type yard struct {
	mu       sync.Mutex
	labels   []string
	room     int
	wrong    error // why nothing fits
	refuse   error // why nothing starts
	attempts map[string]*trial
	told     []string
	released map[string]bool
	point    func(string) // is called around everything that a crash may come between
}

type trial struct {
	job    string
	starts int
	Attempt
}

func newYard(room int, labels ...string) *yard {
	return &yard{room: room, labels: labels, attempts: map[string]*trial{}, released: map[string]bool{}, point: func(string) {}}
}

func (y *yard) Labels() []string { return y.labels }

func (y *yard) Room() int {
	y.mu.Lock()
	defer y.mu.Unlock()
	return y.room - y.running()
}

func (y *yard) running() (n int) {
	for _, a := range y.attempts {
		if !a.Ended {
			n++
		}
	}
	return n
}

func (y *yard) Fits(context.Context, job.Job) (float64, error) { return 0, y.wrong }

func (y *yard) Start(_ context.Context, owner string, j job.Job) error {
	y.point("start")
	defer y.point("started")
	y.mu.Lock()
	defer y.mu.Unlock()
	if y.refuse != nil {
		return y.refuse
	}
	if y.attempts[owner] == nil {
		y.attempts[owner] = &trial{job: j.ID}
		y.attempts[owner].starts++
	}
	return nil
}

func (y *yard) Attempt(owner string) (Attempt, bool) {
	y.mu.Lock()
	defer y.mu.Unlock()
	if a := y.attempts[owner]; a != nil {
		return a.Attempt, true
	}
	return Attempt{}, false
}

func (y *yard) Attempts() map[string]string {
	y.mu.Lock()
	defer y.mu.Unlock()
	all := map[string]string{}
	for owner, a := range y.attempts {
		if !a.Ended {
			all[owner] = a.job
		}
	}
	return all
}

func (y *yard) Cancel(_ context.Context, owner, why string) error {
	y.point("cancel")
	defer y.point("cancelled")
	y.mu.Lock()
	defer y.mu.Unlock()
	if a := y.attempts[owner]; a != nil && !a.Ended {
		a.Attempt = Attempt{Ended: true, Status: "cancelled", Reason: why}
	}
	return nil
}

func (y *yard) Release(owner string) {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.released[owner] = true
}

func (y *yard) Tell(_ context.Context, title, text, decision string) {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.told = append(y.told, title+": "+text+" "+decision)
}

// finish ends what runs there.
func (y *yard) finish(status string, usd float64) {
	y.mu.Lock()
	defer y.mu.Unlock()
	for _, a := range y.attempts {
		if !a.Ended {
			a.Attempt = Attempt{Ended: true, Status: status, USD: usd}
		}
	}
}

// jobs are those that something was started for there, each as often as it was.
func (y *yard) jobs() (all []string) {
	y.mu.Lock()
	defer y.mu.Unlock()
	for _, owner := range slices.Sorted(maps.Keys(y.attempts)) {
		for range y.attempts[owner].starts {
			all = append(all, y.attempts[owner].job)
		}
	}
	return all
}

// quiet is a log that is not read.
var quiet = slog.New(slog.DiscardHandler)

// open is a member's board as the fleet has it now.
func open(t testing.TB, log board.Log, name string) *board.Board {
	t.Helper()
	b, err := board.Open(t.Context(), log, name, time.Now, quiet)
	check(t, err)
	return b
}

// member is a member with a board that is current when it begins, and does not follow.
func member(t testing.TB, log board.Log, name string, y *yard) *Member {
	t.Helper()
	return &Member{Name: name, Board: open(t, log, name), Machine: y, Log: quiet, Now: time.Now}
}

// add adds jobs of one kind.
func add(t testing.TB, f *linktest.Fleet, spec job.Spec, ids ...string) {
	t.Helper()
	b := open(t, f.Member("adder").Log, "adder")
	if spec.Project == "" {
		spec.Project, spec.Command = "shop", "fix"
	}
	for _, id := range ids {
		_, err := b.Add(t.Context(), id, spec)
		check(t, err)
	}
}

// numbered are ids.
func numbered(n int) (ids []string) {
	for i := range n {
		ids = append(ids, fmt.Sprintf("%016x", i+1))
	}
	return ids
}

// jobOf is a job as the fleet has it now.
func jobOf(t testing.TB, f *linktest.Fleet, id string) job.Job {
	t.Helper()
	j, known := open(t, f.Member("reader").Log, "reader").Job(id)
	if !known {
		t.Fatalf("there is no job %s", id)
	}
	return j
}

var errNot = errors.New("there is no command fix")
