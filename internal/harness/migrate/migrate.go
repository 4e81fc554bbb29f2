// Package migrate brings along what a project has of the tools that stopgate replaces. Each tool makes a
// plan: what becomes of each of its settings, and which files change for that. A migration keeps what it
// changes, so that it can be undone, also when it was killed halfway.
package migrate

import (
	"cmp"
	"path/filepath"
	"slices"

	"github.com/stopgate/stopgate/internal/project/document"
	"github.com/stopgate/stopgate/internal/sys/disk"
	"github.com/stopgate/stopgate/internal/sys/paths"
)

// Tool is one of the older tools. Plan gives nil where nothing of the tool is found. It reads files through
// the draft and writes to the draft alone, so that two tools can change one file. What is wrong with a file
// it notes in the draft, and plans the rest.
type Tool struct {
	Name string
	Plan func(*Draft) (*Plan, error)
}

// Tools are all of them, in the order in which they are shown and carried over.
func Tools() []Tool {
	return []Tool{
		{"agent-gauntlet", planGauntlet}, // first: it makes a configuration valid that others add to
		{"conclaude", planConclaude},
		{"ccc", planCCC},
		{"oddjobs", planOddjobs},
		{"gsd", planGSD},
	}
}

// Names are the names of all tools.
func Names() (names []string) {
	for _, tool := range Tools() {
		names = append(names, tool.Name)
	}
	return names
}

// Present are the tools that have a file of their own in a project, by a quick look.
func Present(root string) (names []string) {
	for _, f := range []struct{ name, file string }{{"conclaude", conclaudeFiles[0]}, {"conclaude", conclaudeFiles[1]}, {"oddjobs", paths.OddjobsDir}} {
		if disk.Exists(filepath.Join(root, f.file)) && !slices.Contains(names, f.name) {
			names = append(names, f.name)
		}
	}
	return names
}

// Plan is what becomes of the settings of one tool.
type Plan struct {
	Tool  string   `json:"tool"`
	Found []string `json:"files"` // what shows that the tool is used, relative to the project where it is inside
	Items []Item   `json:"settings"`
	// Next is what a person does afterwards, each a sentence with its command.
	Next []string `json:"next,omitempty"`
}

// Item is one setting and its fate.
type Item struct {
	Where   string `json:"where"` // file:line
	Setting string `json:"setting"`
	Fate    Fate   `json:"fate"`
	To      string `json:"to,omitempty"`  // what it becomes
	Why     string `json:"why,omitempty"` // what differs, or why it is left
}

// Fate is what becomes of a setting.
type Fate string

const (
	// Carried settings mean the same afterwards.
	Carried Fate = "carried"
	// Differs is for what is carried over and means something else in a detail.
	Differs Fate = "differs"
	// Left settings have no equal in stopgate.
	Left Fate = "left"
)

// Add adds an item.
func (p *Plan) Add(item Item) { p.Items = append(p.Items, item) }

// Report is what was found of all tools.
type Report struct {
	Plans   []Plan
	Faults  document.All // what keeps files from being read or added to
	Changes []Change     // none where there are faults
}

// Survey asks each of the tools, and makes one list of what is to be changed.
func Survey(d *Draft, tools []Tool) (Report, error) {
	r := Report{Plans: []Plan{}, Changes: []Change{}}
	for _, tool := range tools {
		plan, err := tool.Plan(d)
		if err := d.note(err); err != nil {
			return r, err
		}
		if plan == nil {
			continue
		}
		plan.Tool = cmp.Or(plan.Tool, tool.Name)
		if plan.Items == nil {
			plan.Items = []Item{}
		}
		r.Plans = append(r.Plans, *plan)
	}
	r.Faults = d.faults
	if len(r.Faults) == 0 {
		r.Changes = d.Changes()
	}
	return r, nil
}

// Next lists what a person does afterwards, each once. Where there are faults nothing is done yet.
func (r Report) Next() (all []string) {
	if len(r.Faults) > 0 {
		return nil
	}
	for _, plan := range r.Plans {
		for _, next := range plan.Next {
			if !slices.Contains(all, next) {
				all = append(all, next)
			}
		}
	}
	return all
}

// Tools are the names of those that were found.
func (r Report) Tools() (names []string) {
	for _, plan := range r.Plans {
		names = append(names, plan.Tool)
	}
	return names
}
