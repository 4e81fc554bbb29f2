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
	return graphView(o), nil
}

// notReached is the state of a step that was never entered, as far as is known.
const notReached = "not_reached"

// graphView is the graph of an owner's plan with how far each step is.
func graphView(o *engine.Owner) daemonapi.Graph {
	drawn := graph.Of(o.Plan.Pipeline)
	view := daemonapi.Graph{Name: drawn.Name, Nodes: []daemonapi.Node{}, Edges: []daemonapi.Edge{}}
	for _, n := range drawn.Nodes {
		node := daemonapi.Node{Name: n.Name, What: n.What, State: notReached, Current: n.Name == o.Step}
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

func (p *plane) Picture(_ context.Context, id string) ([]byte, error) {
	o, err := p.resolve(id)
	if err != nil {
		return nil, err
	}
	drawn := graph.Of(o.Plan.Pipeline)
	for i, n := range graphView(o).Nodes {
		drawn.Nodes[i].State = n.State
	}
	return graph.SVG([]graph.Graph{drawn}), nil
}
