package engine

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/control/runbook"
)

// spaced is a plan of shell steps in a worktree.
func spaced(keep runbook.Keep, names ...string) runbook.Plan {
	p := shells(names...)
	p.Pipeline.Workspace = runbook.Workspace{Kind: runbook.Worktree, Branch: "fix/${var.x}", Base: "main", Keep: keep}
	return p
}

// startAt puts a pipeline with workspaces on a stage.
func startAt(t testing.TB, plan runbook.Plan, site Site) *stage {
	t.Helper()
	s := newStage(t, testOwner)
	s.do(Create{Owner: s.id, Kind: Pipeline, Name: "fix", Command: "fix", Project: "/p/my project", Cwd: "/p/sub", Vars: map[string]string{"x": "17"}, Plan: plan, Site: site})
	return s
}

const testSpace = "/ws/my-project-" + testOwner

// made lets the workspace be made that is next.
func (s *stage) made() {
	s.t.Helper()
	e := s.o.Effects[0]
	if e.Kind != MakeWorkspace {
		s.t.Fatalf("the next effect is %s", e.Kind)
	}
	s.do(EffectStarted{e.Key})
	s.do(WorkspaceMade{Key: e.Key, Commit: "abc"})
}

// state is how far a workspace is.
func (s *stage) state(name string, want WorkspaceState) Workspace {
	s.t.Helper()
	w := s.o.Workspaces[name]
	if w.State != want {
		s.t.Fatalf("the workspace is %s, want %s\n%s", w.State, want, text(s.o))
	}
	return w
}

// exit ends the step's command.
func (s *stage) exit(code int) {
	s.t.Helper()
	s.do(EffectStarted{s.o.Shell.Key})
	s.do(EffectDone{s.o.Shell.Key})
	s.do(ShellExited{Key: s.o.Shell.Key, Code: code})
}

func TestTheFirstStepRunsInTheWorkspace(t *testing.T) {
	p := spaced("", "a", "b")
	p.Pipeline.Steps[0].Run.Shell = `echo "${workspace.path} ${workspace.branch} ${workspace.base}"`
	p.Pipeline.Steps[1].Cwd = "${step}/deep"
	p.Pipeline.Cwd = "sub"
	s := startAt(t, p, Site{Root: "/ws", Head: "main"})
	if s.effects() != "workspace:make shell:start" {
		t.Fatal(s.effects())
	}
	want := &WorkspaceTask{Dir: testSpace, Kind: runbook.Worktree, Project: "/p/my project", Branch: "fix/17", Base: "main"}
	if d := cmp.Diff(want, s.effect(MakeWorkspace).Workspace); d != "" {
		t.Error(d)
	}
	start := &ShellStart{Script: `echo "` + testSpace + ` fix/17 main"`, Cwd: testSpace + "/sub", Step: "a", Env: map[string]string{
		"VAR_X": "17", "STOPGATE_WORKSPACE": testSpace, "STOPGATE_WORKSPACE_BRANCH": "fix/17", "STOPGATE_WORKSPACE_BASE": "main",
	}}
	if d := cmp.Diff(start, s.effect(StartShell).Shell); d != "" {
		t.Error(d)
	}
	s.made()
	if w := s.state("", WorkspaceInUse); w.Commit != "abc" || w.Keep != runbook.KeepOnFailure {
		t.Errorf("%+v", w)
	}
	s.exit(0)
	if got := s.effect(StartShell).Shell.Cwd; got != testSpace+"/sub/b/deep" || s.effects() != "shell:start" {
		t.Errorf("%s in %s", s.effects(), got)
	}
	s.exit(0)
	s.is(runbook.EndDone, Ended)
	if s.effects() != "workspace:remove" {
		t.Error(s.effects())
	}
	s.state("", WorkspaceRemoving)
	s.do(WorkspaceRemoved{Key: s.effect(RemoveWorkspace).Key, Note: "branch fix/17 has 1 commit"})
	s.state("", WorkspaceGone)
	if len(s.o.Effects) > 0 {
		t.Error(text(s.o.Effects))
	}
}

