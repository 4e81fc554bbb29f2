package engine

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/stopgate/stopgate/internal/control/runbook"
)

// defaultNudge is typed where the runbook gives no words.
const defaultNudge = "Please continue with the task."

// enterAgent begins a step that an agent runs. The agent is on record, as its owner's,
// before it is started: its first stop finds the owner.
func (d *draft) enterAgent(step runbook.Step, how opening, attempt int) {
	id := agentID(d.ID, d.Serial+1)
	if how.session == "" && d.Plan.Agents[step.Run.Agent].Resume {
		how.session = d.conversation(step.Run.Agent)
	}
	d.fact(StepStarted{
		Step: step.Name, AgentID: id, AgentName: step.Run.Agent, Session: how.session,
		ClaudeCode: d.Plan.Agents[step.Run.Agent].ClaudeCode, Attempt: attempt, Timeout: step.Timeout,
	})
	d.needWorkspace()
	if why := d.absentForAgent(step); why != "" {
		d.fail(why)
		return
	}
	prompt := how.message
	if prompt == "" {
		prompt = runbook.Expand(d.agentPlan().Prompt, d.values())
	}
	d.startWith(prompt, how.session, how.message == "")
	if d.Agent != nil && d.Agent.ID == id {
		d.report(d.expand(d.agentPlan().Notify.OnStart, d.Error))
	}
}

// agentPlan is the plan's agent that runs the current step.
func (d *draft) agentPlan() runbook.Agent { return d.Plan.Agents[d.current().Run.Agent] }

// startAgent lets the current agent be started, in an old session if one is given: then the prompt is
// a message to it.
func (d *draft) startAgent(prompt, session string) { d.startWith(prompt, session, false) }

// startWith is startAgent with a prompt that may be whole: it says all that the agent has to know.
func (d *draft) startWith(prompt, session string, whole bool) {
	d.needWorkspace()
	start := d.agentStart(prompt, session)
	start.Whole = whole && session != ""
	if d.fits(start, "the agent's command, prompt and environment have") {
		d.effect(Effect{Kind: StartAgent, Agent: start})
	}
}

// AgentStart is how the current agent is started, but for what it is told then; nil
// without one.
func (o *Owner) AgentStart() *AgentStart {
	if o.Agent == nil {
		return nil
	}
	return (&draft{Owner: o}).agentStart("", "")
}

func (d *draft) agentStart(prompt, session string) *AgentStart {
	a, values := d.agentPlan(), d.values()
	start := &AgentStart{
		ID: d.Agent.ID, Name: d.Agent.Name, Prompt: prompt, Resume: session,
		Cwd: within(d.cwd(), runbook.Expand(a.Cwd, values)), Step: d.Step,
		OnStop: a.StopAction(d.Kind == AgentRun), AtMost: a.MaxConcurrency,
		ClaudeCode: a.ClaudeCode, Bare: strings.Contains(a.Run, "${prompt}"),
	}
	start.Env, start.EnvFile = d.environment(a.Env, d.current().Env.Set)
	values["prompt"] = prompt
	start.Run = runbook.ExpandShell(a.Run, values)
	return start
}

// restart puts a new agent in the place of the current one, which is ended first. Where a text
// of the runbook names the one, it names the other; what a person says is said as it is.
func (d *draft) restart(prompt, session string, person bool) {
	if d.overBudget() {
		d.exceed(prompt)
		return
	}
	d.settleTriggers()
	d.endAgent()
	id, before := agentID(d.ID, d.Serial+1), d.Agent.ID
	d.fact(AgentRestarted{AgentID: id, Session: session, Replaces: before, ClaudeCode: d.Agent.ClaudeCode})
	if !person {
		prompt = strings.ReplaceAll(prompt, before, id)
	}
	d.startAgent(prompt, session)
}

// reopen starts the agent again in its session. A client that never began has none: it is
// started as before.
func (d *draft) reopen(message string, person bool) {
	if message == "" && !d.overBudget() {
		message, person = d.unsaid(), true
	}
	if !d.Agent.Unbegun() {
		d.restart(cmp.Or(message, defaultNudge), d.Agent.Session, person)
		return
	}
	prompt := d.Agent.Prompt
	if message != "" && message != prompt {
		prompt = strings.TrimSpace(prompt + "\n\n" + message)
	}
	d.restart(prompt, d.sessionBefore(), false)
}

// sessionBefore is the session that a client which never began was to go on in; none where it was
// to begin one.
func (d *draft) sessionBefore() string {
	if d.Agent.Session == d.Agent.ID {
		return ""
	}
	return d.Agent.Session
}

// endAgent ends the current agent, also where it is only about to start.
func (d *draft) endAgent() {
	d.dropAgent()
	d.effect(Effect{Kind: KillAgent, Target: d.Agent.ID})
}

// say types something to the agent, for a person or by itself; to one that has exited, by
// starting it again in its session.
func (d *draft) say(text string, person bool) {
	switch {
	case d.overBudget():
		d.exceed(text)
		return
	case d.Agent.Exited:
		d.reopen(text, person)
		return
	}
	if d.fits(text, "the message has") {
		d.settleTriggers()
		d.effect(Effect{Kind: SendAgent, Target: d.Agent.ID, Text: text, Person: person})
	}
}

// kill ends the agent's process. One that is not started yet has ended at once.
func (d *draft) kill(k Kill) error {
	if d.Agent == nil || d.Agent.ID != k.AgentID || d.Agent.Exited {
		return &Refusal{"conflict", "the agent is not running: it is " + d.where()}
	}
	for _, e := range d.Effects {
		switch {
		case e.Kind == StartAgent && e.Agent.ID == d.Agent.ID && !e.Started:
			d.dropAgent()
			d.exited(AgentExited{AgentID: d.Agent.ID, Code: -1, Tail: "killed by the user"})
			return nil
		case e.Kind == KillAgent && e.Target == d.Agent.ID:
			return nil
		}
	}
	d.endAgent()
	return nil
}

// tell is what a person writes to the agent.
func (d *draft) tell(t Tell) error {
	if size := sizeOf(t.Message); size > maxAsked {
		return &Refusal{"invalid", fmt.Sprintf("the message has %d bytes; at most %d", size, maxAsked)}
	}
	message := strings.TrimSpace(sound(t.Message))
	switch {
	case message == "":
		return &Refusal{"invalid", "the message is empty"}
	case d.Agent == nil || d.Agent.ID != t.AgentID:
		return &Refusal{"conflict", "the agent is not running and cannot get a message: it is " + d.where()}
	case d.Decision != nil && d.Decision.Ref != "":
		return &Refusal{"conflict", "the agent waits for an answer: answer decision " + d.Decision.ID}
	case d.Decision != nil:
		return d.answer(Answer{Decision: d.Decision.ID, Message: message})
	}
	d.intervened()
	d.say(message, true)
	return nil
}

// intervened is a person's doing, after which the owner runs on.
func (d *draft) intervened() {
	d.fact(PersonIntervened{})
	d.runsOn()
}

// runsOn is an owner that waited for a person, and does no longer.
func (d *draft) runsOn() {
	if d.Kind == AgentRun {
		d.fact(AgentRunStatusChanged{Status: runRunning})
	}
}

func colon(words, text string) string {
	if text == "" {
		return words
	}
	return words + ": " + text
}
