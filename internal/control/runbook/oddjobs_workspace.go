package runbook

import "github.com/stopgate/stopgate/internal/project/document"

// oddWorkspace makes our workspace of one of oddjobs: a word for a folder, or a worktree that starts
// from a ref.
func (d *decoder) oddWorkspace(pipeline *node) {
	e := pipeline.get("workspace")
	if e == nil {
		return
	}
	switch e.node.kind {
	case document.Mapping:
		d.oddTable(e.node, inWorkspace, d.workspaceFields(&Workspace{}))
	case document.Text:
		if keep, known := oddFolders[e.node.text]; known && d.oddjobs {
			at := e.node.at
			*e.node = node{kind: document.Mapping, at: at}
			d.put(e.node, entry{"folder", at, &node{kind: document.Text, at: at, text: string(FolderEmpty)}})
			d.put(e.node, entry{"keep", at, &node{kind: document.Text, at: at, text: string(keep)}})
		}
	}
}

// oddFolders are the words for workspaces that are folders, with when those stay.
var oddFolders = map[string]Keep{
	"ephemeral":  KeepOnFailure,
	"folder":     KeepOnFailure,
	"persistent": KeepAlways,
}

// oddPlaces are the templates of oddjobs about workspaces, by ours. Its nonce makes names unique.
var oddPlaces = map[string]string{
	"workspace":       "workspace.path",
	"workspace.root":  "workspace.path",
	"workspace.nonce": "pipeline_id",
	"workspace.id":    "pipeline_id",
	"source":          "workspace.path",
	"source.root":     "workspace.path",
	"source.branch":   "workspace.branch",
	"source.nonce":    "pipeline_id",
	"source.id":       "pipeline_id",
	"workspace.ref":   "workspace.base",
	"source.ref":      "workspace.base",
}
