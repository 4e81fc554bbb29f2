package engine

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/control/runbook"
)

// Site is what the daemon knows, and the engine cannot, of where workspaces are made.
type Site struct {
	Root   string `json:"root"`             // the directory that they lie in
	Within string `json:"within,omitempty"` // from the top of the repository to the project, with slashes
	Head   string `json:"head,omitempty"`   // what the project has checked out: a branch, or a commit
}

// Workspace is a working tree or a folder that is the owner's, or that of one of its agents.
type Workspace struct {
	Dir    string                `json:"dir"` // what is made and removed
	Kind   runbook.WorkspaceKind `json:"kind"`
	Branch string                `json:"branch,omitempty"`
	Base   string                `json:"base,omitempty"`
	Keep   runbook.Keep          `json:"keep"`

	State  WorkspaceState `json:"state"`
	Key    string         `json:"key,omitempty"`    // of the latest effect on it: those before it say nothing about its state
	Commit string         `json:"commit,omitempty"` // that it was made from
	Note   string         `json:"note,omitempty"`   // what a person should know about it
	Kept   string         `json:"kept,omitempty"`   // why it is still there
	Had    bool           `json:"had,omitempty"`    // it was there before: its branch may exist
}

// WorkspaceState is how far a workspace is.
type WorkspaceState string

// The states of workspaces.
const (
	WorkspaceMaking   WorkspaceState = "making"
	WorkspaceInUse    WorkspaceState = "ready"
	WorkspaceFailing  WorkspaceState = "failed" // it could not be made
	WorkspaceRemoving WorkspaceState = "removing"
	WorkspaceGone     WorkspaceState = "removed"
	WorkspaceStays    WorkspaceState = "kept"
)

// open reports whether it has to be seen to at the end.
func (w Workspace) open() bool { return w.State == WorkspaceMaking || w.State == WorkspaceInUse }

// WorkspaceTask is a workspace to be made or removed. Dir is what it is known by.
type WorkspaceTask struct {
	Name    string                `json:"name,omitempty"` // the agent whose own it is
	Dir     string                `json:"dir"`
	Kind    runbook.WorkspaceKind `json:"kind"`
	Project string                `json:"project"`
	Within  string                `json:"within,omitempty"` // the directory that it must have
	Branch  string                `json:"branch,omitempty"`
	Base    string                `json:"base,omitempty"`
	Again   bool                  `json:"again,omitempty"` // it was there before: its branch may exist
}

// WorkspacePath is the project in a workspace of the owner.
func (o *Owner) WorkspacePath(w Workspace) string {
	if w.Kind != runbook.Worktree {
		return w.Dir
	}
	return filepath.Join(w.Dir, filepath.FromSlash(o.Site.Within))
}

// WorkspaceOf is the workspace that a step runs in, and whether there is one: its agent's own,
// else the owner's.
func (o *Owner) WorkspaceOf(step string) (Workspace, bool) {
	planned, _ := (&draft{Owner: o}).plannedStep(step)
	name, _ := o.workspaceFor(planned)
	w, has := o.Workspaces[name]
	if lent := o.lent(); !has && lent != nil {
		return *lent, true
	}
	return w, has
}

// workspaceFor is the name and the plan of the workspace that a step is to run in.
func (o *Owner) workspaceFor(step runbook.Step) (name string, plan runbook.Workspace) {
	if own := o.Plan.Agents[step.Run.Agent].Workspace; step.Run.Agent != "" && own.Kind != "" && !step.HasChildren() {
		return step.Run.Agent, own
	}
	return "", o.Plan.Pipeline.Workspace
}

// needWorkspace lets the workspace be made that the current step runs in, unless it is there. The
// effects of an owner are carried out one after the other: what is started next starts in it.
func (d *draft) needWorkspace() {
	name, plan := d.workspaceFor(d.current())
	w, known := d.Workspaces[name]
	if plan.Kind == "" || known && w.open() {
		return
	}
	if !known || w.State == WorkspaceFailing {
		w = d.planWorkspace(name, plan)
	}
	w.State, w.Key, w.Kept, w.Note = WorkspaceMaking, d.nextKey(), "", ""
	d.fact(WorkspaceWanted{name, w})
	d.effect(Effect{Kind: MakeWorkspace, Workspace: d.task(name, w)})
}

