package cli

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/paths"
	"github.com/stopgate/stopgate/internal/trust"
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
	if root, found := paths.ProjectRoot(h.trust().Claims, h.cwd); found {
		h.root = root
	}
	return h, nil
}

// findNearest takes the nearest project, for commands by which a person sets one
// up or approves it.
func findNearest() (*here, error) {
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
	h.global, h.globalErr = config.LoadGlobal(global)
	h.root, h.hasProject = paths.ProjectRoot(h.isProject, cwd)
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
		err = hintError{
			errors.New("no project: there is no " + filepath.Join(paths.GauntletDir, paths.ConfigFile) + " here or above"),
			"set this project up with: stopgate init",
		}
	}
	return h, err
}

// isProject also knows a project whose approved configuration was deleted.
func (h *here) isProject(dir string) bool {
	return paths.HasConfig(dir) || h.enforces() && h.trust().Claims(dir)
}

func (h *here) trust() trust.Store { return trust.NewStore(h.stateDir) }

func (h *here) enforces() bool { return h.globalErr == nil && h.global.Enforces() }

// configDir is the project's .gauntlet.
func (h *here) configDir() string { return filepath.Join(h.root, paths.GauntletDir) }

// short shows a path as a person would type it here.
func (h *here) short(path string) string {
	if rel, err := filepath.Rel(h.cwd, path); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}
