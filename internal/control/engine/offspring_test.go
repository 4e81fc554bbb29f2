package engine

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/control/runbook"
)

// branches is a plan with a parallel step, then a last one.
func branches(group runbook.Step, all ...runbook.Step) runbook.Plan {
	group.Name, group.Parallel, group.OnDone = "all", true, "last"
	p := runbook.Plan{Pipeline: runbook.Pipeline{Name: "fix", Steps: []runbook.Step{group}}}
	for _, s := range all {
		s.Of = "all"
		if s.Run == (runbook.Run{}) && s.Approval == nil {
			s.Run.Shell = "run " + s.Name
		}
		p.Pipeline.Steps = append(p.Pipeline.Steps, s)
	}
	p.Pipeline.Steps = append(p.Pipeline.Steps, runbook.Step{Name: "last", Run: runbook.Run{Shell: "last"}})
	return p
}

// child is the newest child of a name.
func (s *stage) child(name string) Child {
	for _, c := range slices.Backward(s.o.Offspring.Children) {
		if c.Name == name {
			return c
		}
	}
	s.t.Fatalf("there is no child %q", name)
	return Child{}
}

func (s *stage) reports(name string, state ChildState, why string) {
	s.t.Helper()
	s.do(ChildReported{ID: s.child(name).ID, State: state, Why: why})
}

// states are those of all children.
func (s *stage) states() string {
	var all []string
	for _, c := range s.o.Offspring.Children {
		all = append(all, c.Name+" "+string(c.State))
	}
	return strings.Join(all, ", ")
}

func (s *stage) expect(states string) {
	s.t.Helper()
	if got := s.states(); got != states {
		s.t.Fatalf("got %s\nwant %s", got, states)
	}
}

func TestBranchesRunAtOnceAndInTheOrderOfTheirNeeds(t *testing.T) {
	s := start(t, branches(runbook.Step{}, runbook.Step{Name: "a"}, runbook.Step{Name: "b"}, runbook.Step{Name: "c", Needs: []string{"a", "b"}}))
	s.expect("a running, b running, c pending")
	s.reports("b", ChildDone, "")
	s.expect("a running, b done, c pending")
	s.reports("a", ChildDone, "")
	s.expect("a done, b done, c running")
	s.reports("c", ChildDone, "")
	s.is("last", Running)
}

func TestAFailedBranchFailsTheStepWhenAllHaveEnded(t *testing.T) {
	s := start(t, branches(runbook.Step{}, runbook.Step{Name: "a"}, runbook.Step{Name: "b"}, runbook.Step{Name: "c", Needs: []string{"a"}}, runbook.Step{Name: "d", Needs: []string{"c"}}))
	s.reports("a", ChildFailed, "exit status 1")
	s.expect("a failed, b running, c skipped, d skipped")
	s.reports("b", ChildDone, "")
	s.is(runbook.EndFailed, Ended)
	if s.o.Error != "1 of 4 failed: a: exit status 1" {
		t.Error(s.o.Error)
	}
}

func TestTheLimitOfItems(t *testing.T) {
	p := single(runbook.Step{Run: runbook.Run{Shell: "x"}, ForEach: runbook.ForEach{List: []string{"a", "b", "c"}}, Limit: 2})
	s := start(t, p)
	s.expect("step-1 running, step-2 running, step-3 pending")
	s.reports("step-2", ChildWaiting, "approval")
	s.expect("step-1 running, step-2 waiting, step-3 pending")
	s.reports("step-1", ChildDone, "")
	s.expect("step-1 done, step-2 waiting, step-3 running")
}

// single is a plan with one step.
func single(step runbook.Step) runbook.Plan {
	step.Name = "step"
	return runbook.Plan{Pipeline: runbook.Pipeline{Name: "fix", Steps: []runbook.Step{step}}}
}

func TestFailFastCancelsTheOthersAndWaitsForThem(t *testing.T) {
	s := start(t, branches(runbook.Step{FailFast: true}, runbook.Step{Name: "a"}, runbook.Step{Name: "b"}, runbook.Step{Name: "c", Needs: []string{"a"}}))
	s.carryOut()
	s.reports("a", ChildFailed, "no")
	if e := s.effect(CancelChild); e.Target != s.child("b").ID {
		t.Errorf("%+v", e)
	}
	s.is("all", Running)
	s.reports("b", ChildCancelled, "")
	s.is(runbook.EndFailed, Ended)
	if !strings.Contains(s.o.Error, "a: no") {
		t.Error(s.o.Error)
	}
	s.expect("a failed, b cancelled, c cancelled")
}

