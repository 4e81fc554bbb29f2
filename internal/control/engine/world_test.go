package engine

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/control/runbook"
)

// picker makes choices: 0 ≤ the choice < n.
type picker func(n int, what string) int

func (pick picker) chance(percent int, what string) bool { return pick(100, what) < percent }

func oneOf[E any](pick picker, what string, from ...E) E { return from[pick(len(from), what)] }

// randomPlan is a pipeline of one to five steps with whatever a runbook can say.
func randomPlan(pick picker) runbook.Plan {
	names := []string{"a", "b", "c", "d", "e"}[:1+pick(5, "steps")]
	target := func(what string) string {
		if !pick.chance(40, what) {
			return ""
		}
		return oneOf(pick, "target", names...)
	}
	p := runbook.Plan{Agents: map[string]runbook.Agent{}}
	for i, name := range names {
		step := runbook.Step{Name: name, Run: runbook.Run{Shell: "run ${var.x}"}, OnDone: target("on_done"), OnFail: target("on_fail"), OnCancel: target("on_cancel")}
		if i+1 < len(names) && pick.chance(60, "goes on") {
			step.OnDone = names[i+1]
		}
		step.Timeout = oneOf(pick, "timeout", 0, 0, time.Minute, 2*time.Hour)
		step.If = oneOf(pick, "if", "", "", "", "${var.x} == 1", "${steps.a.error} != ''", "!${var.x}")
		if pick.chance(20, "retry") {
			step.Retry = runbook.Retry{Attempts: 1 + pick(3, "tries"), Backoff: oneOf(pick, "backoff", 0, time.Minute)}
		}
		if pick.chance(15, "approval") {
			step.Run, step.Approval = runbook.Run{}, randomApproval(pick, target("option"))
			p.Pipeline.Steps = append(p.Pipeline.Steps, step)
			continue
		}
		if pick.chance(60, "agent") {
			agent := randomAgent(pick, "agent-"+name)
			step.Run = runbook.Run{Agent: agent.Name}
			p.Agents[agent.Name] = agent
		}
		step.Cwd = oneOf(pick, "cwd", "", "", "below", "/elsewhere")
		if pick.chance(25, "group") {
			randomGroup(pick, step, &p)
			continue
		}
		p.Pipeline.Steps = append(p.Pipeline.Steps, step)
	}
	p.Pipeline.OnDone, p.Pipeline.OnFail, p.Pipeline.OnCancel = target("on_done"), target("on_fail"), target("on_cancel")
	p.Pipeline.Finally = target("finally")
	p.Pipeline.MaxVisits = oneOf(pick, "max_visits", 0, 0, 1, 8)
	p.Pipeline.Budget, p.Pipeline.Expire = randomLimits(pick)
	p.Pipeline.Workspace = randomWorkspace(pick, 40)
	if pick.chance(30, "group") {
		p.Pipeline.Concurrency = randomConcurrency(pick)
	}
	if pick.chance(30, "notify") {
		p.Pipeline.Notify = runbook.Notify{OnStart: "${name} starts", OnDone: "done", OnFail: "failed: ${error}"}
	}
	return p
}

// randomGroup adds a step that runs what the step would in several ways at once.
func randomGroup(pick picker, step runbook.Step, p *runbook.Plan) {
	step.Retry = runbook.Retry{}
	step.Limit, step.FailFast = pick(3, "limit"), pick.chance(30, "fail_fast")
	switch pick(3, "kind") {
	case 0:
		branch := step
		branch.OnDone, branch.OnFail, branch.OnCancel, branch.Limit, branch.FailFast = "", "", "", 0, false
		step.Run, step.Parallel, step.Cwd = runbook.Run{}, true, ""
		p.Pipeline.Steps = append(p.Pipeline.Steps, step)
		var before []string
		for i := range 1 + pick(3, "branches") {
			branch.Name, branch.Of = step.Name+"-"+string(rune('x'+i)), step.Name
			branch.Needs = nil
			for _, name := range before {
				if pick.chance(40, "needs") {
					branch.Needs = append(branch.Needs, name)
				}
			}
			before = append(before, branch.Name)
			p.Pipeline.Steps = append(p.Pipeline.Steps, branch)
		}
		return
	case 1:
		step.ForEach = oneOf(pick, "items", runbook.ForEach{List: []string{"a", "$(b)", "c"}}, runbook.ForEach{Text: "${var.x}\n2\n"}, runbook.ForEach{Text: `["1", {"n": 2}]`}, runbook.ForEach{Text: "\n"})
	case 2:
		step.Run = runbook.Run{Pipeline: "sub"}
		if p.Pipelines == nil {
			sub := runbook.Pipeline{Name: "sub", Outputs: map[string]string{"n": "1"}, Steps: []runbook.Step{{Name: "one", Run: runbook.Run{Shell: "one"}, OnDone: "two"}, {Name: "two", Run: runbook.Run{Shell: "two"}}}}
			sub.Workspace, sub.Finally = randomWorkspace(pick, 30), oneOf(pick, "sub finally", "", "two")
			p.Pipelines = map[string]runbook.Pipeline{"sub": sub}
		}
	}
	p.Pipeline.Steps = append(p.Pipeline.Steps, step)
}

