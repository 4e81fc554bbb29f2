package workspace

import (
	"iter"
	"path/filepath"
	"slices"
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

// List are the workspaces that are there, by their names, after one of a name. What cannot be read is
// left out. Each is read when it is asked for.
func (w *Workspaces) List(after string) (iter.Seq[Kept], error) {
	entries, err := disk.List(w.root)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, entry := range entries {
		if name, is := strings.CutSuffix(entry.Name(), ".json"); is && name > after {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return func(yield func(Kept) bool) {
		for _, name := range names {
			if kept, there := w.kept(name); there && !yield(kept) {
				return
			}
		}
	}, nil
}

func (w *Workspaces) kept(name string) (kept Kept, there bool) {
	r, err := w.read(filepath.Join(w.root, name))
	there = err == nil && filepath.Base(r.Dir) == name && disk.Exists(r.Dir)
	return Kept{Dir: r.Dir, Kind: r.Kind, Owner: r.Owner, Project: r.Project, Branch: r.Branch}, there
}
