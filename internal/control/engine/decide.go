package engine

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/stopgate/stopgate/internal/control/runbook"
)

// Decide says what an input means for an owner: the step to append, and the owner as
// that step leaves it. The owner itself is not changed; it is nil for Create. A step
// without facts and effects says that nothing came of the input: it is not appended. The
// error is a *Refusal: of what a person asked for, or of an effect that must not start.
func Decide(o *Owner, in Input) (Step, *Owner, error) {
	if o != nil && o.heard(in) {
		return Step{}, o, nil
	}
	in.Time = o.at(in)
	d := newDraft(o, in)
	err := d.decide(in.What)
	if err == nil {
		d, err = d.fit(o)
	}
	if err != nil {
		return Step{}, o, err
	}
	if len(d.step.Facts) == 0 && len(d.step.Effects) == 0 {
		return Step{}, o, nil
	}
	d.Owner.stamp(&d.step)
	return d.step, d.Owner, nil
}

// at is when something happens, as it is when it comes from the store. A timer that fires
// when the clock was put back between, and it is not yet the time, fires when it was due:
// set again for the same time it would have the name of this one, and could not fire.
func (o *Owner) at(in Input) time.Time {
	now := in.Time.UTC().Round(0)
	if t, timer := in.What.(TimerFired); timer && o != nil && o.Timers[t.Name].Equal(t.Due) && t.Due.After(now) {
		return t.Due.UTC().Round(0)
	}
	return now
}

// fit sees to it that the step fits into an event of the store. What a person asks for is
// refused; what happens by itself fails the step that it happens in.
func (d *draft) fit(o *Owner) (*draft, error) {
	_, creates := d.in.What.(Create)
	asked := creates || personal(d.step.Cause)
	if d.tooLarge != "" && (creates || worded(d.in.What)) {
		return nil, &Refusal{"invalid", d.tooLarge}
	}

	if len(d.step.Effects) == 0 && !asked {
		return d, nil // the texts of facts are clipped
	}

	text, err := EncodeStep(d.step)
	switch {
	case err == nil && len(text) <= maxStep:
		return d, nil
	case asked:
		return nil, &Refusal{"invalid", fmt.Sprintf("the commands and prompts have %d bytes with their variables; at most %d", len(text), maxStep)}
	}

	d = newDraft(o, d.in)
	d.giveIn(fmt.Sprintf("the next step has %d bytes; at most %d", len(text), maxStep))
	return d, nil
}

// worded reports whether a person gave words, which can be fewer.
func worded(what Happening) bool {
	switch w := what.(type) {
	case Resume:
		return w.Message != "" || len(w.Vars) > 0
	case Answer:
		return w.Message != "" || len(w.Answers) > 0
	case Tell:
		return true
	}
	return false
}

// giveIn ends an owner for which what follows cannot be recorded: no on_fail can help.
func (d *draft) giveIn(why string) {
	switch e := d.in.What.(type) {
	case EffectFailed:
		d.fact(EffectFailed{Key: e.Key, Why: why})
	case EffectLost:
		d.fact(EffectLost{e.Key, why})
	}
	if !d.Terminal() {
		d.cutOff(why)
	}
}

// cutOff ends an owner for which no step can run.
func (d *draft) cutOff(why string) {
	if d.Status == Queued {
		d.fact(StepFailed{d.Turn.Step, why})
		d.leaveQueue(runbook.EndFailed)
		return
	}
	step := d.current()
	d.overtake("the step failed")
	d.leave()
	d.fact(StepFailed{step.Name, why})
	d.end(d.worst())
}

// Apply is the fold: what a step, read back from the store, makes of an owner. It is nil
// before the first step, and changed in place after it.
func Apply(o *Owner, s Step) (*Owner, error) {
	if o == nil {
		if len(s.Facts) == 0 {
			return nil, errors.New("the owner's first step is not its creation")
		}
		if _, creates := s.Facts[0].(Created); !creates {
			return nil, errors.New("the owner's first step is not its creation")
		}
		o = &Owner{ID: s.Owner}
	}

	if o.ID != s.Owner {
		return nil, fmt.Errorf("a step of owner %q is not one of %q", s.Owner, o.ID)
	}

	o.pass(s.Time)
	for _, f := range s.Facts {
		o.take(f, &s)
	}
	for _, e := range s.Effects {
		o.open(e)
	}
	o.stamp(&s)
	return o, nil
}

// pass lets time pass since the last step. A clock that was put back takes nothing away.
func (o *Owner) pass(now time.Time) {
	if o.AtWork() && now.After(o.Updated) {
		o.Ran += now.Sub(o.Updated)
	}
}