// A project below the top of its repository is at the same place in the workspace.
func TestTheProjectInTheWorkspace(t *testing.T) {
	s := startAt(t, spaced("", "a"), Site{Root: "/ws", Within: "services/api"})
	if got := s.effect(StartShell).Shell.Cwd; got != testSpace+"/services/api" {
		t.Error(got)
	}
	if got := s.effect(MakeWorkspace).Workspace.Within; got != "services/api" {
		t.Error(got)
	}
}

func TestDefaultsOfAWorkspace(t *testing.T) {
	p := spaced("", "a")
	p.Pipeline.Workspace.Branch, p.Pipeline.Workspace.Base = "", ""
	p.Pipeline.Notify.OnStart = "on ${workspace.branch}"
	s := startAt(t, p, Site{Root: "/ws", Head: "develop"})
	if w := s.o.Workspaces[""]; w.Branch != "stopgate/fix-"+testOwner || w.Base != "develop" {
		t.Errorf("%+v", w)
	}
	if got := s.effect(NotifyPerson).Text; got != "on stopgate/fix-"+testOwner {
		t.Error(got)
	}
}

func TestWhatKeepsAWorkspace(t *testing.T) {
	for _, test := range []struct {
		keep runbook.Keep
		end  string
		kept string
	}{
		{runbook.KeepNever, runbook.EndDone, ""},
		{runbook.KeepNever, runbook.EndFailed, ""},
		{runbook.KeepNever, runbook.EndCancelled, ""},
		{runbook.KeepOnFailure, runbook.EndDone, ""},
		{runbook.KeepOnFailure, runbook.EndFailed, "the pipeline failed"},
		{runbook.KeepOnFailure, runbook.EndCancelled, ""},
		{runbook.KeepAlways, runbook.EndDone, `keep = "always"`},
		{runbook.KeepAlways, runbook.EndFailed, `keep = "always"`},
		{runbook.KeepAlways, runbook.EndCancelled, `keep = "always"`},
	} {
		t.Run(string(test.keep)+", "+test.end, func(t *testing.T) {
			p := spaced(test.keep, "a")
			p.Pipeline.Notify.OnFail = "failed: ${error}"
			s := startAt(t, p, testSite)
			s.made()
			switch test.end {
			case runbook.EndDone:
				s.exit(0)
			case runbook.EndFailed:
				s.exit(1)
			case runbook.EndCancelled:
				s.do(Cancel{})
			}
			s.is(test.end, Ended)
			if removes := strings.Contains(s.effects(), "workspace:remove"); removes != (test.kept == "") {
				t.Errorf("%s", s.effects())
			}
			if test.kept == "" {
				s.state("", WorkspaceRemoving)
				return
			}
			if w := s.state("", WorkspaceStays); w.Kept != test.kept {
				t.Errorf("%+v", w)
			}
			if test.end == runbook.EndFailed {
				want := "failed: exit status 1\nThe workspace was kept at " + testSpace + ": " + test.kept
				if got := s.effect(NotifyPerson).Text; got != want {
					t.Errorf("%q", got)
				}
			}
		})
	}
}

// Work that would be lost keeps it, and people are told where it is, and why.
func TestWorkThatWouldBeLostIsTold(t *testing.T) {
	s := startAt(t, spaced(runbook.KeepNever, "a"), testSite)
	s.made()
	s.exit(0)
	s.do(WorkspaceRemoved{Key: s.effect(RemoveWorkspace).Key, Kept: "1 untracked file (x)"})
	if w := s.state("", WorkspaceStays); w.Kept != "1 untracked file (x)" {
		t.Errorf("%+v", w)
	}
	told := s.effect(NotifyPerson)
	if told.Title != "Workspace kept: fix" || told.Text != testSpace+" (branch fix/17): 1 untracked file (x)" {
		t.Errorf("%+v", told)
	}
}

