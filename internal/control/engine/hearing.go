package engine

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/stopgate/stopgate/internal/control/runbook"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// agentDid is what the agents' inputs have in common: those of another agent than the
// current one are stale, and an agent that has exited can only have signalled before.
func (d *draft) agentDid(what Happening) {
	switch w := what.(type) {
	case AgentSignal:
		d.hooked(w.AgentID, func() { d.signalled(w) })
	case AgentStop:
		d.hooked(w.AgentID, func() { d.stopped(w) })
	case AgentIdle:
		d.hooked(w.AgentID, func() { d.idle(w) })
	case AgentPrompt:
		d.hooked(w.AgentID, func() { d.prompted(w) })
	case AgentPromptOver:
		d.hooked(w.AgentID, func() { d.promptOver(w) })
	case AgentError:
		d.hooked(w.AgentID, func() { d.erred(w) })
	case AgentWorking:
		d.hooked(w.AgentID, func() { d.working(w) })
	case AgentSession:
		d.of(w.AgentID, func() { d.started(false); d.session(w) })
	case AgentRested:
		d.hooked(w.AgentID, func() { d.rested(w) })
	case AgentReady:
		d.of(w.AgentID, func() { d.started(false) })
	case AgentBlocked:
		d.of(w.AgentID, func() { d.blocked(w) })
	case AgentExited:
		d.of(w.AgentID, func() { d.exited(w) })
	case AgentSpent:
		d.spent(w)
	}
}

// hooked is what an agent's own hooks and words tell: a client that they come from has
// started, and works on its prompt.
func (d *draft) hooked(agent string, do func()) {
	d.of(agent, func() {
		d.started(true)
		do()
	})
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
	w.Message, w.Values = clip(w.Message, maxWords), soundOutput(w.Values)
	switch w.Kind {
	case SignalComplete, SignalFail:
		d.fact(w)
		if d.Agent.Busy && (d.Agent.Exited || d.waitsFor(FromBudget)) {
			return // its turn is cut off: nobody will look at what it leaves
		}
		if d.Decision != nil {
			d.overtake(map[string]string{SignalComplete: "the agent completed", SignalFail: "the agent failed"}[w.Kind])
			d.runsOn()
		}
		d.leaveOff()
	case SignalEscalate:
		d.fact(w)
		if d.waitsFor(FromBudget) {
			return // it is being ended
		}
		d.overtake("the agent escalated again")
		d.escalate(question{
			source: FromSignal, reason: "agent:signal escalate",
			context: cmp.Or(w.Message, "The agent asks for your help"),
		})
	case SignalContinue:
		d.fact(w)
		d.calm()
	}
}

// leaveOff ends the step of an agent that has said that it is complete, or has failed. One that is in a
// turn ends that first, by a stop: whoever else looks at it, such as the project's gates, may
// send it back to work. A turn that ends without one was seen by nobody. Where they have given
// up, a person decides. Who was told that the agent gets their words is not left out of it.
func (d *draft) leaveOff() bool {
	s := d.Agent.Signal
	if s == nil || s.Kind == SignalEscalate || d.Agent.Busy || d.Status != Running || d.wordsComing() {
		return false
	}
	switch {
	case s.Kind == SignalFail:
		d.fail(colon("the agent signalled fail", s.Message))
		return true
	case d.Agent.Unmet == "":
		d.complete()
		return true
	}
	d.escalate(question{
		source: FromSignal, reason: "agent:signal complete, with open failures",
		context: "The agent says that it is done, but was allowed to stop with open failures: " + d.Agent.Unmet,
	})
	return true
}

func (d *draft) rested(w AgentRested) {
	w.Prompt, w.Unmet = clip(w.Prompt, maxID), clip(w.Unmet, maxWords)
	d.fact(w)
	d.leaveOff()
}

func (d *draft) stopped(w AgentStop) {
	w.Prompt = clip(w.Prompt, maxID)
	d.fact(w)
	if d.listens() && !d.parked() && !d.wordsComing() {
		d.escalate(question{
			source: FromStop, reason: "on_stop: escalate",
			context: "Agent tried to stop without signaling completion",
		})
	}
}

// idle counts an idle once for each prompt, and none while a gate looks at the last one or a
// person's words are on their way.
func (d *draft) idle(w AgentIdle) {
	w.Prompt = clip(w.Prompt, maxID)
	escalated := d.Agent.Signal != nil && d.Agent.Signal.Kind == SignalEscalate
	w.Counted = d.listens() && !d.parked() && !d.wordsComing() && !escalated && d.Shell == nil && (w.Prompt == "" || w.Prompt != d.Agent.Idle)
	d.fact(w)
	if d.leaveOff() {
		return
	}
	if w.Counted {
		d.fire(trigger{name: onIdle, text: "The agent is idle"})
	}
}

