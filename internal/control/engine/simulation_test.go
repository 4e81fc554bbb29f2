package engine

import (
	"container/heap"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/control/runbook"
	"github.com/stopgate/stopgate/internal/sys/racetest"
)

var (
	simulateSeed   = flag.Uint64("simulate.seed", 0, "replay the simulation with this seed")
	simulateAgents = flag.Int("simulate.agents", 0, "how many owners the simulation has")
)

// TestSimulation runs a day of many owners in a world with a clock of its own. It is the
// same in every run; make simulate takes other seeds, and more owners.
func TestSimulation(t *testing.T) {
	racetest.Skip(t)
	seeds, owners := []uint64{1, 2}, 60
	if *simulateSeed != 0 {
		seeds = []uint64{*simulateSeed}
	}
	if *simulateAgents != 0 {
		owners = *simulateAgents
	}
	for _, seed := range seeds {
		t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) {
			t.Cleanup(func() {
				if t.Failed() {
					t.Logf("replay it with: make simulate SEED=%d AGENTS=%d", seed, owners)
				}
			})
			newSimulation(t, seed).run(owners)
		})
	}
}

// simulation is the daemon, its owners and the world around them. Everything that takes
// time is an event in the queue.
type simulation struct {
	t      *testing.T
	random *rand.Rand
	now    time.Time
	queue  agenda
	serial int

	owners []*actor
	// The journal, which outlives the daemon.
	journal []entryOf
	// The daemon's memory.
	up        bool
	life      int // counts daemons: what an old one had under way is over
	read      int
	ingesting bool
	admitting bool
	state     *State // which the owners are admitted by

	crashes, twice, swapped, late int
}

// actor is one owner with what belongs to it in the world.
type actor struct {
	*stage
	world *outside
	// The daemon's memory of it.
	busy  bool
	armed map[string]time.Time
	told  map[string]bool // effects that people are being told of
	// What people know.
	seen    map[string]bool
	resumed int
	born    int
}

type entryOf struct {
	owner *actor
	in    Input
}

// deed is something that takes place at a time.
type deed struct {
	at    time.Time
	order int
	do    func()
}

type agenda []deed

func (a agenda) Len() int      { return len(a) }
func (a agenda) Swap(i, j int) { a[i], a[j] = a[j], a[i] }
func (a *agenda) Push(x any)   { *a = append(*a, x.(deed)) }
func (a agenda) Less(i, j int) bool {
	if a[i].at.Equal(a[j].at) {
		return a[i].order < a[j].order
	}
	return a[i].at.Before(a[j].at)
}

func (a *agenda) Pop() any {
	last := (*a)[len(*a)-1]
	*a = (*a)[:len(*a)-1]
	return last
}

func newSimulation(t *testing.T, seed uint64) *simulation {
	return &simulation{t: t, random: rand.New(rand.NewPCG(seed, 6)), now: noon, up: true, state: NewState()}
}

func (s *simulation) pick(n int, what string) int { return s.random.IntN(n) }

func (s *simulation) chance(percent int) bool { return s.random.IntN(100) < percent }

// in lets something happen after a time between two.
func (s *simulation) in(from, to time.Duration, do func()) {
	s.at(s.now.Add(from+time.Duration(s.random.Int64N(int64(to-from)))), do)
}

func (s *simulation) at(when time.Time, do func()) {
	s.serial++
	heap.Push(&s.queue, deed{when, s.serial, do})
}

// daemon is in for something that this daemon does: the next one knows nothing of it.
func (s *simulation) daemon(from, to time.Duration, do func()) {
	life := s.life
	s.in(from, to, func() {
		if s.up && s.life == life {
			do()
		}
	})
}

func (s *simulation) run(owners int) {
	for i := range owners {
		a := &actor{stage: newStage(s.t, fmt.Sprintf("%016x", i+1)), seen: map[string]bool{}}
		a.world, a.quick = newOutside(s.t), true
		a.forget()
		s.owners = append(s.owners, a)
		s.in(0, time.Hour, func() { s.create(a) })
	}
	s.in(time.Minute, 20*time.Minute, s.crash)
	for s.queue.Len() > 0 {
		next := heap.Pop(&s.queue).(deed)
		s.now = next.at
		next.do()
		if s.now.Sub(noon) > 60*24*time.Hour {
			break
		}
	}
	s.report()
}

