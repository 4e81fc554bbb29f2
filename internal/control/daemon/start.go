package daemon

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/control/api"
	"github.com/stopgate/stopgate/internal/control/engine"
	"github.com/stopgate/stopgate/internal/control/runbook"
	"github.com/stopgate/stopgate/internal/gate/trust"
	"github.com/stopgate/stopgate/internal/sys/disk"
	"github.com/stopgate/stopgate/internal/sys/environ"
	"github.com/stopgate/stopgate/internal/sys/owner"
	"github.com/stopgate/stopgate/internal/sys/paths"
)

// AnswerCommands is what a daemon answers that is asked for the commands of a project's runbooks: the commands or,
// if it is not ok, why there are none. No daemon needs to run for it.
func AnswerCommands(stateDir, config, project string) (answer any, ok bool) {
	p := plane{opts: Options{StateDir: stateDir, Config: config}}
	commands, err := p.Commands(context.Background(), project)
	if err == nil {
		return commands, true
	}
	if refusal, known := errors.AsType[*api.Error](err); known {
		return refusal.Failure, false
	}
	return daemonapi.Failure{Code: "internal", Error: err.Error()}, false
}

// Commands are those of a project's runbooks.
func (p *plane) Commands(_ context.Context, project string) ([]daemonapi.Command, error) {
	shelf, err := p.shelf(project)
	if err != nil {
		return nil, err
	}

	commands := []daemonapi.Command{}
	for _, found := range shelf.Startable() {
		commands = append(commands, daemonapi.Command{
			Name: found.Name, Usage: found.Args.String(), Description: found.Description,
			Runs: runs(found.Run), Runbook: found.Runbook.Path, PassEnv: found.Runbook.PassEnv(found.Command),
		})
	}

	if len(commands) == 0 && len(shelf.faults) > 0 {
		return nil, api.Refusal("invalid", shelf.faults.Error(), "see: stopgate runbook check")
	}
	if len(commands) == 0 && shelf.notice != "" {
		return nil, api.Refusal("untrusted", "the approved runbooks of "+shelf.root+" define no command", shelf.notice)
	}
	return commands, nil
}

func runs(r runbook.Run) string {
	switch {
	case r.Pipeline != "":
		return "pipeline " + r.Pipeline
	case r.Agent != "":
		return "agent " + r.Agent
	}
	return "shell"
}

// Start runs a command of a runbook. The id makes it one start, however often it is asked
// for.
func (p *plane) Start(ctx context.Context, s daemonapi.Start) (daemonapi.Owner, error) {
	if o := p.core.owner(s.ID); o != nil {
		return p.ownerView(o, true), nil
	}

	if s.ProjectName != "" { // the machine is this one: the fleet's part of the plane sees to others
		home := paths.Home(func(name string) string { return environ.Get(p.opts.Environ, name) })
		if s.Project = p.global().Fleet.Root(s.ProjectName, home); s.Project == "" {
			return daemonapi.Owner{}, api.Refusal("not_found", "project "+s.ProjectName+" is not mapped to a directory", "map it under fleet.projects in ~/.config/agent-gauntlet/config.yml")
		}
		s.Cwd = s.Project
	}

	shelfOf := p.shelf
	if api.CallerOf(ctx) != (api.Caller{}) {
		shelfOf = p.approvedShelf
	}
	shelf, err := shelfOf(s.Project)
	if err != nil {
		return daemonapi.Owner{}, err
	}
	create, err := shelf.create(s)
	if err != nil {
		return daemonapi.Owner{}, err
	}

	if command, _, err := shelf.Command(s.Command, s.Runbook); err == nil && command.Job.On && s.Host == "" {
		owner, err := p.startJob(ctx, s, create, command.Job)
		owner.Notice = shelf.notice
		return owner, err
	}

	create.Site = p.site(ctx, create)
	owner, err := p.do(ctx, s.ID, engine.Input{ID: "create", What: create})
	owner.Notice = shelf.notice
	return owner, err
}

// create is what is to be started. A mistake in one file keeps nothing from running that
// is in another.
func (shelf shelf) create(s daemonapi.Start) (engine.Create, error) {
	command, book, err := shelf.Command(s.Command, s.Runbook)
	switch {
	case err != nil && shelf.unapproved != nil:
		return engine.Create{}, shelf.unapproved
	case err != nil && len(shelf.faults) > 0:
		return engine.Create{}, api.Refusal("invalid", shelf.faults.Error(), "see: stopgate runbook check")
	case err != nil:
		return engine.Create{}, api.Refusal("invalid", err.Error(), shelf.notice) // it may not be approved yet
	}
	return shelf.createOf(command, book, s)
}

