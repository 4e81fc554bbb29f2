package engine

import "github.com/stopgate/stopgate/internal/control/runbook"

// retries runs a step that failed once more, if the runbook wants that, after a pause. It reports
// whether it does.
func (d *draft) retries(step runbook.Step, why string) bool {
	tried := max(d.Attempt, 1)
	if tried >= step.Retry.Attempts || step.HasChildren() { // each child is tried again by itself
		return false
	}
	d.notifyUnheard()
	d.leave()
	d.fact(StepRetrying{step.Name, why, tried + 1})
	if pause := step.Retry.Pause(tried); pause > 0 {
		d.setTimer(retry, d.in.Time.Add(pause))
		return true
	}
	d.tryAgain()
	return true
}

// tryAgain runs the current step once more, if the budget allows it.
func (d *draft) tryAgain() {
	step := d.current()
	if d.overBudget() {
		d.exceedBefore(step.Name, opening{})
		return
	}
	d.begin(step, opening{}, d.Attempt)
}
