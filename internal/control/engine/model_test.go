package engine

import (
	"flag"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/stopgate/stopgate/internal/control/runbook"
	"github.com/stopgate/stopgate/internal/sys/racetest"
)

// history is one owner in a world where everything goes wrong that can.
type history struct {
	*stage
	*outside
	pick    picker
	journal []Input // what agents said, in the order in which it was written
	read    int     // of which the daemon has taken so many
	asked   []Input // what people asked for
	prompts int
	refs    int
	spent   float64
}

func newHistory(t fataler, pick picker) *history {
	h := &history{stage: newStage(t, testOwner), outside: newOutside(t), pick: pick}
	create := Create{
		Owner: h.id, Kind: Pipeline, Name: "fix", Command: "fix", Project: "/p", Cwd: "/p",
		Vars: map[string]string{"x": "$(1)"}, Plan: randomPlan(pick), Site: testSite,
	}
	if pick.chance(25, "alone") {
		create.Kind, create.Plan = AgentRun, solo(randomAgent(pick, "worker"))
	}
	h.ask(create)
	return h
}

// ask is a person's request, which may be sent again later.
func (h *history) ask(what Happening) {
	in := h.input(what)
	h.asked = append(h.asked, in)
	h.request(in)
}

func (h *history) request(in Input) {
	if _, err := h.try(in); err != nil {
		return // people may ask for what cannot be
	}
}

// once lets one thing happen.
func (h *history) once() {
	h.now = h.now.Add(time.Duration(1+h.pick(20, "time passes")) * time.Second)
	switch h.pick(14, "what") {
	case 0, 1, 2:
		h.carry()
	case 3:
		h.shellEnds()
	case 4, 5, 6:
		h.agentSpeaks()
	case 7, 8:
		h.ingest(false)
	case 9:
		h.timePasses()
	case 10:
		h.person()
	case 11:
		h.disturb()
	case 12:
		h.childReports()
	case 13:
		h.happens(Admit{})
	}
}

// childReports lets a child come further.
func (h *history) childReports() {
	running := living(h.children)
	if len(running) == 0 {
		return
	}
	id := oneOf(h.pick, "child", running...)
	p := h.children[id]
	p.state = oneOf(h.pick, "state", ChildRunning, ChildWaiting, ChildDone, ChildDone, ChildFailed, ChildCancelled)
	p.alive = p.state == ChildRunning || p.state == ChildWaiting
	if p.ended = !p.alive; !h.pick.chance(10, "nobody heard") {
		h.happens(h.childReport(id))
	}
}

func (h *history) childReport(id string) ChildReported {
	return ChildReported{ID: id, State: h.children[id].state, Why: "so\xff", Output: Output{Values: map[string]string{"n": "1"}, Tail: "t"}, Cost: Spent{USD: 0.1}}
}

// carry lets the next effect take place, unless the daemon dies before, between or after.
func (h *history) carry() {
	i := slices.IndexFunc(h.o.Effects, func(e OpenEffect) bool { return h.pick.chance(10, "later") || e.Kind != NotifyPerson })
	if i < 0 {
		i = 0
	}
	if i >= len(h.o.Effects) {
		return
	}
	e := h.o.Effects[i]
	if first := slices.IndexFunc(h.o.Effects, func(e OpenEffect) bool { return e.Kind != NotifyPerson }); e.Kind != NotifyPerson && i != first {
		return
	}
	if e.Started {
		return
	}
	if h.pick.chance(3, "impossible") && (e.Kind == StartShell || e.Kind == StartAgent || e.Kind == StartChild) {
		h.happens(EffectFailed{Key: e.Key, Why: "no such directory"})
		return
	}
	if made := e.Kind == MakeWorkspace && h.spaces[e.Workspace.Dir] == nil; h.pick.chance(5, "no workspace") && (made || e.Kind == RemoveWorkspace && h.spaces[e.Workspace.Dir] != nil) {
		h.happens(EffectFailed{Key: e.Key, Why: "no space left on device"})
		return
	}
	h.happens(EffectStarted{e.Key})
	if h.pick.chance(5, "dies before it acts") {
		h.restart()
		return
	}
	result := Happening(EffectDone{e.Key})
	if !unwanted(h.o, e.Effect) || h.pick.chance(50, "at once") {
		result = h.act(e.Effect)
	}
	if h.pick.chance(5, "dies after it acted") {
		h.restart()
		return
	}
	switch e.Kind {
	case KillAgent:
		h.happens(AgentExited{AgentID: e.Target, Code: -1})
	case KillShell:
		h.happens(ShellExited{Key: e.Target, Code: -1})
	case CancelChild:
		h.happens(h.childReport(e.Target))
	}
	if e.Kind == SendAgent && result == nil {
		h.says(AgentWorking{AgentID: e.Target, Prompt: h.prompt()})
	}
	if result == nil {
		result = EffectDone{e.Key}
	}
	h.happens(result)
}

