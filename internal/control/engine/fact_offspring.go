package engine

import (
	"encoding/json"
	"slices"

	"github.com/stopgate/stopgate/internal/control/runbook"
	"github.com/stopgate/stopgate/internal/sys/rawjson"
)

// Facts about the children of a step, and about the parent.
type (
	// GroupPlanned is a step that knows what it runs.
	GroupPlanned struct {
		Step     string  `json:"step"`
		Children []Child `json:"children,omitempty"`
	}
	// GroupLeaving is a step that is left when none of its children runs any more.
	GroupLeaving Leaving
	// ChildStarted is a child that is to run. It is on record before it starts.
	ChildStarted struct {
		Child int     `json:"child"` // its place among them
		ID    string  `json:"id"`
		USD   float64 `json:"usd,omitempty"`
	}
	// ChildPassedOver is a branch that is not run, because what it needs did not succeed.
	ChildPassedOver struct {
		Child string `json:"child"`
		Why   string `json:"why"`
	}
	// ChildReported is how far a child is now, and at its end what it left behind.
	ChildReported struct {
		ID     string     `json:"id"`
		State  ChildState `json:"state"`
		Why    string     `json:"why,omitempty"`
		Output Output     `json:"output,omitzero"`
		Cost   Spent      `json:"cost,omitzero"`
	}
	// ParentTold is a child whose parent is to hear how far it is.
	ParentTold struct {
		State ChildState `json:"state"`
	}
)

func (GroupPlanned) EventType() string    { return "group:planned" }
func (GroupLeaving) EventType() string    { return "group:leaving" }
func (ChildStarted) EventType() string    { return "child:started" }
func (ChildPassedOver) EventType() string { return "child:passed_over" }
func (ChildReported) EventType() string   { return "child:reported" }
func (ParentTold) EventType() string      { return "parent:told" }

func (f GroupPlanned) apply(o *Owner, s *Step) {
	o.Offspring = &Offspring{Step: f.Step, Children: slices.Clone(f.Children), Open: true}
	kept := len(f.Children) > 0 && !o.Offspring.has(func(c Child) bool { return c.State == ChildPending })
	if !kept { // else nothing would write it again
		o.Outputs = without(o.Outputs, f.Step)
	}
	for _, c := range f.Children {
		if c.State == ChildPending {
			o.Outputs = without(o.Outputs, c.Name)
		}
	}
	if len(f.Children) == 0 {
		o.Outputs = with(o.Outputs, f.Step, Output{Values: o.emptyLists(f.Step)})
	}
}

// emptyLists are the values of a step without items: an empty JSON array under each name by which the plan
// asks for one.
func (o *Owner) emptyLists(step string) (values map[string]string) {
	text, err := json.Marshal(o.Plan)
	if err != nil {
		return nil
	}
	for _, name := range runbook.Names(string(text)) {
		if v, ok := runbook.ParseStepValue(name); ok && v.Step == step && v.Kind == runbook.ValueOutput {
			values = with(values, v.Name, "[]")
		}
	}
	return values
}

func (f GroupLeaving) apply(o *Owner, s *Step) {
	leaving := Leaving(f)
	o.Offspring.Leaving = &leaving
	for i := range o.Offspring.Children {
		if c := &o.Offspring.Children[i]; c.State == ChildWaiting {
			c.State = ChildRunning // it is being cancelled; it says so if it waits again
		}
	}
}

func (f ChildStarted) apply(o *Owner, s *Step) {
	c := &o.Offspring.Children[f.Child]
	c.ID, c.USD, c.State = f.ID, f.USD, ChildRunning
}

func (f ChildPassedOver) apply(o *Owner, s *Step) {
	i := slices.IndexFunc(o.Offspring.Children, func(c Child) bool { return c.Name == f.Child })
	o.Offspring.Children[i].State, o.Offspring.Children[i].Why = ChildSkipped, f.Why
}

func (f ChildReported) apply(o *Owner, s *Step) {
	c := &o.Offspring.Children[o.Offspring.child(f.ID)]
	c.State, c.Why = f.State, f.Why
	if c.Runs() {
		return
	}
	c.Values = f.Output.Values
	if f.Cost != (Spent{}) {
		o.Spent = with(merged(o.Spent), f.ID, f.Cost)
	}
	o.keepChildOutput(*c, f.Output)
}

// close is called when the step is left. A child that still runs is being cancelled.
func (g *Offspring) close() {
	g.Open, g.Leaving = false, nil
	for i := range g.Children {
		if c := &g.Children[i]; c.Runs() || c.State == ChildPending {
			c.State = ChildCancelled
		}
	}
}

// keepChildOutput keeps what a child left behind: of a branch under its name, of a pipeline under
// that of the step, and of items as lists once all have ended.
func (o *Owner) keepChildOutput(c Child, output Output) {
	step, _ := (&draft{Owner: o}).plannedStep(o.Offspring.Step)
	switch {
	case step.Parallel:
		o.Outputs = with(o.Outputs, c.Name, output)
	case step.ForEach.IsZero():
		o.Outputs = with(o.Outputs, step.Name, output)
	case !o.Offspring.has(func(c Child) bool { return c.Runs() || c.State == ChildPending }):
		o.Outputs = with(o.Outputs, step.Name, Output{Values: o.Offspring.lists()})
	}
}

// lists are the values of the children, each name with a JSON array that has the value of each
// child, or "" where it left none of that name.
func (g *Offspring) lists() (values map[string]string) {
	names := map[string]bool{}
	for _, c := range g.Children {
		for name := range c.Values {
			names[name] = true
		}
	}
	for name := range names {
		list := make([]string, len(g.Children))
		for i, c := range g.Children {
			list[i] = c.Values[name]
		}
		if text, err := rawjson.Marshal(list); err == nil { // texts can be encoded
			values = with(values, name, string(text))
		}
	}
	return values
}

func (f ParentTold) apply(o *Owner, s *Step) { o.Told = f.State }

// progress is how far an owner is, as its parent sees it.
func (o *Owner) progress() ChildState {
	switch {
	case o.Terminal():
		return ChildState(o.Step)
	case o.Status == Queued, o.hasChildren() && !o.Offspring.in(ChildRunning) && o.Offspring.in(ChildQueued):
		return ChildQueued
	case o.Waits():
		return ChildWaiting
	}
	return ChildRunning
}

// Waits reports whether nothing goes on before a person decides, here or in a child.
func (o *Owner) Waits() bool {
	if !o.hasChildren() {
		return o.Status == Waiting
	}
	return !o.Offspring.in(ChildRunning) && !o.Offspring.in(ChildQueued) && o.Offspring.in(ChildWaiting)
}

// in reports whether one of the children is in a state.
func (g *Offspring) in(state ChildState) bool {
	return g.has(func(c Child) bool { return c.State == state })
}
