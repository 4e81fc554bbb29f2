package gauntlet

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/gate/gauntlet/change"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// verdicts are what the gates of a run have said, of the tree in view.
type verdicts struct {
	view  *view
	gates []GateResult
	gone  []string // open failures whose gate is gone
}

// settled has the gates judge the tree that they leave. A gate may write, as a formatter does that fixes, and so may
// anybody else while gates run. Then the gates whose pass does not hold for the tree as it is now run once more, and with
// them those that apply only now. They do so once: gates that always write would never end.
func (e *execution) settled(ctx context.Context, first verdicts) verdicts {
	if !e.answersForTheEnd(ctx, first) {
		return first
	}
	after := e.lookAfter(ctx)
	first.view.after = &after
	names, removed, changed := e.tree.Meanwhile(first.view.tree, after)
	if !changed {
		return first
	}
	if ctx.Err() != nil && !e.robbed(ctx) {
		e.tellOfLateness(names)
		return first
	}

	seen, own := e.seen, e.own
	next, due := e.lookAgain(ctx, first, names)
	if moves := e.moves(first.view, next.view, removed); moves != "" {
		e.tell("while the gates ran, %s", moves)
	}
	if len(due) == 0 {
		next.view.after = &next.view.tree
		return next
	}
	if e.tooLate(ctx, first, due) {
		e.tellOfLateness(names)
		e.seen, e.own = seen, own
		return first
	}

	e.say("note: %s; gates whose pass does not hold for that run once more", changedWhile(names))
	e.again = true
	unfinished := e.replace(ctx, &next, e.gates(ctx, next.view, due))
	switch {
	case slices.ContainsFunc(next.gates, func(g GateResult) bool { return g.Outcome == GateFailed }), errors.Is(ctx.Err(), context.Canceled):
	case unfinished:
		if ctx.Err() != nil {
			e.tellOfLateness(names)
		} else {
			e.tell("%s, and not all of them could run again: not every gate has checked the current files", changedWhile(names))
		}
		e.seen, e.own = seen, own
		next.view, first.view.after = first.view, nil
	default:
		e.tellOfWriters(ctx, next)
	}
	return next
}

// answersForTheEnd reports whether it matters what has become of the tree while the gates ran. If a gate has failed, the
// next stop judges it. The older tool's hook judges what it found.
func (e *execution) answersForTheEnd(ctx context.Context, v verdicts) bool {
	has := func(outcomes ...Outcome) bool {
		return slices.ContainsFunc(v.gates, func(g GateResult) bool { return slices.Contains(outcomes, g.Outcome) })
	}
	return e.Answers && e.Session == "" && v.view.unseen == nil && v.view.tree.Mark() != "" &&
		has(GatePassed) && !has(GateFailed) && !errors.Is(ctx.Err(), context.Canceled)
}

// lookAfter looks at the tree after the gates, although the time of the run may be over.
func (e *execution) lookAfter(ctx context.Context) change.Tree {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), e.proving)
	defer cancel()
	tree, _ := e.tree.Tree(ctx) // not exact where it fails
	return tree
}

// lookAgain looks where the tree stands after the gates, which have changed these files, and lists the jobs that have to run
// for it.
func (e *execution) lookAgain(ctx context.Context, first verdicts, names []string) (verdicts, []*Job) {
	next := verdicts{view: &view{state: first.view.state}, gates: first.gates}
	next.view.unseen = e.look(ctx, next.view)
	s, err := e.selected(ctx, next.view)
	if err != nil { // the time is over
		next.view.unseen = err
		s, _ = e.selected(ctx, next.view)
	}
	var jobs, due []*Job
	jobs, next.gone = e.due(next.view, s)
	prover := e.prover(next.view, next.view.tree)
	sameBase := next.view.position.MergeBase == first.view.position.MergeBase
	for _, job := range jobs {
		i := slices.IndexFunc(first.gates, func(g GateResult) bool { return g.job.standsFor(job.ID()) })
		switch {
		case i >= 0 && (!first.gates[i].passes() || prover.holds(ctx, job, &first.gates[i])):
		case i >= 0 && job.Review != nil && sameBase && len(names) > 0 && !slices.ContainsFunc(names, job.Includes): // it would be shown the same
		default:
			due = append(due, job)
		}
	}
	return next, due
}

// passes reports whether the gate has passed, in this run or before.
func (g *GateResult) passes() bool { return g.Outcome == GatePassed || g.Outcome == GateProven }

// holds reports whether what a gate has said of a tree that was there before is true of this one: it may read
// the same of both, or a review may be shown the same.
func (p *prover) holds(ctx context.Context, job *Job, before *GateResult) bool {
	if before.job.key != "" && before.job.key == p.key(ctx, job) {
		return true
	}
	if before.diff == "" {
		return false
	}
	diff, err := p.execution.tree.Diff(ctx, p.Scope, p.position, job.Includes, maxDiff)
	return err == nil && before.diff == digestOf(diff)
}