// planWorkspace is a workspace that was not there before.
func (d *draft) planWorkspace(name string, plan runbook.Workspace) Workspace {
	w := Workspace{Dir: filepath.Join(d.Site.Root, d.workspaceName(name)), Kind: plan.Kind, Keep: cmp.Or(plan.Keep, runbook.KeepOnFailure)}
	if plan.Kind != runbook.Worktree {
		return w
	}
	values := d.plainValues()
	w.Branch, w.Base = runbook.Expand(plan.Branch, values), cmp.Or(runbook.Expand(plan.Base, values), d.Site.Head)
	if plan.Branch == "" {
		parts := slices.DeleteFunc([]string{d.Name, name, d.ID}, func(s string) bool { return s == "" })
		w.Branch = "stopgate/" + unaliased(strings.Join(parts, "-"))
	}
	return w
}

// workspaceName is the name of a workspace's directory: no two are called the same, also where
// programs look at the last part of a path only.
func (d *draft) workspaceName(agent string) string {
	const most = 40
	plain := strings.Map(func(r rune) rune {
		if r < 128 && (r == '.' || r == '_' || r == '-' || r >= '0' && r <= '9' || r|0x20 >= 'a' && r|0x20 <= 'z') {
			return r
		}
		return '-'
	}, path.Base(filepath.ToSlash(d.Project)))
	plain = strings.Trim(plain[:min(len(plain), most)], ".-")
	name := cmp.Or(plain, "workspace") + "-" + d.ID
	if agent != "" {
		name += "-" + unaliased(agent)
	}
	return name
}

// unaliased is a name without the colon that stands behind an alias: neither branches nor lists of
// directories can have one.
func unaliased(name string) string { return strings.ReplaceAll(name, ":", "-") }

func (d *draft) task(name string, w Workspace) *WorkspaceTask {
	t := &WorkspaceTask{Name: name, Dir: w.Dir, Kind: w.Kind, Project: d.Project, Branch: w.Branch, Base: w.Base, Again: w.Had}
	if w.Kind == runbook.Worktree {
		t.Within = d.Site.Within
	}
	return t
}

// workspaceMade is a workspace that is there.
func (d *draft) workspaceMade(e WorkspaceMade) {
	if effect, open := d.Effect(e.Key); open && effect.Kind == MakeWorkspace {
		e.Name, e.Note = effect.Workspace.Name, clip(e.Note, maxWords)
		d.fact(e)
	}
}

// workspaceFailed is a workspace that cannot be. Without the owner's no step can run, not even
// that of on_fail; without an agent's own, its step has failed.
func (d *draft) workspaceFailed(effect OpenEffect, why string) {
	name := effect.Workspace.Name
	switch w := d.Workspaces[name]; {
	case w.State == WorkspaceStays: // it was left while it was made again
		d.fact(WorkspaceFailed{name, why})
		return
	case w.Key != effect.Key:
		return // it is not wanted any more
	}
	d.fact(WorkspaceFailed{name, why})
	why = clip("cannot make the workspace: "+why, maxWords)
	needs, _ := d.workspaceFor(d.current())
	switch {
	case d.Terminal() || needs != name || name != "" && d.Agent == nil:
	case name == "":
		d.notifyUnheard()
		d.cutOff(why)
	default:
		d.agentMissing(why)
	}
}

// agentMissing is an agent that will not be started, nor a gate in its place. Where a person is asked
// already, they decide.
func (d *draft) agentMissing(why string) {
	d.dropAgent()
	if !d.Agent.Exited {
		d.gone(AgentExited{Code: -1})
	}
	if d.Status == Running {
		d.fail(why)
	}
}