// Without the workspace nothing runs, and no on_fail helps: it would run somewhere else.
func TestAWorkspaceThatCannotBeMade(t *testing.T) {
	p := spaced("", "a", "b")
	p.Pipeline.OnFail = "b"
	s := startAt(t, p, testSite)
	shell := s.effect(StartShell).Key
	s.do(EffectFailed{Key: s.effect(MakeWorkspace).Key, Why: "branch fix/17 already exists"})
	s.is(runbook.EndFailed, Ended)
	if s.o.Error != "cannot make the workspace: branch fix/17 already exists" || s.o.Failed != "a" {
		t.Errorf("%q at %q", s.o.Error, s.o.Failed)
	}
	if _, open := s.o.Effect(shell); open {
		t.Error("the command would still start")
	}
	s.carryOut()

	s.do(Resume{Vars: map[string]string{"x": "18"}}) // with another name
	if got := s.effect(MakeWorkspace).Workspace; got.Branch != "fix/18" || got.Again {
		t.Errorf("%+v", got)
	}
	s.made()
	s.is("a", Running)
}

func TestCancelWhileTheWorkspaceIsMade(t *testing.T) {
	s := startAt(t, spaced(runbook.KeepAlways, "a"), testSite)
	key := s.effect(MakeWorkspace).Key
	s.do(EffectStarted{key})
	s.do(Cancel{})
	s.is(runbook.EndCancelled, Ended)
	if s.effects() != "shell:kill workspace:remove" {
		t.Fatal(s.effects())
	}
	s.do(EffectDone{key}) // it was not wanted any more
	s.carryOutRemoval()
	s.state("", WorkspaceFailing)
}

// carryOutRemoval lets what is left be done.
func (s *stage) carryOutRemoval() {
	s.t.Helper()
	for len(s.o.Effects) > 0 {
		e := s.o.Effects[0]
		if e.Kind == RemoveWorkspace {
			s.do(WorkspaceRemoved{Key: e.Key})
			continue
		}
		s.do(EffectDone{e.Key})
	}
}

// What cleans up runs in the workspace too, which is made for it where it is not there.
func TestOnCancelRunsInTheWorkspace(t *testing.T) {
	p := spaced(runbook.KeepNever, "a", "clean")
	p.Pipeline.Steps[0].OnDone = ""
	p.Pipeline.OnCancel = "clean"
	s := startAt(t, p, testSite)
	s.do(Cancel{})
	s.is("clean", Running)
	if got := s.effect(StartShell).Shell.Cwd; got != testSpace || strings.Contains(s.effects(), "workspace") {
		t.Errorf("%s in %s", s.effects(), got)
	}
	s.made()
	s.exit(0)
	s.is(runbook.EndCancelled, Ended)
	s.state("", WorkspaceRemoving)
}

// A failed pipeline that is resumed finds its workspace, or makes it again on its branch.
func TestResumeInTheWorkspace(t *testing.T) {
	for _, keep := range []runbook.Keep{runbook.KeepOnFailure, runbook.KeepNever} {
		s := startAt(t, spaced(keep, "a"), testSite)
		s.made()
		s.exit(1)
		if keep == runbook.KeepNever {
			s.carryOutRemoval()
		}
		s.do(Resume{Vars: map[string]string{"x": "99"}})
		want := &WorkspaceTask{Dir: testSpace, Kind: runbook.Worktree, Project: "/p/my project", Branch: "fix/17", Base: "main", Again: true}
		if d := cmp.Diff(want, s.effect(MakeWorkspace).Workspace); d != "" {
			t.Errorf("%s: %s", keep, d)
		}
		s.made()
		s.exit(0)
		s.is(runbook.EndDone, Ended)
		s.state("", WorkspaceRemoving)
	}
}

// Resumed before it was removed, it is removed and made again, in this order.
func TestResumeBeforeItIsRemoved(t *testing.T) {
	s := startAt(t, spaced(runbook.KeepNever, "a"), testSite)
	s.made()
	s.exit(1)
	removal := s.effect(RemoveWorkspace).Key
	s.do(Resume{})
	s.state("", WorkspaceMaking)
	s.do(WorkspaceRemoved{Key: removal, Kept: "1 untracked file (x)"})
	s.state("", WorkspaceMaking)
	s.made()
	s.state("", WorkspaceInUse)
}