// happens tells the daemon; what it refuses is a mistake of this world, but for effects
// that were dropped.
func (h *history) happens(what Happening) { h.tell(h.input(what)) }

func (h *history) prompt() string {
	h.prompts++
	return fmt.Sprint("prompt", h.prompts)
}

func (h *history) shellEnds() {
	running := living(h.shells)
	if len(running) == 0 {
		return
	}
	key := oneOf(h.pick, "shell", running...)
	p := h.shells[key]
	p.alive, p.ended = false, true
	if h.pick.chance(20, "leaves work") {
		h.soil(p)
	}
	p.code, p.lost = oneOf(h.pick, "code", 0, 0, 1, 3), h.pick.chance(10, "lost")
	if !h.pick.chance(10, "nobody heard") {
		h.happens(ShellExited{Key: key, Code: p.code, Tail: "some\noutput\xff", Lost: p.lost})
	}
}

// says writes to the journal.
func (h *history) says(what Happening) {
	in := h.input(what)
	in.Journal = true
	h.journal = append(h.journal, in)
}

// agentSpeaks lets an agent do something: the current one, or one that should be dead.
func (h *history) agentSpeaks() {
	agents := living(h.agents)
	if h.pick.chance(10, "somebody else") {
		agents = append(agents, "nobody", agentID(h.id, 1+h.pick(5, "old")))
	}
	if len(agents) == 0 {
		return
	}
	id := oneOf(h.pick, "agent", agents...)
	switch h.pick(17, "says") {
	case 0, 1:
		h.says(AgentIdle{AgentID: id, Prompt: oneOf(h.pick, "prompt", "", h.prompt(), fmt.Sprint("prompt", h.prompts-1))})
	case 2:
		h.says(AgentStop{id, h.prompt()})
	case 3:
		if h.pick.chance(50, "with a hook") {
			h.says(AgentPrompt{AgentID: id, Type: "permission", Text: "may I?"})
			return
		}
		h.refs++
		h.says(randomPrompt(h.pick, id, fmt.Sprint("ref", h.refs)))
	case 4:
		h.says(AgentError{
			AgentID: id, Kind: oneOf(h.pick, "kind", runbook.RateLimited, runbook.NoInternet, "odd"), Text: "529",
			Reset: oneOf(h.pick, "reset", time.Time{}, h.now.Add(time.Hour), h.now.Add(-time.Hour)), Prompt: oneOf(h.pick, "prompt", "", h.prompt()),
		})
	case 5:
		h.says(AgentSignal{AgentID: id, Signal: Signal{oneOf(h.pick, "signal", SignalComplete, SignalFail, SignalEscalate, SignalContinue), "so"}})
	case 6:
		h.says(AgentWorking{AgentID: id, Prompt: h.prompt(), Source: oneOf(h.pick, "source", "", sourceTask), Ours: h.pick.chance(20, "ours")})
	case 7:
		h.says(AgentSession{id, fmt.Sprint("session", h.prompts)})
	case 8:
		h.agentEnds(id)
	case 9, 10:
		h.refs++
		asks := randomPrompt(h.pick, id, fmt.Sprint("ref", h.refs))
		asks.Subagent = h.pick.chance(30, "subagent")
		h.says(asks)
	case 11, 12:
		h.says(AgentPromptOver{id, fmt.Sprint("ref", h.pick(h.refs+2, "over"))})
	case 13:
		h.says(AgentReady{id})
	case 14:
		h.happens(AgentBlocked{id, oneOf(h.pick, "screen", "trust", "silent"), "1. Yes"})
	case 15:
		h.spent += oneOf(h.pick, "usd", 0.1, 1, 3)
		h.happens(AgentSpent{id, h.spent, int64(h.spent * 1e6)})
	case 16:
		h.says(AgentRested{AgentID: id, Prompt: h.prompt()})
	}
}

