package runbook

import (
	"strconv"
	"strings"
	"time"
)

func (d *decoder) agent(v value) {
	a := &agentDraft{Agent: Agent{Name: v.name}, at: v.key}
	var attempts int
	var cooldown time.Duration
	ok := v.table(
		field{key: "run", required: true, read: func(v value) {
			if v.script(&a.Run) {
				v.client(a)
			}
		}},
		field{key: "prompt", read: func(v value) { v.words(&a.Prompt) }},
		field{key: "prompt_file", read: func(v value) { v.promptFile(&a.Prompt) }},
		field{key: "env", read: func(v value) { v.values(badVariable, &a.Env, value.words) }},
		field{key: "cwd", read: func(v value) { v.words(&a.Cwd) }},
		field{key: "on_idle", read: func(v value) { v.action(OnIdle, &a.OnIdle) }},
		field{key: "on_dead", read: func(v value) { v.action(OnDead, &a.OnDead) }},
		field{key: "on_prompt", read: func(v value) { v.action(OnPrompt, &a.OnPrompt) }},
		field{key: "on_error", read: func(v value) { v.onError(&a.OnError) }},
		field{key: "on_stop", read: func(v value) { v.onStop(&a.OnStop) }},
		field{key: "attempts", read: func(v value) { v.attempts(&attempts) }},
		field{key: "cooldown", read: func(v value) { v.duration(&cooldown) }},
		field{key: "max_concurrency", read: func(v value) { v.count(&a.MaxConcurrency) }},
		field{key: "notify", read: func(v value) { v.notify(&a.Notify) }},
		field{key: "budget", read: func(v value) { v.budget(&a.Budget) }},
		field{key: "expire", read: func(v value) { v.expire(&a.Expire) }},
	)
	if ok {
		v.onePrompt()
		v.secondPrompt(a)
		v.settle(&a.Agent, attempts, cooldown)
		for _, key := range []string{"budget", "expire"} {
			if e := v.node.get(key); e != nil {
				a.alone = append(a.alone, *e)
			}
		}
	}
	a.uses = d.uses
	d.agents = append(d.agents, a)
}

func (v value) onePrompt() {
	if file := v.node.get("prompt_file"); file != nil && v.node.get("prompt") != nil {
		v.d.fault(file.at, "prompt and prompt_file cannot both be given", "")
	}
}

// settle fills in what the agent says for all of its actions, and the defaults.
func (v value) settle(a *Agent, attempts int, cooldown time.Duration) {
	counted := 0
	for _, action := range actionsOf(a) {
		if action.Kind == "" {
			action.Kind = Escalate
		}
		if action.Kind.repeats() {
			counted++
			if action.Attempts == 0 {
				action.Attempts = attempts
			}
			if action.Cooldown == 0 {
				action.Cooldown = cooldown
			}
		}
		if action.Attempts == 0 {
			action.Attempts = 1
		}
	}
	for _, option := range []string{"attempts", "cooldown"} {
		if e := v.node.get(option); e != nil && counted == 0 {
			v.d.fault(e.at, option+" means nothing here: the agent has no nudge, resume or gate", "")
		}
	}
	v.idleCooldowns(a)
	v.oddStop(a)
}

func actionsOf(a *Agent) []*Action {
	all := []*Action{&a.OnIdle, &a.OnDead, &a.OnPrompt}
	for i := range a.OnError {
		all = append(all, &a.OnError[i].Action)
	}
	return all
}

// idleCooldowns warns of a pause between attempts of which there is only one.
func (v value) idleCooldowns(a *Agent) {
	for key, action := range map[string]*Action{"on_idle": &a.OnIdle, "on_dead": &a.OnDead, "on_prompt": &a.OnPrompt} {
		e := v.node.get(key)
		if e == nil || action.Attempts != 1 || action.Cooldown == 0 {
			continue
		}
		if given := e.node.get("cooldown"); given != nil {
			v.d.warn(given.at, "cooldown is between attempts, and there is only one", "add attempts = 3, or leave cooldown out")
		}
	}
}

// oddStop warns of a way round to what could be said outright.
func (v value) oddStop(a *Agent) {
	if a.OnStop == StopIdle && a.OnIdle.Kind == Escalate {
		v.d.warn(v.node.get("on_stop").at, `on_stop = "idle" with on_idle = "escalate" says the same as on_stop = "escalate"`, "")
	}
}

// badVariable says what is wrong with the name of an environment variable, or "".
func badVariable(name string) string {
	switch {
	case !isVariable(name):
		return strconv.Quote(name) + " is no name of an environment variable"
	case strings.HasPrefix(name, "STOPGATE_") || strings.HasPrefix(name, "OJ_"):
		return name + " is for stopgate to set"
	}
	return ""
}

const variableLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"

// isVariable reports whether a shell takes a text for the name of a variable.
func isVariable(name string) bool {
	return name != "" && strings.Trim(name, variableLetters+"0123456789") == "" && strings.IndexByte(variableLetters, name[0]) >= 0
}
