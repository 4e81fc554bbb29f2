package runbook

import (
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/project/document"
)

// Workspace is a working tree or a folder that is made for a pipeline or an agent. The zero
// value is none.
type Workspace struct {
	Kind   WorkspaceKind `json:"kind,omitempty"`
	Branch string        `json:"branch,omitempty"` // of a worktree, a template; "" is a name of our own
	Base   string        `json:"base,omitempty"`   // of a worktree, a template; "" is what the project has checked out
	Keep   Keep          `json:"keep,omitempty"`
}

// UsesWorkspaces reports whether a workspace is made for the plan or one of its agents.
func (p Plan) UsesWorkspaces() bool {
	uses := p.Pipeline.Workspace.Kind != ""
	for _, a := range p.Agents {
		uses = uses || a.Workspace.Kind != ""
	}
	for _, used := range p.Pipelines {
		uses = uses || used.Workspace.Kind != ""
	}
	return uses
}

// WorkspaceKind is what a workspace is made of.
type WorkspaceKind string

// The kinds of workspaces.
const (
	Worktree    WorkspaceKind = "worktree" // a worktree of the project's repository, on a branch of its own
	FolderCopy  WorkspaceKind = "copy"     // a folder with a copy of the project
	FolderEmpty WorkspaceKind = "empty"    // a folder without anything in it
)

// Folder reports whether there is no git in it.
func (k WorkspaceKind) Folder() bool { return k == FolderCopy || k == FolderEmpty }

// Keep is when a workspace stays at the end. One with work that would be lost always does.
type Keep string

// When workspaces stay.
const (
	KeepNever     Keep = "never"
	KeepOnFailure Keep = "on_failure"
	KeepAlways    Keep = "always"
)

// Keeps are all there are.
func Keeps() []Keep { return []Keep{KeepNever, KeepOnFailure, KeepAlways} }

func (d *decoder) workspaceFields(w *Workspace) []field {
	return []field{
		document.Key("git", &w.Kind, oneOf("git workspace", Worktree), "A git worktree of the project."),
		document.Key("folder", &w.Kind, oneOf("folder", FolderCopy, FolderEmpty), "A folder: a copy of the project, or empty."),
		document.Key("branch", &w.Branch, d.refName(true), "The branch that is made for it. Default: stopgate/NAME-ID."),
		document.Key("base", &w.Base, d.refName(false), "The branch or commit that the branch starts from. Default: what the project has checked out."),
		document.Key("keep", &w.Keep, oneOf("value", Keeps()...), "When it stays at the end. One with uncommitted work always stays.").Default(KeepOnFailure),
	}
}

// workspace reads a worktree or a folder.
func (d *decoder) workspace() typeOf[Workspace] {
	table := document.New(func(v value, w *Workspace) bool {
		return is(v, document.Mapping, formsOfWorkspaces) && v.Mapping(d.workspaceFields(w)...)
	}, nil)
	return document.Then(table, func(v value, w Workspace) (Workspace, bool) {
		if w.Keep == "" {
			w.Keep = KeepOnFailure
		}
		table := nodeOf(v)
		if (table.get("git") == nil) == (table.get("folder") == nil) {
			wrong(v, "workspace needs exactly one of: git, folder", formsOfWorkspaces)
			return Workspace{}, true
		}
		for _, key := range []string{"branch", "base"} {
			if e := table.get(key); e != nil && w.Kind.Folder() {
				d.fault(e.at, key+" has no effect for a folder", "it is an option of: git")
			}
		}
		return w, true
	}).As(document.Ref("workspace"))
}

const formsOfWorkspaces = `write { git = "worktree" }, { folder = "copy" } or { folder = "empty" }`

// workspaceForms are what the schema says of the keys that go together.
func workspaceForms() []schema {
	none := func(keys ...string) schema {
		var all []schema
		for _, key := range keys {
			all = append(all, schema{"required": []string{key}})
		}
		return schema{"anyOf": all}
	}
	return []schema{
		{"required": []string{"git"}, "not": none("folder")},
		{"required": []string{"folder"}, "not": none("git", "branch", "base")},
	}
}

// refName reads a template for the name of a branch, or of a commit. What it names must be known
// before the workspace is.
func (d *decoder) refName(branch bool) typeOf[string] {
	return document.Then(d.words(), func(v value, name string) (string, bool) {
		for _, template := range Names(name) {
			if hasSource(template) || isItem(template) || slices.Contains(refTemplates, template) {
				continue
			}
			wrong(v, "${"+template+"} cannot be used in "+v.Name, "templates: ${var.NAME}, ${item}, ${"+strings.Join(refTemplates, "}, ${")+"}")
			return "", false
		}
		sample := replace(name, func(string) (string, bool) { return "x", true })
		if why := badRef(sample); branch && why != "" {
			wrong(v, quote(name)+" is not a valid branch name: it "+why, "such as: fix/${var.issue}")
			return "", false
		}
		return name, true
	})
}

// refTemplates are the names besides variables that do not change while something runs.
var refTemplates = []string{"name", "pipeline_id", "agent_run_id", "agent", "step"}

