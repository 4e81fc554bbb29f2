package top

import (
	"os"
	"slices"
	"time"

	"github.com/stopgate/stopgate/internal/gate/stop"
	"github.com/stopgate/stopgate/internal/gate/trust"
	"github.com/stopgate/stopgate/internal/harness/settings"
	"github.com/stopgate/stopgate/internal/project/config"
	"github.com/stopgate/stopgate/internal/sys/disk"
	"github.com/stopgate/stopgate/internal/sys/paths"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// maxProjects bounds what is looked at: it reads files of each project.
const maxProjects = 50

// survey says whether stops are judged: in the project here, in all that were approved, and in those
// that are given.
func survey(stateDir string, roots []string, now time.Time) (all []Project) {
	e := enforcement{stateDir: stateDir, now: now}
	if path, err := paths.GlobalConfig(); err == nil {
		e.globalPath = path
		e.global, e.globalErr = trust.LoadGlobal(path, stateDir)
	} else {
		e.global = &config.Global{}
	}
	here := []string{}
	if cwd, err := os.Getwd(); err == nil {
		if root, found := paths.ProjectRoot(e.isProject, cwd); found {
			here = append(here, root)
		}
	}
	seen := map[string]bool{}
	for _, root := range slices.Concat(here, roots, trust.NewStore(stateDir).Roots()) {
		if seen[root] || root == "" || !disk.IsDir(root) || len(all) == maxProjects {
			continue
		}
		seen[root] = true
		all = append(all, e.standing(root))
	}
	return all
}

// enforcement knows what counts for all projects.
type enforcement struct {
	stateDir   string
	globalPath string
	global     *config.Global
	globalErr  error
	now        time.Time
}

func (e *enforcement) isProject(dir string) bool {
	return paths.HasConfig(dir) || e.global.Enforces() && trust.NewStore(e.stateDir).Gated(dir)
}

// standing is how a project stands, in the order in which a person would fix it.
func (e *enforcement) standing(root string) Project {
	refused := func(why, hint string) Project { return Project{Root: root, Why: why, Hint: hint} }
	if !e.isProject(root) {
		return refused("it has no gates", "stopgate init")
	}
	note := ""
	if e.global.Enforces() {
		standing, err := trust.NewStore(e.stateDir).Standing(root)
		switch {
		case err != nil:
			return refused(plain.Line(err.Error()), "stopgate trust --show")
		case standing.State == trust.Untrusted:
			return refused("its configuration is not approved", "stopgate trust --show")
		case standing.State == trust.Edited:
			note = "edited since it was approved: " + standing.Content.Remedy().String()
		}
	}
	if why := deadHooks(settings.Inspect(root)); why != "" {
		return refused(why, "stopgate hooks install")
	}
	if recess, on := stop.InRecess(e.stateDir, root, e.now); on {
		return refused("switched off until "+clock(recess.Until, e.now), "stopgate on")
	}
	locator := stop.Locator{StateDir: e.stateDir, Global: e.global, GlobalErr: e.globalErr, Environ: os.Environ()}
	if project := locator.Locate(root, false).Project; project != nil {
		exempt := e.global.Exemptions(project.Config, os.Environ(), paths.ProjectConfig(root), e.globalPath)
		if len(exempt) > 0 {
			return refused("red gates block no stop ("+exempt[0].Setting+")", plain.Line(exempt[0].Remedy()))
		}
	} else {
		return refused("its configuration is invalid", "stopgate validate")
	}
	return Project{Root: root, Enforced: true, Why: note}
}

// deadHooks is why no hook calls us; "" where one does.
func deadHooks(files []settings.File) string {
	dead := "hooks are not installed"
	for _, file := range files {
		switch {
		case len(file.Entries) == 0:
		case file.Dropped():
			dead = "Claude Code ignores " + file.Path
		case !file.Calls(files):
			by, _ := settings.Disabled(files)
			dead = by.Path + " switches all hooks off"
		default:
			return ""
		}
	}
	return dead
}
