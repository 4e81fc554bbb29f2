package runbook

import (
	"maps"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/sys/rawjson"
)

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
		plan.Pipeline = Pipeline{Name: a.Name, Steps: []Step{{Name: stepRun, Run: c.Run}}, Budget: a.Budget, Expire: a.Expire, Workspace: a.Workspace}
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
		agent := r.Agents[s.Run.Agent]
		if c.Run.Agent != "" {
			agent.Workspace = Workspace{} // it is the run's
		}
		plan.Agents[s.Run.Agent] = agent
	}
	plan.Pipeline.Locals = r.localsOf(plan)
	if r.Oddjobs {
		plan.Pipeline = plan.Pipeline.strict()
	}
	return plan, c.Run.Agent != ""
}

// PassEnv are the environment variables that a command takes from the person who starts it.
func (r Runbook) PassEnv(c Command) []string {
	plan, _ := r.Plan(c)
	names := slices.Clone(plan.Pipeline.Env.Pass)
	for _, s := range plan.Pipeline.Steps {
		names = append(names, s.Env.Pass...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// strict is a pipeline whose shell steps stop at the first command that fails.
func (p Pipeline) strict() Pipeline {
	p.Steps = slices.Clone(p.Steps)
	for i := range p.Steps {
		if run := &p.Steps[i].Run; run.Shell != "" {
			run.Shell = oddShell + run.Shell
		}
	}
	return p
}

// localsOf are the locals that a plan uses. They are looked for in all of its texts at once,
// whatever fields those stand in.
func (r Runbook) localsOf(plan Plan) map[string]string {
	all := with(maps.Clone(r.Locals), plan.Pipeline.Locals)
	plan.Pipeline.Locals = nil
	text, err := rawjson.Marshal(plan)
	if err != nil || len(all) == 0 {
		return nil
	}
	var used map[string]string
	for _, template := range Names(string(text)) {
		name, ok := strings.CutPrefix(template, localPrefix)
		if value, known := all[name]; ok && known {
			used = with(used, map[string]string{name: value})
		}
	}
	return used
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
