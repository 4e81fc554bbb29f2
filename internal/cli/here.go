package cli

import (
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/stopgate/stopgate/internal/gate/gauntlet"
	"github.com/stopgate/stopgate/internal/gate/keeper"
	"github.com/stopgate/stopgate/internal/gate/stop"
	"github.com/stopgate/stopgate/internal/gate/trust"
	"github.com/stopgate/stopgate/internal/project/config"
	"github.com/stopgate/stopgate/internal/sys/paths"
)

// here is where a person runs a command: the directories and the files that
// matter there.
type here struct {
	stateDir   string
	globalPath string
	global     *config.Global
	globalErr  error
	cwd        string
	root       string // the project's; the git root or cwd where there is none yet
	hasProject bool
}

// findHere takes the project that the hooks take: where trust is enforced an
// approved one comes before any other.
func findHere() (*here, error) {
	h, err := findNearest()
	if err != nil || !h.enforces() {
		return h, err
	}
	if root, found := paths.ProjectRoot(h.trust().Gated, h.cwd); found {
		h.root = root
	}
	return h, nil
}

// findRunbooks takes the nearest project with runbooks, as checking them does. Where
// trust is enforced an approved one comes before any other.
func findRunbooks() (*here, error) {
	h, err := findNearest()
	if err != nil {
		return nil, err
	}
	if root, found := paths.ProjectRoot(h.trust().Claims, h.cwd); found && h.enforces() {
		h.root = root
	} else if root, found := paths.ProjectRoot(paths.HasRunbooks, h.cwd); found {
		h.root = root
	}
	return h, nil
}

// findApprovable takes the nearest project of which something can be approved: its
// configuration or its runbooks.
func findApprovable() (*here, error) {
	return find(func(h *here, dir string) bool {
		return h.isProject(dir) || paths.HasRunbooks(dir) || h.trust().Claims(dir)
	})
}

// findNearest takes the nearest project, for commands by which a person sets one
// up or approves it.
func findNearest() (*here, error) { return find((*here).isProject) }

func find(isProject func(h *here, dir string) bool) (*here, error) {
	state, err := paths.StateDir()
	if err != nil {
		return nil, err
	}
	global, err := paths.GlobalConfig()
	if err != nil {
		return nil, err
	}
	cwd, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	h := &here{stateDir: state, globalPath: global, cwd: cwd}
	h.global, h.globalErr = trust.LoadGlobal(global, state)
	h.root, h.hasProject = paths.ProjectRoot(func(dir string) bool { return isProject(h, dir) }, cwd)
	if !h.hasProject {
		h.root = cwd
		if root, ok := paths.GitRoot(cwd); ok {
			h.root = root
		}
	}
	return h, nil
}

// mustExist refuses a place without a project.
func mustExist(h *here, err error) (*here, error) {
	if err == nil && !h.hasProject {
		err = withHint(
			errors.New("no project: there is no "+filepath.Join(paths.GauntletDir, paths.ConfigFile)+" here or above"),
			"set this project up with: stopgate init",
		)
	}
	return h, err
}

// isProject also knows a project whose approved configuration was deleted.
func (h *here) isProject(dir string) bool {
	return paths.HasConfig(dir) || h.enforces() && h.trust().Gated(dir)
}

func (h *here) trust() trust.Store { return trust.NewStore(h.stateDir) }

func (h *here) enforces() bool { return h.global.Enforces() }

func (h *here) locator() stop.Locator {
	return stop.Locator{StateDir: h.stateDir, Global: h.global, GlobalErr: h.globalErr, Environ: os.Environ()}
}

// gates reads the project as it is in force, with its gates. The notices are for
// the person.
func (h *here) gates() (project *keeper.Project, notices []string, err error) {
	place := h.locator().Locate(h.root, true)
	for _, o := range place.Opinions {
		notices = append(notices, o.Message)
	}
	if place.Project != nil {
		return place.Project, notices, nil
	}
	if len(place.Opinions) == 0 {
		return nil, nil, withCode(withHint(errors.New(h.configDir()+" was never approved"), "read it, then approve it with: stopgate trust"), exitCouldNotRun)
	}
	last := place.Opinions[len(place.Opinions)-1]
	if last.Status != "invalid_config" {
		return nil, nil, withCode(errors.New(last.Message), exitCouldNotRun)
	}
	if _, faults := h.validate(); len(faults) > 0 {
		printFaults(os.Stderr, nil, faults)
		return nil, nil, withCode(nil, exitUsage)
	}
	return nil, nil, withCode(errors.New(last.Message), exitUsage)
}

// options are those of a run here.
func (h *here) options(project *keeper.Project) gauntlet.Options {
	environ := os.Environ()
	return gauntlet.Options{
		Project:  project,
		Global:   h.global,
		StateDir: h.stateDir,
		Environ:  environ,
		Now:      time.Now,
		Scope:    gauntlet.ScopeOf(environ),
	}
}

// configDir is the project's .gauntlet.
func (h *here) configDir() string { return filepath.Join(h.root, paths.GauntletDir) }

// short shows a path as a person would type it here.
func (h *here) short(path string) string {
	if rel, err := filepath.Rel(h.cwd, path); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}