// leaveWorkspace lets a workspace be removed that nothing runs in any more, unless it is to stay:
// failure says what failed, if something did.
func (d *draft) leaveWorkspace(name, failure string) {
	w, known := d.Workspaces[name]
	if !known || !w.open() {
		return
	}
	left := WorkspaceLeft{Name: name}
	switch {
	case w.State == WorkspaceMaking && !w.Had: // nothing has run in it
	case w.Keep == runbook.KeepAlways:
		left.Kept = `keep = "always"`
	case w.Keep == runbook.KeepOnFailure:
		left.Kept = failure
	}
	if left.Kept == "" {
		left.Key = d.nextKey()
	}
	d.fact(left)
	if left.Kept == "" {
		d.effect(Effect{Kind: RemoveWorkspace, Workspace: d.task(name, w)})
	}
}

// leaveOwn leaves the workspace of a step's agent, where that has one of its own.
func (d *draft) leaveOwn(step runbook.Step, how Fact) {
	failure := ""
	if _, failed := how.(StepFailed); failed {
		failure = fmt.Sprintf("step %q failed", step.Name)
	}
	if name, _ := d.workspaceFor(step); name != "" {
		d.leaveWorkspace(name, failure)
	}
}

// leaveWorkspaces leaves all that the owner has, at its end.
func (d *draft) leaveWorkspaces(end string) {
	failure := ""
	switch {
	case end == runbook.EndFailed && d.Kind == AgentRun:
		failure = "the agent run failed"
	case end == runbook.EndFailed:
		failure = "the pipeline failed"
	}
	for _, name := range slices.Sorted(maps.Keys(d.Workspaces)) {
		d.leaveWorkspace(name, failure)
	}
}

// workspaceRemoved is a workspace that is gone, or that has to stay: then people are told.
func (d *draft) workspaceRemoved(e WorkspaceRemoved) {
	effect, open := d.Effect(e.Key)
	if !open || effect.Kind != RemoveWorkspace {
		return
	}
	e.Name, e.Kept, e.Note = effect.Workspace.Name, clip(e.Kept, maxWords), clip(e.Note, maxWords)
	d.fact(e)
	if e.Kept != "" {
		d.notifyKept(*effect.Workspace, e.Kept)
	}
}

// workspaceStays is a workspace that could not be removed.
func (d *draft) workspaceStays(effect OpenEffect, why string) {
	task := *effect.Workspace
	if d.Workspaces[task.Name].Key != effect.Key {
		return // it is to be made again
	}
	d.fact(WorkspaceLeft{Name: task.Name, Kept: why})
	d.notifyKept(task, why)
}

// discard lets a workspace be removed that was kept, unless work would be lost.
func (d *draft) discard(dir string) error {
	for _, name := range slices.Sorted(maps.Keys(d.Workspaces)) {
		w := d.Workspaces[name]
		switch {
		case w.Dir != dir:
			continue
		case !d.Terminal():
			return &Refusal{"conflict", fmt.Sprintf("the workspace is in use: %s %s is %s", d.Kind, d.ID, d.where())}
		case w.State == WorkspaceRemoving:
			return nil
		case w.State != WorkspaceStays:
			return &Refusal{"conflict", "the workspace no longer exists"}
		}
		d.fact(WorkspaceLeft{Name: name, Key: d.nextKey()})
		d.effect(Effect{Kind: RemoveWorkspace, Workspace: d.task(name, w)})
		return nil
	}
	return &Refusal{"not_found", "there is no such workspace"}
}

// unremovable keeps the workspaces that are about to be removed: something may still run in them.
func (d *draft) unremovable(why string) {
	for _, e := range slices.Clone(d.Effects) {
		if e.Kind == RemoveWorkspace && !e.Started {
			d.drop(e.Key)
			d.workspaceStays(e, why)
		}
	}
}

func (d *draft) notifyKept(task WorkspaceTask, why string) {
	where := task.Dir
	if task.Branch != "" {
		where += fmt.Sprintf(" (branch %s)", task.Branch)
	}
	d.notify("Workspace kept: "+d.Name, where+": "+why, "")
}

// keptWords is what a message about a failure says of the workspaces that stay.
func (d *draft) keptWords(news string) string {
	if news == "" {
		return ""
	}
	for _, name := range slices.Sorted(maps.Keys(d.Workspaces)) {
		if w := d.Workspaces[name]; w.State == WorkspaceStays {
			news += "\nThe workspace was kept at " + w.Dir + ": " + w.Kept
		}
	}
	return news
}
