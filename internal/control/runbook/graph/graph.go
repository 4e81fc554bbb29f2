// Package graph draws pipelines: their steps, and what leads from one to another.
package graph

import (
	"slices"
	"strconv"
	"strings"

	"github.com/stopgate/stopgate/internal/control/runbook"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// Graph is a pipeline's steps and transitions.
type Graph struct {
	Name  string `json:"name"`
	Nodes []Node `json:"nodes"` // in the order of the runbook; the first is where it begins
	Edges []Edge `json:"edges"` // by the nodes that they lead from
}

// Node is a step.
type Node struct {
	Name string `json:"name"`
	What string `json:"what"`         // it runs, in one line
	Of   string `json:"of,omitempty"` // the node that it is a branch of
	// State is how far a pipeline is with it, where one is drawn that runs or ran: running, waiting,
	// done, failed, cancelled, skipped, not_reached.
	State string `json:"state,omitempty"`

	mark string // before its name, where it is drawn
}

// Edge leads from a step to another, or to an end of the pipeline.
type Edge struct {
	From string `json:"from"` // anyStep: every step without such an edge
	To   string `json:"to"`
	On   string `json:"on"` // done (of a parallel step: from its last branches), fail, cancel or finally; branch or needs; of a step that a person decides, the answer
}

// class is how the edge is drawn.
func (e Edge) class() string {
	switch e.On {
	case "fail", "cancel":
		return e.On
	case "finally":
		return "cancel"
	}
	return "done"
}

// anyStep is where a transition of the pipeline itself begins. No step is called so.
const anyStep = "any step"

// Of is the graph of a pipeline. Where a step has no transition of its own, a pipeline's
// on_done is drawn for each step; its on_fail and on_cancel are drawn once. A failure without
// an edge fails the pipeline, a cancel without one cancels it.
func Of(p runbook.Pipeline) Graph {
	g := Graph{Name: p.Name, Nodes: []Node{}, Edges: []Edge{}}
	for _, s := range p.Steps {
		g.Nodes = append(g.Nodes, Node{Name: s.Name, What: whatOf(s), Of: s.Of})
		if s.Of != "" {
			g.branch(s)
			continue
		}
		g.follow(p, s)
		g.add(s.Name, s.OnFail, "fail")
		g.add(s.Name, s.OnCancel, "cancel")
	}
	g.add(anyStep, p.OnFail, "fail")
	g.add(anyStep, p.OnCancel, "cancel")
	g.add(anyStep, p.Finally, "finally")
	return g
}

// follow adds what follows a step that is done: one step, or one for each answer of a person.
func (g *Graph) follow(p runbook.Pipeline, s runbook.Step) {
	if s.Parallel {
		for _, branch := range last(p, s) {
			g.add(branch, done(p, s), "done")
		}
		return
	}
	if s.Approval == nil {
		g.add(s.Name, done(p, s), "done")
		return
	}
	for _, o := range s.Approval.Options {
		switch {
		case o.Step != "":
			g.add(s.Name, o.Step, o.Name)
		case !o.Fail:
			g.add(s.Name, done(p, s), o.Name)
		}
	}
}

// last are the branches of a step that no other branch needs.
func last(p runbook.Pipeline, s runbook.Step) (names []string) {
	for _, branch := range p.Steps {
		needed := func(other runbook.Step) bool { return slices.Contains(other.Needs, branch.Name) }
		if branch.Of == s.Name && !slices.ContainsFunc(p.Steps, needed) {
			names = append(names, branch.Name)
		}
	}
	return names
}

// branch adds what leads to a branch: the branches that it needs, else the step that it is of.
func (g *Graph) branch(s runbook.Step) {
	if len(s.Needs) == 0 {
		g.add(s.Of, s.Name, "branch")
	}
	for _, need := range s.Needs {
		g.add(need, s.Name, "needs")
	}
}

// whatOf is what a step does, in one line.
func whatOf(s runbook.Step) string {
	what := What(s.Run)
	switch {
	case s.Approval != nil:
		what = "asks: " + Short(s.Approval.Title)
	case s.Parallel:
		what = "branches"
	}
	if !s.ForEach.IsZero() {
		what += ", for each item"
	}
	if s.Limit > 0 {
		what += ", " + strconv.Itoa(s.Limit) + " at a time"
	}
	return what
}

func (g *Graph) add(from, to, on string) {
	if to != "" {
		g.Edges = append(g.Edges, Edge{from, to, on})
	}
}

// done is what follows a step that is done.
func done(p runbook.Pipeline, s runbook.Step) string {
	switch {
	case s.OnDone != "":
		return s.OnDone
	case p.OnDone != "" && p.OnDone != s.Name:
		return p.OnDone
	}
	return runbook.EndDone
}

// from are the edges that begin at a node.
func (g Graph) from(name string) []Edge {
	return slices.DeleteFunc(slices.Clone(g.Edges), func(e Edge) bool { return e.From != name })
}

// What is what is run, in one line.
func What(r runbook.Run) string {
	switch {
	case r.Pipeline != "":
		return "pipeline " + r.Pipeline
	case r.Agent != "":
		return "agent " + r.Agent
	}
	return "sh: " + Short(r.Shell)
}

// Short is the first line of a text, as far as it is worth reading.
func Short(text string) string {
	const most = 40
	first, more, _ := strings.Cut(strings.TrimSpace(text), "\n")
	line := []rune(plain.Line(first))
	if len(line) > most {
		return string(line[:most]) + "…"
	}
	if more != "" {
		return string(line) + " …"
	}
	return string(line)
}
