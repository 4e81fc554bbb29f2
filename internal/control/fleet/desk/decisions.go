package desk

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/control/api"
	"github.com/stopgate/stopgate/internal/control/fleet/job"
)

// Source is that of decisions about jobs whose machines are lost.
const Source = "lost"

// choices are what people may choose for a job whose machine is lost.
func choices(machine string) []daemonapi.Option {
	return []daemonapi.Option{
		{Number: 1, Name: "wait", Description: "Wait until " + machine + " is back: its attempt continues there", Recommended: true},
		{Number: 2, Name: "again", Description: "Do the job again on a machine that can take it. What still runs on " + machine + " is cancelled when it is back; until then both may run"},
		{Number: 3, Name: "cancel", Description: "Give the job up. What still runs on " + machine + " is cancelled when it is back"},
	}
}

// Questions are what people are asked about jobs of the fleet. Without a link there are none.
func (d *Desk) Questions() iter.Seq[daemonapi.Decision] {
	return func(yield func(daemonapi.Decision) bool) {
		s, err := d.session()
		if err != nil || d.unheard(s) > 0 { // they could not be answered, and may be settled
			return
		}
		for _, j := range s.board.Live() {
			if j.State == job.Asking && !yield(d.question(s, j)) {
				return
			}
		}
	}
}

// question is what people are asked about a job. Its project goes by its name: where it is on the machine that is lost
// is not known here.
func (d *Desk) question(s *session, j job.Job) daemonapi.Decision {
	line := command(j.Spec)
	q := daemonapi.Decision{
		ID: job.Question(j.ID, j.Losses), Owner: job.Owner(j.ID, j.Attempt), Name: j.Spec.Command, Project: j.Spec.Project,
		Source: Source, Context: fmt.Sprintf("Job %s (%s) runs on %s, which has not reported for a minute. It may still run there.", j.ID, line, j.Member),
		Job: j.ID, JobCommand: line,
		Options: choices(j.Member), Created: j.Since, Away: daemonapi.Away{Host: j.Member},
	}
	for _, p := range s.peers.Peers() {
		if p.Name != j.Member {
			continue
		}
		if q.Heard = p.Heard; p.State == "stopped" {
			q.Context = fmt.Sprintf("Job %s (%s) was begun on %s. %s. What it has started there may still run.", j.ID, line, j.Member, p.Why())
		}
	}
	return q
}

// command is that of a job, with its arguments.
func command(s job.Spec) string { return strings.Join(append([]string{s.Command}, s.Args...), " ") }

// Question is what people are asked, by its id or the beginning of it; false where it is not one of these.
func (d *Desk) Question(id string) (daemonapi.Decision, bool) {
	var found []daemonapi.Decision
	for q := range d.Questions() {
		if id != "" && strings.HasPrefix(q.ID, id) {
			found = append(found, q)
		}
	}
	if len(found) != 1 {
		return daemonapi.Decision{}, false
	}
	return found[0], true
}

// Answer settles a question about a job. Of several people who answer at once, one does.
func (d *Desk) Answer(ctx context.Context, id string, a daemonapi.Answer) (daemonapi.Decision, error) {
	s, err := d.reached(ctx, "changed")
	if err != nil {
		return daemonapi.Decision{}, err
	}

	q, known := d.Question(id)
	if !known {
		return daemonapi.Decision{}, api.Refusal("not_found", "there is no open decision "+id, "stopgate decision list")
	}
	choice, err := chosen(q.Options, a)
	if err != nil {
		return daemonapi.Decision{}, err
	}

	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for _, j := range s.board.Live() {
		if job.Question(j.ID, j.Losses) != q.ID {
			continue
		}
		_, err = s.board.Change(ctx, j.ID, func(now job.Job) (job.Fact, error) {
			return now.Decide(j.Losses, choice, s.link.Member, d.time())
		})
	}
	switch {
	case errors.Is(err, job.ErrState):
		return daemonapi.Decision{}, api.Refusal("conflict", "the decision is settled: it was answered elsewhere, or the machine is back", "see: stopgate job list")
	case err != nil:
		return daemonapi.Decision{}, d.failed(err, "changed", "look: stopgate decision list; answering again does no harm")
	}

	now := d.time()
	q.Resolved, q.Chosen, q.Message = &now, choice, a.Message
	return q, nil
}

// chosen is the option that an answer names.
func chosen(options []daemonapi.Option, a daemonapi.Answer) (string, error) {
	for _, o := range options {
		if a.Option == o.Name || a.Option == strconv.Itoa(o.Number) {
			return o.Name, nil
		}
	}
	return "", api.Refusal("invalid", fmt.Sprintf("%.80q is not an answer", a.Option), "answer wait, again or cancel")
}