// What becomes of an older effect says nothing about the one after it: here the workspace is made,
// removed and to be made again, and the last of that fails.
func TestTheLatestEffectDecides(t *testing.T) {
	p := work(owned(runbook.KeepNever))
	p.Pipeline.Steps[0].OnCancel = "work"
	s := startAt(t, p, testSite)
	first := s.effect(MakeWorkspace).Key
	s.do(EffectStarted{first})
	s.do(Cancel{})
	removal, second, agent := s.effect(RemoveWorkspace).Key, s.effect(MakeWorkspace).Key, s.effect(StartAgent).Key
	s.do(WorkspaceMade{Key: first})
	s.state("worker", WorkspaceMaking)
	s.do(WorkspaceRemoved{Key: removal})
	s.state("worker", WorkspaceMaking)
	s.do(EffectFailed{Key: second, Why: "no space left on device"})
	if _, open := s.o.Effect(agent); open {
		t.Error("the agent would start where nothing is")
	}
	s.is(runbook.EndCancelled, Ended)
}

// A workspace that is found again is not new: left at that moment, it is kept as told.
func TestLeftWhileItIsFoundAgain(t *testing.T) {
	s := startAt(t, spaced(runbook.KeepAlways, "a"), testSite)
	s.made()
	s.exit(1)
	s.state("", WorkspaceStays)
	s.do(Resume{})
	make := s.effect(MakeWorkspace).Key
	s.do(Cancel{})
	if s.state("", WorkspaceStays); strings.Contains(s.effects(), "workspace:remove") {
		t.Error(s.effects())
	}
	s.do(WorkspaceMade{Key: make, Found: true})
	s.state("", WorkspaceStays)
}

// owned is an agent with a workspace of its own.
func owned(keep runbook.Keep) runbook.Agent {
	a := worker()
	a.Cwd, a.Prompt = "deep", "work in ${workspace.path} on ${workspace.branch}"
	a.Workspace = runbook.Workspace{Kind: runbook.Worktree, Branch: "${agent}/${var.x}", Keep: keep}
	return a
}

func TestAnAgentWithAWorkspaceOfItsOwn(t *testing.T) {
	p := work(owned(""), "after")
	p.Pipeline.Workspace = runbook.Workspace{Kind: runbook.FolderEmpty}
	p.Pipeline.Cwd = "/absolute"
	s := startAt(t, p, testSite)
	if s.effects() != "workspace:make agent:start" {
		t.Fatal(s.effects())
	}
	own := testSpace + "-worker"
	start := s.effect(StartAgent).Agent
	if start.Cwd != own+"/deep" || start.Prompt != "work in "+own+" on worker/17" {
		t.Errorf("%+v", start)
	}
	s.made()
	s.do(AgentSignal{AgentID: s.agent(), Signal: Signal{Kind: SignalComplete}})
	s.is("after", Running)
	if got := s.effects(); got != "agent:kill workspace:remove workspace:make shell:start" {
		t.Error(got)
	}
	if got := s.effect(RemoveWorkspace).Workspace.Dir; got != own {
		t.Error(got)
	}
	if got := s.effect(MakeWorkspace).Workspace; got.Dir != testSpace || got.Kind != runbook.FolderEmpty || got.Branch != "" {
		t.Errorf("%+v", got)
	}
	if got := s.effect(StartShell).Shell.Cwd; got != "/absolute" {
		t.Error(got)
	}
}

// A step that is entered again finds the workspace of its agent, or makes it on the same branch.
func TestAStepIsEnteredAgain(t *testing.T) {
	p := work(owned(""), "test")
	p.Pipeline.Steps[1].OnFail = "work"
	s := startAt(t, p, testSite)
	s.made()
	s.do(AgentSignal{AgentID: s.agent(), Signal: Signal{Kind: SignalComplete}})
	s.is("test", Running)
	s.carryOutRemovalUpTo(StartShell)
	s.exit(1)
	s.is("work", Running)
	if got := s.effect(MakeWorkspace).Workspace; !got.Again || got.Branch != "worker/17" {
		t.Errorf("%+v", got)
	}
}

// Its workspace goes with it, before what cleans up.
func TestAnAgentWithAWorkspaceIsCancelled(t *testing.T) {
	p := work(owned(""), "tidy")
	p.Pipeline.Steps[0].OnDone, p.Pipeline.OnCancel = "", "tidy"
	s := startAt(t, p, testSite)
	s.made()
	s.do(Cancel{})
	s.is("tidy", Running)
	if got := s.effects(); got != "agent:kill workspace:remove shell:start" {
		t.Error(got)
	}
}