// What has not begun does not begin after the first failure.
func TestFailFastStartsNothingMore(t *testing.T) {
	s := start(t, single(runbook.Step{Run: runbook.Run{Shell: "x"}, ForEach: runbook.ForEach{List: []string{"staging", "production"}}, Limit: 1, FailFast: true}))
	s.carryOut()
	s.reports("step-1", ChildFailed, "no")
	s.is(runbook.EndFailed, Ended)
	s.expect("step-1 failed, step-2 cancelled")
}

func TestCancelWaitsForTheChildren(t *testing.T) {
	p := branches(runbook.Step{OnCancel: "last"}, runbook.Step{Name: "a"}, runbook.Step{Name: "b"})
	s := start(t, p)
	a := s.child("a").ID
	s.do(EffectStarted{s.o.Effects[0].Key})
	s.do(EffectDone{s.o.Effects[0].Key})
	s.do(Cancel{"enough"})
	s.expect("a running, b cancelled") // which was not started
	if e := s.effect(CancelChild); e.Target != a || s.o.Cancelled != "enough" {
		t.Errorf("%+v", e)
	}
	s.do(Cancel{"again"})
	s.is("all", Running)
	s.reports("a", ChildCancelled, "enough")
	s.is("last", Running)
	s.do(ShellExited{Key: s.o.Shell.Key})
	s.is(runbook.EndCancelled, Ended)
}

func TestTheTimeOfAGroupIsThatOfAll(t *testing.T) {
	s := start(t, branches(runbook.Step{Timeout: time.Minute}, runbook.Step{Name: "a"}))
	s.carryOut()
	s.reports("a", ChildWaiting, "approval")
	if _, set := s.o.Timers[timeout]; set || !s.o.Waits() || s.o.AtWork() {
		t.Errorf("time passes while a person is waited for: %s", text(s.o))
	}
	s.now = s.now.Add(time.Hour)
	s.reports("a", ChildRunning, "")
	s.elapse(timeout)
	s.is("all", Running)
	if _, again := s.o.Timers[timeout]; again {
		t.Error("it times out again and again")
	}
	s.reports("a", ChildCancelled, "")
	s.is(runbook.EndFailed, Ended)
	if s.o.Error != "timed out after 1m" {
		t.Error(s.o.Error)
	}
}

// While the pipelines of a step wait for room in their group, no time of the step passes, and no person
// is waited for.
func TestTimeStandsStillWhileChildrenAreQueued(t *testing.T) {
	s := start(t, branches(runbook.Step{Timeout: time.Minute}, runbook.Step{Name: "a"}, runbook.Step{Name: "b"}))
	s.carryOut()
	s.reports("a", ChildQueued, "")
	if _, set := s.o.Timers[timeout]; !set || !s.o.AtWork() {
		t.Error("no time passes although b runs")
	}
	s.reports("b", ChildWaiting, "approval")
	if _, set := s.o.Timers[timeout]; set || s.o.AtWork() || s.o.Waits() || s.o.progress() != ChildQueued {
		t.Errorf("time passes, or a person is waited for: %s", text(s.o))
	}
	s.reports("a", ChildRunning, "")
	if _, set := s.o.Timers[timeout]; !set || s.o.progress() != ChildRunning {
		t.Error("no time passes although a runs")
	}
	s.reports("a", ChildQueued, "")
	s.do(Cancel{"enough"})
	s.reports("a", ChildCancelled, "")
	s.reports("b", ChildCancelled, "")
	s.is(runbook.EndCancelled, Ended)
}

// A child that waits for room tells its parent so, and also when it goes on.
func TestAQueuedChildTellsItsParent(t *testing.T) {
	plan := single(runbook.Step{Run: runbook.Run{Pipeline: "other"}})
	plan.Pipelines = map[string]runbook.Pipeline{"other": {
		Name: "other", Concurrency: runbook.Concurrency{Group: "g", Limit: 1}, Steps: []runbook.Step{{Name: "x", Run: runbook.Run{Shell: "x"}}},
	}}
	s := start(t, plan)
	create, _ := s.o.Child(s.child("step").ID)
	_, child, err := Decide(nil, Input{ID: "create", Time: s.now, What: create})
	if err != nil || child.Report().State != ChildQueued || child.Told != ChildQueued {
		t.Fatalf("%v, %s", err, text(child))
	}
	_, child, err = Decide(child, Input{ID: "admit", Time: s.now, What: Admit{}})
	if err != nil || child.Report().State != ChildRunning || child.Told != ChildRunning {
		t.Errorf("%v, %s", err, text(child))
	}
}

