package engine

import (
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
	if visits := d.Visits[name] + 1; !known || visits > MaxVisits {
		d.fact(StepFailed{name, fmt.Sprintf("step %q was entered %d times; the limit is %d", name, visits, MaxVisits)})
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
	if step.Run.Agent != "" {
		d.enterAgent(step, how)
		return
	}
	d.fact(StepStarted{Step: name})
	d.runStep()
}

// complete leaves the current step, which succeeded.
func (d *draft) complete() {
	step, end := d.current(), runbook.EndDone
	if d.Cancelling {
		end = runbook.EndCancelled
	}
	d.leaveAs(StepCompleted{step.Name}, d.expand(d.agentPlan().Notify.OnDone, d.Error))
	d.follow(step, step.OnDone, d.wanted(d.Plan.Pipeline.OnDone), end)
}

// fail leaves the current step, which did not.
func (d *draft) fail(why string) {
	step := d.current()
	why = clip(why, maxWords)
	d.leaveAs(StepFailed{step.Name, why}, d.expand(d.agentPlan().Notify.OnFail, why))
	d.follow(step, step.OnFail, d.wanted(d.Plan.Pipeline.OnFail), d.worst())
}

// leaveAs leaves the current step, and tells people what a runbook wants them to be told.
func (d *draft) leaveAs(how Fact, news string) {
	d.notifyUnheard()
	d.leave()
	d.fact(how)
	d.report(news)
}

// wanted is where the pipeline's on_done or on_fail leads. They are about work that is still
// wanted, not about what cleans up after a cancel.
func (d *draft) wanted(transition string) string {
	if d.Cancelling {
		return ""
	}
	return transition
}

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
}

// end is where no step follows.
func (d *draft) end(at string) {
	if d.Kind == Pipeline {
		d.fact(PipelineAdvanced{at})
	} else {
		status := map[string]string{runbook.EndDone: runCompleted, runbook.EndFailed: runFailed, runbook.EndCancelled: runCancelled}[at]
		d.fact(AgentRunStatusChanged{Status: status, Reason: d.Error})
	}
	switch at {
	case runbook.EndDone:
		d.report(d.expand(d.Plan.Pipeline.Notify.OnDone, ""))
	case runbook.EndFailed:
		d.report(d.expand(d.Plan.Pipeline.Notify.OnFail, d.Error))
	}
}
