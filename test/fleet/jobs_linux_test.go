package fleet

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/sys/pause"
)

// A cap that holds across the machines. The runbook has the same number.
const (
	capName = "builds"
	capJobs = 4
)

// setCap sets the cap.
func (s *stage) setCap() {
	s.Helper()
	limit := capJobs
	err := s.untilDone(func() error {
		_, err := s.Machines[0].Client.SetCap(s.ctx, daemonapi.SetCap{Name: capName, Jobs: &limit})
		return err
	})
	check(s.T, err)
}

// untilDone repeats what may be refused for now: a machine that is cut off takes no jobs down.
func (s *stage) untilDone(do func() error) (err error) {
	for range pause.Doubling(s.ctx, 50*time.Millisecond, time.Second) {
		if err = do(); err == nil {
			return nil
		}
	}
	return fmt.Errorf("%w: %w", s.ctx.Err(), err)
}

// addJobs adds jobs on any machine: so many at once that the machines have something to do, until all were added.
func (s *stage) addJobs(seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 4))
	for i := range s.size.jobs {
		j := s.newJob(i, rng)
		m := s.Machines[rng.IntN(len(s.Machines))]
		err := s.untilDone(func() error {
			_, err := m.Client.AddJob(s.ctx, j)
			return err
		})
		if err != nil {
			s.Errorf("add job %d on %s: %v", i, m.Name, err)
			return
		}
		s.acknowledged("add", j.ID, j.Args[0])
		s.mu.Lock()
		s.jobs[j.ID] = j.Args[0]
		s.mu.Unlock()
		if err := pause.For(s.ctx, s.size.between); err != nil {
			return
		}
	}
}

// newJob is one of a third that asks when it is lost, a third that is done again then, and a third that counts
// against the cap. Some take so long that their machines can be lost meanwhile.
func (s *stage) newJob(i int, rng *rand.Rand) daemonapi.AddJob {
	long := time.Duration(rng.Int64N(int64(s.size.longest)))
	if rng.IntN(6) == 0 {
		long = s.size.long
	}
	j := daemonapi.AddJob{ID: s.newID(), ProjectName: s.project, Command: "work"}
	name := "ask"
	switch i % 3 {
	case 1:
		name, j.OnLost = "again", "again"
	case 2:
		name, j.Command, j.Cap = "capped", "capped", capName
	}
	j.Args = []string{fmt.Sprintf("%s-%d", name, i), long.Round(time.Millisecond).String()}
	return j
}

// awaitJobs waits until every job has ended, and sees that all of them are done.
func (s *stage) awaitJobs() {
	last := ""
	err := s.untilDone(func() error {
		all, err := s.Machines[0].Client.Jobs(s.ctx, daemonapi.Filter{})
		if err != nil {
			return err
		}
		open := map[string]int{}
		for _, j := range all {
			if j.Status != "done" && j.Status != "failed" && j.Status != "cancelled" {
				open[j.Status]++
				last = fmt.Sprintf("job %s (%v) is %s on %s, attempt %d, refused %v", j.ID, j.Args, j.Status, j.Host, j.Attempt, j.Refused)
			}
		}
		if len(open) > 0 || len(all) < s.size.jobs {
			return fmt.Errorf("of %d jobs %v have not ended; %s", len(all), open, last)
		}
		return nil
	})
	if err != nil {
		s.Error(err)
	}
}