// badRef says what git does not take in the name of a branch, as far as a runbook can tell; or "".
func badRef(name string) string {
	odd := func(r rune) bool { return r <= ' ' || r == 0x7f || strings.ContainsRune(`~^:?*[\`, r) }
	switch i := strings.IndexFunc(name, odd); {
	case i >= 0 && name[i] <= ' ':
		return "contains a space"
	case i >= 0:
		return "contains " + quote(name[i:i+1])
	case strings.HasPrefix(name, "-"):
		return "starts like an option"
	case name == "HEAD" || name == "@" || strings.HasPrefix(name, "refs/"):
		return "has a meaning of its own in git"
	case strings.HasPrefix(name, "/"), strings.HasSuffix(name, "/"), strings.Contains(name, "//"):
		return "has an empty part"
	case strings.Contains(name, ".."), strings.Contains(name, "@{"), strings.HasSuffix(name, "."):
		return `contains "..", "@{" or a dot at its end`
	}
	for part := range strings.SplitSeq(name, "/") {
		if strings.HasPrefix(part, ".") || strings.HasSuffix(part, ".lock") {
			return `has a part that starts with "." or ends in ".lock"`
		}
	}
	return ""
}

// checkWorkspaces finds templates of workspaces where there is none. What other files define is checked
// with them, but for what a pipeline or a command of this file runs.
func (d *decoder) checkWorkspaces() {
	for _, p := range d.allPipelines() {
		if d.judges(p) {
			d.checkWorkspaceUses(p.uses, startOf{"pipeline " + quote(p.Name), d.worksIn(p), p.home, d.importOf(p.Name)})
		}
	}
	for _, a := range d.agents {
		if a.Workspace.Kind != "" {
			d.checkWorkspaceUses(a.uses, startOf{home: d, what: "agent " + quote(a.Name), kind: a.Workspace.Kind})
		}
	}
	for _, a := range d.allAgents() {
		if a.Workspace.Kind != "" {
			continue
		}
		for _, where := range d.startsOf(a) {
			d.checkWorkspaceUses(a.uses, where)
		}
	}
	for _, c := range d.commands {
		d.checkWorkspaceUses(c.uses, startOf{home: d, what: "command " + quote(c.Name)})
	}
}

// judges reports whether this file says in which workspace a pipeline works: it is its own, unless an
// importer is to run it, or one of its own runs it.
func (d *decoder) judges(p *pipelineDraft) bool {
	run := slices.ContainsFunc(d.pipelines, func(other *pipelineDraft) bool { return other.runs(p.Name) })
	if p.home != d {
		return run
	}
	started := slices.ContainsFunc(d.commands, func(c *commandDraft) bool { return c.Run.Pipeline == p.Name })
	return d.from == nil || run || started || p.Workspace.Kind != ""
}

// worksIn is the kind of workspace that a pipeline works in: its own, else that of a pipeline which
// runs it as a step, where no command runs it without one.
func (d *decoder) worksIn(p *pipelineDraft) WorkspaceKind {
	started := func(c *commandDraft) bool { return c.Run.Pipeline == p.Name }
	if p.Workspace.Kind != "" || slices.ContainsFunc(d.commands, started) {
		return p.Workspace.Kind
	}
	for _, other := range d.allPipelines() {
		if other.runs(p.Name) && other.Workspace.Kind != "" {
			return other.Workspace.Kind
		}
	}
	return ""
}

// startOf is where something is started that templates stand in.
type startOf struct {
	what string
	kind WorkspaceKind // of the workspace there
	home *decoder      // of the file in which the templates stand
	at   span          // of what starts it, where that is another file
}

// startsOf are the places where an agent without a workspace of its own is started.
func (d *decoder) startsOf(a *agentDraft) (all []startOf) {
	for _, p := range d.pipelines {
		i := slices.IndexFunc(p.Steps, func(s Step) bool { return s.Run.Agent == a.Name })
		if i >= 0 && d.judges(p) {
			all = append(all, startOf{"pipeline " + quote(p.Name), d.worksIn(p), a.home, p.steps[i].runAt})
		}
	}
	for _, c := range d.commands {
		if c.Run.Agent == a.Name {
			all = append(all, startOf{"agent " + quote(a.Name) + " of command " + quote(c.Name), "", a.home, c.runAt})
		}
	}
	return all
}

func (d *decoder) checkWorkspaceUses(uses []use, s startOf) {
	for _, u := range uses {
		for _, name := range u.names {
			if !strings.HasPrefix(name, "workspace.") || !slices.Contains(Templates(), name) || d.Overflows() {
				continue
			}
			template := "${" + name + "}"
			at, in := s.home.inside(u.at, template), ""
			if s.home != d {
				at, in = s.at, " (in "+s.home.place(at)+")"
			}
			switch {
			case s.kind == "":
				d.fault(at, template+in+" has no value: "+s.what+" has no workspace", `add workspace = { git = "worktree" }`)
			case s.kind.Folder() && name != "workspace.path":
				d.fault(at, template+in+" has no value: the workspace of "+s.what+" is a folder without git", "")
			}
		}
	}
}
