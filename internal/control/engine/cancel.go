package engine

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/control/runbook"
)

// cancel ends what runs and goes to on_cancel. Once is enough: what cleans up is not
// cancelled, and nothing is at the end.
func (d *draft) cancel(why string) {
	if d.Terminal() || d.Cancelling {
		return
	}
	if d.Status == Queued {
		d.fact(PipelineCancelling{clip(why, maxWords)})
		d.leaveQueue(runbook.EndCancelled)
		return
	}
	d.overtake("cancelled")
	d.giveUp(why)
}

// giveUp leaves the current step for on_cancel. Where that has been tried, it is the end.
func (d *draft) giveUp(why string) {
	again := d.Cancelling
	if !again {
		d.fact(PipelineCancelling{clip(why, maxWords)})
	}
	if !d.awaitChildren(Leaving{Cancel: true}) {
		d.abandon(again)
	}
}

// abandon leaves the current step of an owner that is cancelled.
func (d *draft) abandon(again bool) {
	step := d.current()
	d.leave()
	d.leaveOwn(step, StepCancelled{})
	d.fact(StepCancelled{step.Name})
	if again {
		d.end(runbook.EndCancelled)
		return
	}
	d.follow(step, step.OnCancel, d.Plan.Pipeline.OnCancel, runbook.EndCancelled)
}

func (d *draft) varNames() string {
	if len(d.Vars) == 0 {
		return "none"
	}
	return strings.Join(slices.Sorted(maps.Keys(d.Vars)), ", ")
}

// resume lets an owner go on that failed, at the step that failed, or that waits.
func (d *draft) resume(r Resume) error {
	if size := sizeOf(r); size > maxAsked {
		return &Refusal{"invalid", fmt.Sprintf("the message and the variables have %d bytes; at most %d", size, maxAsked)}
	}

	vars := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(r.Vars)) {
		if _, has := d.Vars[name]; !has {
			return &Refusal{"invalid", fmt.Sprintf("unknown variable %q: the variables of this %s are %s", clip(name, 80), d.Kind, d.varNames())}
		}
		vars[name] = sound(r.Vars[name])
	}
	if len(vars) == 0 {
		vars = nil
	}

	switch {
	case d.Status == Waiting && d.Decision.recommended() == "":
		return &Refusal{"conflict", fmt.Sprintf("it waits for an answer: answer decision %s with one of %s", d.Decision.ID, d.Decision.names())}
	case d.Status == Waiting:
		d.fact(PipelineResumed{Vars: vars})
		return d.answer(Answer{Decision: d.Decision.ID, Option: d.Decision.recommended(), Message: r.Message})
	case d.Parent != nil && d.Terminal():
		return &Refusal{"conflict", fmt.Sprintf("it is part of %s: resume that one", d.Parent.ID)}
	case d.Step != runbook.EndFailed:
		return &Refusal{"conflict", fmt.Sprintf("only a failed or waiting run can be resumed; this one is %s", d.where())}
	}

	step, known := d.plannedStep(d.Failed)
	if !known {
		return &Refusal{"conflict", "there is no step to resume"}
	}
	if r.Message != "" && step.Run.Agent == "" {
		return &Refusal{"invalid", fmt.Sprintf("step %q has no agent that could get a message", step.Name)}
	}

	how := opening{message: sound(r.Message)}
	if how.message != "" {
		how.session = d.lastSession(step.Name)
	}

	d.fact(PipelineResumed{step.Name, vars})
	if d.Kind == AgentRun {
		d.fact(AgentRunStatusChanged{Status: runRunning})
	}
	d.queueOr(step.Name, how)
	return nil
}

// lastSession is Claude Code's session in which the step's last agent worked.
func (d *draft) lastSession(step string) string {
	for _, v := range slices.Backward(d.History) {
		if v.Step == step {
			return v.Session
		}
	}
	return ""
}

// conversation is Claude Code's session in which an agent of the plan worked last; none where it has
// not worked yet.
func (d *draft) conversation(agent string) string {
	for _, v := range slices.Backward(d.History) {
		if step, known := d.plannedStep(v.Step); known && step.Run.Agent == agent && v.Session != "" {
			return v.Session
		}
	}
	return ""
}

// where says how far the owner is.
func (d *draft) where() string {
	if d.Terminal() {
		return d.Step
	}
	if d.Status == Queued {
		return string(Queued)
	}
	return fmt.Sprintf("%s at step %q", d.Status, d.Step)
}
