package engine

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/control/runbook"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// trigger is something that happened to the agent, and that the runbook has an action
// for. Its name is the key that attempts are counted by.
type trigger struct {
	name   string
	text   string    // what happened, for people
	source Source    // of the decision, where it is not the trigger's own
	until  time.Time // its action is not to be taken before
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

// firstBackoff and longestBackoff are the pauses before attempts to go on after errors of
// the model's API: each is twice as long as the one before. Claude Code has tried again
// itself before, for a few seconds or minutes.
const (
	firstBackoff   = time.Minute
	longestBackoff = time.Hour
)

// The timers.
const (
	cooldown = "cooldown" // the rest of the time that a trigger's action has to wait
	expire   = "expire"   // the rest of the time that a person has to answer
	budget   = "budget"   // the rest of the time that the budget has
	timeout  = "timeout"  // the rest of the time that the step or its command has
	retry    = "retry"    // the pause before a step is run again
)

// StepTimeout is the timer that ends what has run for too long.
const StepTimeout = timeout

// action is what the runbook wants done.
func (d *draft) action(trigger string) runbook.Action {
	a := d.agentPlan()
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
		d.ask(t, t.handler()+": attempts exhausted", fmt.Sprintf("%s: %s did not help", t.text, plain.Count(n, "attempt")))
		return
	}
	due := d.ready(t.name, a)
	if t.until.After(due) {
		due = t.until
	}
	if due.After(d.in.Time) {
		d.postpone(t)
		d.setTimer(cooldown, due)
		return
	}
	d.settleTriggers()
	d.fact(AttemptCounted{t.name, n + 1})
	d.act(t, a)
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

// backoff is when the next attempt to go on after an error may be made: not before its reset.
// Other triggers have none.
func (d *draft) backoff(trigger string, reset time.Time) time.Time {
	if !strings.HasPrefix(trigger, onError) {
		return time.Time{}
	}
	pause := longestBackoff
	if n := d.Attempts[trigger]; n < 6 {
		pause = min(firstBackoff<<n, longestBackoff)
	}
	if due := d.in.Time.Add(pause); due.After(reset) {
		return due
	}
	return reset
}

func (d *draft) act(t trigger, a runbook.Action) {
	message := runbook.Expand(a.Message, d.values())
	switch a.Kind {
	case runbook.Nudge:
		d.say(cmp.Or(message, defaultNudge), false)
	case runbook.Resume:
		if message != "" && !a.Append {
			d.restart(message, "", false)
			return
		}
		d.reopen(message, false)
	case runbook.Gate:
		d.startGate(t.name)
	}
}

// gateEnded is the gate's answer: the step is done, or the trigger counts again. What
// the agent did meanwhile comes before that.
func (d *draft) gateEnded(gate Shell, e ShellExited) {
	pending, green := d.pending(), e.Code == 0 && !e.Lost
	switch {
	case green && !(d.wordsComing() && d.hears()):
		d.complete()
	case pending.name != "":
		d.fire(pending)
	case green: // it is told first
	case gate.Moot, len(d.Agent.Asking) > 0 && gate.Gate != onPrompt: // it works again
	default:
		command := runbook.ExpandShell(d.action(gate.Gate).Run, d.values())
		text := fmt.Sprintf("The gate %q failed, %s", clip(command, 500), e.ending())
		if tail := strings.TrimSpace(e.Tail); strings.Contains(tail, "\n") {
			text += "\n" + clipStart(tail, 2<<10)
		}
		d.fire(trigger{name: gate.Gate, text: text, source: FromGate, until: d.backoff(gate.Gate, time.Time{})})
	}
}

// postpone keeps a trigger until its action may be taken.
func (d *draft) postpone(t trigger) {
	d.cancelTimer(cooldown)
	if d.Agent.Pending != t.name || d.Agent.Detail != t.text || !d.Agent.Until.Equal(t.until) {
		d.fact(AgentDeferred{t.name, t.text, t.until})
	}
}

// calm is an agent that did something: what was to be done about its silence is not.
func (d *draft) calm() {
	d.cancelTimer(cooldown)
	if d.Agent.Pending != "" {
		d.fact(AgentDeferred{})
	}
}

// settleTriggers ends what the triggers of the current agent have under way.
func (d *draft) settleTriggers() {
	if d.Agent == nil {
		return
	}
	d.calm()
	if d.Shell != nil && d.Shell.Gate != "" {
		d.endShell()
		d.fact(ShellDropped{d.Shell.Key})
	}
}

// timerFired acts on what has waited.
func (d *draft) timerFired(t TimerFired) {
	due, set := d.Timers[t.Name]
	if !set || !due.Equal(t.Due) {
		return
	}
	d.fact(TimerFired{Name: t.Name})
	switch t.Name {
	case cooldown:
		d.firePending()
	case expire:
		d.expired()
	case budget:
		if (d.Agent != nil || d.Shell != nil) && d.Status == Running && d.overBudget() {
			d.exceed("")
		}
	case timeout:
		d.timedOut()
	case retry:
		d.tryAgain()
	}
}

// caughtUp acts on what was found late.
func (d *draft) caughtUp() {
	if _, cools := d.Timers[cooldown]; !cools {
		d.firePending()
	}
}

func (d *draft) firePending() {
	if d.Agent != nil && d.Agent.Pending != "" && d.Status == Running && d.Shell == nil {
		d.fire(d.pending())
	}
}

func (d *draft) pending() trigger {
	return trigger{name: d.Agent.Pending, text: d.Agent.Detail, until: d.Agent.Until}
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
