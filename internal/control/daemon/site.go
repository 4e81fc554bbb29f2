package daemon

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/control/engine"
	"github.com/stopgate/stopgate/internal/control/runbook"
	"github.com/stopgate/stopgate/internal/control/workspace"
	"github.com/stopgate/stopgate/internal/sys/git"
	"github.com/stopgate/stopgate/internal/sys/paths"
)

// site is what the engine has to know of the place where the workspaces of a plan are made. What cannot
// be told is left out: making the workspace says what is wrong.
func (p *plane) site(ctx context.Context, c engine.Create) engine.Site {
	if !c.Plan.UsesWorkspaces() {
		return engine.Site{}
	}
	site := engine.Site{Root: workspace.Root(p.opts.StateDir)}
	if _, within, found := paths.Repository(c.Project); found && within != "." {
		site.Within = within
	}
	ctx, cancel := context.WithTimeout(ctx, detailPatience)
	defer cancel()
	if at, err := git.At(c.Project, p.opts.Environ).Locate(ctx, "", "HEAD"); err == nil {
		branch, on := strings.CutPrefix(at.Branch, "refs/heads/")
		if site.Head = at.Head; on {
			site.Head = branch
		}
	}
	return site
}

// placed is from where relative directories of a plan are seen, and how they are pinned. In a workspace,
// whose place is not known yet, they are seen as in the project, and stay relative.
func (s shelf) placed(w runbook.Workspace, cwd string, pinned []tree) (from string, pinDir func(dir, seen string) string) {
	if w.Kind == "" {
		return cwd, func(dir, seen string) string { return s.pinDir(dir, seen, pinned) }
	}
	return s.root, func(dir, seen string) string {
		if copied, ok := approvedDir(seen, pinned); seen != "" && dir != "" && ok {
			return copied
		}
		return dir
	}
}

// pinAgentDirs are the directories of agents, or their approved copies. They are seen from those of the
// steps, which differ: where one does, only what does not depend on it is known.
func (s shelf) pinAgentDirs(plan runbook.Plan, cwd string, pinned []tree) map[string]string {
	dirs := map[string]string{}
	for name, agent := range plan.Agents {
		w := plan.Pipeline.Workspace
		if agent.Workspace.Kind != "" {
			w = agent.Workspace
		}
		_, pinDir := s.placed(w, cwd, pinned)
		dirs[name] = pinDir(agent.Cwd, s.seen(s.agentBase(plan, agent, cwd, pinned), agent.Cwd, cwd))
	}
	return dirs
}

// agentBase is from where an agent's directory is seen, or "" where its steps differ in that.
func (s shelf) agentBase(plan runbook.Plan, agent runbook.Agent, cwd string, pinned []tree) string {
	base := ""
	for i, p := range append([]runbook.Pipeline{plan.Pipeline}, slices.Collect(maps.Values(plan.Pipelines))...) {
		from, _ := s.placed(p.Workspace, cwd, pinned)
		if agent.Workspace.Kind != "" {
			from = s.root
		}
		seen := s.seen(from, p.Cwd, cwd)
		for _, step := range p.Steps {
			if step.Run.Agent == agent.Name && (step.Cwd != "" || base != "" && base != seen || i > 0 && p.Workspace.Kind == "") {
				return ""
			}
			if step.Run.Agent == agent.Name {
				base = seen
			}
		}
	}
	return base
}
