package runbook

import (
	"strconv"
	"strings"

	"github.com/stopgate/stopgate/internal/project/document"
)

func (d *decoder) agent(v value) {
	a := &agentDraft{Agent: Agent{Name: v.Name}, home: d, at: keyOf(v)}
	if v.Mapping(d.agentFields(a)...) {
		d.onePrompt(nodeOf(v))
		d.secondPrompt(nodeOf(v), a)
		d.settle(nodeOf(v), a)
		for _, key := range []string{"budget", "expire"} {
			if e := nodeOf(v).get(key); e != nil {
				a.alone = append(a.alone, *e)
			}
		}
	}
	for i := range d.uses {
		d.uses[i].item = true // the agent may run for one
	}
	a.uses = d.uses
	d.agents = append(d.agents, a)
}

func (d *decoder) agentFields(a *agentDraft) []field {
	return []field{
		document.Key("run", a, d.agentRun(), "The command that starts the agent: claude and its flags, or another program.").Needed(),
		document.Key("prompt", &a.Prompt, d.words(), "The agent's task."),
		document.Key("prompt_file", &a.Prompt, d.promptFile(), "A file below the runbooks directory with the prompt."),
		document.Key("env", &a.Env, texts(badVariable, variableSchema, d.words()), "Environment variables."),
		document.Key("cwd", &a.Cwd, d.words(), "Working directory. Default: the pipeline's."),
		document.Key("workspace", &a.Workspace, d.workspace(), "A workspace of its own."),
		document.Key("resume", &a.Resume, document.Flag, "Continue its conversation when the pipeline comes to it again.").Default(false),
		document.Key("on_idle", &a.OnIdle, d.action(OnIdle), "Action when it waits for input.").Default(Escalate),
		document.Key("on_dead", &a.OnDead, d.action(OnDead), "Action when it has ended without a signal.").Default(Escalate),
		document.Key("on_prompt", &a.OnPrompt, d.action(OnPrompt), "Action when it asks for permission or anything else.").Default(Escalate),
		document.Key("on_error", &a.OnError, d.onError(), "Action on an error of the model's API: an action, or a list whose first match is used.").Default(Escalate),
		document.Key("on_stop", &a.OnStop, onStop, "Action when it tries to stop without a signal. Default: signal in a pipeline, escalate alone."),
		document.Key("attempts", &a.attempts, attempts, "Default attempts for all actions of the agent. Default: 1."),
		document.Key("cooldown", &a.cooldown, duration, "Default cooldown for all actions of the agent."),
		document.Key("max_concurrency", &a.MaxConcurrency, count, "How many instances may run at once in the project. Default: no limit."),
		document.Key("notify", &a.Notify, d.notify(), ""),
		document.Key("budget", &a.Budget, budget(), ""),
		document.Key("expire", &a.Expire, expire(), ""),
	}
}

// agentRun reads a script, and looks whether it starts Claude Code.
func (d *decoder) agentRun() typeOf[agentDraft] {
	script := d.script()
	return document.New(func(v value, a *agentDraft) bool {
		ok := script.Read(v, &a.Run)
		if ok {
			d.claudeCode(nodeOf(v).at, a)
		}
		return ok
	}, script.Schema)
}

func (d *decoder) onePrompt(agent *node) {
	if file := agent.get("prompt_file"); file != nil && agent.get("prompt") != nil {
		d.fault(file.at, "prompt and prompt_file cannot be combined", "")
	}
}

// settle fills in what the agent says for all of its actions, and the defaults.
func (d *decoder) settle(agent *node, a *agentDraft) {
	counted := 0
	for _, action := range actionsOf(&a.Agent) {
		if action.Kind == "" {
			action.Kind = Escalate
		}
		if action.Kind.repeats() {
			counted++
			if action.Attempts == 0 {
				action.Attempts = a.attempts
			}
			if action.Cooldown == 0 {
				action.Cooldown = a.cooldown
			}
		}
		if action.Attempts == 0 {
			action.Attempts = 1
		}
	}

	for _, option := range []string{"attempts", "cooldown"} {
		if e := agent.get(option); e != nil && counted == 0 {
			d.fault(e.at, option+" has no effect here: the agent has no nudge, resume or gate", "")
		}
	}

	d.idleCooldowns(agent, &a.Agent)
	d.oddStop(agent, &a.Agent)
}

func actionsOf(a *Agent) []*Action {
	all := []*Action{&a.OnIdle, &a.OnDead, &a.OnPrompt}
	for i := range a.OnError {
		all = append(all, &a.OnError[i].Action)
	}
	return all
}

// idleCooldowns warns of a pause between attempts of which there is only one.
func (d *decoder) idleCooldowns(agent *node, a *Agent) {
	for key, action := range map[string]*Action{"on_idle": &a.OnIdle, "on_dead": &a.OnDead, "on_prompt": &a.OnPrompt} {
		e := agent.get(key)
		if e == nil || action.Attempts != 1 || action.Cooldown == 0 {
			continue
		}
		if given := e.node.get("cooldown"); given != nil {
			d.warn(given.at, "cooldown has no effect: there is only one attempt", "add attempts = 3, or remove cooldown")
		}
	}
}

// oddStop warns of a way round to what could be said outright.
func (d *decoder) oddStop(agent *node, a *Agent) {
	if a.OnStop == StopIdle && a.OnIdle.Kind == Escalate {
		d.warn(agent.get("on_stop").at, `on_stop = "idle" with on_idle = "escalate" says the same as on_stop = "escalate"`, "")
	}
}

// badVariable says what is wrong with the name of an environment variable, or "".
func badVariable(name string) string {
	switch {
	case !isVariable(name):
		return strconv.Quote(name) + " is not a valid name of an environment variable"
	case strings.HasPrefix(name, "STOPGATE_") || strings.HasPrefix(name, "OJ_"):
		return name + " is set by stopgate"
	}
	return ""
}

func variableSchema() schema {
	return schema{"pattern": "^[A-Za-z_][A-Za-z0-9_]*$", "not": schema{"pattern": "^(STOPGATE_|OJ_)"}}
}

const variableLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"

// isVariable reports whether a shell takes a text for the name of a variable.
func isVariable(name string) bool {
	return name != "" && strings.Trim(name, variableLetters+"0123456789") == "" && strings.IndexByte(variableLetters, name[0]) >= 0
}
