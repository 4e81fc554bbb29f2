// Package here finds the project, the configuration and the programs that a command works with.
package here

import (
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/gate/gauntlet"
	"github.com/stopgate/stopgate/internal/gate/keeper"
	"github.com/stopgate/stopgate/internal/gate/stop"
	"github.com/stopgate/stopgate/internal/gate/trust"
	"github.com/stopgate/stopgate/internal/project/config"
	"github.com/stopgate/stopgate/internal/project/document"
	"github.com/stopgate/stopgate/internal/sys/paths"
)

// Place is where a person runs a command: the directories and the files that
// matter there.
type Place struct {
	StateDir   string
	GlobalPath string
	Global     *config.Global
	GlobalErr  error
	Cwd        string
	Root       string // the project's; the git root or cwd where there is none yet
	HasProject bool
}

// FindHere takes the project that the hooks take: where trust is enforced an
// approved one comes before any other.
func FindHere() (*Place, error) {
	h, err := FindNearest()
	if err != nil || !h.Enforces() {
		return h, err
	}
	if root, found := paths.ProjectRoot(h.Trust().Gated, h.Cwd); found {
		h.Root = root
	}
	return h, nil
}

// FindRunbooks takes the nearest project with runbooks, as checking them does. Where
// trust is enforced an approved one comes before any other.
func FindRunbooks() (*Place, error) {
	h, err := FindNearest()
	if err != nil {
		return nil, err
	}
	if root, found := paths.ProjectRoot(h.Claims, h.Cwd); found && h.Enforces() {
		h.Root, h.HasProject = root, true
	} else if root, found := paths.ProjectRoot(paths.HasRunbooks, h.Cwd); found {
		h.Root, h.HasProject = root, true
	}
	return h, nil
}

// FindApprovable takes the nearest project of which something can be approved: its
// configuration or its runbooks.
func FindApprovable() (*Place, error) {
	return find(func(h *Place, dir string) bool {
		return h.isProject(dir) || paths.HasRunbooks(dir) || h.Claims(dir)
	})
}

// FindNearest takes the nearest project, for commands by which a person sets one
// up or approves it.
func FindNearest() (*Place, error) { return find((*Place).isProject) }

func find(isProject func(h *Place, dir string) bool) (*Place, error) {
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
	h := &Place{StateDir: state, GlobalPath: global, Cwd: cwd}
	h.Global, h.GlobalErr = trust.LoadGlobal(global, state)
	h.Root, h.HasProject = paths.ProjectRoot(func(dir string) bool { return isProject(h, dir) }, cwd)
	if !h.HasProject {
		h.Root = cwd
		if root, ok := paths.GitRoot(cwd); ok {
			h.Root = root
		}
	}
	return h, nil
}

// MustExist refuses a place without a project.
func MustExist(h *Place, err error) (*Place, error) {
	if err == nil && !h.HasProject {
		err = term.BadUsage(
			errors.New("no project: there is no "+filepath.Join(paths.GauntletDir, paths.ConfigFile)+" here or above"),
			"set this project up with: stopgate init",
		)
	}
	return h, err
}

// isProject also knows a project whose approved configuration was deleted.
func (h *Place) isProject(dir string) bool {
	return paths.HasConfig(dir) || h.Enforces() && h.Trust().Gated(dir)
}

// Claims reports whether something of the project at root was ever approved.
func (h *Place) Claims(root string) bool {
	return h.Trust().Claims(root) || h.Trust().Oddjobs().Claims(root)
}

func (h *Place) Trust() trust.Store { return trust.NewStore(h.StateDir) }

func (h *Place) Enforces() bool { return h.Global.Enforces() }

func (h *Place) Locator() stop.Locator {
	return stop.Locator{StateDir: h.StateDir, Global: h.Global, GlobalErr: h.GlobalErr, Environ: os.Environ()}
}

// Gates reads the project as it is in force, with its gates. The notices are for
// the person.
func (h *Place) Gates() (project *keeper.Project, notices []string, err error) {
	place := h.Locator().Locate(h.Root, true)
	for _, o := range place.Verdicts {
		notices = append(notices, o.Message)
	}
	if place.Project != nil {
		return place.Project, notices, nil
	}
	if len(place.Verdicts) == 0 {
		return nil, nil, term.CannotRun(errors.New(h.ConfigDir()+" was never approved"), "review it with: stopgate trust --show; then approve it with: stopgate trust")
	}
	last := place.Verdicts[len(place.Verdicts)-1]
	if what, help := stop.Unapproved(h.ConfigDir()); last.Status == string(gauntlet.Untrusted) && what != "" {
		return nil, nil, term.CannotRun(errors.New(what), help)
	}
	if last.Status != "invalid_config" {
		return nil, nil, term.WithCode(errors.New(last.Message), term.ExitCouldNotRun)
	}
	if _, faults := h.Validate(); len(faults) > 0 {
		PrintFaults(os.Stderr, nil, faults)
		return nil, nil, term.AlreadyTold(&document.Faults{All: faults}, term.ExitUsage)
	}
	return nil, nil, term.WithCode(errors.New(last.Message), term.ExitUsage)
}

// Options are those of a run here.
func (h *Place) Options(project *keeper.Project) gauntlet.Options {
	environ := os.Environ()
	return gauntlet.Options{
		Project:  project,
		Global:   h.Global,
		StateDir: h.StateDir,
		Environ:  environ,
		Now:      time.Now,
		Scope:    gauntlet.ScopeOf(environ),
	}
}

// ConfigDir is the project's .gauntlet.
func (h *Place) ConfigDir() string { return filepath.Join(h.Root, paths.GauntletDir) }

// OddjobsDir is the project's directory of oddjobs.
func (h *Place) OddjobsDir() string { return filepath.Join(h.Root, paths.OddjobsDir) }

// Short shows a path as a person would type it here.
func (h *Place) Short(path string) string {
	if rel, err := filepath.Rel(h.Cwd, path); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}