func (a *actor) forget() {
	a.busy, a.armed, a.told = false, map[string]time.Time{}, map[string]bool{}
}

// tell gives an owner an input, and looks what is to be done now.
func (s *simulation) tell(a *actor, in Input) {
	a.now = s.now
	in.Time = s.now
	if _, err := a.try(in); err != nil {
		return
	}
	s.put(a)
	s.wake(a)
}

func (s *simulation) happens(a *actor, what Happening) { s.tell(a, a.input(what)) }

// person asks for something. With the daemon down they try again, with the same request.
func (s *simulation) person(a *actor, in Input) {
	if !s.up {
		s.in(time.Minute, 10*time.Minute, func() { s.person(a, in) })
		return
	}
	s.tell(a, in)
	if s.chance(5) {
		s.in(time.Second, time.Minute, func() { s.person(a, in) })
	}
}

func (s *simulation) create(a *actor) {
	c := Create{Owner: a.id, Kind: Pipeline, Name: "p", Command: "c", Project: "/p", Cwd: "/p", Vars: map[string]string{"x": "1"}, Plan: randomPlan(s.pick), Site: testSite}
	if s.chance(30) {
		c.Kind, c.Plan = AgentRun, solo(randomAgent(s.pick, "worker"))
	}
	s.person(a, a.input(c))
	if s.chance(5) {
		s.in(0, 6*time.Hour, func() { s.person(a, a.input(Cancel{"enough"})) })
	}
}

