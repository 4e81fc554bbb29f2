package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/control/runbook"
	"github.com/stopgate/stopgate/internal/control/store"
)

var noon = time.Date(2026, 1, 30, 12, 0, 0, 0, time.UTC)

const testOwner = "00000000000000aa"

// fataler is what a check needs of a test.
type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

// stage is one owner. Whatever happens on it is checked for everything that must always
// be so.
type stage struct {
	t      fataler
	id     string
	o      *Owner   // as Decide made it
	replay *Owner   // as Apply makes it of what was stored
	log    [][]byte // what was stored
	now    time.Time
	n      int
	keys   map[string]bool
	told   map[string]bool  // decisions that people were told of
	said   map[string]Reply // what agents were told that became of their questions
	last   Step
	// cleaned says that finally was entered since the pipeline was started, or resumed.
	cleaned bool
	quick   bool // owners are compared now and then only, and at the end
}

func newStage(t fataler, id string) *stage {
	return &stage{t: t, id: id, now: noon, keys: map[string]bool{}, told: map[string]bool{}, said: map[string]Reply{}}
}

// start puts a pipeline on a stage.
func start(t testing.TB, plan runbook.Plan) *stage {
	t.Helper()
	s := newStage(t, testOwner)
	s.do(Create{Owner: s.id, Kind: Pipeline, Name: "fix", Command: "fix", Project: "/p", Cwd: "/p/sub", Vars: map[string]string{"x": "1"}, Plan: plan})
	return s
}

// startRun puts an agent that runs alone on a stage.
func startRun(t testing.TB, a runbook.Agent) *stage {
	t.Helper()
	s := newStage(t, testOwner)
	s.do(Create{Owner: s.id, Kind: AgentRun, Name: a.Name, Command: "ask", Project: "/p", Cwd: "/p", Plan: solo(a)})
	return s
}

// do lets something happen, a second after the last.
func (s *stage) do(what Happening) Step {
	s.t.Helper()
	s.now = s.now.Add(time.Second)
	return s.tell(s.input(what))
}

func (s *stage) input(what Happening) Input {
	s.n++
	return Input{ID: fmt.Sprintf("input-%d", s.n), Time: s.now, What: what}
}

// late lets something be found at catch-up.
func (s *stage) late(what Happening) Step {
	s.t.Helper()
	in := s.input(what)
	in.Late, in.Journal = true, true
	return s.tell(in)
}

func (s *stage) tell(in Input) Step {
	s.t.Helper()
	step, err := s.try(in)
	if err != nil {
		s.t.Fatalf("%T %+v is refused: %v", in.What, in.What, err)
	}
	return step
}

// refused lets something be asked that is refused, and returns why.
func (s *stage) refused(what Happening) *Refusal {
	s.t.Helper()
	_, err := s.try(s.input(what))
	var r *Refusal
	if !errors.As(err, &r) {
		s.t.Fatalf("%T %+v: %v, want a refusal", what, what, err)
	}
	return r
}

// try is Decide, with everything checked that can be.
func (s *stage) try(in Input) (Step, error) {
	s.t.Helper()
	old := s.o
	var before string
	if s.compares() {
		before = text(old)
	}
	step, after, err := Decide(s.o, in)
	if s.compares() && text(old) != before {
		s.t.Fatalf("%T %+v changed its argument:\n%s", in.What, in.What, diff(before, text(old)))
	}
	if err != nil || len(step.Facts) == 0 && len(step.Effects) == 0 {
		if after != old {
			s.t.Fatalf("%T %+v: an empty step changed the owner", in.What, in.What)
		}
		s.last = step
		return step, err
	}
	s.store(step, after)
	s.check(in, old, step, after)
	s.o, s.last = after, step
	return step, nil
}

// compares reports whether owners are compared as a whole now.
func (s *stage) compares() bool { return !s.quick || len(s.log)%64 == 0 }

// store keeps the step, and compares what comes of it when it is read back.
func (s *stage) store(step Step, after *Owner) {
	s.t.Helper()
	encoded, err := EncodeStep(step)
	if err != nil {
		s.t.Fatalf("%v", err)
	}
	if len(encoded) > store.MaxData {
		s.t.Fatalf("a step of %d bytes: %s", len(encoded), step.Cause)
	}
	decoded, err := DecodeStep(encoded)
	if err != nil {
		s.t.Fatalf("%v\n%s", err, encoded)
	}
	if s.replay, err = Apply(s.replay, decoded); err != nil {
		s.t.Fatalf("%v\n%s", err, encoded)
	}
	if s.compares() && text(s.replay) != text(after) {
		s.t.Fatalf("replay differs after\n%s\n%s", encoded, diff(text(after), text(s.replay)))
	}
	s.log = append(s.log, encoded)
}