// AtWork reports whether the time passes that the budget limits: not while a person is
// waited for, nor while the agent waits for room or for the end of an error, nor before another
// attempt.
func (o *Owner) AtWork() bool {
	_, pauses := o.Timers[retry]
	return o.Status == Running && !pauses && !o.parked() && (!o.hasChildren() || o.Offspring.in(ChildRunning)) && !slices.ContainsFunc(o.Effects, func(e OpenEffect) bool {
		return e.Kind == StartAgent && !e.Started && o.Agent != nil && e.Agent.ID == o.Agent.ID
	})
}

// open takes an effect that is to be carried out.
func (o *Owner) open(e Effect) {
	o.Serial++
	o.Effects = append(o.Effects, OpenEffect{Effect: e})
	if o.Agent != nil && (e.Target == o.Agent.ID || e.Agent != nil && e.Agent.ID == o.Agent.ID) {
		o.Agent.Life = o.Agent.Life.due(e)
	}
}

// stamp notes what every step changes.
func (o *Owner) stamp(s *Step) {
	o.Updated = s.Time
	if s.Journal || personal(s.Cause) {
		o.Seen = latest(append(o.Seen, seenHash(s.Input)), keptSeen)
	}
}

// heard reports whether the input was told before.
func (o *Owner) heard(in Input) bool {
	return (in.Journal || personal(in.What.EventType())) && slices.Contains(o.Seen, seenHash(in.ID))
}

// personal tells the inputs that a person's program may send again.
func personal(cause string) bool {
	switch cause {
	case Cancel{}.EventType(), Resume{}.EventType(), Answer{}.EventType(), Tell{}.EventType(), Kill{}.EventType(), Discard{}.EventType():
		return true
	}
	return false
}

// draft is a step in the making. Its facts are applied, as they are made, to a copy of
// the owner: so the owner that Decide returns and the one that Apply makes of the same
// step are one.
type draft struct {
	*Owner
	step     Step
	in       Input
	tooLarge string // why an effect could not be
	spared   bool   // a person lets it go on without more of the budget, but for agents
}

func newDraft(o *Owner, in Input) *draft {
	d := &draft{in: in}
	d.step = Step{Input: in.ID, Cause: in.What.EventType(), Time: in.Time, Late: in.Late, Journal: in.Journal}
	switch create, creates := in.What.(Create); {
	case o != nil:
		d.Owner = o.Clone()
		d.pass(in.Time)
	case creates:
		d.Owner = &Owner{ID: create.Owner}
	default:
		d.Owner = &Owner{}
	}
	d.step.Owner = d.ID
	return d
}

// fact makes something true.
func (d *draft) fact(f Fact) {
	d.step.Facts = append(d.step.Facts, f)
	d.Owner.take(f, &d.step)
}

// effect lets something be done.
func (d *draft) effect(e Effect) {
	e.Key = d.nextKey()
	d.step.Effects = append(d.step.Effects, e)
	d.open(e)
}

// nextKey is the key of the effect that is made next.
func (d *draft) nextKey() string { return fmt.Sprintf("%s-%d", d.ID, d.Serial+1) }

func (d *draft) decide(what Happening) error {
	if create, creates := what.(Create); creates {
		if err := d.create(create); err != nil {
			return err
		}
	} else if d.Plan == nil {
		return &Refusal{"not_found", "no such pipeline or agent run"}
	} else if err := d.hear(what); err != nil {
		return err
	}
	d.askNext()
	d.sayUnsaid()
	d.keepTime()
	d.tellParent()
	return nil
}

// hear is what an input means by itself.
func (d *draft) hear(what Happening) error {
	switch what := what.(type) {
	case Cancel:
		d.cancel(what.Why)
	case Resume:
		return d.resume(what)
	case Answer:
		return d.answer(what)
	case Tell:
		return d.tell(what)
	case Kill:
		return d.kill(what)
	case Discard:
		return d.discard(what.Dir)
	case EffectStarted:
		return d.effectStarted(what)
	case EffectDone:
		d.effectDone(what)
	case EffectFailed:
		d.effectFailed(what)
	case EffectLost:
		d.effectLost(what)
	case ShellExited:
		d.shellExited(what)
	case WorkspaceMade:
		d.workspaceMade(what)
	case WorkspaceRemoved:
		d.workspaceRemoved(what)
	case TimerFired:
		d.timerFired(what)
	case ChildReported:
		d.childReported(what)
	case Admit:
		d.admit()
	case CaughtUp:
		d.caughtUp()
	case Forget:
		return d.forget(what.By)
	default:
		d.agentDid(what)
	}
	return nil
}
