package daemon

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/control/api"
	"github.com/stopgate/stopgate/internal/control/engine"
	"github.com/stopgate/stopgate/internal/control/runbook"
	"github.com/stopgate/stopgate/internal/gate/trust"
	"github.com/stopgate/stopgate/internal/sys/owner"
	"github.com/stopgate/stopgate/internal/sys/paths"
)

// Commands are those of a project's runbooks.
func (p *plane) Commands(_ context.Context, project string) ([]daemonapi.Command, error) {
	shelf, err := p.shelf(project)
	if err != nil {
		return nil, err
	}
	commands := []daemonapi.Command{}
	for _, found := range shelf.Commands() {
		commands = append(commands, daemonapi.Command{
			Name: found.Name, Usage: found.Args.String(), Description: found.Description,
			Runs: runs(found.Run), Runbook: found.Runbook.Path,
		})
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
		return ownerView(o, true), nil
	}
	shelf, err := p.shelf(s.Project)
	if err != nil {
		return daemonapi.Owner{}, err
	}
	create, err := shelf.create(s)
	if err != nil {
		return daemonapi.Owner{}, err
	}
	owner, err := p.do(ctx, s.ID, engine.Input{ID: "create", What: create})
	owner.Notice = shelf.notice
	return owner, err
}

// create is what is to be started. A mistake in one file keeps nothing from running that
// is in another.
func (shelf shelf) create(s daemonapi.Start) (engine.Create, error) {
	command, book, err := shelf.Command(s.Command, s.Runbook)
	switch {
	case err != nil && len(shelf.faults) > 0:
		return engine.Create{}, failure("invalid", shelf.faults.Error(), "stopgate runbook check says more")
	case err != nil:
		return engine.Create{}, failure("invalid", err.Error(), "")
	}
	vars, err := book.Vars(command, s.Args)
	if err != nil {
		return engine.Create{}, failure("invalid", err.Error(), "usage: stopgate start "+command.Name+" "+command.Args.String())
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
	faults runbook.Faults // of the files that are not in it
	root   string
	dir    string // .gauntlet, or the approved copy of it
	notice string // what a person should know about that
}

// shelf reads a project's runbooks: those that a person approved, where that is asked
// for.
func (p *plane) shelf(project string) (shelf, error) {
	if !filepath.IsAbs(project) {
		return shelf{}, invalid("project %q is not an absolute path", project)
	}
	project = filepath.Clean(project)
	s := shelf{root: project}
	var err error
	if s.dir, s.notice, err = p.trusted(project); err != nil {
		return shelf{}, err
	}
	s.Set, err = runbook.Load(filepath.Join(s.dir, "runbooks"))
	_ = errors.As(err, &s.faults) // it has no others
	return s, nil
}

// trusted is the directory whose runbooks may run, and what is to be said about it.
func (p *plane) trusted(project string) (dir, notice string, err error) {
	if err := owner.Check(project, os.Environ()); err != nil {
		return "", "", err
	}
	// Of a file with faults that holds which is safe, and the faults are told elsewhere.
	if global, _ := trust.LoadGlobal(p.opts.Config, p.opts.StateDir); !global.Enforces() {
		return filepath.Join(project, paths.GauntletDir), "", nil
	}
	standing, err := trust.NewStore(p.opts.StateDir).Standing(project)
	switch {
	case err != nil:
		return "", "", failure("untrusted", err.Error(), "stopgate trust")
	case standing.State == trust.Untrusted:
		return "", "", failure("untrusted", fmt.Sprintf("nobody approved the runbooks of %s", project), "look at them and approve them with: stopgate trust")
	case standing.Absent(os.Environ()):
		notice = fmt.Sprintf("what was approved runs; %s %s", paths.ProjectConfig(project), trust.NotInBranch)
	case standing.State == trust.Edited:
		notice = fmt.Sprintf("what was approved runs; edited since: %s (stopgate trust approves it)", trust.Summary(standing.Changed))
	}
	return standing.Dir, notice, nil
}

// pin makes the plan's commands use the approved copy of what they name in .gauntlet: an
// agent that edits a script there changes nothing. Whoever starts it stands in cwd.
func (s shelf) pin(plan runbook.Plan, cwd string) runbook.Plan {
	if s.dir == s.live() {
		return plan
	}
	pin := func(script string) string {
		return trust.Pin(script, "", s.root, s.dir, "${project}", "${invoke.dir}")
	}
	base := s.seen(cwd, plan.Pipeline.Cwd, cwd)
	plan.Pipeline.Cwd = s.pinDir(plan.Pipeline.Cwd, base)
	steps := make([]runbook.Step, len(plan.Pipeline.Steps))
	for i, step := range plan.Pipeline.Steps {
		step.Run.Shell = pin(step.Run.Shell)
		steps[i] = step
	}
	plan.Pipeline.Steps = steps
	plan.Agents = maps.Clone(plan.Agents)
	for name, agent := range plan.Agents {
		agent.Run = pin(agent.Run)
		agent.Cwd = s.pinDir(agent.Cwd, s.seen(base, agent.Cwd, cwd))
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

// live is the project's own .gauntlet.
func (s shelf) live() string { return filepath.Join(s.root, paths.GauntletDir) }

// seen is a directory of the plan as it is seen from another, as far as that is known when
// something is started; "" where it is not, because a variable comes first.
func (s shelf) seen(from, dir, cwd string) string {
	dir = runbook.Expand(dir, map[string]string{"project": s.root, "invoke.dir": cwd})
	switch {
	case filepath.IsAbs(dir):
		return filepath.Clean(dir)
	case from == "" || strings.HasPrefix(dir, "${"):
		return ""
	}
	return filepath.Join(from, dir)
}

// pinDir is a directory of the plan, or its approved copy where it lies in .gauntlet. The
// others are named by where they are, since what they were seen from may have moved.
func (s shelf) pinDir(dir, seen string) string {
	below, err := filepath.Rel(s.live(), seen)
	switch {
	case dir == "" || seen == "":
		return dir
	case err == nil && filepath.IsLocal(below):
		return filepath.Join(s.dir, below)
	}
	return seen
}

func failure(code, text, hint string) error {
	return &api.Error{Failure: daemonapi.Failure{Code: code, Error: text, Hint: hint}}
}

func invalid(format string, args ...any) error {
	return failure("invalid", fmt.Sprintf(format, args...), "")
}
