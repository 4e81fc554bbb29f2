package board

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/control/fleet/job"
	"github.com/stopgate/stopgate/internal/control/fleet/link"
	"github.com/stopgate/stopgate/internal/control/fleet/link/linktest"
	"github.com/stopgate/stopgate/internal/control/store"
	"github.com/stopgate/stopgate/internal/sys/checktest"
	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
)

var check = checktest.OK

func TestMain(m *testing.M) {
	environtest.Clean()
	m.Run()
}

const one = "0000000000000001"

var fix = job.Spec{Project: "shop", Command: "fix", USD: 2}

func open(t testing.TB, log Log, name string) *Board {
	t.Helper()
	b, err := Open(t.Context(), log, name, time.Now, slog.New(slog.DiscardHandler))
	check(t, err)
	return b
}

// A board that has read a job, and not its cap, settles what the job holds nevertheless.
func TestABoardThatIsBehindSettlesTheCap(t *testing.T) {
	f := linktest.New(t)
	behind := open(t, f.Member("b").Log, "b")
	a := open(t, f.Member("a").Log, "a")
	_, err := a.Add(t.Context(), one, fix, nil)
	check(t, err)
	_, err = a.Claim(t.Context(), one, nil, 0)
	check(t, err)
	_, err = a.Change(t.Context(), one, func(j job.Job) (job.Fact, error) { return j.Lose("a", 1, time.Now()) })
	check(t, err)

	check(t, behind.Fresh(t.Context(), one))
	if behind.Cap(DefaultCap).Held != nil {
		t.Fatal("it has read the cap")
	}
	_, err = behind.Change(t.Context(), one, func(j job.Job) (job.Fact, error) { return j.Decide(1, "cancel", "b", time.Now()) })
	check(t, err)
	// What a lost attempt has cost is not known, so it counts as all that it might have.
	if c := open(t, f.Member("c").Log, "c").Cap(DefaultCap); len(c.Held) != 0 || c.Spent != 2 {
		t.Errorf("%+v", c)
	}
}

// lossy is a store whose answers do not arrive, so often.
type lossy struct {
	Log
	appends bool // what is not answered is appended
	times   int
}

func (l *lossy) AppendAll(ctx context.Context, events ...store.NewEvent) ([]store.Position, error) {
	if l.times == 0 {
		return l.Log.AppendAll(ctx, events...)
	}
	l.times--
	if l.appends {
		if _, err := l.Log.AppendAll(ctx, events...); err != nil {
			return nil, err
		}
	}
	return nil, store.ErrUnknown
}

// What became of an append whose answer was lost is read: it is done once, or tried again.
func TestAppendsWithUnknownOutcomes(t *testing.T) {
	f := linktest.New(t)
	for i, appends := range []bool{true, false} {
		id := fmt.Sprintf("%016x", i+1)
		log := &lossy{f.Member("a").Log, appends, 1}
		b := open(t, log, "a")
		j, err := b.Add(t.Context(), id, fix, nil)
		if err != nil || j.State != job.Pending {
			t.Fatalf("appended %v: %+v, %v", appends, j, err)
		}
		log.times = 2
		j, err = b.Claim(t.Context(), id, nil, 0)
		if err != nil || j.Attempt != 1 || b.Cap(DefaultCap).Held[id].Attempt != 1 {
			t.Errorf("appended %v: %+v, %v", appends, j, err)
		}
		log.times, log.appends = 99, false
		if _, err := b.Change(t.Context(), id, func(j job.Job) (job.Fact, error) { return j.Start("a", 1, time.Now()) }); !errors.Is(err, store.ErrUnknown) {
			t.Errorf("while the store does not answer: %v", err)
		}
		count := 0
		for _, err := range f.Member("c").Log.Read(t.Context(), link.Job(id), 0) {
			check(t, err)
			count++
		}
		if count != 2 {
			t.Errorf("appended %v: %d events", appends, count)
		}
	}
}

// Of two that take a job at once, one has it.
func TestTwoClaimAtOnce(t *testing.T) {
	f := linktest.New(t)
	a := open(t, f.Member("a").Log, "a")
	_, err := a.Add(t.Context(), one, fix, nil)
	check(t, err)
	b := open(t, f.Member("b").Log, "b")
	_, err = a.Claim(t.Context(), one, nil, 0)
	check(t, err)
	if _, err := b.Claim(t.Context(), one, nil, 0); !errors.Is(err, job.ErrState) {
		t.Errorf("the second: %v", err)
	}
	if j, _ := b.Job(one); j.Member != "a" {
		t.Errorf("it has not read who was first: %+v", j)
	}
}

