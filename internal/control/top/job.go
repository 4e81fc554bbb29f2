package top

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
)

// Job is one of the fleet that has not ended.
type Job struct {
	daemonapi.Job
	Question *daemonapi.Decision // what people are asked about it, while it is lost
}

// jobs are those of the fleet that have not ended. A daemon that does not know them now has none.
func (s *Source) jobs(ctx context.Context) (all []Job, err error) {
	jobs, err := s.client.Jobs(ctx, daemonapi.Filter{Status: "pending,claimed,running,lost", Limit: maxJobs})
	if code := daemonapi.Code(err); code == "unavailable" || code == "not_found" { // it is not linked, or an older one
		return nil, nil
	}
	for _, j := range jobs {
		one := Job{Job: j}
		if j.Decision != "" {
			if d, err := s.client.Decision(ctx, j.Decision); err == nil { // else it was settled this moment
				one.Question = &d
			}
		}
		all = append(all, one)
	}
	return all, err
}

// jobRows are the jobs that wait, and those whose pipelines are not among the rows.
func (s *State) jobRows() (rows []row) {
	for i := range s.World.Jobs {
		j := &s.World.Jobs[i]
		if _, shown := s.World.Owners[j.Owner]; !shown || j.Status == "lost" || j.Status == "pending" {
			rows = append(rows, s.jobRow(j))
		}
	}
	return rows
}

func (s *State) jobRow(j *Job) row {
	r := row{
		ref: Ref{JobRow, j.ID}, rank: running, state: j.Status, what: "job " + some(j.Command) + " " + shortID(j.ID), project: j.Project,
		last: cmp.Or(strings.Join(j.Waits, "; "), some(strings.Join(j.Args, " "))), since: j.Added, usd: j.USD,
	}
	if j.Host != s.World.Fleet.Member {
		r.away.Host = j.Host
	}
	switch {
	case j.Question != nil:
		r.rank, r.state, r.decision, r.since, r.last = needsPerson, "decide", j.Question, j.Question.Created, j.Question.Question()
	case j.Status == "lost":
		r.rank = needsPerson
	case j.Status == "pending":
		r.rank, r.nowhere, r.away.Host = idle, true, ""
	}
	if j.Cancelling {
		r.last = "is being cancelled"
	}
	return r
}

// questions are what people are asked about jobs.
func (s *State) questions() (rows []row) {
	for i := range s.World.Jobs {
		if j := &s.World.Jobs[i]; j.Question != nil {
			r := s.jobRow(j)
			r.ref = Ref{DecisionRow, j.Question.ID}
			rows = append(rows, r)
		}
	}
	return rows
}

// asksAbout reports whether a decision is one about a job that is lost.
func (s *State) asksAbout(decision string) bool {
	return slices.ContainsFunc(s.World.Jobs, func(j Job) bool { return j.Question != nil && j.Question.ID == decision })
}