func (s *stage) carryOutRemovalUpTo(kind EffectKind) {
	s.t.Helper()
	for len(s.o.Effects) > 0 && s.o.Effects[0].Kind != kind {
		e := s.o.Effects[0]
		if e.Kind == RemoveWorkspace {
			s.do(WorkspaceRemoved{Key: e.Key})
			continue
		}
		s.do(EffectDone{e.Key})
	}
}

func TestAnAgentWhoseWorkspaceCannotBeMade(t *testing.T) {
	p := work(owned(""), "help")
	p.Pipeline.Steps[0].OnDone, p.Pipeline.Steps[0].OnFail = "", "help"
	s := startAt(t, p, testSite)
	agent := s.effect(StartAgent).Key
	s.do(EffectFailed{Key: s.effect(MakeWorkspace).Key, Why: "no space left on device"})
	s.is("help", Running)
	if _, open := s.o.Effect(agent); open {
		t.Error("the agent would still start")
	}
	if !strings.Contains(s.o.Error, "cannot make the workspace: no space left on device") {
		t.Error(s.o.Error)
	}
}

// An agent that a person killed before it started leaves its gate, which would run where nothing is.
func TestAGateWhoseWorkspaceCannotBeMade(t *testing.T) {
	a := owned("")
	a.OnDead = runbook.Action{Kind: runbook.Gate, Run: "check"}
	s := startAt(t, work(a), testSite)
	space := s.effect(MakeWorkspace).Key
	s.do(Kill{s.agent()})
	gate := s.effect(StartShell).Key
	s.do(EffectFailed{Key: space, Why: "no space left on device"})
	if _, open := s.o.Effect(gate); open {
		t.Error("the gate would still run")
	}
	s.is(runbook.EndFailed, Ended)
}

// What could not be killed may still write: its workspace stays.
func TestWhatCannotBeKilledKeepsTheWorkspace(t *testing.T) {
	s := startAt(t, spaced(runbook.KeepNever, "a"), testSite)
	s.made()
	s.do(EffectStarted{s.o.Shell.Key})
	s.do(EffectDone{s.o.Shell.Key})
	s.do(Cancel{})
	kill, removal := s.effect(KillShell).Key, s.effect(RemoveWorkspace).Key
	s.do(EffectFailed{Key: kill, Why: "it is in the kernel"})
	if _, open := s.o.Effect(removal); open {
		t.Error("it is removed")
	}
	if w := s.state("", WorkspaceStays); w.Kept != "a process in it could not be killed: it is in the kernel" {
		t.Errorf("%+v", w)
	}
}

func TestAWorkspaceThatCannotBeRemoved(t *testing.T) {
	s := startAt(t, spaced(runbook.KeepNever, "a"), testSite)
	s.made()
	s.exit(0)
	s.do(EffectFailed{Key: s.effect(RemoveWorkspace).Key, Why: "permission denied"})
	s.is(runbook.EndDone, Ended)
	if w := s.state("", WorkspaceStays); w.Kept != "it could not be removed: permission denied" || s.effects() != "notify" {
		t.Errorf("%+v, %s", w, s.effects())
	}
}

func TestAPlaceForWorkspacesIsNeeded(t *testing.T) {
	s := newStage(t, testOwner)
	if r := s.refused(Create{Owner: s.id, Kind: Pipeline, Plan: spaced("", "a")}); r.Code != "invalid" {
		t.Errorf("%+v", r)
	}
}

func TestNamesOfWorkspaces(t *testing.T) {
	for project, want := range map[string]string{
		"/p/my project": "my-project-1", "/": "workspace-1", "/p/..": "workspace-1", "/p/.dots.": "dots-1",
		"/p/größe": "gr--e-1", "/p/" + strings.Repeat("x", 90): strings.Repeat("x", 40) + "-1",
	} {
		d := &draft{Owner: &Owner{ID: "1", Project: project}}
		if got := d.workspaceName(""); got != want {
			t.Errorf("%s: %s", project, got)
		}
	}
}