// tooLate reports whether the jobs can hardly end in the time that is left, by what they took just now or before. If other
// trees have to be judged in the same time, half of it is theirs. Time that an agent took away does not count.
func (e *execution) tooLate(ctx context.Context, first verdicts, due []*Job) bool {
	deadline, set := ctx.Deadline()
	if !set || e.Limit.Shortened > 0 {
		return false
	}
	var inTurn, beside time.Duration
	for _, job := range due {
		before, _ := job.Before(e.history)
		takes := before.In
		if i := slices.IndexFunc(first.gates, func(g GateResult) bool { return g.job.standsFor(job.ID()) }); i >= 0 {
			takes = max(takes, first.gates[i].Duration)
		}
		if job.Gate().Parallel && e.Project.Config.Gauntlet.AllowParallel {
			beside = max(beside, takes)
		} else {
			inTurn += takes
		}
	}
	needs := max(inTurn, beside)
	if e.Others {
		needs *= 2
	}
	return time.Until(deadline) < needs
}

// overlaps reports whether one of the jobs says what the job says.
func overlaps(job *Job, others []*Job) bool {
	return slices.ContainsFunc(others, func(other *Job) bool { return job.standsFor(other.ID()) || other.standsFor(job.ID()) })
}

// replace puts the results of gates that ran once more in the place of the first ones. One that could say nothing the second
// time keeps its first result, and is left out if it has none; unfinished reports whether there is one.
func (e *execution) replace(ctx context.Context, v *verdicts, second []GateResult) (unfinished bool) {
	var ran []GateResult
	var jobs []*Job
	for _, g := range second {
		k := slices.IndexFunc(v.gates, func(first GateResult) bool { return first.job.standsFor(g.Job) })
		silent := e.saysNothing(ctx, &g)
		unfinished = unfinished || silent
		switch {
		case k < 0 && silent:
			continue
		case k < 0:
		case silent:
			cost := v.gates[k].Cost.Plus(g.Cost)
			g = v.gates[k]
			g.Cost = cost
		case g.Outcome == GateProven: // it ran in this run, and had passed on this tree before
			job := g.job
			g = v.gates[k]
			g.job = job
		default:
			g.Cost = v.gates[k].Cost.Plus(g.Cost)
		}
		ran, jobs = append(ran, g), append(jobs, g.job)
	}
	kept := slices.DeleteFunc(slices.Clone(v.gates), func(g GateResult) bool { return overlaps(g.job, jobs) })
	v.gates = append(kept, ran...)
	slices.SortStableFunc(v.gates, func(a, b GateResult) int { return a.job.compare(b.job) })
	return unfinished
}

// saysNothing reports whether a gate that ran once more has said nothing of the work. If settings have shortened the time, a
// gate that it cut off has failed.
func (e *execution) saysNothing(ctx context.Context, g *GateResult) bool {
	return !e.robbed(ctx) && (g.unseen || g.Outcome == GateCouldNotRun || g.Outcome == GateNotStarted)
}

// tellOfWriters tells the person if the tree has changed once more, so that the passes do not hold for it.
func (e *execution) tellOfWriters(ctx context.Context, v verdicts) {
	if v.view.tree.Mark() == "" {
		return // it cannot be read, so every gate has run
	}
	after := e.lookAfter(ctx)
	v.view.after = &after
	names, _, changed := e.tree.Meanwhile(v.view.tree, after)
	if !changed {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), e.proving)
	defer cancel()
	prover := e.prover(v.view, after)
	for i := range v.gates {
		if g := &v.gates[i]; g.passes() && !prover.holds(ctx, g.job, g) {
			e.tell("%s, and again when they ran once more: no gate has checked the current files; let git ignore what gates write, or use checks that write nothing", changedWhile(names))
			return
		}
	}
}

// tellOfLateness tells the person that the gates could not judge what is there now.
func (e *execution) tellOfLateness(names []string) {
	e.tell("%s, and there was too little time to run them again: no gate has checked the current files; %s", changedWhile(names), e.Limit.Advice())
}

// tell adds to what the person hears, whatever the outcome.
func (e *execution) tell(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	e.forPerson = append(e.forPerson, text)
	e.say("note: %s", text)
}

// changedWhile says that the tree has changed, and by which files.
func changedWhile(names []string) string {
	text := "the tree changed while the gates ran"
	if len(names) == 0 {
		return text
	}
	return text + " (" + fewNames(names) + ")"
}

func fewNames(names []string) string {
	shown := make([]string, len(names))
	for i, name := range names {
		shown[i] = plain.Name(name)
	}
	return strings.Join(plain.Few(shown, 3), ", ")
}

// moves says what became of the work while the gates ran, if it is not what gates are for: the checkout is another one,
// files are gone, or nothing is left of what the agent has changed.
func (e *execution) moves(before, after *view, removed []string) string {
	if was, is := before.position, after.position; was.Git && is.Git && (was.Head != is.Head || was.Branch != is.Branch) {
		return fmt.Sprintf("HEAD moved from %s to %s", standing(was), standing(is))
	}
	var all []string
	if len(removed) > 0 {
		all = append(all, fewNames(removed)+" disappeared")
	}
	if e.Baseline != "" && after.tree.Mark() == e.Baseline {
		all = append(all, "all that the agent had changed was undone")
	}
	return strings.Join(all, ", and ")
}

// standing is where HEAD is.
func standing(p change.Position) string {
	if p.Branch == "HEAD" {
		return fmt.Sprintf("%.7s (no branch)", p.Head)
	}
	return fmt.Sprintf("%s (%.7s)", plain.Name(p.Branch), p.Head)
}