func TestResumeKeepsWhatIsDone(t *testing.T) {
	s := start(t, branches(runbook.Step{}, runbook.Step{Name: "a"}, runbook.Step{Name: "b"}))
	a, b := s.child("a").ID, s.child("b").ID
	s.do(ChildReported{ID: a, State: ChildDone, Output: Output{Values: map[string]string{"n": "1"}}})
	s.reports("b", ChildFailed, "no")
	s.do(Resume{})
	s.expect("a done, b running")
	if s.child("a").ID != a || s.child("b").ID == b {
		t.Errorf("%s", text(s.o.Offspring))
	}
	if s.o.Outputs["a"].Values["n"] != "1" {
		t.Error("what a left behind is gone")
	}
	s.reports("b", ChildDone, "")
	s.is("last", Running)
}

// A pipeline that came to its end after its step had run out of time is done when the step is resumed,
// with what it left behind.
func TestResumeKeepsTheOutputsOfWhatIsDone(t *testing.T) {
	plan := single(runbook.Step{Run: runbook.Run{Pipeline: "other"}, Timeout: time.Minute, OnDone: "last"})
	plan.Pipelines = map[string]runbook.Pipeline{"other": {Name: "other", Steps: []runbook.Step{{Name: "x", Run: runbook.Run{Shell: "x"}}}}}
	plan.Pipeline.Steps = append(plan.Pipeline.Steps, runbook.Step{Name: "last", Run: runbook.Run{Shell: `echo "${steps.step.output.n}"`}})
	s := start(t, plan)
	s.carryOut()
	s.elapse(timeout)
	s.do(ChildReported{ID: s.child("step").ID, State: ChildDone, Output: Output{Values: map[string]string{"n": "1"}}})
	s.is(runbook.EndFailed, Ended)
	s.do(Resume{})
	s.is("last", Running)
	if got := s.o.Outputs["step"]; got.Values["n"] != "1" || got.Error != "" {
		t.Errorf("%+v", got)
	}
}

func TestTheBudgetIsSharedOut(t *testing.T) {
	p := branches(runbook.Step{Limit: 2}, runbook.Step{Name: "a"}, runbook.Step{Name: "b"}, runbook.Step{Name: "c"})
	p.Pipeline.Budget = runbook.Budget{USD: 9, Time: time.Hour}
	s := start(t, p)
	if s.child("a").USD != 3 || s.child("b").USD != 3 {
		t.Errorf("%s", text(s.o.Offspring))
	}
	s.do(ChildReported{ID: s.child("a").ID, State: ChildDone, Cost: Spent{USD: 1}})
	if got := s.child("c").USD; got != 5 || s.o.Cost().USD != 1 {
		t.Errorf("c may cost %v, of 9 less 1 that was spent and 3 that b may spend", got)
	}
	c, _ := s.o.Child(s.child("c").ID)
	if c.Plan.Pipeline.Budget.USD != 5 || c.Plan.Pipeline.Budget.Time <= 0 || c.Plan.Pipeline.Budget.Time > time.Hour {
		t.Errorf("%+v", c.Plan.Pipeline.Budget)
	}
}

func TestItems(t *testing.T) {
	for text, want := range map[string][]string{
		"":                           nil,
		" a \n\n b c\r\n":            {"a", "b c"},
		`["a", 1, {"n": "x"}, null]`: {"a", "1", `{"n": "x"}`, ""},
		"[]":                         nil,
	} {
		got, err := splitItems(text)
		if d := cmp.Diff(want, got); err != nil || d != "" {
			t.Errorf("%q: %v %s", text, err, d)
		}
	}
	if _, err := splitItems("[1"); err == nil {
		t.Error("that is no array")
	}
	s := start(t, single(runbook.Step{Run: runbook.Run{Shell: "x"}, ForEach: runbook.ForEach{Text: "\n"}}))
	s.is(runbook.EndDone, Ended)
	s = start(t, single(runbook.Step{Run: runbook.Run{Shell: "x"}, ForEach: runbook.ForEach{Text: "[1"}}))
	s.is(runbook.EndFailed, Ended)
	s = start(t, single(runbook.Step{Run: runbook.Run{Shell: "x"}, ForEach: runbook.ForEach{Text: strings.Repeat("a\n", maxItems+1)}}))
	if s.is(runbook.EndFailed, Ended); s.o.Error != "for_each: 501 items; at most 500" {
		t.Error(s.o.Error)
	}
}

