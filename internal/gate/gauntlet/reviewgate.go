package gauntlet

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/gate/gauntlet/review"
	"github.com/stopgate/stopgate/internal/sys/atomicfile"
	"github.com/stopgate/stopgate/internal/sys/plain"
	"github.com/stopgate/stopgate/internal/sys/regular"
)

// maxDiff bounds what a reviewer is given. It is more than a model reads with
// care.
const maxDiff = 1 << 20

func (g gateRunner) review(ctx context.Context, job *Job) GateResult {
	previous, same := g.onRecord(job)
	if same && len(previous) > 0 && len(unsettled(previous)) == 0 {
		// Nothing is left to verify, and asking again would close nothing.
		return g.judged(job, previous, "every violation was skipped")
	}

	diff, err := g.tree.Diff(ctx, g.Scope, g.view.position, job.Includes, maxDiff)
	switch {
	case err != nil && ctx.Err() != nil:
		return job.result(GateCouldNotRun, whyEnded(ctx))
	case err != nil:
		// A broken repository must not let the agent go without a review, nor close what
		// was found before.
		r := job.result(GateFailed, "cannot review the changes, because git cannot show them: "+err.Error())
		r.Violations = previous
		return r
	case len(bytes.TrimSpace(diff.Text)) == 0 && len(previous) == 0:
		r := job.result(GatePassed, "No changes to review")
		r.diff = digestOf(diff)
		return r
	}

	began := time.Now()
	slots := review.Run(ctx, review.Request{
		Gate:     job.ID(),
		Review:   job.Review,
		Diff:     diff.Text,
		NotShown: notShown(diff),
		Previous: previous,
		Root:     g.Project.Root,
		Environ:  g.environ(),
		StateDir: g.StateDir,
		Now:      g.Now,
		Log:      func(slot int, adapter string) io.WriteCloser { return g.reviewLog(job, slot, adapter) },
	})
	r := g.weigh(job, slots, previous, same, g.sight(ctx, job, diff))
	r.diff = digestOf(diff)
	r.ended = !slices.ContainsFunc(slots, func(slot review.SlotResult) bool { return slot.Err != nil })
	cutOff := func(slot review.SlotResult) bool { return slot.CutOff }
	if r.Outcome == GateCouldNotRun && slices.ContainsFunc(slots, cutOff) && g.starved(job, time.Since(began)) {
		g.cutOff(&r)
	}
	return r
}

// starved reports whether a review that was cut off after some time was given too little of it: less than twice what
// it took before. One that had more waited for its provider, which says nothing about the work.
func (g gateRunner) starved(job *Job, had time.Duration) bool {
	before, known := job.Before(g.history)
	return g.Limit.Shortened > 0 || known && had < 2*before.In
}

// onRecord is what is known of earlier reviews, and whether they saw the same
// tree.
func (g gateRunner) onRecord(job *Job) (violations []review.Violation, same bool) {
	failure, open := g.view.state.Failure(job.ID())
	if open {
		violations = slices.Clone(failure.Violations)
	}
	violations = append(violations, g.view.state.SkippedBy(job.ID())...)
	return violations, open && failure.Tree != "" && failure.Tree == g.view.tree.ID
}

// weigh makes one result of what the reviewers said.
func (g gateRunner) weigh(job *Job, slots []review.SlotResult, previous []review.Violation, same bool, s sight) GateResult {
	var found []review.Violation
	var errs []error
	for _, slot := range slots {
		found = append(found, slot.Answer.Violations...)
		if slot.Err != nil {
			errs = append(errs, slot.Err)
		}
	}

	// Who did not look has verified nothing.
	open, closed, dropped := review.Reconcile(previous, found, same || len(errs) > 0, g.Project.Config.Gauntlet.NewIssues)
	hidden, closed, remarks := s.hidden(closed)
	open = append(open, hidden...)
	s.trace(open)

	var message []string
	if len(hidden) > 0 {
		message = append(message, fmt.Sprintf("%d hidden from the reviewers", len(hidden)))
	}
	if len(closed) > 0 {
		message = append(message, fmt.Sprintf("%d closed", len(closed)))
	}
	if skipped := len(open) - len(unsettled(open)); skipped > 0 {
		message = append(message, fmt.Sprintf("%d skipped", skipped))
	}
	if len(dropped) > 0 {
		message = append(message, fmt.Sprintf("%d new ones below %s ignored", len(dropped), g.Project.Config.Gauntlet.NewIssues))
	}
	if same {
		message = append(message, "nothing has changed since they were found")
	}

	r := g.judged(job, open, strings.Join(message, ", "))
	if r.Outcome == GatePassed {
		r.Warnings = append(r.Warnings, s.warnings()...)
	}
	if len(errs) > 0 && len(found) == 0 {
		// What was open stays so, on the tree on which it was found: nobody has seen
		// this one.
		r.Outcome, r.Message = GateCouldNotRun, distinct(errs)
	}

	r.Reviews, r.Log = g.reviewFiles(job, slots, open)
	for i := range slots {
		r.Cost = r.Cost.Plus(slots[i].Cost)
	}
	r.Remarks = slices.Concat(g.remarks[job.ID()], remarks)
	return r
}

