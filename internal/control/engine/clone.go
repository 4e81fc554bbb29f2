package engine

import (
	"maps"
	"slices"
)

// Clone is a copy that can be changed without the owner changing. The plan is shared:
// nobody changes it.
func (o *Owner) Clone() *Owner {
	c := *o
	c.Vars, c.Passed, c.Outputs = maps.Clone(o.Vars), maps.Clone(o.Passed), maps.Clone(o.Outputs)
	c.Failures = slices.Clone(o.Failures)
	c.Visits, c.History = maps.Clone(o.Visits), slices.Clone(o.History)
	c.Attempts, c.Acted, c.Timers = maps.Clone(o.Attempts), maps.Clone(o.Acted), maps.Clone(o.Timers)
	c.Spent, c.Workspaces = maps.Clone(o.Spent), maps.Clone(o.Workspaces)
	c.Settled, c.Effects, c.Seen = slices.Clone(o.Settled), slices.Clone(o.Effects), slices.Clone(o.Seen)
	c.Agent, c.Shell, c.Decision = clone(o.Agent), clone(o.Shell), clone(o.Decision)
	if c.Offspring = clone(o.Offspring); c.Offspring != nil {
		c.Offspring.Children, c.Offspring.Leaving = slices.Clone(o.Offspring.Children), clone(o.Offspring.Leaving)
	}
	if a := c.Agent; a != nil {
		a.Signal = clone(a.Signal)
		a.Asking, a.Over = slices.Clone(a.Asking), slices.Clone(a.Over)
		a.Before, a.Unsaid = slices.Clone(a.Before), slices.Clone(a.Unsaid)
	}
	return &c
}

func clone[T any](of *T) *T {
	if of == nil {
		return nil
	}
	c := *of
	return &c
}