// wake does what the daemon does when an owner changed.
func (s *simulation) wake(a *actor) {
	s.carry(a)
	for _, e := range a.o.Effects {
		if e.Kind == NotifyPerson && !a.told[e.Key] {
			a.told[e.Key] = true
			s.carryOut(a, e, func() {})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(a.o.Timers)) {
		if due := a.o.Timers[name]; !a.armed[name].Equal(due) {
			a.armed[name] = due
			left := max(due.Sub(s.now), 0)
			s.daemon(left, left+time.Second, func() { s.happens(a, TimerFired{name, due}) })
		}
	}
	s.consider(a)
}

// carry lets the owner's next effect be carried out, one at a time.
func (s *simulation) carry(a *actor) {
	i := slices.IndexFunc(a.o.Effects, func(e OpenEffect) bool { return e.Kind != NotifyPerson })
	if a.busy || i < 0 {
		return
	}
	a.busy = true
	s.carryOut(a, a.o.Effects[i], func() {
		a.busy = false
		s.wake(a)
	})
}

// carryOut is started, the act, done: the daemon may die in between.
func (s *simulation) carryOut(a *actor, e OpenEffect, then func()) {
	s.daemon(time.Millisecond, time.Second, func() {
		if _, err := a.try(Input{ID: e.Key + ":started", Time: s.now, What: EffectStarted{e.Key}}); err != nil {
			then() // it was taken back
			return
		}
		s.daemon(time.Millisecond, 3*time.Second, func() {
			result := s.act(a, e.Effect)
			if s.random.IntN(200) == 0 {
				s.kill()
				return
			}
			s.daemon(time.Millisecond, time.Second, func() {
				s.happens(a, result)
				then()
			})
		})
	})
}

// act changes the world, and lets what was started live.
func (s *simulation) act(a *actor, e Effect) Happening {
	fresh := e.Kind == StartShell && a.world.shells[e.Key] == nil || e.Kind == StartAgent && a.world.agents[e.Agent.ID] == nil
	if fresh && s.chance(1) {
		return EffectFailed{Key: e.Key, Why: "no such directory"}
	}
	if e.Kind == MakeWorkspace && a.world.spaces[e.Workspace.Dir] == nil && s.chance(3) {
		return EffectFailed{Key: e.Key, Why: "no space left on device"}
	}
	if unwanted(a.o, e) {
		return EffectDone{e.Key}
	}
	if result, is := s.relate(a, e); is {
		return result
	}
	if result := a.world.act(e); result != nil {
		return result
	}
	switch {
	case fresh && e.Kind == StartShell:
		s.in(time.Second, 10*time.Minute, func() { s.shellEnds(a, e.Key) })
	case fresh && e.Kind == StartAgent:
		s.opens(a, e.Agent.ID)
		s.live(a, e.Agent.ID)
	case e.Kind == KillShell:
		s.hear(a, ShellExited{Key: e.Target, Code: -1})
	case e.Kind == KillAgent:
		s.hear(a, AgentExited{AgentID: e.Target, Code: -1})
	case e.Kind == SendAgent:
		s.says(a, AgentWorking{AgentID: e.Target, Prompt: a.input(nil).ID})
	}
	return EffectDone{e.Key}
}

// relate carries out what an owner has to do with its children, or with its parent.
func (s *simulation) relate(a *actor, e Effect) (result Happening, is bool) {
	switch e.Kind {
	case StartChild:
		if s.actor(e.Target) == nil {
			s.bear(a, e.Target)
		}
	case CancelChild:
		child := s.actor(e.Target)
		s.tell(child, Input{ID: e.Key, What: Cancel{e.Text}})
	case ReportToParent:
		s.tell(s.actor(e.Target), Input{ID: e.Key, What: a.o.Report()})
	default:
		return nil, false
	}
	return EffectDone{e.Key}, true
}

// bear makes a child.
func (s *simulation) bear(parent *actor, id string) {
	child := &actor{stage: newStage(s.t, id), seen: map[string]bool{}, resumed: 3}
	child.world, child.quick = newOutside(s.t), true
	child.world.spaces = parent.world.spaces
	parent.world.family = append(parent.world.family, child.world)
	child.forget()
	s.owners = append(s.owners, child)
	create, _ := parent.o.Child(id)
	s.tell(child, child.input(create))
	if child.o == nil {
		s.t.Fatalf("child %s of\n%s\nwas refused: %s", id, text(parent.o), text(create))
	}
}

func (s *simulation) actor(id string) *actor {
	i := slices.IndexFunc(s.owners, func(a *actor) bool { return a.id == id })
	if i < 0 {
		return nil
	}
	return s.owners[i]
}

// hear is the end of a process, which the daemon hears of a moment later.
func (s *simulation) hear(a *actor, what Happening) {
	s.daemon(time.Millisecond, time.Second, func() { s.happens(a, what) })
}

func (s *simulation) shellEnds(a *actor, key string) {
	p := a.world.shells[key]
	if !p.alive {
		return
	}
	p.alive, p.ended, p.lost = false, true, s.chance(3)
	if s.chance(20) {
		a.world.soil(p)
	}
	if s.chance(25) {
		p.code = 1
	}
	s.hear(a, ShellExited{Key: key, Code: p.code, Lost: p.lost, Tail: "a line"})
}

// live is the next thing that an agent does.
func (s *simulation) live(a *actor, id string) {
	s.in(time.Second, 15*time.Minute, func() {
		p := a.world.agents[id]
		if !p.alive {
			return
		}
		switch prompt := a.input(nil).ID; s.random.IntN(20) {
		case 0, 1, 2:
			s.says(a, AgentIdle{AgentID: id, Prompt: prompt})
			if s.chance(30) {
				s.says(a, AgentIdle{AgentID: id, Prompt: prompt})
			}
		case 3:
			s.says(a, AgentStop{id, prompt})
		case 4:
			s.says(a, AgentPrompt{AgentID: id, Type: "permission", Text: "may I?"})
		case 5:
			s.says(a, AgentError{
				AgentID: id, Kind: oneOf(s.pick, "", runbook.RateLimited, runbook.NoInternet), Text: "529",
				Prompt: prompt, Reset: oneOf(s.pick, "", time.Time{}, s.now.Add(3*time.Hour)),
			})
		case 6, 7:
			s.says(a, AgentSignal{AgentID: id, Signal: Signal{SignalComplete, ""}})
			s.says(a, AgentRested{AgentID: id})
		case 8:
			s.says(a, AgentSignal{AgentID: id, Signal: Signal{oneOf(s.pick, "", SignalFail, SignalEscalate, SignalContinue), "so"}})
		case 9:
			p.alive, p.ended = false, true
			s.hear(a, AgentExited{AgentID: id, Code: 1})
			return
		case 10, 11, 12, 13, 14:
			s.asks(a, id)
		case 15, 16, 17:
			p.spent += oneOf(s.pick, "", 0.2, 0.5, 2)
			s.hear(a, AgentSpent{id, p.spent, int64(p.spent * 1e6)})
		default:
			s.says(a, AgentWorking{AgentID: id, Prompt: prompt})
		}
		s.live(a, id)
	})
}

// asks is a hook of an agent, or two at once, that waits for a person.
func (s *simulation) asks(a *actor, id string) {
	for range 1 + s.random.IntN(2) {
		ref := a.input(nil).ID
		s.says(a, randomPrompt(s.pick, id, ref))
		if s.chance(30) {
			s.in(time.Second, time.Hour, func() { s.says(a, AgentPromptOver{id, ref}) })
		}
	}
}

// opens is the start of a client: its first hook is heard, or something is in the way.
func (s *simulation) opens(a *actor, id string) {
	if s.chance(10) {
		s.hear(a, AgentBlocked{id, "login", "Log in"})
	}
	if s.chance(90) {
		s.in(time.Second, 10*time.Minute, func() { s.says(a, AgentReady{id}) })
	}
}

// says writes to the journal: at times twice, at times not in order.
func (s *simulation) says(a *actor, what Happening) {
	in := a.input(what)
	in.Journal = true
	s.journal = append(s.journal, entryOf{a, in})
	if s.chance(3) {
		s.twice++
		s.journal = append(s.journal, entryOf{a, in})
	}
	if n := len(s.journal); n-2 >= s.read && s.chance(5) {
		s.swapped++
		s.journal[n-1], s.journal[n-2] = s.journal[n-2], s.journal[n-1]
	}
	if s.up && !s.ingesting {
		s.ingesting = true
		s.daemon(time.Millisecond, time.Second, func() {
			s.ingesting = false
			s.ingest(false)
		})
	}
}

func (s *simulation) ingest(late bool) {
	for ; s.read < len(s.journal); s.read++ {
		e := s.journal[s.read]
		if e.in.Late = late; late {
			s.late++
		}
		s.tell(e.owner, e.in)
	}
}

// consider is a person who sees a decision, or a failure, and takes their time.
func (s *simulation) consider(a *actor) {
	if d := a.o.Decision; d != nil && !a.seen[d.ID] {
		a.seen[d.ID] = true
		s.in(time.Minute, 8*time.Hour, func() { s.decide(a, d.ID) })
	}
	if a.o.Step == runbook.EndFailed && a.resumed < 3 && s.chance(20) { // a cycle fails again and again
		a.resumed++
		s.in(time.Minute, 8*time.Hour, func() { s.person(a, a.input(Resume{})) })
	}
}

func (s *simulation) decide(a *actor, id string) {
	d := a.o.Decision
	if d == nil || d.ID != id {
		return
	}
	switch agent := a.o.Agent; {
	case agent != nil && s.chance(10) && slices.Contains(living(a.world.agents), agent.ID):
		s.says(a, AgentWorking{AgentID: agent.ID, Prompt: a.input(nil).ID})
	case s.chance(10):
		s.person(a, a.input(oneOf[Happening](s.pick, "", Tell{agentOf(a.o), "do it so"}, Kill{agentOf(a.o)})))
	default:
		s.person(a, a.input(randomAnswer(s.pick, *d)))
	}
	s.in(time.Minute, time.Hour, func() { s.decide(a, id) }) // where that did not settle it
}

// crash ends the daemon from time to time, as long as there is something to do.
func (s *simulation) crash() {
	if !slices.ContainsFunc(s.owners, func(a *actor) bool { return a.o == nil || !a.o.Terminal() || len(a.o.Effects) > 0 }) {
		return
	}
	s.kill()
	s.in(10*time.Minute, 3*time.Hour, s.crash)
}

// kill is kill -9.
func (s *simulation) kill() {
	if !s.up {
		return
	}
	s.crashes++
	s.up, s.ingesting, s.admitting = false, false, false
	s.life++
	for _, a := range s.owners {
		a.forget()
		if a.replay != nil {
			a.o = a.replay.Clone() // what the store has of it
		}
	}
	s.in(time.Second, 5*time.Minute, s.restart)
}

// restart is a new daemon: catch-up, CaughtUp, the four rules, and the ends of what ended
// meanwhile.
func (s *simulation) restart() {
	s.up = true
	s.state = NewState()
	for _, a := range s.owners {
		s.put(a)
	}
	s.read -= s.random.IntN(min(s.read, 500) + 1)
	s.ingest(true)
	for _, a := range slices.Clone(s.owners) {
		if a.o == nil {
			continue
		}
		s.happens(a, CaughtUp{})
		for _, e := range slices.Clone(a.o.Effects) {
			if open, is := a.o.Effect(e.Key); is && open.Started {
				if result, is := s.relate(a, open.Effect); is {
					s.happens(a, result)
					continue
				}
				s.happens(a, a.world.afterCrash(open))
				if e.Kind == StartShell {
					s.in(time.Second, time.Minute, func() { s.shellEnds(a, e.Key) })
				}
				if e.Kind == StartAgent && a.world.agents[e.Agent.ID].alive {
					s.live(a, e.Agent.ID)
				}
			}
		}
		if sh := a.o.Shell; sh != nil && a.world.shells[sh.Key] != nil && a.world.shells[sh.Key].ended {
			p := a.world.shells[sh.Key]
			s.happens(a, ShellExited{Key: sh.Key, Code: p.code, Lost: p.lost})
		}
		if ag := a.o.Agent; ag != nil && a.world.agents[ag.ID] != nil && a.world.agents[ag.ID].ended {
			s.happens(a, AgentExited{AgentID: ag.ID, Gone: true})
		}
		s.wake(a)
	}
}

// report checks how it all ended, and counts.
func (s *simulation) report() {
	ends, outcomes := map[string]int{}, map[string]int{}
	steps := 0
	for _, a := range s.owners {
		a.crash() // the whole log gives the same owner
		if !a.o.Terminal() || len(a.o.Effects) > 0 || !a.world.alone() {
			s.t.Errorf("owner %s is %s at %q, with %d effects open:\n%s", a.id, a.o.Status, a.o.Step, len(a.o.Effects), text(a.o))
		}
		a.world.tidy(a.o)
		ends[a.o.Step]++
		steps += len(a.log)
		a.count(outcomes)
	}
	s.t.Logf("%d owners, %d steps, %d entries in the journal (%d twice, %d swapped, %d late), %d crashes, %s",
		len(s.owners), steps, len(s.journal), s.twice, s.swapped, s.late, s.crashes, s.now.Sub(noon).Round(time.Minute))
	s.t.Logf("ends: %v", ends)
	s.t.Logf("effects: %v", outcomes)
}

// count compares what became of each effect with what the world saw of it: the four
// rules.
func (a *actor) count(outcomes map[string]int) {
	kinds, became := map[string]EffectKind{}, map[string]string{}
	for _, encoded := range a.log {
		step, err := DecodeStep(encoded)
		if err != nil {
			a.t.Fatalf("%v", err)
		}
		for _, e := range step.Effects {
			kinds[e.Key] = e.Kind
		}
		for _, f := range step.Facts {
			switch f := f.(type) {
			case EffectDone:
				became[f.Key] += "done"
			case WorkspaceMade:
				became[f.Key] += "done"
			case WorkspaceRemoved:
				became[f.Key] += "done"
			case EffectFailed:
				became[f.Key] += "failed"
			case EffectLost:
				became[f.Key] += "lost"
			case EffectDropped:
				became[f.Key] += "dropped"
			}
		}
	}
	for key, kind := range kinds {
		outcome := became[key]
		outcomes[string(kind)+" "+outcome]++
		switch times := a.world.typed[key]; {
		case !slices.Contains([]string{"done", "failed", "lost", "dropped"}, outcome):
			a.t.Fatalf("effect %s, %s: it became %q", key, kind, outcome)
		case outcome == "lost" && kind != SendAgent:
			a.t.Fatalf("effect %s, %s, is lost", key, kind)
		case kind == SendAgent && (outcome == "done" && times != 1 || (outcome == "dropped" || outcome == "failed") && times != 0):
			a.t.Fatalf("effect %s is %s and was typed %d times", key, outcome, times)
		case kind == StartShell && (outcome == "done") && a.world.shells[key] == nil:
			a.t.Fatalf("effect %s is done, and no command was run", key)
		case kind == StartShell && outcome == "dropped" && a.world.shells[key] != nil && !a.world.shells[key].ended:
			a.t.Fatalf("effect %s was taken back, and took place", key)
		}
	}
}
