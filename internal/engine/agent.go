package engine

import (
	"cmp"
	"fmt"

	"github.com/stopgate/stopgate/internal/runbook"
)

// defaultNudge is typed where the runbook gives no words.
const defaultNudge = "Please continue with the task."

// enterAgent begins a step that an agent runs. The agent is on record, as its owner's,
// before it is started: its first stop finds the owner.
func (d *draft) enterAgent(step runbook.Step, how opening) {
	id := agentID(d.ID, d.Serial+1)
	d.fact(StepStarted{Step: step.Name, AgentID: id, AgentName: step.Run.Agent, Session: how.session})
	prompt := how.message
	if prompt == "" {
		prompt = runbook.Expand(d.agent().Prompt, d.values())
	}
	d.startAgent(prompt, how.session)
	if d.Agent != nil && d.Agent.ID == id {
		d.report(d.expand(d.agent().Notify.OnStart, d.Error))
	}
}

// agent is the plan's agent that runs the current step.
func (d *draft) agent() runbook.Agent { return d.Plan.Agents[d.current().Run.Agent] }

// startAgent lets the current agent be started, in an old session if one is given.
func (d *draft) startAgent(prompt, session string) {
	a, values := d.agent(), d.values()
	start := &AgentStart{
		ID: d.Agent.ID, Name: d.Agent.Name, Prompt: prompt, Resume: session,
		Cwd: within(d.cwd(), runbook.Expand(a.Cwd, values)), Step: d.Step,
		OnStop: a.StopAction(d.Kind == AgentRun), AtMost: a.MaxConcurrency,
	}
	for name, value := range a.Env {
		start.Env = with(start.Env, name, runbook.Expand(value, values))
	}
	values["prompt"] = prompt
	start.Run = runbook.ExpandShell(a.Run, values)
	if d.fits(start, "the agent's command, prompt and environment take") {
		d.effect(Effect{Kind: StartAgent, Agent: start})
	}
}

// restart puts a new agent in the place of the current one, which is ended first.
func (d *draft) restart(prompt, session string) {
	d.settleTriggers()
	d.dropAgent()
	d.effect(Effect{Kind: KillAgent, Target: d.Agent.ID})
	d.fact(Restarted{AgentID: agentID(d.ID, d.Serial+1), Session: session, Replaces: d.Agent.ID})
	d.startAgent(prompt, session)
}

// say types something to the agent; to one that has exited, by starting it again in its
// session.
func (d *draft) say(text string) {
	if d.Agent.Exited {
		d.restart(text, d.Agent.Session)
		return
	}
	if d.fits(text, "the message takes") {
		d.settleTriggers()
		d.effect(Effect{Kind: SendAgent, Target: d.Agent.ID, Text: text})
	}
}

// agentDid is what the agents' inputs have in common: those of another agent than the
// current one are stale, and an agent that has exited can only have signalled before.
func (d *draft) agentDid(what Happening) {
	switch w := what.(type) {
	case AgentSignal:
		d.of(w.Agent, func() { d.signalled(w) })
	case AgentExited:
		d.of(w.Agent, func() { d.exited(w) })
	case AgentStop:
		d.of(w.Agent, func() { d.stopped(w) })
	case AgentIdle:
		d.of(w.Agent, func() { d.idle(w) })
	case AgentPrompt:
		d.of(w.Agent, func() { d.prompted(w) })
	case AgentError:
		d.of(w.Agent, func() { d.erred(w) })
	case AgentWorking:
		d.of(w.Agent, func() { d.working(w) })
	case AgentSession:
		d.of(w.Agent, func() { d.session(w) })
	}
}

// of does something if the agent is the current one. Only its id tells: an agent that
// goes on in the session of the one before it shares that session's id.
func (d *draft) of(agent string, do func()) {
	if d.Agent != nil && d.Agent.ID == agent {
		do()
	}
}

// listens reports whether what the agent does now can lead to anything: somebody waits
// for a person otherwise, or for nothing.
func (d *draft) listens() bool { return d.Status == Running && !d.Agent.Exited }