// check holds what must be so after every step.
func (s *stage) check(in Input, before *Owner, step Step, o *Owner) {
	s.t.Helper()
	if (o.Status == Waiting) != (o.Decision != nil) {
		s.t.Fatalf("%T: it is %s with decision %v", in.What, o.Status, o.Decision)
	}
	if o.Terminal() != runbook.IsEnd(o.Step) {
		s.t.Fatalf("%T: it is %s at step %q", in.What, o.Status, o.Step)
	}
	if _, resumes := in.What.(Resume); before != nil && before.Terminal() && !resumes &&
		(!o.Terminal() || o.Step != before.Step || o.Error != before.Error) {
		s.t.Fatalf("%T moved what was at its end: %s", in.What, o.Step)
	}
	if !o.Terminal() && !moves(o) {
		s.t.Fatalf("%T: nothing will ever move it:\n%s", in.What, text(o))
	}
	s.checkEffects(in, step)
	s.checkAttempts(before, step)
	s.checkAsking(in, o)
	s.checkBudget(in, step, o)
	s.checkFinally(step, o)
	s.checkOutputs(o)
	s.checkGroup(before, step, o)
}

// checkGroup holds that no more children run than may, that none starts before what it needs is done,
// and that none is left behind.
func (s *stage) checkGroup(before *Owner, step Step, o *Owner) {
	s.t.Helper()
	if o.Offspring == nil {
		return
	}
	planned, _ := (&draft{Owner: o}).plannedStep(o.Offspring.Step)
	running := 0
	for _, c := range o.Offspring.Children {
		if c.Runs() {
			running++
		}
	}
	if planned.Limit > 0 && running > planned.Limit {
		s.t.Fatalf("%d children run; the limit is %d\n%s", running, planned.Limit, text(o))
	}
	if running > 0 && (o.Terminal() || o.Step != o.Offspring.Step) {
		s.t.Fatalf("the step was left, and children run:\n%s", text(o))
	}
	done := func(name string) bool {
		return slices.ContainsFunc(o.Offspring.Children, func(c Child) bool { return c.Name == name && c.State == ChildDone })
	}
	for _, f := range step.Facts {
		started, is := f.(ChildStarted)
		if is && planned.FailFast && before != nil && before.hasChildren() && o.Offspring.has(Child.failed) && before.Offspring.Step == o.Offspring.Step {
			s.t.Fatalf("a child was started although one had failed:\n%s", text(o))
		}
		if !is || !planned.Parallel {
			continue
		}
		branch, _ := (&draft{Owner: o}).plannedStep(o.Offspring.Children[started.Child].Name)
		for _, need := range branch.Needs {
			if !done(need) {
				s.t.Fatalf("branch %q was started before %q was done", branch.Name, need)
			}
		}
	}
}

// checkFinally holds that no pipeline ends before its finally was entered.
func (s *stage) checkFinally(step Step, o *Owner) {
	s.t.Helper()
	for _, f := range step.Facts {
		switch f := f.(type) {
		case PipelineResumed:
			s.cleaned = s.cleaned && f.Step == ""
		case PipelineEnding:
			s.cleaned = true
		}
	}
	if o.Terminal() && o.Plan.Pipeline.Finally != "" && !s.cleaned && !o.homeless() {
		s.t.Fatalf("it ended without its finally:\n%s", text(step))
	}
}

// checkOutputs holds that only steps which have ended left something behind.
func (s *stage) checkOutputs(o *Owner) {
	s.t.Helper()
	for name := range o.Outputs {
		ended := func(v Visit) bool {
			return v.Step == name && (!v.Finished.IsZero() || o.Shell == nil && o.Step == name)
		}
		left := func(c Child) bool { return c.Name == name && !c.Runs() && c.State != ChildPending }
		if o.Parent != nil || o.Offspring != nil && o.Offspring.has(left) {
			continue // it is the parent's, or a branch's
		}
		if planned, _ := (&draft{Owner: o}).plannedStep(name); planned.Of != "" {
			name = planned.Of
		}
		if !slices.ContainsFunc(o.History, ended) && len(o.History) < keptVisits {
			s.t.Fatalf("step %q left something behind before it ended:\n%s", name, text(o))
		}
	}
}

