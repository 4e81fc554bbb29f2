package fleet

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/control/fleet/job"
	"github.com/stopgate/stopgate/internal/sys/pause"
)

// together waits until every machine is answered by all others, and notes how long that took after a fault was
// healed.
func (s *stage) together(f fault) error {
	healed := time.Now()
	var err error
	for range pause.Doubling(s.ctx, 50*time.Millisecond, 250*time.Millisecond) {
		if err = s.allAnswer(); err == nil {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.healed = append(s.healed, time.Since(healed))
			return nil
		}
	}
	return fmt.Errorf("after %s was healed the machines do not find each other: %w: %w", f.kind, s.ctx.Err(), err)
}

func (s *stage) allAnswer() error {
	for _, m := range s.Machines {
		for _, other := range s.Machines {
			if m == other {
				continue
			}
			if _, err := m.Client.Pipelines(s.ctx, daemonapi.Filter{Host: other.Name, Limit: 1}); err != nil {
				return fmt.Errorf("%s asks %s: %w", m.Name, other.Name, err)
			}
		}
	}
	return nil
}

// spread is how long things took, in words.
func spread(took []time.Duration) string {
	if len(took) == 0 {
		return "none"
	}
	slices.Sort(took)
	at := func(part float64) time.Duration { return took[int(part*float64(len(took)-1))] }
	round := func(d time.Duration) time.Duration {
		if d > time.Second {
			return d.Round(10 * time.Millisecond)
		}
		return d.Round(10 * time.Microsecond)
	}
	return fmt.Sprintf("p50 %s, p99 %s, longest %s of %d", round(at(0.5)), round(at(0.99)), round(at(1)), len(took))
}

// figures are what is reported beside what is counted.
func (a *audit) figures() string {
	var out strings.Builder
	fmt.Fprintf(&out, "answers and messages to another machine: %s\n", spread(a.took))
	fmt.Fprintf(&out, "after a fault is healed, until all machines answer each other: %s\n", spread(a.healed))
	var claimed, again []time.Duration // where both clocks were right: they are an hour off, or not
	note := func(all *[]time.Duration, took time.Duration) {
		if took.Abs() < clockMoves[0]/2 {
			*all = append(*all, took)
		}
	}
	facts := map[job.Type]int{}
	for _, all := range a.board.facts {
		var added, lost time.Time
		first := true
		for _, f := range all {
			facts[f.Type]++
			switch f.Type {
			case job.Added:
				added = f.Time
			case job.Lost, job.Retried:
				lost = f.Time
			case job.HasClaimed:
				if first {
					note(&claimed, f.Time.Sub(added))
				} else if !lost.IsZero() {
					note(&again, f.Time.Sub(lost))
				}
				first = false
			}
		}
	}
	fmt.Fprintf(&out, "a job from its addition to its claim, under faults and the cap: %s\n", spread(claimed))
	fmt.Fprintf(&out, "a job that was lost, until it is claimed again: %s\n", spread(again))
	fmt.Fprintf(&out, "facts of jobs: %v\n", facts)
	fmt.Fprintf(&out, "attempts that overlapped while SIGSTOP held their machine or its daemon: %s\n", spread(a.held))
	fmt.Fprintf(&out, "flipped bits: %v\n", a.flips)

	var with, without []time.Duration
	for _, c := range a.calls {
		if a.cutAt(c.machine, c.begun) {
			with = append(with, c.took)
		} else {
			without = append(without, c.took)
		}
	}
	fmt.Fprintf(&out, "stopgate hook Stop, the fleet cut off: %s; otherwise: %s\n", spread(with), spread(without))
	return out.String()
}