func (d *draft) signalled(w AgentSignal) {
	message := clip(w.Message, maxWords)
	switch w.Kind {
	case SignalComplete:
		d.fact(Signalled{d.Agent.ID, w.Kind, message})
		d.overtake("the agent completed")
		d.complete()
	case SignalEscalate:
		d.fact(Signalled{d.Agent.ID, w.Kind, message})
		d.overtake("the agent escalated again")
		d.escalate(question{
			source: FromSignal, reason: "agent:signal escalate",
			context: cmp.Or(message, "The agent asks for a person"),
		})
	case SignalContinue:
		d.fact(Signalled{d.Agent.ID, w.Kind, message})
		d.calm()
	}
}

func (d *draft) stopped(w AgentStop) {
	d.fact(TriedToStop{d.Agent.ID, clip(w.Prompt, maxID)})
	if d.listens() {
		d.escalate(question{
			source: FromStop, reason: "on_stop: escalate",
			context: "Agent tried to stop without signaling completion",
		})
	}
}

// idle counts an idle once for each prompt, and none while a gate looks at the last one.
func (d *draft) idle(w AgentIdle) {
	prompt := clip(w.Prompt, maxID)
	counts := d.listens() && d.Agent.Signal == nil && d.Shell == nil && (prompt == "" || prompt != d.Agent.Idle)
	d.fact(WentIdle{d.Agent.ID, prompt, counts})
	if counts {
		d.fire(trigger{name: onIdle, text: "The agent is idle"})
	}
}

func (d *draft) prompted(w AgentPrompt) {
	kind, text := clip(w.Type, maxID), clip(w.Text, maxWords)
	d.fact(Prompted{d.Agent.ID, kind, text})
	if d.listens() {
		words := "The agent waits for an answer"
		if kind != "" {
			words += " (" + kind + ")"
		}
		d.fire(trigger{name: onPrompt, text: colon(words, text)})
	}
}

func (d *draft) erred(w AgentError) {
	kind := known(w.Kind)
	text := clip(w.Text, maxWords)
	d.fact(Erred{d.Agent.ID, kind, text})
	if d.listens() {
		d.fire(trigger{name: onError + string(kind), text: colon("The model's API failed ("+string(kind)+")", text)})
	}
}

// known is a kind that runbooks can name.
func known(kind runbook.ErrorKind) runbook.ErrorKind {
	switch kind {
	case runbook.Unauthorized, runbook.OutOfCredits, runbook.NoInternet, runbook.RateLimited:
		return kind
	}
	return runbook.OtherError
}

// working is a prompt that the agent got. While a person is waited for it is theirs:
// they typed instead of answering.
func (d *draft) working(w AgentWorking) {
	d.fact(Worked{d.Agent.ID, clip(w.Prompt, maxID)})
	if d.Agent.Exited {
		return
	}
	d.calm()
	if d.Status == Waiting {
		d.overtake("somebody typed into the session")
		d.intervened()
	}
}

func (d *draft) session(w AgentSession) {
	if session := clip(w.Session, maxID); session != "" && session != d.Agent.Session {
		d.fact(SessionChanged{d.Agent.ID, session})
	}
}

func (d *draft) exited(w AgentExited) {
	if d.Agent.Exited {
		return
	}
	d.fact(Exited{d.Agent.ID, w.Code, w.Gone})
	d.calm()
	if d.Status != Running {
		return // the person who is asked decides
	}
	text := fmt.Sprintf("The agent exited with status %d", w.Code)
	if w.Gone {
		text = "The agent is gone: nobody knows how it ended"
	}
	d.fire(trigger{name: onDead, text: text})
}

// intervened is a person's doing, after which the owner runs on.
func (d *draft) intervened() {
	d.fact(Intervened{})
	if d.Kind == AgentRun {
		d.fact(RunStatus{Status: runRunning})
	}
}

func colon(words, text string) string {
	if text == "" {
		return words
	}
	return words + ": " + text
}
