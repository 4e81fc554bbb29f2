package engine

import "github.com/stopgate/stopgate/internal/control/runbook"

// Facts about decisions.
type (
	// DecisionCreated is a question to a person.
	DecisionCreated struct {
		Decision
	}
	// DecisionResolved is its answer.
	DecisionResolved struct {
		ID      string   `json:"id"`
		Chosen  string   `json:"chosen"`
		Message string   `json:"message,omitempty"`
		Answers []string `json:"answers,omitempty"`
		Expired bool     `json:"expired,omitempty"` // nobody gave it in time: it is the runbook's
	}
	// DecisionClosed is a question that was overtaken.
	DecisionClosed struct {
		ID  string `json:"id"`
		Why string `json:"why"`
	}
	// BudgetExtended is a person who lets more be spent: what is added in all.
	BudgetExtended struct {
		runbook.Budget
	}
)

func (DecisionCreated) EventType() string { return "decision:created" }

func (f DecisionCreated) apply(o *Owner, s *Step) {
	o.Serial++
	decision := f.Decision
	o.Decision = &decision
}

func (DecisionResolved) EventType() string { return "decision:resolved" }

func (f DecisionResolved) apply(o *Owner, s *Step) {
	if o.Decision != nil && o.Decision.Source == FromStep {
		o.Outputs = with(o.Outputs, o.Step, Output{Values: map[string]string{"answer": f.Chosen}, Signal: f.Message})
	}
	o.settle(s, func(d *Decision) {
		d.Chosen, d.Message, d.Answers, d.Expired = f.Chosen, f.Message, f.Answers, f.Expired
	})
}

func (DecisionClosed) EventType() string { return "decision:closed" }

func (f DecisionClosed) apply(o *Owner, s *Step) {
	o.settle(s, func(d *Decision) { d.Closed = f.Why })
}

func (BudgetExtended) EventType() string { return "budget:extended" }

func (f BudgetExtended) apply(o *Owner, s *Step) { o.Extended = f.Budget }

// settle puts the open decision to the settled ones. Nobody is waited for then.
func (o *Owner) settle(s *Step, how func(*Decision)) {
	if o.Decision == nil {
		return
	}
	d := *o.Decision
	d.Resolved, d.Ask = s.Time, nil
	how(&d)
	o.Settled = latest(append(o.Settled, d), keptSettled)
	o.Decision = nil
	o.Timers = without(o.Timers, expire)
	if o.Status == Waiting {
		o.Status = Running
	}
}
