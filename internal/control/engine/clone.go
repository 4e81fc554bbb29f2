package engine

import (
	"maps"
	"slices"
)

// Clone is a copy that can be changed without the owner changing. The plan is shared:
// nobody changes it.
func (o *Owner) Clone() *Owner {
	c := *o
	c.Vars = maps.Clone(o.Vars)
	c.Visits, c.History = maps.Clone(o.Visits), slices.Clone(o.History)
	c.Attempts, c.Acted, c.Timers = maps.Clone(o.Attempts), maps.Clone(o.Acted), maps.Clone(o.Timers)
	c.Spent = maps.Clone(o.Spent)
	c.Settled, c.Effects, c.Seen = slices.Clone(o.Settled), slices.Clone(o.Effects), slices.Clone(o.Seen)
	if o.Agent != nil {
		agent := *o.Agent
		if agent.Signal != nil {
			signal := *agent.Signal
			agent.Signal = &signal
		}
		agent.Asking, agent.Over = slices.Clone(agent.Asking), slices.Clone(agent.Over)
		agent.Before, agent.Unsaid = slices.Clone(agent.Before), slices.Clone(agent.Unsaid)
		c.Agent = &agent
	}
	if o.Shell != nil {
		shell := *o.Shell
		c.Shell = &shell
	}
	if o.Decision != nil {
		decision := *o.Decision
		c.Decision = &decision
	}
	return &c
}