func TestAnItemIsATemplateAndAVariable(t *testing.T) {
	s := start(t, single(runbook.Step{Run: runbook.Run{Shell: `echo "${item}" "${item.n}"`}, ForEach: runbook.ForEach{Text: `[{"n": "$(x)"}]`}, Timeout: time.Minute}))
	create, _ := s.o.Child(s.child("step-1").ID)
	c := newStage(t, create.Owner)
	c.do(create)
	shell := c.effect(StartShell).Shell
	if shell.Script != `echo "{\"n\": \"\$(x)\"}" "\$(x)"` || shell.Env[itemVariable] != `{"n": "$(x)"}` {
		t.Errorf("%+v", shell)
	}
	if c.o.Shell.Timeout != time.Minute || c.o.Name != "fix/step-1" {
		t.Errorf("%s", text(c.o))
	}
}

// What items leave behind is a list, in their order.
func TestWhatItemsLeaveBehind(t *testing.T) {
	s := start(t, single(runbook.Step{Run: runbook.Run{Shell: "x"}, ForEach: runbook.ForEach{List: []string{"a", "b"}}}))
	s.do(ChildReported{ID: s.child("step-2").ID, State: ChildDone, Output: Output{Values: map[string]string{"n": `"2"`}}})
	if _, early := s.o.Outputs["step"]; early {
		t.Error("not all have ended")
	}
	s.do(ChildReported{ID: s.child("step-1").ID, State: ChildDone})
	if got := s.o.Outputs["step"].Values["n"]; got != `["","\"2\""]` {
		t.Error(got)
	}
	s = start(t, single(runbook.Step{Run: runbook.Run{Shell: "x"}, ForEach: runbook.ForEach{List: []string{"a", "b"}}}))
	large := map[string]string{"n": strings.Repeat("x", maxValues-100)}
	s.do(ChildReported{ID: s.child("step-1").ID, State: ChildDone, Output: Output{Values: large}})
	s.do(ChildReported{ID: s.child("step-2").ID, State: ChildDone, Output: Output{Values: large}})
	if s.is(runbook.EndFailed, Ended); !strings.Contains(s.o.Error, "its outputs and those of the others have more than") {
		t.Error(s.o.Error)
	}
}

// No items leave a list behind as well, an empty one: a nightly run with nothing to do is not a failure.
func TestWhatNoItemsLeaveBehind(t *testing.T) {
	p := single(runbook.Step{Run: runbook.Run{Shell: "x"}, ForEach: runbook.ForEach{Text: "[]"}, OnDone: "sum"})
	p.Pipeline.Steps = append(p.Pipeline.Steps, runbook.Step{Name: "sum", Run: runbook.Run{Shell: `echo "${steps.step.output.n}"`}})
	s := start(t, p)
	if shell := s.effect(StartShell).Shell; shell.Script != `echo "[]"` {
		t.Errorf("%+v, %s", shell, s.o.Error)
	}
}

func TestAUsedPipelineGetsItsVariablesAndLeavesItsOutputs(t *testing.T) {
	p := single(runbook.Step{Run: runbook.Run{Pipeline: "sub"}, Vars: map[string]string{"to": "${var.x}!"}})
	p.Pipelines = map[string]runbook.Pipeline{"sub": {
		Name: "sub", Defaults: map[string]string{"to": "nowhere", "how": "fast"}, Outputs: map[string]string{"url": "${steps.up.output.url}", "none": "${steps.up.output.none}"},
		Steps: []runbook.Step{{Name: "up", Run: runbook.Run{Shell: "up"}}},
	}}
	s := start(t, p)
	create, _ := s.o.Child(s.child("step").ID)
	if d := cmp.Diff(map[string]string{"to": "1!", "how": "fast"}, create.Vars); d != "" {
		t.Error(d)
	}
	c := newStage(t, create.Owner)
	c.do(create)
	c.do(ShellExited{Key: c.o.Shell.Key, Output: map[string]string{"url": "u"}})
	if c.is(runbook.EndDone, Ended); c.effect(ReportToParent).Target != s.id {
		t.Error(text(c.last))
	}
	s.do(c.o.Report())
	s.is(runbook.EndDone, Ended)
	if d := cmp.Diff(map[string]string{"url": "u"}, s.o.Outputs["step"].Values); d != "" {
		t.Error(d)
	}
	if r := c.refused(Resume{}); !strings.Contains(r.Why, "resume that one") {
		t.Error(r)
	}
}

