package runbook

import "maps"

// stepRun is the only step of a plan that no pipeline of the runbook is behind.
const stepRun = "run"

// Plan is what a command of the runbook runs, complete in itself: a pipeline with its
// agents. A shell command is a pipeline of one step; standalone says that it is an agent
// alone.
func (r Runbook) Plan(c Command) (plan Plan, standalone bool) {
	plan.Runbook, plan.MaxAgents = r.Name, r.MaxAgents
	switch {
	case c.Run.Pipeline != "":
		plan.Pipeline = r.Pipelines[c.Run.Pipeline]
	case c.Run.Agent != "":
		a := r.Agents[c.Run.Agent]
		plan.Pipeline = Pipeline{Name: a.Name, Steps: []Step{{Name: stepRun, Run: c.Run}}, Budget: a.Budget, Expire: a.Expire}
	default:
		plan.Pipeline = Pipeline{Name: c.Name, Steps: []Step{{Name: stepRun, Run: c.Run}}}
	}
	for _, s := range plan.Pipeline.Steps {
		if s.Run.Agent == "" {
			continue
		}
		if plan.Agents == nil {
			plan.Agents = map[string]Agent{}
		}
		plan.Agents[s.Run.Agent] = r.Agents[s.Run.Agent]
	}
	return plan, c.Run.Agent != ""
}

// Vars are the values that a command starts with, by their names without "var.": what was
// given, else the command's default, else the pipeline's. An argument that may be left out
// and was is empty, a flag "false".
func (r Runbook) Vars(c Command, args []string) (map[string]string, error) {
	defaults := map[string]string{}
	maps.Copy(defaults, r.Pipelines[c.Run.Pipeline].Defaults)
	maps.Copy(defaults, c.Defaults)
	given, err := c.Args.parse(args, defaults)
	if err != nil {
		return nil, err
	}
	vars := c.Args.absent()
	maps.Copy(vars, defaults)
	maps.Copy(vars, given)
	return vars, nil
}
