package workspace

import (
	"path/filepath"
	"strings"

	"github.com/stopgate/stopgate/internal/control/runbook"
	"github.com/stopgate/stopgate/internal/sys/disk"
)

// Kept is a workspace that is there.
type Kept struct {
	Dir     string
	Kind    runbook.WorkspaceKind
	Owner   string
	Project string
	Branch  string
}

// List are the workspaces that are there, by their names. What cannot be read is left out.
func (w *Workspaces) List() (all []Kept, err error) {
	entries, err := disk.List(w.root)
	for _, entry := range entries {
		name, is := strings.CutSuffix(entry.Name(), ".json")
		if !is {
			continue
		}
		r, unread := w.read(filepath.Join(w.root, name))
		if unread == nil && filepath.Base(r.Dir) == name && disk.Exists(r.Dir) {
			all = append(all, Kept{Dir: r.Dir, Kind: r.Kind, Owner: r.Owner, Project: r.Project, Branch: r.Branch})
		}
	}
	return all, err
}
