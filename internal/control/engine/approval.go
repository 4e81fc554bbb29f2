package engine

import (
	"cmp"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/control/runbook"
)

// enterApproval begins a step that a person decides.
func (d *draft) enterApproval(step runbook.Step, attempt int) {
	d.fact(StepStarted{Step: step.Name, Attempt: attempt})
	a := step.Approval
	if why := d.absent(a.Title, a.Text, a.Who); why != "" {
		d.fail(why)
		return
	}
	values := d.values()
	context := runbook.Expand(a.Title, values)
	if who := runbook.Expand(a.Who, values); who != "" {
		context += "\nFor: " + who
	}
	if text := strings.TrimSpace(runbook.Expand(a.Text, values)); text != "" {
		context += "\n" + text
	}
	d.escalate(question{source: FromStep, reason: "approval", context: context})
}

// approvalOptions are the answers to the current step, but for the one that cancels.
func (d *draft) approvalOptions() (options []Option) {
	for _, o := range d.current().Approval.Options {
		options = append(options, Option{Name: o.Name, Description: o.Says()})
	}
	return options
}

// decided goes on from a step that a person decided.
func (d *draft) decided(c choice) {
	step := d.current()
	i := slices.IndexFunc(step.Approval.Options, func(o runbook.ApprovalOption) bool { return o.Name == c.option })
	option := step.Approval.Options[i]
	if option.Fail {
		d.fail(colon(option.Name, c.message))
		return
	}
	d.leaveAs(StepCompleted{step.Name}, "")
	if option.Overrule && len(d.Failures) > 0 {
		d.fact(FailuresOverruled{})
	}
	if option.Step != "" {
		d.enter(option.Step, opening{})
		return
	}
	d.followDone(step)
}

// expiry is how long a person has for the open decision, and the runbook's answer.
func (d *draft) expiry() runbook.Expire {
	e := d.Plan.Pipeline.Expire
	if d.Decision == nil || d.Decision.Source != FromStep {
		return e
	}
	if a := d.current().Approval; a != nil && a.Expire.After > 0 {
		return runbook.Expire{After: a.Expire.After}
	}
	return e
}

// approvalDefault is the answer to an approval that no person gave in time: the runbook's for this
// one, else none but cancel. What is to be approved is never approved by waiting for something else.
func (d *draft) approvalDefault() choice {
	answer := optCancel
	if a := d.current().Approval; a != nil {
		answer = cmp.Or(a.Expire.Answer, optCancel)
	}
	return choice{does: answer, option: answer}
}
