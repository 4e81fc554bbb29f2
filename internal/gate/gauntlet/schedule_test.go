package gauntlet

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/stopgate/stopgate/internal/project/config"
)

func checkJob(name string, parallel, failFast bool) *Job {
	return &Job{Kind: KindCheck, Entry: ".", Dir: ".", Check: &config.Check{Gate: config.Gate{Name: name, Parallel: parallel}, FailFast: failFast}}
}

// recorder notes what runs when, in the time of a synctest bubble.
type recorder struct {
	mu      sync.Mutex
	running []string
	most    int
	alone   []string // jobs that may not run beside each other and did
	fails   map[string]bool
}

func (r *recorder) run(_ context.Context, job *Job) GateResult {
	r.mu.Lock()
	for _, other := range r.running {
		if !job.Check.Parallel && strings.HasPrefix(other, "serial") {
			r.alone = append(r.alone, other, job.Gate().Name)
		}
	}
	r.running = append(r.running, job.Gate().Name)
	r.most = max(r.most, len(r.running))
	r.mu.Unlock()
	time.Sleep(time.Second)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.running = slices.DeleteFunc(r.running, func(name string) bool { return name == job.Gate().Name })
	if r.fails[job.Gate().Name] {
		return job.result(GateFailed, "no")
	}
	return job.result(GatePassed, "")
}

func TestSchedule(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		most := rapid.IntRange(1, 5).Draw(rt, "most")
		parallel := rapid.Bool().Draw(rt, "allow_parallel")
		var jobs []*Job
		for i := range rapid.IntRange(0, 12).Draw(rt, "jobs") {
			if rapid.Bool().Draw(rt, "parallel") {
				jobs = append(jobs, checkJob(fmt.Sprintf("beside%d", i), true, false))
			} else {
				jobs = append(jobs, checkJob(fmt.Sprintf("serial%d", i), false, false))
			}
		}
		r := &recorder{}
		var results []GateResult
		synctest.Test(t, func(*testing.T) {
			results = schedule{parallel: parallel, most: most, run: r.run}.all(context.Background(), jobs)
		})
		if len(r.alone) > 0 {
			rt.Fatalf("ran beside each other: %q", r.alone)
		}
		if r.most > most || !parallel && r.most > 1 {
			rt.Fatalf("%d at once, limit %d, parallel %t", r.most, most, parallel)
		}
		for i, result := range results {
			if result.Job != jobs[i].ID() || result.Outcome != GatePassed {
				rt.Fatalf("result %d is %+v, want %s passed", i, result, jobs[i].ID())
			}
		}
	})
}

func TestParallelGatesRunBesideSerialOnes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &recorder{}
		start := time.Now()
		jobs := []*Job{checkJob("serial1", false, false), checkJob("beside1", true, false), checkJob("serial2", false, false), checkJob("beside2", true, false)}
		schedule{parallel: true, most: 3, run: r.run}.all(t.Context(), jobs)
		if took := time.Since(start); took != 2*time.Second || r.most != 3 {
			t.Errorf("took %s with %d at once", took, r.most)
		}
	})
}

func TestFailFastReportsWhatWasNotStarted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &recorder{fails: map[string]bool{"serial1": true}}
		jobs := []*Job{checkJob("serial0", false, false), checkJob("serial1", false, true), checkJob("serial2", false, false)}
		results := schedule{parallel: true, most: 2, run: r.run}.all(t.Context(), jobs)
		if results[0].Outcome != GatePassed || results[1].Outcome != GateFailed || results[2].Outcome != GateNotStarted {
			t.Errorf("got %+v", results)
		}
		if !strings.Contains(results[2].Message, "check:.:serial1") {
			t.Errorf("nobody is named: %q", results[2].Message)
		}
	})
}

func TestNothingStartsAfterTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
		defer cancel()
		r := &recorder{}
		jobs := []*Job{checkJob("serial0", false, false), checkJob("serial1", false, false), checkJob("serial2", false, false)}
		results := schedule{parallel: true, most: 1, run: r.run}.all(ctx, jobs)
		if results[2].Outcome != GateNotStarted || !strings.Contains(results[2].Message, "time") {
			t.Errorf("got %+v", results[2])
		}
	})
}