// erred parks the agent: nothing that it does then counts before its on_error is taken.
// While a person answers what it or a subagent asks, that waits: afterwards nobody would
// tell of the error again.
func (d *draft) erred(w AgentError) {
	w.Kind, w.Prompt, w.Reset = known(w.Kind), clip(w.Prompt, maxID), d.reset(w.Reset)
	w.Text = clip(w.Text, maxWords)
	asks := d.Decision != nil && d.Decision.Ref != "" && !d.Agent.Exited
	counts := (asks || d.listens()) && (w.Prompt == "" || w.Prompt != d.Agent.Erred)

	d.fact(w)
	if d.leaveOff() || !counts {
		return
	}

	what := "The model's API failed (" + string(w.Kind) + ")"
	if !w.Reset.IsZero() {
		what += " until " + w.Reset.Format(time.RFC3339)
	}

	name := onError + string(w.Kind)
	t := trigger{name: name, text: colon(what, w.Text), until: d.backoff(name, w.Reset)}
	if asks {
		d.postpone(t)
		return
	}
	d.fire(t)
}

// longestReset is how long errors are believed to last. Claude Code's longest limit is a
// week's.
const longestReset = 8 * 24 * time.Hour

// reset is when an error is over; zero where it says nothing that can be.
func (d *draft) reset(at time.Time) time.Time {
	if at = at.UTC().Round(0); !at.After(d.in.Time) || at.After(d.in.Time.Add(longestReset)) {
		return time.Time{}
	}
	return at
}

// parked reports whether the agent waits for the end of an error.
func (o *Owner) parked() bool { return o.Agent != nil && o.Agent.parked() }

// Parked is until when the agent waits for the end of an error; ok is whether it does.
func (o *Owner) Parked() (until time.Time, ok bool) {
	if !o.parked() {
		return time.Time{}, false
	}
	return o.Agent.Until, true
}

// known is a kind that runbooks can name.
func known(kind runbook.ErrorKind) runbook.ErrorKind {
	if slices.Contains(runbook.ErrorKinds(), kind) {
		return kind
	}
	return runbook.OtherError
}

// working is a prompt that the agent got. While a person is waited for it is theirs,
// unless it says otherwise: they typed instead of answering. A subagent in the background
// waits on. What an agent gets that is being ended changes nothing.
func (d *draft) working(w AgentWorking) {
	w.Prompt, w.Source = clip(w.Prompt, maxID), clip(w.Source, maxID)
	d.fact(w)
	if d.Agent.Exited {
		return
	}
	d.calm()
	if d.Status == Waiting && w.Source != sourceTask && !w.Ours && !d.waitsFor(FromBudget) && !d.Decision.Subagent {
		d.overtake("a prompt was typed into the session")
		d.intervened()
	}
}

// sourceTask marks the notification of a task that the agent started itself.
const sourceTask = "task"

func (d *draft) session(w AgentSession) {
	if w.Session = clip(w.Session, maxID); w.Session != "" && w.Session != d.Agent.Session {
		d.fact(w)
	}
}

func (d *draft) exited(w AgentExited) {
	if d.Agent.Exited {
		return
	}
	d.gone(w)
	if d.leaveOff() || d.Status != Running {
		return // the person who is asked decides
	}
	d.fire(trigger{name: onDead, text: w.ending(d.Agent.ClaudeCode && !d.Agent.Ready)})
}

// gone is an agent that is no longer there. What was to be answered on its screen is not, then.
func (d *draft) gone(w AgentExited) {
	w.AgentID, w.Tail = d.Agent.ID, clipStart(w.Tail, maxWords)
	d.fact(w)
	d.calm()
	if d.Decision != nil && d.onScreen() {
		d.overtake("the agent has ended")
		d.runsOn()
	}
}

// ending says in one line how an agent ended.
func (w AgentExited) ending(early bool) string {
	text := fmt.Sprintf("The agent exited with status %d", w.Code)
	switch {
	case early:
		text = "Claude Code ended before it had started"
	case w.Gone:
		text = "The agent is gone; its exit status is unknown"
	}
	return colon(text, clip(plain.LastLine(w.Tail), 500))
}
