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
	step, _ := d.planned(d.Step)
	return step
}

func (d *draft) planned(name string) (runbook.Step, bool) {
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
	step, known := d.planned(name)
	if visits := d.Visits[name] + 1; !known || visits > MaxVisits {
		d.fact(StepBroke{name, fmt.Sprintf("step %q was entered %d times; the limit is %d", name, visits, MaxVisits)})
		d.end(d.worst())
		return
	}
	if d.over() && !(d.spared && step.Run.Agent == "") {
		d.exceedBefore(name, how)
		return
	}
	if d.Kind == Pipeline && d.Step != name && d.Step != "" {
		d.fact(Advanced{name})
	}
	if step.Run.Agent != "" {
		d.enterAgent(step, how)
		return
	}
	d.fact(StepStarted{Step: name})
	d.runStep(step)
}

// complete leaves the current step, which succeeded.
func (d *draft) complete() {
	step, p := d.current(), d.Plan.Pipeline
	news := d.expand(d.agent().Notify.OnDone, d.Error)
	d.tellUnheard()
	d.leave()
	d.fact(StepCompleted{step.Name})
	d.report(news)
	switch {
	case step.OnDone != "":
		d.enter(step.OnDone, opening{})
	case d.Cancelling: // the pipeline's on_done is for what went on to its end
		d.end(StepCancelled)
	case p.OnDone != "" && p.OnDone != step.Name:
		d.enter(p.OnDone, opening{})
	default:
		d.end(StepDone)
	}
}

// fail leaves the current step, which did not.
func (d *draft) fail(why string) {
	step, p := d.current(), d.Plan.Pipeline
	why = clip(why, maxWords)
	news := d.expand(d.agent().Notify.OnFail, why)
	d.tellUnheard()
	d.leave()
	d.fact(StepBroke{step.Name, why})
	d.report(news)
	switch {
	case step.OnFail != "":
		d.enter(step.OnFail, opening{})
	case p.OnFail != "" && p.OnFail != step.Name && !d.Cancelling:
		d.enter(p.OnFail, opening{})
	default:
		d.end(d.worst())
	}
}

// worst is the end of an owner that something failed for.
func (d *draft) worst() string {
	if d.Cancelling {
		return StepCancelled
	}
	return StepFailed
}

// leave ends what runs for the current step. The fact that says how the step went comes
// after it.
func (d *draft) leave() {
	d.settleTriggers()
	if d.Shell != nil {
		d.drop(d.Shell.Key)
		d.effect(Effect{Kind: KillShell, Target: d.Shell.Key})
	}
	if d.Agent != nil {
		d.endAgent()
	}
}

// end is where no step follows.
func (d *draft) end(at string) {
	if d.Kind == Pipeline {
		d.fact(Advanced{at})
	} else {
		status := map[string]string{StepDone: runCompleted, StepFailed: runFailed, StepCancelled: runCancelled}[at]
		d.fact(RunStatus{Status: status, Reason: d.Error})
	}
	switch at {
	case StepDone:
		d.report(d.expand(d.Plan.Pipeline.Notify.OnDone, ""))
	case StepFailed:
		d.report(d.expand(d.Plan.Pipeline.Notify.OnFail, d.Error))
	}
}