// A cap that is full refuses, also one whose limit was lowered below what is held.
func TestAFullCap(t *testing.T) {
	f := linktest.New(t)
	b := open(t, f.Member("a").Log, "a")
	for i := range 3 {
		_, err := b.Add(t.Context(), fmt.Sprintf("%016x", i+1), fix, nil)
		check(t, err)
	}
	_, err := b.SetCap(t.Context(), DefaultCap, func(l *job.Limit) { l.USD = 5 })
	check(t, err)
	claim := func(id string, usd float64) error {
		_, err := b.Claim(t.Context(), id, nil, usd)
		return err
	}
	check(t, claim("0000000000000001", 0))
	check(t, claim("0000000000000002", 3)) // the runbook's budget
	var full *job.FullError
	if err := claim("0000000000000003", 0); !errors.As(err, &full) {
		t.Errorf("the third: %v", err)
	}
	_, err = b.SetCap(t.Context(), DefaultCap, func(l *job.Limit) { l.USD, l.Jobs = 0, 1 })
	check(t, err)
	if err := claim("0000000000000003", 0); !errors.As(err, &full) {
		t.Errorf("under a limit that was lowered: %v", err)
	}
}

// A board keeps as many jobs that have ended as it is to, and finds the others in the store.
func TestOldJobsAreForgotten(t *testing.T) {
	b := &Board{jobs: map[string]entry[job.Job]{}, live: map[string]bool{}}
	for i := range keep + 10 {
		id := fmt.Sprintf("%016x", i)
		b.putJob(job.Job{ID: id, State: job.Pending}, store.Position(2*i+1))
		b.putJob(job.Job{ID: id, Spec: fix, State: job.Ended}, store.Position(2*i+2))
	}
	if len(b.All()) != keep || len(b.Live()) != 0 {
		t.Errorf("%d jobs, %d live", len(b.All()), len(b.Live()))
	}
	if _, known := b.Job(fmt.Sprintf("%016x", 3)); known {
		t.Error("the oldest is still there")
	}
}

// What is no fact, or one of a newer version, changes nothing and stops nothing.
func TestEventsThatAreNotUnderstood(t *testing.T) {
	f := linktest.New(t)
	a := f.Member("a").Log
	b := open(t, a, "a")
	_, err := b.Add(t.Context(), one, fix, nil)
	check(t, err)
	head, err := a.Head(t.Context(), link.Job(one))
	check(t, err)
	at := head.Position
	for _, data := range []string{"{", `{"type":"from the future","spec":{"project":"x"}}`, `[]`, ""} {
		at, err = a.Append(t.Context(), store.NewEvent{Subject: link.Job(one), ID: fmt.Sprint("x", at), Expected: at, Data: []byte(data)})
		check(t, err)
	}
	again := open(t, a, "a")
	if j, known := again.Job(one); !known || j.State != job.Pending || j.Spec.Command != "fix" {
		t.Errorf("%+v", j)
	}
	_, err = again.Claim(t.Context(), one, nil, 0)
	check(t, err)
}

func FuzzFold(f *testing.F) {
	for _, fact := range []job.Fact{{Type: job.Added, Spec: &fix}, {Type: job.HasClaimed, By: "a", Attempt: 1}, {Type: job.HasEnded, Status: "done"}} {
		data, err := json.Marshal(fact)
		if err != nil {
			f.Fatal(err)
		}
		f.Add("job.1", data)
		f.Add("cap.default", data)
	}
	f.Fuzz(func(t *testing.T, subject string, data []byte) {
		b := &Board{jobs: map[string]entry[job.Job]{}, caps: map[string]entry[job.Cap]{}, live: map[string]bool{}, slog: slog.New(slog.DiscardHandler)}
		for at := range store.Position(3) {
			b.take(store.Event{Position: at + 1, Subject: subject, Data: data})
		}
		for _, j := range b.All() {
			if j.ID != strings.TrimPrefix(subject, "job.") {
				t.Errorf("%q became %+v", subject, j)
			}
		}
	})
}
