package engine

import (
	"fmt"
	"slices"

	"github.com/stopgate/stopgate/internal/control/runbook"
)

// effectStarted records that an effect may take place. One that is no longer open must
// not: it was dropped, or is done.
func (d *draft) effectStarted(e EffectStarted) error {
	open, is := d.Effect(e.Key)
	if !is {
		return &Refusal{"conflict", fmt.Sprintf("effect %s is not to be carried out", clip(e.Key, 80))}
	}
	if !open.Started {
		d.fact(e)
	}
	return nil
}

func (d *draft) effectDone(e EffectDone) {
	if effect, open := d.Effect(e.Key); open {
		d.fact(e)
		d.messageSettled(effect)
	}
}

// effectFailed is an effect that cannot be: the step that needs it fails. A message that
// was not delivered is a person's to decide on.
func (d *draft) effectFailed(e EffectFailed) {
	effect, open := d.Effect(e.Key)
	if !open {
		return
	}

	e.Why, e.Kept = clip(e.Why, maxWords), d.keeps(effect)
	d.fact(e)
	switch effect.Kind {
	case StartShell:
		d.shellFailed(effect, e.Why)
	case StartAgent:
		d.agentFailed(effect, e.Why)
	case SendAgent:
		if !e.Kept {
			d.undelivered(effect, "Cannot deliver the message to the agent: "+e.Why)
		}
	case KillShell, KillAgent:
		d.notify("Still running: "+d.Name, "It could not be killed: "+e.Why, "")
		d.unremovable("a process in it could not be killed: " + e.Why)
	case MakeWorkspace:
		d.workspaceFailed(effect, e.Why)
	case RemoveWorkspace:
		d.workspaceStays(effect, "it could not be removed: "+e.Why)
	case StartChild:
		d.childReported(ChildReported{ID: effect.Target, State: ChildFailed, Why: "it could not be started: " + e.Why})
	case CancelChild:
		d.childReported(ChildReported{ID: effect.Target, State: ChildFailed, Why: "it could not be cancelled: " + e.Why})
	}
}

// effectLost is an effect that may have taken place or not.
func (d *draft) effectLost(e EffectLost) {
	effect, open := d.Effect(e.Key)
	if !open {
		return
	}

	e.Why = clip(e.Why, maxWords)
	d.fact(e)
	switch effect.Kind {
	case StartShell:
		d.shellExited(ShellExited{Key: e.Key, Tail: e.Why, Lost: true})
	case StartAgent:
		d.of(effect.Agent.ID, func() { d.exited(AgentExited{AgentID: effect.Agent.ID, Gone: true}) })
	case SendAgent:
		if d.keeps(effect) { // but not here: it may have been heard
			d.notify("A message may be lost: "+d.Name, colon("It is unknown whether this reached the agent", effect.Text), "")
			d.messageSettled(effect)
			return
		}
		d.undelivered(effect, colon("It is unknown whether the message reached the agent", e.Why))
	}
}

func (d *draft) shellFailed(effect OpenEffect, why string) {
	if d.Shell == nil || d.Shell.Key != effect.Key {
		return
	}
	if d.Shell.Gate != "" {
		d.shellExited(ShellExited{Key: effect.Key, Code: -1, Tail: "it could not be started: " + why})
		return
	}
	d.fact(ShellExited{Key: effect.Key, Code: -1})
	d.fail("cannot start the command: " + why)
}

func (d *draft) agentFailed(effect OpenEffect, why string) {
	if d.Agent == nil || d.Agent.ID != effect.Agent.ID || d.Agent.Exited {
		return
	}
	d.gone(AgentExited{Code: -1})
	if d.Status == Running {
		d.fail("cannot start the agent: " + why)
	}
}

// keeps reports whether a person's words, which the agent has not got, are to be said
// later: to the agent when nobody else is waited for, or to its successor. Of words that a
// living agent did not take the person is asked at once.
func (d *draft) keeps(e OpenEffect) bool {
	if d.Agent == nil || e.Kind != SendAgent || !e.Person {
		return false
	}
	return e.Target == d.Agent.ID && !d.hears() || slices.Contains(d.Agent.Before, e.Target)
}