// distinct says each error once.
func distinct(errs []error) string {
	var texts []string
	for _, err := range errs {
		if text := err.Error(); !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, "; ")
}

// judged is the result of a review by what is open after it.
func (g gateRunner) judged(job *Job, open []review.Violation, message string) GateResult {
	r := job.result(GatePassed, message)
	r.Violations = open
	if left := len(unsettled(open)); left > 0 {
		r.Outcome, r.Message = GateFailed, plain.Count(left, "violation")
		if message != "" {
			r.Message += " (" + message + ")"
		}
		return r
	}
	for _, v := range open {
		r.Warnings = append(r.Warnings, fmt.Sprintf("%s%s%s: %s (%s)", job.ID(), skipped, v.Location(), v.Issue, v.Result))
	}
	return r
}

func unsettled(violations []review.Violation) []review.Violation {
	return slices.DeleteFunc(slices.Clone(violations), func(v review.Violation) bool { return v.Status == review.Skipped })
}

// reviewFiles writes a file for each reviewer, in which the agent says what
// became of its violations. What no reviewer repeated is in the first.
func (g gateRunner) reviewFiles(job *Job, slots []review.SlotResult, open []review.Violation) (files []string, log string) {
	rest := slices.Clone(open)
	for i, slot := range slices.Backward(slots) {
		file := review.File{Adapter: slot.Adapter, Timestamp: g.Now(), Status: statusOf(slot), RawOutput: slot.Raw}
		for _, v := range slices.Backward(rest) {
			said := slices.ContainsFunc(slot.Answer.Violations, func(found review.Violation) bool { return found.ID == v.ID })
			if said || i == 0 {
				file.Violations = append(file.Violations, v)
			}
		}
		slices.Reverse(file.Violations)
		rest = slices.DeleteFunc(rest, func(v review.Violation) bool { return slices.Contains(file.Violations, v) })

		g.logs.Ensure() // a check may have removed it
		adapter := cmp.Or(slot.Adapter, "none")
		path := g.logs.ReviewFile(job.ID(), adapter, slot.Slot, g.n, "json")
		if err := atomicfile.Write(path, file.Encode(), 0o600); err != nil {
			g.say("cannot write the review to %s: %v", path, err)
			continue
		}
		files = append(files, path)
		if slot.Adapter != "" {
			log = g.logs.ReviewFile(job.ID(), adapter, slot.Slot, g.n, "log")
		}
	}
	slices.Reverse(files)
	return files, log
}

func statusOf(slot review.SlotResult) review.Status {
	switch {
	case slot.Err != nil:
		return review.Error
	case len(slot.Answer.Violations) > 0:
		return review.Fail
	}
	return review.Pass
}

func (g gateRunner) reviewLog(job *Job, slot int, adapter string) io.WriteCloser {
	path := g.logs.ReviewFile(job.ID(), adapter, slot, g.n, "log")
	file, err := regular.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		g.say("cannot log the review: %v", err)
		return nil
	}
	fmt.Fprintf(file, "Starting review: %s by %s@%d\n", job.ID(), adapter, slot)
	echo := g.echo(job)
	if echo == nil {
		return file
	}
	return struct {
		io.Writer
		io.Closer
	}{io.MultiWriter(file, echo), file}
}
