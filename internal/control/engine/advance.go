package engine

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/stopgate/stopgate/internal/control/runbook"
)

// opening is how an agent's step begins where that is not the usual way: in an old
// session, with a person's message.
type opening struct{ session, message string }

// current is the plan's step that the owner is at.
func (d *draft) current() runbook.Step {
	step, _ := d.plannedStep(d.Step)
	return step
}

func (d *draft) plannedStep(name string) (runbook.Step, bool) {
	steps := d.Plan.Pipeline.Steps
	i := slices.IndexFunc(steps, func(s runbook.Step) bool { return s.Name == name })
	if i < 0 {
		return runbook.Step{}, false
	}
	return steps[i], true
}

// enter begins a step. A step that is entered too often ends its owner: no on_fail can
// help there.
func (d *draft) enter(name string, how opening) {
	step, known := d.plannedStep(name)
	most := cmp.Or(d.Plan.Pipeline.MaxVisits, MaxVisits)
	if visits := d.Visits[name] + 1; !known || visits > most {
		d.fact(StepFailed{name, fmt.Sprintf("step %q was entered %d times; the limit is %d", name, visits, most)})
		d.end(d.worst())
		return
	}

	if d.overBudget() && !(d.spared && step.Run.Agent == "") {
		d.exceedBefore(name, how)
		return
	}

	if d.Kind == Pipeline && d.Step != name && d.Step != "" {
		d.fact(PipelineAdvanced{name})
	}
	if d.skips(step) {
		d.fact(StepSkipped{name})
		d.followDone(step)
		return
	}
	d.begin(step, how, 0)
}

// skips reports whether the step's condition does not hold. One that cannot be read was never
// checked: its step runs.
func (d *draft) skips(step runbook.Step) bool {
	if step.If == "" {
		return false
	}
	holds, err := runbook.Holds(step.If, d.values())
	return err == nil && !holds
}

// begin starts what a step runs: for the first time, or for another attempt.
func (d *draft) begin(step runbook.Step, how opening, attempt int) {
	switch {
	case step.HasChildren():
		d.enterChildren(step, attempt)
		return
	case step.Approval != nil:
		d.enterApproval(step, attempt)
		return
	case step.Run.Agent != "":
		d.enterAgent(step, how, attempt)
		return
	}
	d.fact(StepStarted{Step: step.Name, Attempt: attempt})
	d.needWorkspace()
	d.runStep()
}

// complete leaves the current step, which succeeded.
func (d *draft) complete() {
	step := d.current()
	d.leaveAs(StepCompleted{step.Name}, d.expand(d.agentPlan().Notify.OnDone, d.Error))
	d.followDone(step)
}

// followDone goes on from a step that succeeded, or was skipped.
func (d *draft) followDone(step runbook.Step) {
	end := runbook.EndDone
	if d.Cancelling {
		end = runbook.EndCancelled
	}
	d.follow(step, step.OnDone, d.wanted(d.Plan.Pipeline.OnDone), end)
}

// fail leaves the current step, which did not.
func (d *draft) fail(why string) {
	step := d.current()
	why = clip(why, maxWords)
	if d.awaitChildren(Leaving{Why: why}) || d.retries(step, why) {
		return
	}
	d.leaveAs(StepFailed{step.Name, why}, d.expand(d.agentPlan().Notify.OnFail, why))
	d.follow(step, step.OnFail, d.wanted(d.Plan.Pipeline.OnFail), d.worst())
}

// leaveAs leaves the current step, and tells people what a runbook wants them to be told.
func (d *draft) leaveAs(how Fact, news string) {
	d.notifyUnheard()
	d.leave()
	d.leaveOwn(d.current(), how)
	d.fact(how)
	d.report(news)
}

// wanted is where the pipeline's on_done or on_fail leads. They are about work that is still
// wanted, not about what cleans up.
func (d *draft) wanted(transition string) string {
	if d.cleansUp() {
		return ""
	}
	return transition
}

// cleansUp reports whether what runs now comes after a cancel, or before the end.
func (d *draft) cleansUp() bool { return d.Cancelling || d.Ending != "" }

// follow goes on from a step that was left: where the step leads, else where the pipeline does,
// else to the end.
func (d *draft) follow(left runbook.Step, own, pipeline, end string) {
	switch {
	case own != "":
		d.enter(own, opening{})
	case pipeline != "" && pipeline != left.Name:
		d.enter(pipeline, opening{})
	default:
		d.end(end)
	}
}

// worst is the end of an owner that something failed for.
func (d *draft) worst() string {
	if d.Cancelling {
		return runbook.EndCancelled
	}
	return runbook.EndFailed
}

// leave ends what runs for the current step. The fact that says how the step went comes
// after it.
func (d *draft) leave() {
	d.settleTriggers()
	if d.Shell != nil {
		d.endShell()
	}
	if d.Agent != nil {
		d.endAgent()
	}
	if d.hasChildren() {
		d.cancelChildren()
	}
}

// homeless reports whether the owner's workspace could not be made: then no step can run.
func (o *Owner) homeless() bool { return o.Workspaces[""].State == WorkspaceFailing }

// end is where no step follows but finally. What failed and was not completed since makes the
// whole a failure, whatever cleaned up after it.
func (d *draft) end(at string) {
	if at == runbook.EndDone && len(d.Failures) > 0 {
		at = runbook.EndFailed
	}

	if finally := d.Plan.Pipeline.Finally; finally != "" && d.Ending == "" && !d.homeless() {
		d.fact(PipelineEnding{at})
		d.enter(finally, opening{})
		return
	}

	if d.Ending != "" && d.Ending != runbook.EndDone {
		at = d.Ending
	}
	if d.Kind == Pipeline {
		d.fact(PipelineAdvanced{at})
	} else {
		status := map[string]string{runbook.EndDone: runCompleted, runbook.EndFailed: runFailed, runbook.EndCancelled: runCancelled}[at]
		d.fact(AgentRunStatusChanged{Status: status, Reason: d.Error})
	}

	d.leaveWorkspaces(at)
	switch at {
	case runbook.EndDone:
		d.report(d.expand(d.Plan.Pipeline.Notify.OnDone, ""))
	case runbook.EndFailed:
		d.report(d.keptWords(d.expand(d.Plan.Pipeline.Notify.OnFail, d.Error)))
	case runbook.EndCancelled:
		d.report(d.keptWords(d.expand(d.Plan.Pipeline.Notify.OnCancel, d.Cancelled)))
	}
}