// wordsComing reports whether a person's words are on their way to the agent, or are kept for it. It
// has to have them before it can be done. One that is being ended gets none.
func (d *draft) wordsComing() bool {
	coming := func(e OpenEffect) bool { return e.sends(d.Agent.ID) && e.Person && !e.Heard }
	return !d.Agent.Killed && (len(d.Agent.Unsaid) > 0 || slices.ContainsFunc(d.Effects, coming))
}

// messageSettled is a message that nothing waits for any more, such as the agent's own signal.
func (d *draft) messageSettled(e OpenEffect) {
	if d.Agent != nil && e.sends(d.Agent.ID) {
		d.leaveOff()
	}
}

// notifyUnheard tells people which of their words the agent, which is left, will never get. Of those
// that are being typed, whoever types them tells.
func (d *draft) notifyUnheard() {
	if d.Agent == nil {
		return
	}
	words := slices.Clone(d.Agent.Unsaid)
	for _, e := range d.Effects {
		if e.sends(d.Agent.ID) && e.Person && !e.Heard && !e.Started {
			words = append(words, e.Text)
		}
	}
	for _, text := range words {
		d.notifyLost(text)
	}
}

func (d *draft) notifyLost(words string) {
	d.notify("A message was not delivered: "+d.Name, colon("The agent's step ended before the message could be delivered", words), "")
}

// hears reports whether the agent can be told something now.
func (d *draft) hears() bool { return d.listens() && !d.Agent.Killed }

// sayUnsaid says what was kept for the agent: one message at a time, since a step has to
// fit into an event.
func (d *draft) sayUnsaid() {
	if d.Agent == nil || len(d.Agent.Unsaid) == 0 || !d.hears() || d.in.Late || d.Shell != nil ||
		d.Agent.Pending != "" || len(d.step.Effects) > 0 {
		return
	}
	d.say(d.unsaid(), true)
}

// unsaid takes what was kept first; nothing where nothing was.
func (d *draft) unsaid() string {
	if len(d.Agent.Unsaid) == 0 {
		return ""
	}
	words := d.Agent.Unsaid[0]
	d.fact(AgentResaid{d.Agent.ID})
	return words
}

// undelivered is a message that the agent may not have: the current one, or one that was left,
// which nobody can tell any more.
func (d *draft) undelivered(effect OpenEffect, context string) {
	if d.Agent == nil || d.Agent.ID != effect.Target {
		if effect.Person && !effect.Heard && !d.Cancelling {
			d.notifyLost(effect.Text)
		}
		return
	}
	if !d.hears() {
		return
	}
	d.escalate(question{
		source: FromLost, reason: "the message may not have arrived",
		context: context, undone: effect.Text,
	})
}

// drop takes back an effect that was not started.
func (d *draft) drop(key string) {
	made := func(e Effect) bool { return e.Key == key }
	if open, is := d.Effect(key); is && !open.Started && !slices.ContainsFunc(d.step.Effects, made) {
		d.fact(EffectDropped{key, open.Kind == SendAgent && open.Person})
	}
}

func (d *draft) dropAll(which func(OpenEffect) bool) {
	for _, e := range slices.Clone(d.Effects) {
		if which(e) {
			d.drop(e.Key)
		}
	}
}

// dropAgent takes back what was to be done for the current agent.
func (d *draft) dropAgent() {
	d.dropAll(func(e OpenEffect) bool {
		return e.Kind == StartAgent && e.Agent.ID == d.Agent.ID || e.sends(d.Agent.ID)
	})
}

// expand is what a runbook's template says to people.
func (d *draft) expand(template, failure string) string {
	values := d.values()
	values["error"] = failure
	return runbook.Expand(template, values)
}

// report tells people what a runbook wants them to be told.
func (d *draft) report(news string) {
	if news != "" {
		d.notify(d.Name, news, "")
	}
}

// notify lets people be told, unless what they would be told of is long past.
func (d *draft) notify(title, text, decision string) {
	if !d.in.Late {
		d.effect(Effect{Kind: NotifyPerson, Title: clip(title, 200), Text: clip(text, maxWords), Decision: decision})
	}
}

// hush takes back what people were to be told of a decision that is settled.
func (d *draft) hush(decision string) {
	d.dropAll(func(e OpenEffect) bool { return e.Kind == NotifyPerson && e.Decision == decision })
}
