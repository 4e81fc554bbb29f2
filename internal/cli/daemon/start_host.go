package daemon

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/cli/here"
	"github.com/stopgate/stopgate/internal/cli/term"
)

// there is the request for a start on another machine. It knows the project by its name, and has its own
// environment.
func (o *startOptions) there(h *here.Place, args []string) (daemonapi.Start, error) {
	name, err := o.projectName(h)
	return daemonapi.Start{ID: daemonapi.NewID(), Host: o.host, ProjectName: name, Command: args[0], Args: args[1:], Runbook: o.runbook}, err
}

// projectName is what the fleet calls the project: what the person says, the name that this machine's configuration
// gives it, or that of its directory.
func (o *startOptions) projectName(h *here.Place) (string, error) {
	if o.project != "" {
		if !daemonapi.IsFleetName(o.project) {
			return "", term.BadUsage(fmt.Errorf("invalid --project %s", term.Shown(o.project)), "a project's name in the fleet has the characters a-z, 0-9 and -, at most 32 of them")
		}
		return o.project, nil
	}
	for _, p := range h.Global.Fleet.Projects {
		if isDir(p.Path, h.Root) {
			return p.Name, nil
		}
	}
	if base := filepath.Base(h.Root); daemonapi.IsFleetName(base) {
		return base, nil
	}
	return "", term.BadUsage(errors.New("the fleet has no name for the project "+term.Shown(h.Root)), "name it with: --project NAME, or in fleet.projects of "+term.Shown(h.GlobalPath))
}

// projectsThere are the names of projects that the machine knows, for completion.
func (o *startOptions) projectsThere(ctx context.Context, p *Daemon, _ []string) []string {
	f, _ := p.Fleet(ctx) // then there is nothing to complete
	m, _ := f.Find(o.host)
	return m.Projects
}

// isDir reports whether a path of the configuration, which may begin with ~/, is that directory.
func isDir(path, dir string) bool {
	if below, found := strings.CutPrefix(path, "~/"); found {
		home, err := os.UserHomeDir()
		if err != nil {
			return false
		}
		path = filepath.Join(home, below)
	}
	one, err := os.Stat(path)
	if err != nil {
		return false
	}
	other, err := os.Stat(dir)
	return err == nil && os.SameFile(one, other)
}