// randomConcurrency is one of two groups, whose limits are their names.
func randomConcurrency(pick picker) runbook.Concurrency {
	limit := 1 + pick(2, "limit")
	return runbook.Concurrency{Group: "${name}-" + strconv.Itoa(limit), Limit: limit, WhenFull: oneOf(pick, "when_full", runbook.FullWait, runbook.FullWait, runbook.FullWait, runbook.FullCancel)}
}

func randomApproval(pick picker, step string) *runbook.Approval {
	a := &runbook.Approval{Title: "go on?", Options: []runbook.ApprovalOption{{Name: "yes"}, {Name: "elsewhere", Step: step}, {Name: "no", Fail: true}}}
	if pick.chance(50, "approval expires") {
		a.Expire = runbook.ApprovalExpire{After: time.Hour, Answer: oneOf(pick, "answer", "yes", "no", "cancel")}
	}
	return a
}

func randomAgent(pick picker, name string) runbook.Agent {
	a := runbook.Agent{
		Name: name, Run: "claude", Prompt: "do ${var.x}", ClaudeCode: pick.chance(60, "client"),
		OnIdle:   randomAction(pick, runbook.Nudge, runbook.Done, runbook.Fail, runbook.Escalate, runbook.Gate),
		OnDead:   randomAction(pick, runbook.Done, runbook.Fail, runbook.Resume, runbook.Escalate, runbook.Gate),
		OnPrompt: randomAction(pick, runbook.Escalate, runbook.Escalate, runbook.Escalate, runbook.Escalate, runbook.Gate, runbook.Done, runbook.Fail),
		OnStop:   oneOf(pick, "on_stop", "", runbook.StopSignal, runbook.StopIdle, runbook.StopEscalate),
	}
	a.Budget, a.Expire = randomLimits(pick)
	a.Workspace = randomWorkspace(pick, 25)
	for range pick(3, "on_error") {
		a.OnError = append(a.OnError, runbook.ErrorAction{
			Match:  oneOf(pick, "match", "", runbook.RateLimited, runbook.NoInternet),
			Action: randomAction(pick, runbook.Fail, runbook.Resume, runbook.Escalate, runbook.Gate),
		})
	}
	return a
}

// testSite is where the workspaces of this world are.
var testSite = Site{Root: "/ws", Head: "main"}

func randomWorkspace(pick picker, percent int) (w runbook.Workspace) {
	if pick.chance(percent, "workspace") {
		w.Kind = oneOf(pick, "kind", runbook.Worktree, runbook.FolderCopy, runbook.FolderEmpty)
		w.Keep = oneOf(pick, "keep", "", runbook.KeepNever, runbook.KeepOnFailure, runbook.KeepAlways)
	}
	return w
}

func randomLimits(pick picker) (b runbook.Budget, e runbook.Expire) {
	if pick.chance(40, "budget") {
		b = runbook.Budget{USD: oneOf(pick, "usd", 0.0, 1, 5), Time: oneOf(pick, "time", 0, time.Minute, time.Hour)}
	}
	if pick.chance(30, "expire") {
		e.After = oneOf(pick, "after", time.Minute, 4*time.Hour)
		e.Answer = oneOf(pick, "answer", runbook.DefaultGoOn, runbook.DefaultDone, runbook.DefaultCancel)
	}
	return b, e
}