func (h *history) agentEnds(id string) {
	p := h.agents[id]
	if p == nil || !p.alive {
		return
	}
	p.alive, p.ended = false, true
	if !h.pick.chance(10, "nobody heard") {
		h.happens(AgentExited{AgentID: id, Code: 1})
	}
}

// ingest takes the journal's next entries.
func (h *history) ingest(late bool) {
	for ; h.read < len(h.journal); h.read++ {
		in := h.journal[h.read]
		in.Late = late
		h.tell(in)
		if !late && h.pick.chance(30, "enough") {
			h.read++
			return
		}
	}
}

// timePasses lets a timer fire, whichever.
func (h *history) timePasses() {
	set := slices.Sorted(maps.Keys(h.o.Timers))
	if len(set) == 0 {
		h.happens(TimerFired{cooldown, h.now})
		return
	}
	h.fires(oneOf(h.pick, "timer", set...))
}

// fires lets a timer fire when it is due, or before: clocks are put back.
func (h *history) fires(name string) {
	due := h.o.Timers[name]
	if due.After(h.now) && !h.pick.chance(5, "clock put back") {
		h.now = due
	}
	h.happens(TimerFired{name, due})
	h.happens(TimerFired{name, due})
}

func (h *history) person() {
	decisions := h.o.Decisions()
	switch h.pick(9, "person") {
	case 0:
		h.ask(Cancel{"enough"})
	case 1:
		h.ask(Resume{oneOf(h.pick, "words", "", "try again"), map[string]string{"x": "2"}})
	case 2:
		if len(h.asked) > 0 {
			h.request(oneOf(h.pick, "again", h.asked...))
		}
	case 3:
		h.ask(Tell{oneOf(h.pick, "whom", agentOf(h.o), "nobody"), oneOf(h.pick, "words", "", "look at this")})
	case 4:
		h.ask(Kill{oneOf(h.pick, "whom", agentOf(h.o), "nobody")})
	case 5, 6:
		if len(decisions) > 0 {
			h.ask(randomAnswer(h.pick, oneOf(h.pick, "decision", decisions...)))
		}
	default:
		if len(decisions) > 0 {
			d := oneOf(h.pick, "decision", decisions...)
			h.ask(Answer{Decision: d.ID, Option: oneOf(h.pick, "option", "", "1", "nudge", "retry", "done", "skip", "cancel", "9"), Message: oneOf(h.pick, "words", "", "do this")})
		}
	}
}

func (h *history) disturb() {
	switch h.pick(4, "disturbance") {
	case 0:
		h.restart()
	case 1: // two hooks at once write in another order
		if n := len(h.journal); h.read+1 < n {
			h.journal[n-1], h.journal[n-2] = h.journal[n-2], h.journal[n-1]
		}
	case 2: // the daemon decided, and died before the append
		if len(h.journal) > h.read {
			Decide(h.o, h.journal[h.read])
		}
	case 3: // an entry is told twice
		if h.read > 0 {
			h.tell(oneOf(h.pick, "twice", h.journal[:h.read]...))
		}
	}
}

// restart is kill -9 and a new daemon: replay, catch-up, the four rules, and the ends of
// what ended meanwhile.
func (h *history) restart() {
	h.crash()
	h.read -= h.pick(h.read+1, "cursor")
	h.ingest(true)
	h.happens(CaughtUp{})
	for _, e := range slices.Clone(h.o.Effects) {
		if open, is := h.o.Effect(e.Key); is && open.Started {
			h.happens(h.afterCrash(open))
		}
	}
	h.hear()
}

