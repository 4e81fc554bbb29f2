package engine

// Facts about decisions.
type (
	// DecisionCreated is a question to a person.
	DecisionCreated struct {
		Decision
	}
	// DecisionResolved is its answer.
	DecisionResolved struct {
		ID      string `json:"id"`
		Chosen  string `json:"chosen"`
		Message string `json:"message,omitempty"`
	}
	// DecisionClosed is a question that was overtaken.
	DecisionClosed struct {
		ID  string `json:"id"`
		Why string `json:"why"`
	}
)

// FactType is decision:created.
func (DecisionCreated) FactType() string { return "decision:created" }

func (f DecisionCreated) apply(o *Owner, s *Step) {
	o.Serial++
	decision := f.Decision
	o.Decision = &decision
}

// FactType is decision:resolved.
func (DecisionResolved) FactType() string { return "decision:resolved" }

func (f DecisionResolved) apply(o *Owner, s *Step) {
	o.settle(s, func(d *Decision) { d.Chosen, d.Message = f.Chosen, f.Message })
}

// FactType is decision:closed.
func (DecisionClosed) FactType() string { return "decision:closed" }

func (f DecisionClosed) apply(o *Owner, s *Step) {
	o.settle(s, func(d *Decision) { d.Closed = f.Why })
}

// settle puts the open decision to the settled ones. Nobody is waited for then.
func (o *Owner) settle(s *Step, how func(*Decision)) {
	if o.Decision == nil {
		return
	}
	d := *o.Decision
	d.Resolved = s.Time
	how(&d)
	o.Settled = latest(append(o.Settled, d), keptSettled)
	o.Decision = nil
	if o.Status == Waiting {
		o.Status = Running
	}
}
