//go:build unix

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"time"

	stopgate "github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/control/fleet/job"
	"github.com/stopgate/stopgate/test/fleet/world"
)

// percentile is the time that so many of a hundred do not pass.
func (s *series) percentile(part int) time.Duration {
	return slices.Sorted(slices.Values(s.times))[(len(s.times)-1)*part/100]
}

// both is the median and the time for 99 of 100.
func (s *series) both() figure {
	return figure{s.percentile(99).Seconds() * 1e3, "ms for 99 of 100", 0}
}

// fleetJobs measures how long a job waits for a machine that has nothing else to do.
func fleetJobs(ctx context.Context, l *lab, r *report) error {
	const jobs = 100
	f, err := l.fleet(ctx)
	if err != nil {
		return err
	}
	defer f.close()
	client := f.Machines[0].Client
	var add series
	for range jobs {
		begun := time.Now()
		j, err := client.AddJob(ctx, stopgate.AddJob{ProjectName: fleetProject, Command: "nothing"})
		if err != nil {
			return err
		}
		add.add(time.Since(begun), 0)
		if err := until(ctx, "the job is done", func() bool {
			now, err := client.Job(ctx, j.ID)
			return err == nil && now.Status == "done"
		}); err != nil {
			return err
		}
	}
	claimed, started, ended, err := f.lives(ctx)
	if err != nil {
		return err
	}
	r.table("**A job of a fleet**, one after the other on three machines with nothing else to do. Added on one of them")
	r.row("add a job, until it is acknowledged", &add, add.both())
	r.row("from its addition until a machine has claimed it, in one batch with its cap", claimed, claimed.both())
	r.row("from the claim until its pipeline has started", started, started.both())
	r.row("from its addition until its end is in the fleet's store", ended, ended.both())
	return nil
}

// lives are how long the jobs in the fleet's store took, from fact to fact.
func (f *fleet) lives(ctx context.Context) (claimed, started, ended *series, err error) {
	claimed, started, ended = &series{}, &series{}, &series{}
	if _, err := f.link.Log.Barrier(ctx); err != nil {
		return nil, nil, nil, err
	}
	added, has := map[string]time.Time{}, map[string]time.Time{}
	for e, err := range f.link.Log.ReadAll(ctx, 0) {
		if err != nil {
			return nil, nil, nil, err
		}
		id, is := strings.CutPrefix(e.Subject, "job.")
		var fact job.Fact
		if !is || json.Unmarshal(e.Data, &fact) != nil {
			continue
		}
		switch fact.Type {
		case job.Added:
			added[id] = fact.Time
		case job.HasClaimed:
			has[id] = fact.Time
			claimed.add(fact.Time.Sub(added[id]), 0)
		case job.Started:
			started.add(fact.Time.Sub(has[id]), 0)
		case job.HasEnded:
			ended.add(fact.Time.Sub(added[id]), 0)
		}
	}
	return claimed, started, ended, nil
}

// fleetAnswers measures answers to a question of another machine, beside those of one's own.
func fleetAnswers(ctx context.Context, l *lab, r *report) error {
	const questions = 200
	f, err := l.fleet(ctx)
	if err != nil {
		return err
	}
	defer f.close()
	here, away := f.Machines[0], f.Machines[1]
	machines := []*world.Machine{here, away}
	all, err := turns(questions, len(machines), func(i int) (took time.Duration, peak float64, err error) {
		took, err = answerOne(ctx, here.Client, machines[i])
		return took, 0, err
	})
	if err != nil {
		return err
	}
	r.table("**An answer to a question of a pipeline**, until it is acknowledged")
	r.reference("on the same machine", &all[0])
	r.row("on another machine of the fleet", &all[1], all[1].both())
	return nil
}

// answerOne has a machine ask, and answers by a client once that sees the question.
func answerOne(ctx context.Context, client *stopgate.Client, m *world.Machine) (time.Duration, error) {
	root := m.Home + "/project"
	o, err := m.Client.Start(ctx, stopgate.Start{Project: root, Cwd: root, Command: "question"})
	if err != nil {
		return 0, err
	}
	var decision string
	err = until(ctx, "the question is seen", func() bool {
		open, err := client.Decisions(ctx, false)
		for _, d := range open {
			if err == nil && d.Owner == o.ID {
				decision = d.ID
			}
		}
		return decision != ""
	})
	if err != nil {
		return 0, err
	}
	begun := time.Now()
	_, err = client.Answer(ctx, decision, stopgate.Answer{Option: "approve"})
	return time.Since(begun), err
}

// fleetHooks measures a stop while no hub answers, against one while all do: hooks never ask the fleet.
func fleetHooks(ctx context.Context, l *lab, r *report) error {
	const limit, turnsEach, rounds = 1.5, 400, 4
	f, err := l.fleet(ctx)
	if err != nil {
		return err
	}
	defer f.close()
	m := f.Machines[0]
	var all [2]series // with the hubs, without them
	prompt := 0
	for range rounds {
		for i, signal := range []syscall.Signal{syscall.SIGCONT, syscall.SIGSTOP} {
			if err := world.Signal(f.hubs(), signal); err != nil {
				return err
			}
			there := signal == syscall.SIGCONT
			if err := until(ctx, "the daemon sees whether the hubs are there", func() bool {
				fleet, err := m.Client.Fleet(ctx)
				return err == nil && fleet.Connected == there
			}); err != nil {
				return err
			}
			for range turnsEach {
				prompt++
				took, err := stopOn(ctx, m, prompt)
				if err != nil {
					return err
				}
				all[i].add(took, 0)
			}
		}
	}
	if err := world.Signal(f.hubs(), syscall.SIGCONT); err != nil {
		return err
	}
	r.table("**A stop while the fleet is cut off**: all hubs stand still and the daemon knows it, against all hubs there. In turns of 400")
	r.row("stopgate hook Stop, the hubs there", &all[0], all[0].both())
	r.row("the same, no hub answers", &all[1], all[1].both())
	r.measure("99 of 100 stops, against those with the hubs", figure{all[1].percentile(99).Seconds() / all[0].percentile(99).Seconds(), "times", limit})
	return nil
}

// stopOn is a stop on a machine with nothing to enforce.
func stopOn(ctx context.Context, m *world.Machine, prompt int) (time.Duration, error) {
	cmd := m.Command(ctx, "stopgate", "hook", "Stop")
	cmd.Dir = m.Home + "/project"
	cmd.Stdin = strings.NewReader(fmt.Sprintf(`{"session_id":"person","prompt_id":"p%d","transcript_path":"%[2]s/t.jsonl","cwd":"%[2]s","hook_event_name":"Stop","stop_hook_active":false,"last_assistant_message":"Done."}`, prompt, m.Home))
	begun := time.Now()
	out, err := cmd.CombinedOutput()
	if err == nil && strings.Contains(string(out), `"block"`) {
		err = fmt.Errorf("a stop was blocked: %s", out)
	}
	return time.Since(begun), err
}