func TestAParentHearsWhenAChildWaitsAndGoesOn(t *testing.T) {
	s := start(t, branches(runbook.Step{}, runbook.Step{Name: "a", Approval: &runbook.Approval{Title: "Go?", Options: []runbook.ApprovalOption{{Name: "yes"}}}}))
	create, _ := s.o.Child(s.child("a").ID)
	c := newStage(t, create.Owner)
	c.do(create)
	c.effect(ReportToParent)
	s.do(c.o.Report())
	if s.expect("a waiting"); !s.o.Waits() || s.o.WaitingFor() != "a: approval" {
		t.Error(text(s.o.Offspring))
	}
	c.do(Answer{Decision: c.o.Decision.ID, Option: "yes"})
	s.do(c.o.Report())
	s.is("last", Running)
}

// A pipeline that is being cancelled does not wait for a person, though a child of it did.
func TestAPipelineThatIsBeingCancelledDoesNotWait(t *testing.T) {
	s := start(t, branches(runbook.Step{}, runbook.Step{Name: "a", Approval: &runbook.Approval{Title: "Go?", Options: []runbook.ApprovalOption{{Name: "yes"}}}}))
	create, _ := s.o.Child(s.child("a").ID)
	c := newStage(t, create.Owner)
	c.do(create)
	s.do(EffectStarted{s.o.Effects[0].Key})
	s.do(EffectDone{s.o.Effects[0].Key})
	s.do(c.o.Report())
	if !s.o.Waits() {
		t.Fatal(text(s.o.Offspring))
	}
	if s.do(Cancel{}); s.o.Waits() || s.o.Terminal() {
		t.Error(text(s.o.Offspring))
	}
}

// A child works in its parent's workspace, and leaves it alone.
func TestAChildWorksInItsParentsWorkspace(t *testing.T) {
	p := branches(runbook.Step{}, runbook.Step{Name: "a", Run: runbook.Run{Shell: `ls "${workspace.path}"`}, Cwd: "sub"})
	p.Pipeline.Workspace = runbook.Workspace{Kind: runbook.Worktree}
	s := newStage(t, testOwner)
	s.do(Create{Owner: s.id, Kind: Pipeline, Name: "fix", Project: "/p", Cwd: "/p", Plan: p, Site: testSite})
	if s.effects() != "workspace:make child:start" {
		t.Fatal(s.effects())
	}
	create, _ := s.o.Child(s.child("a").ID)
	c := newStage(t, create.Owner)
	c.do(create)
	dir := s.o.Workspaces[""].Dir
	if shell := c.effect(StartShell).Shell; shell.Cwd != dir+"/sub" || shell.Script != `ls "`+dir+`"` {
		t.Errorf("%+v", shell)
	}
	c.do(ShellExited{Key: c.o.Shell.Key})
	if c.is(runbook.EndDone, Ended); strings.Contains(c.effects(), "workspace") {
		t.Error(c.effects())
	}
}

// A pipeline that runs another one of its own group does not wait for itself.
func TestAChildHasItsParentsRoom(t *testing.T) {
	p := single(runbook.Step{Run: runbook.Run{Pipeline: "sub"}})
	p.Pipeline.Concurrency = runbook.Concurrency{Group: "g", Limit: 1}
	p.Pipelines = map[string]runbook.Pipeline{"sub": {
		Name: "sub", Concurrency: runbook.Concurrency{Group: "g", Limit: 1}, Steps: []runbook.Step{{Name: "up", Run: runbook.Run{Shell: "up"}}},
	}}
	s := start(t, p)
	s.do(Admit{})
	create, _ := s.o.Child(s.child("step").ID)
	c := newStage(t, create.Owner)
	c.do(create)
	c.is("up", Running)
}

// Lists within lists stay within one bound, however they are shared out.
func TestListsWithinListsAreBounded(t *testing.T) {
	items := runbook.ForEach{Text: strings.Repeat("a\n", maxItems)}
	p := single(runbook.Step{Run: runbook.Run{Pipeline: "sub"}, ForEach: items})
	p.Pipelines = map[string]runbook.Pipeline{"sub": {Name: "sub", Steps: []runbook.Step{{Name: "each", Run: runbook.Run{Shell: "x"}, ForEach: items}}}}
	s := start(t, p)
	create, _ := s.o.Child(s.child("step-1").ID)
	c := newStage(t, create.Owner)
	c.do(create)
	c.is(runbook.EndFailed, Ended)
	want := "500 at once; at most 20 here, because the pipeline that this one belongs to may have 10000 in all"
	if c.o.Error != want {
		t.Errorf("got %s\nwant %s", c.o.Error, want)
	}

	c.o.Parent.Room = 0 // as a child of an older version
	if c.o.room() != maxFamily {
		t.Errorf("a child without a bound has room for %d", c.o.room())
	}
}
