package top

import (
	"cmp"
	"os"
	"slices"
	"time"

	"github.com/stopgate/stopgate/internal/gate/doctor"
	"github.com/stopgate/stopgate/internal/gate/gauntlet/ledger"
	"github.com/stopgate/stopgate/internal/gate/trust"
	"github.com/stopgate/stopgate/internal/project/config"
	"github.com/stopgate/stopgate/internal/sys/paths"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// maxProjects bounds what is looked at: it reads files of each project.
const maxProjects = 50

// survey says whether stops are judged: in the project here, in all that were approved, and in those
// that are given.
func survey(stateDir string, roots []string, now time.Time) (all []Project) {
	global := &config.Global{}
	if path, err := paths.GlobalConfig(); err == nil {
		global, _ = trust.LoadGlobal(path, stateDir) // sections that are invalid have their defaults
	}
	store := trust.NewStore(stateDir)
	isProject := func(dir string) bool { return paths.HasConfig(dir) || global.Enforces() && store.Gated(dir) }
	here := []string{}
	if cwd, err := os.Getwd(); err == nil {
		if root, found := paths.ProjectRoot(isProject, cwd); found {
			here = append(here, root)
		}
	}
	seen := map[string]bool{}
	for _, root := range slices.Concat(here, roots, store.Roots()) {
		if seen[root] || root == "" || len(all) == maxProjects {
			continue
		}
		seen[root] = true
		if g := doctor.Look(stateDir, global, root, now); !g.Gone {
			all = append(all, standing(&g, now))
		}
	}
	return all
}

// standing is how a project stands, in the order in which a person would fix it.
func standing(g *doctor.Glance, now time.Time) Project {
	refused := func(why, hint string) Project { return Project{Root: g.Root, Why: why, Hint: hint} }
	switch {
	case !g.Configured:
		return refused("it has no gates", "stopgate init")
	case g.Fault != "":
		return refused(g.Fault, "stopgate trust --show")
	case g.Trust == trust.Untrusted:
		return refused("its configuration is not approved", "stopgate trust --show")
	case len(g.Hooks.Scopes) == 0:
		return refused(cmp.Or(g.Hooks.Why, "hooks are not installed"), cmp.Or(g.Hooks.Help, "stopgate hooks install"))
	case g.Off != nil:
		return refused("switched off until "+plain.Clock(g.Off.Until, now), "stopgate on")
	case g.Invalid:
		return refused("its configuration is invalid", "stopgate validate")
	case len(g.Exempt) > 0:
		return refused("failed gates do not block ("+g.Exempt[0].Setting+")", plain.Line(g.Exempt[0].Remedy()))
	case g.Failures > 0:
		return refused("the retry limit is reached after "+plain.Count(g.Failures, "failing run")+": "+ledger.LimitEnds, "stopgate clean")
	}

	p := Project{Root: g.Root, Enforced: true}
	switch g.Trust {
	case trust.Edited:
		p.Why, p.Hint = "edited since it was approved: the approved version is used", "stopgate trust --show"
	case "":
		p.Why = "trust is not enforced: edits run without approval"
	}
	return p
}
