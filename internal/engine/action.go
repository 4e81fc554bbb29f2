package engine

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/runbook"
)

// trigger is something that happened to the agent, and that the runbook has an action
// for. Its name is the key that attempts are counted by.
type trigger struct {
	name   string
	text   string // what happened, for people
	source Source // of the decision, where it is not the trigger's own
}

// The triggers. That of an error goes on with the error's kind: texts vary, and would
// never exhaust their attempts.
const (
	onIdle   = "idle"
	onDead   = "dead"
	onPrompt = "prompt"
	onError  = "error:"
)

// restless is the least time between two attempts of something that is to be done for
// ever and needs nobody: without it an agent that dies at once is started without pause.
const restless = 10 * time.Second

// cooldown is the one timer: the rest of the time that a trigger's action has to wait.
const cooldown = "cooldown"

// action is what the runbook wants done.
func (d *draft) action(trigger string) runbook.Action {
	a := d.agent()
	switch trigger {
	case onIdle:
		return a.OnIdle
	case onDead:
		return a.OnDead
	case onPrompt:
		return a.OnPrompt
	}
	kind := runbook.ErrorKind(strings.TrimPrefix(trigger, onError))
	for _, e := range a.OnError {
		if e.Match == "" || e.Match == kind {
			return e.Action
		}
	}
	return runbook.Action{Kind: runbook.Escalate}
}

// handler is the runbook's word for a trigger.
func (t trigger) handler() string {
	if strings.HasPrefix(t.name, onError) {
		return "on_error"
	}
	return "on_" + t.name
}

func (t trigger) from() Source {
	switch {
	case t.source != "":
		return t.source
	case strings.HasPrefix(t.name, onError):
		return FromError
	}
	return map[string]Source{onIdle: FromIdle, onDead: FromDead, onPrompt: FromPrompt}[t.name]
}

// fire does what the runbook says about a trigger. While a gate runs, its answer is
// waited for; at catch-up, what else the agent did: it may have gone on by itself. Of one
// that has exited nothing more is to be found.
func (d *draft) fire(t trigger) {
	switch {
	case d.Shell != nil:
		if t.name != d.Shell.Gate {
			d.postpone(t)
		}
		return
	case d.in.Late && !d.Agent.Exited:
		d.postpone(t)
		return
	}
	switch a := d.action(t.name); a.Kind {
	case runbook.Done:
		d.complete()
	case runbook.Fail:
		d.fail(t.text)
	case runbook.Nudge, runbook.Resume, runbook.Gate:
		d.attempt(t, a)
	default:
		d.ask(t, t.handler()+": escalate", t.text)
	}
}

// attempt takes an action that has a limit, when it may be taken: not more often than
// that, and not before its cooldown is over.
func (d *draft) attempt(t trigger, a runbook.Action) {
	n := d.Attempts[t.name]
	if limit := max(a.Attempts, 1); a.Attempts != runbook.Forever && n >= limit {
		d.ask(t, t.handler()+": attempts exhausted", fmt.Sprintf("%s: %s did not help", t.text, times(n)))
		return
	}
	if due := d.ready(t.name, a); due.After(d.in.Time) {
		d.postpone(t)
		d.setTimer(cooldown, due)
		return
	}
	d.settleTriggers()
	d.fact(AttemptCounted{t.name, n + 1})
	d.act(t, a)
}

func times(n int) string {
	if n == 1 {
		return "1 attempt"
	}
	return fmt.Sprintf("%d attempts", n)
}

// ready is when an action may be taken again. A clock that was put back makes nobody
// wait longer than the cooldown.
func (d *draft) ready(trigger string, a runbook.Action) time.Time {
	acted, before := d.Acted[trigger]
	if !before {
		return time.Time{}
	}
	pause := a.Cooldown
	if a.Attempts == runbook.Forever && a.Kind != runbook.Nudge {
		pause = max(pause, restless)
	}
	if acted.After(d.in.Time) {
		acted = d.in.Time
	}
	return acted.Add(pause)
}