// A step's cwd is seen from the pipeline's, also without a workspace.
func TestCwdOfAStep(t *testing.T) {
	for step, want := range map[string]string{"": "/p/sub/in", "x/${var.x}": "/p/sub/in/x/1", "/abs": "/abs", "..": "/p/sub"} {
		p := shells("a")
		p.Pipeline.Cwd, p.Pipeline.Steps[0].Cwd = "in", step
		s := start(t, p)
		if got := s.effect(StartShell).Shell.Cwd; got != want {
			t.Errorf("%q: %s", step, got)
		}
		a := work(worker())
		a.Pipeline.Cwd, a.Pipeline.Steps[0].Cwd = "in", step
		if got := start(t, a).effect(StartAgent).Agent.Cwd; got != want {
			t.Errorf("%q: the agent starts in %s", step, got)
		}
	}
}

// What comes from an import with an alias has a colon in its name, which a branch must not have.
func TestWorkspaceOfAnImportedPipeline(t *testing.T) {
	a := worker()
	a.Name, a.Workspace = "team:worker", runbook.Workspace{Kind: runbook.Worktree}
	p := work(a)
	s := newStage(t, testOwner)
	s.do(Create{Owner: s.id, Kind: Pipeline, Name: "team:fix", Command: "team:fix", Project: "/p", Cwd: "/p", Plan: p, Site: Site{Root: "/ws", Head: "main"}})
	w := s.effect(MakeWorkspace).Workspace
	if w.Branch != "stopgate/team-fix-team-worker-"+testOwner || w.Dir != "/ws/p-"+testOwner+"-team-worker" {
		t.Errorf("%+v", w)
	}
}

// A workspace that was kept is removed when a person says so: not while it is in use, not twice, and never
// with work in it.
func TestDiscardAWorkspace(t *testing.T) {
	p := shells("a")
	p.Pipeline.Workspace = runbook.Workspace{Kind: runbook.Worktree, Branch: "fix/${var.x}", Base: "main", Keep: runbook.KeepAlways}
	s := startAt(t, p, Site{Root: "/ws", Head: "main"})
	s.made()
	if r := s.refused(Discard{Dir: testSpace}); r.Code != "conflict" || !strings.Contains(r.Why, "in use") {
		t.Errorf("%+v", r)
	}
	s.exit(0)
	s.state("", WorkspaceStays)
	if r := s.refused(Discard{Dir: "/ws/other"}); r.Code != "not_found" {
		t.Errorf("%+v", r)
	}

	s.do(Discard{Dir: testSpace})
	s.state("", WorkspaceRemoving)
	key := s.effect(RemoveWorkspace).Key
	if len(s.do(Discard{Dir: testSpace}).Effects) > 0 {
		t.Error("it is removed twice")
	}
	s.do(EffectStarted{Key: key})
	kept := s.fork(t)
	kept.do(WorkspaceRemoved{Key: key, Kept: "1 uncommitted change"})
	if w := kept.state("", WorkspaceStays); w.Kept != "1 uncommitted change" {
		t.Errorf("%+v", w)
	}
	s.do(WorkspaceRemoved{Key: key})
	s.state("", WorkspaceGone)
	if r := s.refused(Discard{Dir: testSpace}); r.Code != "conflict" {
		t.Errorf("%+v", r)
	}
}

// Without its workspace nothing of a pipeline runs, not even what cleans up: that would make the
// workspace after all, and leave it behind.
func TestNothingRunsWithoutTheWorkspace(t *testing.T) {
	p := shells("one", "tidy")
	p.Pipeline.Finally = "tidy"
	p.Pipeline.Workspace = runbook.Workspace{Kind: runbook.Worktree}
	s := newStage(t, testOwner)
	s.do(Create{Owner: s.id, Kind: Pipeline, Name: "fix", Project: "/p", Cwd: "/p", Plan: p, Site: testSite})
	key := s.effect(MakeWorkspace).Key
	s.do(EffectStarted{key})
	s.do(EffectFailed{Key: key, Why: "branch fix/1 already exists"})
	if s.is(runbook.EndFailed, Ended); strings.Contains(s.effects(), "workspace:make") || strings.Contains(s.effects(), "shell:start") {
		t.Errorf("%s", s.effects())
	}
}