// checkAsking holds that nothing that an agent asks is left lying, and that it gets one
// answer.
func (s *stage) checkAsking(in Input, o *Owner) {
	s.t.Helper()
	a := o.Agent
	if a == nil {
		return
	}
	if o.Status == Running && len(a.Asking) > 0 && !in.Late && o.Shell == nil && a.Pending == "" {
		s.t.Fatalf("%T: nobody is asked what the agent asks:\n%s", in.What, text(o))
	}
	if a.Exited && len(a.Asking) > 0 {
		s.t.Fatalf("%T: the agent has exited, and asks:\n%s", in.What, text(o))
	}
	for _, d := range o.Settled {
		if d.Ref == "" || d.AgentID != a.ID {
			continue
		}
		key, now := d.AgentID+d.Ref, o.reply(d.Ref)
		if now.State == ReplyOpen {
			s.t.Fatalf("%T: what was settled is open again:\n%s", in.What, text(o))
		}
		if before, said := s.said[key]; said && text(before) != text(now) {
			s.t.Fatalf("%T: the answer was %+v, and is %+v", in.What, before, now)
		}
		s.said[key] = now
	}
}

// checkBudget holds that nothing more is spent than a person allows.
func (s *stage) checkBudget(in Input, step Step, o *Owner) {
	s.t.Helper()
	if o.Cancelling || o.Ending != "" || o.Plan == nil {
		return
	}
	money, spare := o.exceeded()
	for _, e := range step.Effects {
		if (money || spare) && (e.Kind == StartAgent || e.Kind == SendAgent) {
			s.t.Fatalf("%T: over the budget, and %s:\n%s", in.What, e.Kind, text(o))
		}
	}
	if money && o.Agent != nil && !o.Agent.Exited && (o.Decision == nil || o.Decision.Source != FromBudget) {
		s.t.Fatalf("%T: over the budget, and the agent goes on:\n%s", in.What, text(o))
	}
}

// moves reports whether something will happen to an owner that is not at its end.
func moves(o *Owner) bool {
	_, cools := o.Timers[cooldown]
	_, pauses := o.Timers[retry]
	if o.hasChildren() {
		return o.Offspring.has(Child.Runs)
	}
	return o.Status == Queued || o.Decision != nil || o.Shell != nil || cools || pauses || o.Agent != nil && (!o.Agent.Exited || o.Agent.Pending != "")
}

func (s *stage) checkEffects(in Input, step Step) {
	s.t.Helper()
	var sends bool
	for _, e := range step.Effects {
		if s.keys[e.Key] || strings.Trim(e.Key, "0123456789abcdef-") != "" {
			s.t.Fatalf("key %q is not unique, or no name of a directory", e.Key)
		}
		s.keys[e.Key] = true
		sends = sends || e.Kind == SendAgent
		if e.Decision != "" && s.told[e.Decision] {
			s.t.Fatalf("%T: people are told twice of decision %s", in.What, e.Decision)
		}
		s.told[e.Decision] = true
		if in.Late && (e.Kind == SendAgent || e.Kind == NotifyPerson) {
			s.t.Fatalf("%T is late and causes %s", in.What, e.Kind)
		}
	}
	acts := sends || slices.ContainsFunc(step.Facts, func(f Fact) bool {
		_, restarted := f.(AgentRestarted)
		shell, started := f.(ShellStarted)
		return restarted || started && shell.Gate != ""
	})
	counted := slices.ContainsFunc(step.Facts, func(f Fact) bool { _, is := f.(AttemptCounted); return is })
	resaid := slices.ContainsFunc(step.Facts, func(f Fact) bool { _, is := f.(AgentResaid); return is })
	expired := slices.ContainsFunc(step.Facts, func(f Fact) bool { r, is := f.(DecisionResolved); return is && r.Expired })
	if acts && !counted && !expired && !resaid && !personal(step.Cause) {
		s.t.Fatalf("%T: an action was taken and not counted", in.What)
	}
}

// checkAttempts counts for itself.
func (s *stage) checkAttempts(before *Owner, step Step) {
	s.t.Helper()
	for _, f := range step.Facts {
		counted, is := f.(AttemptCounted)
		if !is {
			continue
		}
		limit := (&draft{Owner: before}).action(counted.Trigger).Attempts
		if limit != runbook.Forever && counted.Attempt > max(limit, 1) {
			s.t.Fatalf("attempt %d of %q; the limit is %d", counted.Attempt, counted.Trigger, limit)
		}
	}
}