// createOf is a command of a runbook, as it is to be started.
func (shelf shelf) createOf(command runbook.Command, book runbook.Runbook, s daemonapi.Start) (engine.Create, error) {
	vars, err := book.Vars(command, s.Args)
	if err != nil {
		return engine.Create{}, api.Refusal("invalid", err.Error(), "usage: stopgate start "+command.Name+" "+command.Args.String())
	}

	plan, standalone := book.Plan(command)
	cwd, err := workDir(s)
	if err != nil {
		return engine.Create{}, err
	}

	create := engine.Create{
		Owner: s.ID, Kind: engine.Pipeline, Name: plan.Pipeline.Name, Command: command.Name,
		Project: shelf.root, Cwd: cwd, Vars: vars, Plan: shelf.pin(plan, cwd),
	}

	passes := book.PassEnv(command)
	create.Passed = maps.Clone(s.Env)
	maps.DeleteFunc(create.Passed, func(name, _ string) bool { return !slices.Contains(passes, name) })
	if standalone {
		create.Kind = engine.AgentRun
	}
	return create, nil
}

// workDir is where the person stands who starts something. What the plan says of
// directories is seen from there.
func workDir(s daemonapi.Start) (string, error) {
	dir := s.Cwd
	info, err := os.Stat(dir)
	switch {
	case !filepath.IsAbs(dir):
		return "", invalid("cwd %q is not an absolute path", dir)
	case err != nil:
		return "", invalid("cwd: %v", err)
	case !info.IsDir():
		return "", invalid("cwd: %s is not a directory", dir)
	}
	return filepath.Clean(dir), nil
}

// shelf is a project's runbooks.
type shelf struct {
	runbook.Set
	faults     runbook.Faults // of the files that are not in it
	root       string
	own        tree
	oddjobs    tree
	notice     string // what a person should know about that
	unapproved error  // of runbooks that are there and are not in it, because no person approved them
}

// tree is a directory with runbooks.
type tree struct {
	name string // below the project's root, slash-separated
	live string
	dir  string // of what may run: the same, or the approved copy of it
	// known means that the directory is there or something of it was approved.
	known bool
}

// shelf reads a project's runbooks: those that a person approved, where that is asked
// for.
func (p *plane) shelf(project string) (shelf, error) {
	// Of a file with faults that holds which is safe, and the faults are told elsewhere.
	global, _ := trust.LoadGlobal(p.opts.Config, p.opts.StateDir)
	return p.readShelf(project, global.Enforces())
}

// approvedShelf reads the runbooks that a person approved on this machine, whatever its configuration says of
// trust: what other machines ask for must not rest on a default.
func (p *plane) approvedShelf(project string) (shelf, error) { return p.readShelf(project, true) }

func (p *plane) readShelf(project string, approvedOnly bool) (shelf, error) {
	if !filepath.IsAbs(project) {
		return shelf{}, invalid("project %q is not an absolute path", project)
	}

	s := shelf{root: filepath.Clean(project)}
	if err := p.trusted(&s, approvedOnly); err != nil {
		return shelf{}, err
	}

	if s.own.dir != "" {
		set, err := runbook.Load(filepath.Join(s.own.dir, paths.RunbooksDir))
		s.Set = set
		_ = errors.As(err, &s.faults) // it has no others
	}
	if s.oddjobs.dir != "" {
		set, err := runbook.LoadOddjobs(s.oddjobs.dir)
		s.Set = s.Beside(set)
		var faults runbook.Faults
		_ = errors.As(err, &faults)
		s.faults = append(s.faults, faults...)
	}
	return s, nil
}

// trusted finds the directories whose runbooks may run, and what is to be said about them.
// There is none where nothing was approved.
func (p *plane) trusted(s *shelf, approvedOnly bool) error {
	if err := owner.Check(s.root, os.Environ()); err != nil {
		return err
	}

	s.own = tree{name: paths.GauntletDir, live: filepath.Join(s.root, paths.GauntletDir)}
	s.oddjobs = tree{name: path.Join(paths.OddjobsDir, paths.RunbooksDir), live: paths.OddjobsRunbooks(s.root)}
	if !approvedOnly {
		s.own.dir, s.oddjobs.dir = s.own.live, s.oddjobs.live
		return nil
	}

	store := trust.NewStore(p.opts.StateDir)
	ownErr := s.approved(&s.own, store)
	oddErr := s.approved(&s.oddjobs, store.Oddjobs())
	switch {
	case s.own.dir == "" && s.oddjobs.dir == "":
		if !s.own.known && !s.oddjobs.known {
			return api.Refusal("not_found", "no project: there is no "+paths.GauntletDir+" in "+s.root, "set it up with: stopgate init")
		}
		if disk.IsDir(s.oddjobs.live) && !disk.IsDir(s.own.live) {
			return oddErr
		}
		return ownErr
	case s.own.dir == "" && disk.IsDir(filepath.Join(s.own.live, paths.RunbooksDir)):
		s.unapproved = ownErr
	case s.oddjobs.dir == "" && disk.IsDir(s.oddjobs.live):
		s.unapproved = oddErr
	}
	return nil
}

