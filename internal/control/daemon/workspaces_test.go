package daemon

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/control/api"
	"github.com/stopgate/stopgate/internal/control/engine"
	"github.com/stopgate/stopgate/internal/control/runbook"
	"github.com/stopgate/stopgate/internal/control/workspace"
)

// Workspaces are read in pages, by their names, also where one goes between two pages.
func TestWorkspacesInPages(t *testing.T) {
	p := asking(t)
	all := workspace.New(p.opts.StateDir, nil)
	p.opts.Workspaces = all
	project := t.TempDir()
	for i, name := range []string{"a", "a-1", "b", "c", "d"} { // the files of a and a-1 have another order
		task := engine.WorkspaceTask{Dir: filepath.Join(workspace.Root(p.opts.StateDir), name), Kind: runbook.FolderEmpty, Project: project}
		if name == "c" {
			task.Project = t.TempDir()
		}
		_, err := all.Make(t.Context(), fmt.Sprintf("owner-%d", i), task)
		check(t, err)
	}

	q := &api.Query{Project: project, Limit: 2}
	var got [][]string
	for {
		page, err := p.Workspaces(t.Context(), q)
		check(t, err)
		var names []string
		for _, w := range page.Items {
			names = append(names, w.Name)
		}
		got = append(got, names)
		if page.Next == (api.Place{}) {
			break
		}
		check(t, os.RemoveAll(filepath.Join(workspace.Root(p.opts.StateDir), page.Next.ID)))
		q.After = page.Next
	}
	if diff := cmp.Diff([][]string{{"a", "a-1"}, {"b", "d"}}, got); diff != "" {
		t.Errorf("pages (-want +got)\n%s", diff)
	}
}