func (d *draft) act(t trigger, a runbook.Action) {
	message := runbook.Expand(a.Message, d.values())
	switch a.Kind {
	case runbook.Nudge:
		d.say(cmp.Or(message, defaultNudge))
	case runbook.Resume:
		session := d.Agent.Session
		if message != "" && !a.Append {
			session = ""
		}
		d.restart(cmp.Or(message, defaultNudge), session)
	case runbook.Gate:
		d.startGate(t.name)
	}
}

// startGate runs the command that decides for the agent.
func (d *draft) startGate(trigger string) {
	start := &ShellStart{
		Script: runbook.ExpandShell(d.action(trigger).Run, d.values()),
		Cwd:    d.cwd(), Step: d.Step,
	}
	if d.fits(start, "the gate with its variables takes") {
		d.startShell(start, trigger)
	}
}

// gateEnded is the gate's answer: the step is done, or the trigger counts again. What
// the agent did meanwhile comes before that.
func (d *draft) gateEnded(gate Shell, e ShellExited) {
	pending := trigger{name: d.Agent.Pending, text: d.Agent.Detail}
	switch {
	case e.Code == 0 && !e.Lost:
		d.complete()
	case pending.name != "":
		d.fire(pending)
	case gate.Moot:
	default:
		command := d.action(gate.Gate).Run
		text := fmt.Sprintf("The gate %q said no, %s", clip(command, 500), e.outcome())
		if tail := strings.TrimSpace(e.Tail); strings.Contains(tail, "\n") {
			text += "\n" + clipStart(tail, 2<<10)
		}
		d.fire(trigger{name: gate.Gate, text: text, source: FromGate})
	}
}

// postpone keeps a trigger until its action may be taken.
func (d *draft) postpone(t trigger) {
	d.cancelTimer(cooldown)
	if d.Agent.Pending != t.name || d.Agent.Detail != t.text {
		d.fact(Deferred{t.name, t.text})
	}
}

// calm is an agent that did something: what was to be done about its silence is not.
func (d *draft) calm() {
	d.cancelTimer(cooldown)
	if d.Agent.Pending != "" {
		d.fact(Deferred{})
	}
}

// settleTriggers ends what the triggers of the current agent have under way.
func (d *draft) settleTriggers() {
	if d.Agent == nil {
		return
	}
	d.calm()
	if d.Shell != nil && d.Shell.Gate != "" {
		d.drop(d.Shell.Key)
		d.effect(Effect{Kind: KillShell, Target: d.Shell.Key})
		d.fact(ShellDropped{d.Shell.Key})
	}
}

// timerFired acts on what has waited. Where the clock was put back between, it is not yet
// the time: then the due time is. A timer that is set again for the same time would have
// the name of this one, and could not fire.
func (d *draft) timerFired(t TimerFired) {
	due, set := d.Timers[t.Name]
	if !set || !due.Equal(t.Due) {
		return
	}
	if due.After(d.in.Time) {
		d.in.Time, d.step.Time = due, due
	}
	d.fact(TimerOver{t.Name})
	d.firePending()
}

// caughtUp acts on what was found late.
func (d *draft) caughtUp() {
	if len(d.Timers) == 0 {
		d.firePending()
	}
}

func (d *draft) firePending() {
	if d.Agent != nil && d.Agent.Pending != "" && d.Status == Running && d.Shell == nil {
		d.fire(trigger{name: d.Agent.Pending, text: d.Agent.Detail})
	}
}

func (d *draft) setTimer(name string, due time.Time) {
	if set, is := d.Timers[name]; !is || !set.Equal(due) {
		d.fact(TimerSet{name, due})
	}
}

func (d *draft) cancelTimer(name string) {
	if _, set := d.Timers[name]; set {
		d.fact(TimerCancelled{name})
	}
}