// randomPrompt is something that an agent asks, with a hook that waits for the answer.
func randomPrompt(pick picker, agent, ref string) AgentPrompt {
	p := AgentPrompt{AgentID: agent, Ref: ref, Type: oneOf(pick, "type", typeQuestion, typeQuestion, typePlan, typePermission, "other")}
	switch p.Type {
	case typeQuestion:
		for range pick(4, "questions") {
			p.Ask.Questions = append(p.Ask.Questions, Question{Question: "Which?", Multi: pick.chance(50, "multi"), Options: []Choice{{Label: "red"}, {Label: "cancel"}}})
		}
	case typePlan:
		p.Ask.Plan = "1. begin\n2. end"
	case typePermission:
		p.Ask.Tool, p.Ask.Input = "Bash", "rm -r x"
	}
	return p
}

// randomAnswer is what a person answers.
func randomAnswer(pick picker, d Decision) Answer {
	a := Answer{Decision: d.ID}
	switch {
	case d.Ask != nil && len(d.Ask.Questions) > 1 && pick.chance(80, "one by one"):
		for range d.Ask.Questions {
			a.Answers = append(a.Answers, oneOf(pick, "choice", "1", "red, 2", "something else"))
		}
	case pick.chance(20, "words"):
		a.Message = "do it so"
	default:
		a.Option = oneOf(pick, "option", d.Options...).Name
	}
	return a
}

func randomAction(pick picker, kinds ...runbook.ActionKind) runbook.Action {
	a := runbook.Action{Kind: oneOf(pick, "action", kinds...)}
	switch a.Kind {
	case runbook.Nudge, runbook.Resume:
		a.Message = oneOf(pick, "message", "", "go on with ${var.x}")
		a.Append = pick.chance(50, "append")
	case runbook.Gate:
		a.Run = "check"
	default:
		return a
	}
	a.Attempts = oneOf(pick, "attempts", 0, 1, 2, 3, runbook.Forever)
	a.Cooldown = oneOf(pick, "cooldown", 0, 0, 30*time.Second)
	return a
}

// process is a shell or an agent of the world.
type process struct {
	alive bool
	ended bool // by itself or killed
	code  int
	lost  bool // nobody knows how it ended
	spent float64
	cwd   string
	state ChildState // of a child
}

// outside is the world of one owner, which outlives the daemon: errands, terminals,
// people's screens. It counts what the rules allow.
type outside struct {
	t      fataler
	shells map[string]*process
	agents map[string]*process
	typed  map[string]int // by the effect's key
	told   map[string]int
	spaces map[string]*space // workspaces, by their directory
	family []*outside        // the worlds of its children

	children map[string]*process // where each is a thing of this world, not an owner of its own
}

// space is a workspace of the world.
type space struct{ there, dirty bool }

func newOutside(t fataler) *outside {
	return &outside{t: t, shells: map[string]*process{}, agents: map[string]*process{}, typed: map[string]int{}, told: map[string]int{}, spaces: map[string]*space{}, children: map[string]*process{}}
}

// act carries out an effect, in the way that the effect's package promises. The result
// is what is reported, or nil when the effect is done.
func (w *outside) act(e Effect) Happening {
	w.t.Helper()
	switch e.Kind {
	case StartShell:
		if w.shells[e.Key] == nil {
			w.shells[e.Key] = &process{alive: true, cwd: w.enter(e.Key, e.Shell.Cwd)}
		}
	case StartAgent:
		w.startAgent(e)
	case KillShell:
		w.kill(w.shells, e.Target)
	case KillAgent:
		w.kill(w.agents, e.Target)
	case SendAgent:
		if p := w.agents[e.Target]; p == nil || !p.alive {
			return EffectFailed{Key: e.Key, Why: "the agent is not there"}
		}
		if w.typed[e.Key]++; w.typed[e.Key] > 1 {
			w.t.Fatalf("effect %s was typed twice", e.Key)
		}
	case NotifyPerson:
		if w.told[e.Key]++; w.told[e.Key] > 1 {
			w.t.Fatalf("people were told twice of %s", e.Key)
		}
	case MakeWorkspace:
		made := w.spaces[e.Workspace.Dir]
		w.spaces[e.Workspace.Dir] = &space{there: true, dirty: made != nil && made.dirty}
		return WorkspaceMade{Key: e.Key, Found: made != nil && made.there}
	case RemoveWorkspace:
		return w.remove(e)
	case StartChild:
		if w.children[e.Target] == nil {
			w.children[e.Target] = &process{alive: true}
		}
	case CancelChild:
		if p := w.children[e.Target]; p.alive {
			p.alive, p.ended, p.state = false, true, ChildCancelled
		}
	}
	return nil
}

// enter checks that the directory is there in which something starts.
func (w *outside) enter(name, cwd string) string {
	w.t.Helper()
	if dir := spaceOf(cwd); dir != "" && (w.spaces[dir] == nil || !w.spaces[dir].there) {
		w.t.Fatalf("%s starts in %s, which is not there", name, cwd)
	}
	return cwd
}

