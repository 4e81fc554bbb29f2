package engine

import (
	"encoding/json"
	"path/filepath"

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
		Vars: c.Vars, Passed: c.Passed, By: c.By, Job: c.Job, Plan: &c.Plan, Site: c.Site,
		Parent: c.Parent, Outputs: c.Outputs,
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
	d.queueOr(d.Plan.Pipeline.Steps[0].Name, opening{})
	return nil
}

// check finds what the engine could not work with. Runbooks that were checked have none
// of it.
func (c Create) check() error {
	if !daemonapi.IsOwnerID(c.Owner) {
		return invalid("invalid id %q: it must have 16 hexadecimal digits", c.Owner)
	}
	if c.Kind != Pipeline && c.Kind != AgentRun {
		return invalid("unknown owner kind %q", c.Kind)
	}
	if len(c.Plan.Pipeline.Steps) == 0 {
		return invalid("pipeline %q has no steps", c.Name)
	}
	if c.Plan.UsesWorkspaces() && !filepath.IsAbs(c.Site.Root) {
		return invalid("no directory for workspaces is known")
	}

	names := map[string]bool{}
	for _, step := range c.Plan.Pipeline.Steps {
		if step.Name == "" || runbook.IsEnd(step.Name) || names[step.Name] {
			return invalid("a step cannot be called %q", step.Name)
		}
		names[step.Name] = true
		if !runsOne(step) {
			return invalid("step %q must run one command, one agent or one pipeline, or ask a person", step.Name)
		}
		if _, known := c.Plan.Pipelines[step.Run.Pipeline]; step.Run.Pipeline != "" && !known {
			return invalid("step %q runs pipeline %q, which is not in the plan", step.Name, step.Run.Pipeline)
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

// runsOne reports whether a step runs one thing, or asks a person.
func runsOne(s runbook.Step) bool {
	switch {
	case s.Approval != nil:
		return s.Run == (runbook.Run{}) && s.Approval.Answerable()
	case s.Parallel:
		return s.Run == (runbook.Run{})
	}
	runs := 0
	for _, what := range []string{s.Run.Shell, s.Run.Agent, s.Run.Pipeline} {
		if what != "" {
			runs++
		}
	}
	return runs == 1
}

func transitions(p runbook.Pipeline) []string {
	all := []string{p.OnDone, p.OnFail, p.OnCancel, p.Finally}
	for _, s := range p.Steps {
		all = append(all, s.OnDone, s.OnFail, s.OnCancel)
		if s.Approval == nil {
			continue
		}
		for _, o := range s.Approval.Options {
			all = append(all, o.Step)
		}
	}
	return all
}

// forget ends the record of an owner at its end, once everything is done for it.
func (d *draft) forget(by string) error {
	if !d.Terminal() || len(d.Effects) > 0 {
		return &Refusal{"conflict", "it has not ended"}
	}
	d.fact(OwnerDeleted{By: by})
	return nil
}