// crash loses what is in memory.
func (s *stage) crash() {
	s.t.Helper()
	var o *Owner
	for _, encoded := range s.log {
		step, err := DecodeStep(encoded)
		if err == nil {
			o, err = Apply(o, step)
		}
		if err != nil {
			s.t.Fatalf("%v", err)
		}
	}
	if text(o) != text(s.o) {
		s.t.Fatalf("replay differs:\n%s", diff(text(s.o), text(o)))
	}
	s.o = o
}

// elapse lets a timer fire when it is due, if it is set.
func (s *stage) elapse(name string) {
	s.t.Helper()
	if due, set := s.o.Timers[name]; set {
		s.now = due.Add(-time.Second)
		s.do(TimerFired{name, due})
	}
}

// fork is another stage on which things go on differently from here.
func (s *stage) fork(t fataler) *stage {
	f := *s
	f.t, f.replay, f.log = t, s.replay.Clone(), slices.Clip(s.log)
	f.keys, f.told, f.said = maps.Clone(s.keys), maps.Clone(s.told), maps.Clone(s.said)
	return &f
}

// carryOut lets all open effects be done.
func (s *stage) carryOut() {
	s.t.Helper()
	for len(s.o.Effects) > 0 {
		e := s.o.Effects[0]
		if !e.Started {
			s.do(EffectStarted{e.Key})
		}
		s.do(EffectDone{e.Key})
	}
}

// is checks where the owner is.
func (s *stage) is(step string, status Status) {
	s.t.Helper()
	if s.o.Step != step || s.o.Status != status {
		s.t.Fatalf("it is %s at %q (%s), want %s at %q\n%s", s.o.Status, s.o.Step, s.o.Error, status, step, text(s.last))
	}
}

// effects are the kinds of the last step's.
func (s *stage) effects() string {
	var kinds []string
	for _, e := range s.last.Effects {
		kinds = append(kinds, string(e.Kind))
	}
	return strings.Join(kinds, " ")
}

// effect is the last step's one of a kind.
func (s *stage) effect(kind EffectKind) Effect {
	s.t.Helper()
	for _, e := range s.last.Effects {
		if e.Kind == kind {
			return e
		}
	}
	s.t.Fatalf("no %s in the last step: %s", kind, text(s.last))
	return Effect{}
}

// facts are the types of the last step's.
func (s *stage) facts() string {
	var types []string
	for _, f := range s.last.Facts {
		types = append(types, f.EventType())
	}
	return strings.Join(types, " ")
}

func (s *stage) agent() string { return agentOf(s.o) }

// agentOf is the id of an owner's agent, or that of nobody.
func agentOf(o *Owner) string {
	if o.Agent == nil {
		return "nobody"
	}
	return o.Agent.ID
}

// text is a value for comparison.
func text(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// diff compares two texts field by field.
func diff(a, b string) string {
	var x, y any
	_, _ = json.Unmarshal([]byte(a), &x), json.Unmarshal([]byte(b), &y)
	return cmp.Diff(x, y)
}

// shells is a plan of shell steps, one after the other.
func shells(names ...string) runbook.Plan {
	var p runbook.Plan
	for i, name := range names {
		step := runbook.Step{Name: name, Run: runbook.Run{Shell: "make " + name}}
		if i+1 < len(names) {
			step.OnDone = names[i+1]
		}
		p.Pipeline.Steps = append(p.Pipeline.Steps, step)
	}
	return p
}

// work is a plan whose first step an agent runs.
func work(a runbook.Agent, then ...string) runbook.Plan {
	p := shells(append([]string{"work"}, then...)...)
	p.Pipeline.Steps[0].Run = runbook.Run{Agent: a.Name}
	p.Agents = map[string]runbook.Agent{a.Name: a}
	return p
}

// solo is the plan of an agent that runs alone.
func solo(a runbook.Agent) runbook.Plan {
	p := work(a)
	p.Pipeline.Budget, p.Pipeline.Expire = a.Budget, a.Expire
	return p
}

// worker is an agent that people are asked about.
func worker() runbook.Agent {
	ask := runbook.Action{Kind: runbook.Escalate}
	return runbook.Agent{Name: "worker", Run: "claude", Prompt: "do ${var.x}", OnIdle: ask, OnDead: ask, OnPrompt: ask}
}
