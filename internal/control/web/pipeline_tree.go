package web

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

const (
	// mostBranches is how many children of one pipeline are shown.
	mostBranches = 30
	// mostOpened is of how many pipelines the children are looked up.
	mostOpened = 24
)

// tree is a pipeline with what its steps run, from the outermost one on.
type tree struct {
	ID       string
	Name     string
	Item     string
	Status   string
	Reason   string
	Here     bool // the page is about it
	Branches []*tree
	Left     int    // branches that are not shown
	Tally    string // of many branches
}

// tree is where an owner stands among those that it is part of, and what is part of it; nil for one that
// stands alone. The way to the owner is opened first.
func (r *Request) tree(o *daemonapi.Owner, path []crumb) *tree {
	root := *o
	if len(path) > 0 {
		above, err := r.Owner(r.Context(), path[0].ID)
		if err != nil {
			return nil
		}
		root = above
	}
	if len(path) == 0 && len(root.Children) == 0 {
		return nil
	}
	way := map[string]bool{o.ID: true}
	for _, c := range path {
		way[c.ID] = true
	}
	top := &tree{ID: root.ID, Name: root.Name, Status: root.Status, Reason: root.Reason, Here: root.ID == o.ID}
	top.grow(root.Children, way, o.ID)
	left := mostOpened
	r.openBranches(top, way, o.ID, &left)
	return top
}

// openBranches looks up what is part of the branches: first of those on the way, then of the others.
func (r *Request) openBranches(t *tree, way map[string]bool, here string, left *int) {
	for _, onWay := range []bool{true, false} {
		for _, b := range t.Branches {
			if b.ID == "" || way[b.ID] != onWay || *left == 0 {
				continue
			}
			*left--
			child, err := r.Owner(r.Context(), b.ID)
			if err != nil {
				continue
			}
			b.grow(child.Children, way, here)
			r.openBranches(b, way, here, left)
		}
	}
}

// grow adds branches: of many those that are on the way, or that something is to be said of.
func (t *tree) grow(children []daemonapi.Child, way map[string]bool, here string) {
	if len(children) > mostBranches {
		t.Tally = tally(children)
		children = slices.Clone(children)
		slices.SortStableFunc(children, func(a, b daemonapi.Child) int {
			return cmp.Compare(rank(a, way), rank(b, way))
		})
		t.Left = len(children) - mostBranches
		children = children[:mostBranches]
	}
	for _, c := range children {
		if !daemonapi.IsOwnerID(c.ID) {
			c.ID = "" // it was not started
		}
		t.Branches = append(t.Branches, &tree{ID: c.ID, Name: c.Name, Item: c.Item, Status: c.Status, Reason: c.Reason, Here: c.ID != "" && c.ID == here})
	}
}

func rank(c daemonapi.Child, way map[string]bool) int {
	if way[c.ID] {
		return 0
	}
	return 1 + slices.Index([]string{"waiting", "failed", "running", "cancelled", "pending", "skipped", "done"}, c.Status)
}

// tally says how many children are how far.
func tally(children []daemonapi.Child) string {
	counts := map[string]int{}
	for _, c := range children {
		counts[c.Status]++
	}
	parts := []string{}
	for _, status := range []string{"waiting", "failed", "running", "pending", "cancelled", "skipped", "done"} {
		if n := counts[status]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, status))
		}
	}
	return plain.Count(len(children), "part") + ": " + strings.Join(parts, ", ")
}