// approved finds what was approved of a directory; the error says why there is nothing.
func (s *shelf) approved(t *tree, store trust.Store) error {
	standing, err := store.Standing(s.root)
	t.known = disk.IsDir(t.live) || err != nil || standing.State != trust.Untrusted
	notice := ""
	switch {
	case err != nil:
		return api.Refusal("untrusted", err.Error(), "stopgate trust")
	case standing.State == trust.Untrusted:
		return api.Refusal("untrusted", fmt.Sprintf("the runbooks of %s are not approved", s.root), "review and approve them with: stopgate trust")
	case t == &s.own && standing.Absent(os.Environ()):
		notice = fmt.Sprintf("using the approved version; %s %s", paths.ProjectConfig(s.root), trust.NotInBranch)
	case standing.State == trust.Edited:
		notice = fmt.Sprintf("using the approved version; edited since: %s (approve it with: stopgate trust)", trust.Summary(standing.Changed))
	}
	t.dir = standing.Dir
	s.notice = strings.TrimPrefix(s.notice+"; "+notice, "; ")
	s.notice = strings.TrimSuffix(s.notice, "; ")
	return nil
}

// pin makes the plan's commands use the approved copy of what they name in the directories of
// runbooks: an agent that edits a script there changes nothing. It is
// started in cwd.
func (s shelf) pin(plan runbook.Plan, cwd string) runbook.Plan {
	var pinned []tree
	for _, t := range []tree{s.own, s.oddjobs} {
		if t.dir != "" && t.dir != t.live {
			pinned = append(pinned, t)
		}
	}
	if len(pinned) == 0 {
		return plan
	}

	pin := func(script string) string {
		for _, t := range pinned {
			script = trust.Pin(t.name, script, "", s.root, t.dir, "${project}", "${invoke.dir}", "${workspace.path}")
		}
		return script
	}

	agentDirs := s.pinAgentDirs(plan, cwd, pinned) // as seen from the directories that the plan has now
	plan.Pipelines = maps.Clone(plan.Pipelines)
	for name, p := range plan.Pipelines {
		in := plan.Pipeline.Workspace // it works there, unless it has its own
		if p.Workspace.Kind != "" {
			in = p.Workspace
		}
		plan.Pipelines[name] = s.pinPipeline(p, in, cwd, pinned, pin)
	}
	plan.Pipeline = s.pinPipeline(plan.Pipeline, plan.Pipeline.Workspace, cwd, pinned, pin)

	plan.Agents = maps.Clone(plan.Agents)
	for name, agent := range plan.Agents {
		agent.Run = pin(agent.Run)
		agent.Cwd = agentDirs[name]
		for _, action := range []*runbook.Action{&agent.OnIdle, &agent.OnDead, &agent.OnPrompt} {
			action.Run = pin(action.Run)
		}

		actions := make([]runbook.ErrorAction, len(agent.OnError))
		for i, on := range agent.OnError {
			on.Action.Run = pin(on.Action.Run)
			actions[i] = on
		}
		agent.OnError = actions
		plan.Agents[name] = agent
	}
	return plan
}

// pinPipeline pins what a pipeline says that works in a workspace, or in none.
func (s shelf) pinPipeline(p runbook.Pipeline, in runbook.Workspace, cwd string, pinned []tree, pin func(string) string) runbook.Pipeline {
	from, pinDir := s.placed(in, cwd, pinned)
	base := s.seen(from, p.Cwd, cwd)
	p.Cwd = pinDir(p.Cwd, base)
	p.Steps = slices.Clone(p.Steps)
	for i, step := range p.Steps {
		p.Steps[i].Run.Shell = pin(step.Run.Shell)
		p.Steps[i].Cwd = pinDir(step.Cwd, s.seen(base, step.Cwd, cwd))
	}
	p.Locals = maps.Clone(p.Locals)
	for name, text := range p.Locals {
		p.Locals[name] = pinText(text, pin)
	}
	return p
}

// pinText pins a text that stands between double quotes in the end.
func pinText(text string, pin func(string) string) string {
	pinned := pin(`"` + text + `"`)
	return pinned[1 : len(pinned)-1]
}

// seen is a directory of the plan as it is seen from another, as far as that is known when
// something is started; "" where it is not, because a variable comes first.
func (s shelf) seen(from, dir, cwd string) string {
	dir = runbook.Expand(dir, map[string]string{"project": s.root, "invoke.dir": cwd, "workspace.path": s.root})
	switch {
	case filepath.IsAbs(dir):
		return filepath.Clean(dir)
	case from == "" || strings.HasPrefix(dir, "${"):
		return ""
	}
	return filepath.Join(from, dir)
}

// pinDir is a directory of the plan, or its approved copy where it lies in one that has one.
// The others are named by where they are, since what they were seen from may have moved.
func (s shelf) pinDir(dir, seen string, pinned []tree) string {
	if dir == "" || seen == "" {
		return dir
	}
	if copied, ok := approvedDir(seen, pinned); ok {
		return copied
	}
	return seen
}

// approvedDir is the approved copy of a directory, where it has one.
func approvedDir(seen string, pinned []tree) (dir string, ok bool) {
	for _, t := range pinned {
		if below, err := filepath.Rel(t.live, seen); err == nil && filepath.IsLocal(below) {
			return filepath.Join(t.dir, below), true
		}
	}
	return "", false
}

func invalid(format string, args ...any) error {
	return api.Refusal("invalid", fmt.Sprintf(format, args...), "")
}
