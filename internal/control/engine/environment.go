package engine

import (
	"maps"
	"slices"

	"github.com/stopgate/stopgate/internal/control/runbook"
)

// longestVariable is how long a value may be to be in the environment: Linux takes less than
// 128 KiB, with the name.
const longestVariable = 100 << 10

// workspaceVariables are the environment variables of a step that has a workspace, by the templates
// that stand for the same.
var workspaceVariables = map[string]string{
	"workspace.path":   "STOPGATE_WORKSPACE",
	"workspace.branch": "STOPGATE_WORKSPACE_BRANCH",
	"workspace.base":   "STOPGATE_WORKSPACE_BASE",
}

// itemVariable is the environment variable in which a step finds the item that it runs for.
const itemVariable = "STOPGATE_ITEM"

// environment is what the commands of the current step find in their environment besides the
// daemon's: the workspace, the pipeline's variables, what the person passed on who started it, what the pipeline
// says and what each of the others says; and the file with more of it.
func (d *draft) environment(others ...map[string]string) (env map[string]string, file string) {
	values := d.values()
	for template, name := range workspaceVariables {
		if value, known := values[template]; known && value != "" {
			env = with(env, name, value)
		}
	}
	for name, value := range d.Vars {
		if len(value) <= longestVariable {
			env = with(env, runbook.VarVariable(name), value)
		}
	}
	if item := d.item(); item != nil && len(*item) <= longestVariable {
		env = with(env, itemVariable, *item)
	}
	for _, name := range d.passes() {
		if value, given := d.Passed[name]; given {
			env = with(env, name, value)
		}
	}

	for _, set := range append([]map[string]string{d.Plan.Pipeline.Env.Set}, others...) {
		for _, name := range slices.Sorted(maps.Keys(set)) {
			env = with(env, name, runbook.Expand(set[name], values))
		}
	}

	file = d.Plan.Pipeline.Env.File
	if own := d.current().Env.File; own != "" {
		file = own
	}
	return env, runbook.Expand(file, values)
}

// passes are the variables that the step takes from the person who started the pipeline.
func (d *draft) passes() []string {
	return slices.Concat(d.Plan.Pipeline.Env.Pass, d.current().Env.Pass)
}

// environmentTexts are the templates of a step's environment.
func (d *draft) environmentTexts(step runbook.Step) []string {
	texts := []string{d.Plan.Pipeline.Env.File, step.Env.File, d.Plan.Pipeline.Cwd}
	texts = append(texts, slices.Sorted(maps.Values(d.Plan.Pipeline.Env.Set))...)
	return append(texts, slices.Sorted(maps.Values(step.Env.Set))...)
}

// absentForAgent says which template of the step's agent has no value, or "".
func (d *draft) absentForAgent(step runbook.Step) string {
	a := d.Plan.Agents[step.Run.Agent]
	texts := append(d.environmentTexts(step), a.Run, a.Prompt, a.Cwd)
	return d.absent(append(texts, slices.Sorted(maps.Values(a.Env))...)...)
}