// hear reports the ends of processes again: the one that runs for the owner may be among
// them.
func (h *history) hear() {
	if s := h.o.Shell; s != nil && h.shells[s.Key] != nil && h.shells[s.Key].ended {
		p := h.shells[s.Key]
		h.happens(ShellExited{Key: s.Key, Code: p.code, Lost: p.lost})
	}
	if a := h.o.Agent; a != nil && h.agents[a.ID] != nil && h.agents[a.ID].ended {
		h.happens(AgentExited{AgentID: a.ID, Gone: true})
	}
	if h.o.hasChildren() {
		for _, c := range slices.Clone(h.o.Offspring.Children) {
			if p := h.children[c.ID]; c.Runs() && p != nil && p.ended {
				h.happens(h.childReport(c.ID))
			}
		}
	}
}

// settle lets the world come to rest: agents complete, commands succeed, people answer.
// The owner comes to its end, and nothing of it is left.
func (h *history) settle() {
	h.restart()
	for range 400 {
		h.now = h.now.Add(time.Minute)
		h.ingest(false)
		switch {
		case len(h.o.Effects) > 0:
			h.finish(h.o.Effects[0])
		case h.o.Terminal():
			if !h.alone() {
				h.stage.t.Fatalf("it is at its end, and something still runs:\n%v %v %v", living(h.shells), living(h.agents), living(h.children))
			}
			h.tidy(h.o)
			return
		case h.o.hasChildren():
			for _, p := range h.children {
				if p.alive {
					p.alive, p.ended, p.state = false, true, ChildDone
				}
			}
			h.hear()
		case h.o.Status == Queued:
			h.happens(Admit{})
		case h.o.Decision != nil:
			h.ask(randomAnswer(h.pick, *h.o.Decision))
		case h.o.Shell != nil:
			h.shells[h.o.Shell.Key] = &process{ended: true}
			h.hear()
		case !h.o.Timers[cooldown].IsZero():
			h.fires(cooldown)
		case !h.o.Timers[retry].IsZero():
			h.fires(retry)
		case h.o.Agent != nil && !h.o.Agent.Exited:
			id := h.o.Agent.ID
			h.says(AgentSignal{AgentID: id, Signal: Signal{Kind: SignalComplete}})
			h.says(AgentRested{AgentID: id, Prompt: h.prompt()})
		default:
			h.stage.t.Fatalf("nothing moves it:\n%s", text(h.o))
		}
	}
	h.stage.t.Fatalf("it does not come to its end:\n%s", text(h.o))
}

func (h *history) finish(e OpenEffect) {
	if !e.Started {
		h.happens(EffectStarted{e.Key})
	}
	result := h.act(e.Effect)
	if result == nil {
		result = EffectDone{e.Key}
	}
	h.happens(result)
}

func propertyDecide(t *rapid.T) {
	pick := func(n int, what string) int { return rapid.IntRange(0, n-1).Draw(t, what) }
	h := newHistory(t, pick)
	for range rapid.IntRange(0, 80).Draw(t, "length") {
		h.once()
	}
	h.settle()
}

// The worlds are the same in every run; make fuzz looks for others.
func TestOwnersInManyWorlds(t *testing.T) {
	racetest.Skip(t)
	seed := flag.Lookup("rapid.seed").Value
	if seed.String() != "0" {
		rapid.Check(t, propertyDecide)
		return
	}
	defer func() { _ = seed.Set("0") }()
	for i := range 5 { // of 100 worlds each
		check(t, seed.Set(strconv.Itoa(i+1)))
		if !t.Run(strconv.Itoa(i), func(t *testing.T) { rapid.Check(t, propertyDecide) }) {
			break
		}
	}
}

func FuzzDecide(f *testing.F) { f.Fuzz(rapid.MakeFuzz(propertyDecide)) }