// spaceOf is the workspace that a directory is in, if any.
func spaceOf(cwd string) string {
	below, in := strings.CutPrefix(cwd, testSite.Root+"/")
	name, _, _ := strings.Cut(below, "/")
	if !in {
		return ""
	}
	return testSite.Root + "/" + name
}

// remove removes a workspace in which nothing lives, unless work would be lost.
func (w *outside) remove(e Effect) Happening {
	w.t.Helper()
	dir := e.Workspace.Dir
	if name := w.lives(dir); name != "" {
		w.t.Fatalf("%s is removed while %s lives in it", dir, name)
	}
	s := w.spaces[dir]
	if s != nil && s.there && s.dirty {
		return WorkspaceRemoved{Key: e.Key, Kept: "1 uncommitted change (a.txt)"}
	}
	delete(w.spaces, dir)
	return WorkspaceRemoved{Key: e.Key}
}

// lives is the name of something that lives in a workspace, or "".
func (w *outside) lives(dir string) string {
	for _, all := range []map[string]*process{w.shells, w.agents} {
		for _, name := range living(all) {
			if spaceOf(all[name].cwd) == dir {
				return name
			}
		}
	}
	for _, child := range w.family {
		if name := child.lives(dir); name != "" {
			return name
		}
	}
	return ""
}

// soil leaves work behind in the workspace where something ran.
func (w *outside) soil(p *process) {
	if s := w.spaces[spaceOf(p.cwd)]; s != nil && s.there {
		s.dirty = true
	}
}

// tidy checks that those workspaces are there which the owner says are kept, and no others.
func (w *outside) tidy(o *Owner) {
	w.t.Helper()
	kept := map[string]bool{}
	for _, s := range o.Workspaces {
		kept[s.Dir] = s.State == WorkspaceStays
		if there := w.spaces[s.Dir] != nil && w.spaces[s.Dir].there; there != kept[s.Dir] {
			w.t.Fatalf("workspace %s is there: %v\n%s", s.Dir, there, text(o))
		}
		if s.Keep == runbook.KeepAlways && s.Had && s.State != WorkspaceStays {
			w.t.Fatalf("workspace %s was not kept\n%s", s.Dir, text(o))
		}
	}
	for dir := range w.spaces {
		if !kept[dir] && strings.Contains(dir, o.ID) {
			w.t.Fatalf("workspace %s is left behind\n%s", dir, text(o))
		}
	}
}

// unwanted reports whether an effect makes what a later one removes: then it may be passed over.
func unwanted(o *Owner, e Effect) bool {
	after := false
	for _, other := range o.Effects {
		if after && e.Kind == MakeWorkspace && other.Kind == RemoveWorkspace && other.Workspace.Dir == e.Workspace.Dir {
			return true
		}
		after = after || other.Key == e.Key
	}
	return false
}

// startAgent starts an agent once, and never beside another.
func (w *outside) startAgent(e Effect) {
	w.t.Helper()
	if w.agents[e.Agent.ID] != nil {
		return
	}
	for id, p := range w.agents {
		if p.alive {
			w.t.Fatalf("agent %s is started while %s lives", e.Agent.ID, id)
		}
	}
	w.agents[e.Agent.ID] = &process{alive: true, cwd: w.enter(e.Agent.ID, e.Agent.Cwd)}
}

// kill ends a process, also one that has not started yet: then it never will.
func (w *outside) kill(all map[string]*process, name string) {
	if all[name] == nil {
		all[name] = &process{}
	}
	all[name].alive, all[name].ended = false, true
}

// afterCrash is what is known of an effect that was started before the daemon died.
func (w *outside) afterCrash(e OpenEffect) Happening {
	switch e.Kind {
	case NotifyPerson:
		return EffectDone{e.Key}
	case SendAgent:
		return EffectLost{e.Key, "the daemon died"}
	}
	if failed := w.act(e.Effect); failed != nil {
		return failed
	}
	return EffectDone{e.Key}
}

// living are the names of those that live, in order.
func living(all map[string]*process) []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if all[name].alive {
			names = append(names, name)
		}
	}
	return names
}

// alone reports that at the end nothing of the owner is left running.
func (w *outside) alone() bool {
	return len(living(w.shells)) == 0 && len(living(w.agents)) == 0 && len(living(w.children)) == 0
}
