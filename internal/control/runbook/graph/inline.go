package graph

import (
	"fmt"
	"strings"
)

// Inline draws a graph for a page that has it among other things: without a heading and without
// colours, which are the page's. Boxes have classes such as state-done, edges done, fail and cancel, arrows
// arrow-done and so on.
func Inline(g Graph) []byte {
	l := layout(marked(g))
	const edge, above = 4, 26 // room for the strokes, and for edges that come from below
	var out strings.Builder
	fmt.Fprintf(&out, "<svg class=\"graph\" width=\"%.0f\" height=\"%.0f\" viewBox=\"%d %d %.0f %.0f\" role=\"img\" aria-label=\"%s\">\n",
		l.width+2*edge, l.height+above+edge, -edge, -above, l.width+2*edge, l.height+above+edge, escape(g.sentence()))
	out.WriteString("<defs>\n")
	for _, class := range []string{"done", "fail", "cancel"} {
		fmt.Fprintf(&out, "<marker id=\"%s\" class=\"arrow-%[1]s\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" orient=\"auto\"><path d=\"M0 0L8 4L0 8z\"/></marker>\n", class)
	}
	out.WriteString("</defs>\n")
	l.draw(&out)
	out.WriteString("</svg>\n")
	return []byte(out.String())
}

// marks tell states apart without colours.
var marks = map[string]string{"done": "✓", "failed": "✗", "running": "●", "waiting": "?", "cancelled": "⊘", "skipped": "↷"}

// marked is the graph with a mark for the state of each node.
func marked(g Graph) Graph {
	nodes := make([]Node, len(g.Nodes))
	for i, n := range g.Nodes {
		if mark := marks[n.State]; mark != "" {
			n.mark = mark + " "
		}
		nodes[i] = n
	}
	g.Nodes = nodes
	return g
}

// sentence says what the graph shows to those who do not see it.
func (g Graph) sentence() string {
	var parts []string
	for _, n := range g.Nodes {
		parts = append(parts, strings.TrimSpace(n.Name+" "+strings.ReplaceAll(n.State, "_", " ")))
	}
	return "Pipeline " + g.Name + ": " + strings.Join(parts, ", ")
}
