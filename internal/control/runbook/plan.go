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
	r.gather(&plan, plan.Pipeline)
	if a, alone := plan.Agents[c.Run.Agent]; alone {
		a.Workspace = Workspace{} // it is the run's
		plan.Agents[c.Run.Agent] = a
	}
	plan.Pipeline.Locals = r.localsOf(Plan{Pipeline: plan.Pipeline, Agents: plan.Agents})
	if r.Oddjobs {
		plan.Pipeline = plan.Pipeline.strict()
	}
	return plan, c.Run.Agent != ""
}

// gather adds the agents and pipelines that a pipeline's steps run.
func (r Runbook) gather(plan *Plan, p Pipeline) {
	for _, s := range p.Steps {
		if agent, known := r.Agents[s.Run.Agent]; known {
			plan.Agents = set(plan.Agents, agent.Name, agent)
		}
		used, known := r.Pipelines[s.Run.Pipeline]
		if _, has := plan.Pipelines[used.Name]; !known || has {
			continue
		}
		plan.Pipelines = set(plan.Pipelines, used.Name, used) // before what it uses: that may be itself
		r.gather(plan, used)
		used.Locals = r.localsOf(Plan{Pipeline: used, Agents: plan.Agents})
		if r.Oddjobs {
			used = used.strict()
		}
		plan.Pipelines[used.Name] = used
	}
}

func set[V any](m map[string]V, key string, value V) map[string]V {
	if m == nil {
		m = map[string]V{}
	}
	m[key] = value
	return m
}

// Runs reports whether a branch or an item is another pipeline, and nothing around it.
func (s Step) Runs() bool { return s.Run.Pipeline != "" && s.ForEach.IsZero() && s.If == "" }

// Part is the plan of a branch or an item: one step, with what its pipeline says of all steps.
func (p Plan) Part(step Step) Plan {
	step.Of, step.Needs, step.OnDone, step.OnFail, step.OnCancel = "", nil, "", "", ""
	whole := p.Pipeline
	return p.with(Pipeline{
		Name: whole.Name, Steps: []Step{step}, Locals: whole.Locals, Cwd: whole.Cwd, Env: whole.Env, Expire: whole.Expire,
	})
}

// Used is the plan of a pipeline that a step runs.
func (p Plan) Used(pipeline string) Plan {
	used := p.Pipelines[pipeline]
	if used.Expire == (Expire{}) {
		used.Expire = p.Pipeline.Expire
	}
	return p.with(used)
}

// with is the plan of one pipeline, with the agents and pipelines that its steps run.
func (p Plan) with(of Pipeline) Plan {
	all := Runbook{Agents: p.Agents, Pipelines: p.Pipelines}
	plan := Plan{Pipeline: of, Runbook: p.Runbook, MaxAgents: p.MaxAgents}
	all.gather(&plan, of)
	for name := range plan.Pipelines {
		plan.Pipelines[name] = p.Pipelines[name] // with its locals
	}
	return plan
}

// PassEnv are the environment variables that a command takes from the person who starts it.
func (r Runbook) PassEnv(c Command) []string {
	plan, _ := r.Plan(c)
	var names []string
	for _, p := range append(slices.Collect(maps.Values(plan.Pipelines)), plan.Pipeline) {
		names = append(names, p.Env.Pass...)
		for _, s := range p.Steps {
			names = append(names, s.Env.Pass...)
		}
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
