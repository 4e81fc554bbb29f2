package engine

import (
	"encoding/json"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/control/runbook"
	"github.com/stopgate/stopgate/internal/sys/rawjson"
)

func (d *draft) create(c Create) error {
	if d.Plan != nil {
		return nil // the same start, told again
	}
	if err := c.check(); err != nil {
		return err
	}
	created := Created{
		Kind: c.Kind, Name: c.Name, Command: c.Command, Project: c.Project, Cwd: c.Cwd,
		Vars: c.Vars, Plan: &c.Plan,
	}
	text, err := rawjson.Marshal(created)
	if err != nil {
		return &Refusal{"invalid", err.Error()}
	}
	var stored Created // as it comes from the store: nothing in it is shared with the input
	if err := json.Unmarshal(text, &stored); err != nil {
		return &Refusal{"invalid", err.Error()}
	}
	d.fact(stored)
	d.report(d.expand(d.Plan.Pipeline.Notify.OnStart, ""))
	d.enter(d.Plan.Pipeline.Steps[0].Name, opening{})
	return nil
}

// check finds what the engine could not work with. Runbooks that were checked have none
// of it.
func (c Create) check() error {
	if !daemonapi.IsOwnerID(c.Owner) {
		return invalid("%q is no id: 16 hexadecimal digits", c.Owner)
	}
	if c.Kind != Pipeline && c.Kind != AgentRun {
		return invalid("%q is no kind of owner", c.Kind)
	}
	if len(c.Plan.Pipeline.Steps) == 0 {
		return invalid("pipeline %q has no steps", c.Name)
	}
	names := map[string]bool{}
	for _, step := range c.Plan.Pipeline.Steps {
		if step.Name == "" || runbook.IsEnd(step.Name) || names[step.Name] {
			return invalid("a step cannot be called %q", step.Name)
		}
		names[step.Name] = true
		if (step.Run.Shell == "") == (step.Run.Agent == "") || step.Run.Pipeline != "" {
			return invalid("step %q runs neither one command nor one agent", step.Name)
		}
		if _, known := c.Plan.Agents[step.Run.Agent]; step.Run.Agent != "" && !known {
			return invalid("step %q runs agent %q, which is not in the plan", step.Name, step.Run.Agent)
		}
	}
	for _, to := range transitions(c.Plan.Pipeline) {
		if to != "" && !names[to] {
			return invalid("there is no step %q to go to", to)
		}
	}
	return nil
}

func transitions(p runbook.Pipeline) []string {
	all := []string{p.OnDone, p.OnFail, p.OnCancel}
	for _, s := range p.Steps {
		all = append(all, s.OnDone, s.OnFail, s.OnCancel)
	}
	return all
}

// forget ends the record of an owner at its end, once everything is done for it.
func (d *draft) forget() error {
	if !d.Terminal() || len(d.Effects) > 0 {
		return &Refusal{"conflict", "it is not at its end"}
	}
	d.fact(OwnerDeleted{})
	return nil
}
