package daemon

import (
	"context"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/control/engine"
	"github.com/stopgate/stopgate/internal/control/runbook/graph"
)

func (p *plane) Graph(_ context.Context, id string) (daemonapi.Graph, error) {
	o, err := p.resolve(id)
	if err != nil {
		return daemonapi.Graph{}, err
	}
	return p.graphView(o), nil
}

// notReached is the state of a step that was never entered, as far as is known.
const notReached = "not_reached"

// graphView is the graph of an owner's plan with how far each step is.
func (p *plane) graphView(o *engine.Owner) (view daemonapi.Graph) {
	p.core.look(func(s *engine.State) { view = graphView(o, s.Children(o.ID)) })
	return view
}

func graphView(o *engine.Owner, children []*engine.Owner) daemonapi.Graph {
	drawn := graph.Of(o.Plan.Pipeline)
	view := daemonapi.Graph{Name: drawn.Name, Nodes: []daemonapi.Node{}, Edges: []daemonapi.Edge{}}
	for _, n := range drawn.Nodes {
		node := daemonapi.Node{Name: n.Name, What: n.What, Of: n.Of, State: notReached, Current: n.Name == o.Step}
		if n.Of != "" {
			node.State, node.Pipeline = branchState(o, n.Name, children)
		}
		for i, v := range o.History {
			if v.Step == n.Name {
				node.Visits = append(node.Visits, visitView(o, v, i == len(o.History)-1))
				node.State = node.Visits[len(node.Visits)-1].Outcome
			}
		}
		if node.State == "completed" {
			node.State = "done"
		}
		view.Nodes = append(view.Nodes, node)
	}
	for _, e := range drawn.Edges {
		view.Edges = append(view.Edges, daemonapi.Edge(e))
	}
	return view
}

// branchState is how far a branch is, and the pipeline that it is.
func branchState(o *engine.Owner, name string, children []*engine.Owner) (state, id string) {
	state = notReached
	for _, c := range children { // the newest is the last
		if c.Parent.Name == name {
			state, id = status(c), c.ID
		}
	}
	if o.Offspring == nil {
		return state, id
	}
	for _, c := range o.Offspring.Children {
		switch {
		case c.Name != name || c.ID != "":
		case c.State == engine.ChildPending:
			return notReached, ""
		default:
			return string(c.State), ""
		}
	}
	return state, id
}

func (p *plane) Picture(_ context.Context, id string) ([]byte, error) {
	o, err := p.resolve(id)
	if err != nil {
		return nil, err
	}
	drawn := graph.Of(o.Plan.Pipeline)
	for i, n := range p.graphView(o).Nodes {
		drawn.Nodes[i].State = n.State
	}
	return graph.SVG([]graph.Graph{drawn}), nil
}
