package gauntlet

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/gate/gauntlet/change"
	"github.com/stopgate/stopgate/internal/gate/gauntlet/review"
	"github.com/stopgate/stopgate/internal/sys/digest"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// sight is what the reviewers of a job were shown, and what not.
type sight struct {
	job    *Job
	diff   change.Diff
	why    func(v review.Violation) (string, error) // why the file of a violation is hidden; empty if it is not
	traced func(name string) change.Trace
}

func (g gateRunner) sight(ctx context.Context, job *Job, diff change.Diff) sight {
	failure, _ := g.view.state.Failure(job.ID())
	view := &change.View{Diff: diff, Include: job.Includes, Elsewhere: func(name string) bool {
		return slices.ContainsFunc(g.plan.jobs([]string{name}), func(other *Job) bool { return other.Review != nil && other.Review.Name == job.Review.Name })
	}}
	known := map[[2]string]string{} // a file may have many violations
	return sight{
		job: job, diff: diff,
		traced: func(name string) change.Trace { return g.tree.Trace(diff, name) },
		why: func(v review.Violation) (string, error) {
			key := [2]string{v.File, v.Trace}
			if why, found := known[key]; found {
				return why, nil
			}
			why, err := g.tree.Hidden(ctx, view, v.File, change.Trace(v.Trace), failure.Since)
			if err == nil {
				known[key] = why
			}
			return why, err
		},
	}
}

// hidden are the violations that reviewers would close and that stay open, because their
// files are where no reviewer sees them; the remarks say so. If a file cannot be
// looked at, its violations stay open too.
func (s sight) hidden(closing []review.Violation) (hidden, closed []review.Violation, remarks []string) {
	for _, v := range closing {
		why, err := s.why(v)
		if err != nil {
			why = err.Error()
		}
		if why == "" {
			closed = append(closed, v)
			continue
		}
		hidden = append(hidden, v)
		remarks = append(remarks, fmt.Sprintf("%s (%s): stays open, because no reviewer can see the file (%s)", v.ID, v.Location(), plain.Line(why)))
	}
	return hidden, closed, remarks
}

// trace notes what the files of open violations look like, to know them again. What is
// known of a file that is gone stays known.
func (s sight) trace(open []review.Violation) {
	for i := range open {
		if why, err := s.why(open[i]); why != "" || err != nil {
			continue
		}
		if trace := s.traced(open[i].File); trace != "" {
			open[i].Trace = string(trace)
		}
	}
}

// warnings say that a pass is one of a part of the change.
func (s sight) warnings() []string {
	names := notShown(s.diff)
	if len(names) == 0 {
		return nil
	}
	const most = 10
	text := strings.Join(names[:min(len(names), most)], ", ")
	if len(names) > most {
		text += fmt.Sprintf(" and %d more", len(names)-most)
	}
	return []string{fmt.Sprintf("%s did not see all of the change: %s", s.job.ID(), text)}
}

// digestOf is a digest of all that a diff shows, and of what it says that it lacks.
func digestOf(diff change.Diff) string {
	return digest.Hex(strings.Join(append(notShown(diff), string(diff.Text)), "\x00"))
}

// notShown names what a diff lacks, a line each.
func notShown(diff change.Diff) (lines []string) {
	for _, m := range diff.Missing {
		lines = append(lines, fmt.Sprintf("%s (%s)", plain.Line(m.Name), m.Why))
	}
	return lines
}
