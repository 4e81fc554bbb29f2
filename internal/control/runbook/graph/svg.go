package graph

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/stopgate/stopgate/internal/control/runbook"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// Sizes in the units of the picture. A letter of the font is letter wide.
const (
	margin    = 24
	letter    = 7.3
	boxHeight = 46
	layerGap  = 54
	boxGap    = 28
	laneGap   = 22
	heading   = 50
	// Edges leave a box from its left, and go straight down beside their labels. A letter of these is
	// labelLetter wide.
	firstExit   = 18
	straight    = 14
	labelLetter = 6.1
)

// SVG draws graphs one below the other. The same graphs are the same bytes.
func SVG(graphs []Graph) []byte {
	var body strings.Builder
	width, y := 0.0, float64(margin)
	for _, g := range graphs {
		l := layout(g)
		fmt.Fprintf(&body, "<g transform=\"translate(%d %.0f)\">\n", margin, y)
		fmt.Fprintf(&body, "<text class=\"heading\" x=\"0\" y=\"16\">pipeline %s</text>\n", escape(g.Name))
		fmt.Fprintf(&body, "<g transform=\"translate(0 %d)\">\n", heading)
		l.draw(&body)
		body.WriteString("</g>\n</g>\n")
		width = max(width, l.width, letter*float64(len("pipeline ")+utf8.RuneCountInString(g.Name)))
		y += heading + l.height + 2*margin
	}

	var out strings.Builder
	fmt.Fprintf(&out, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" role=\"img\">\n", width+2*margin, y, width+2*margin, y)
	out.WriteString(style)
	if slices.ContainsFunc(graphs, Graph.hasStates) {
		out.WriteString(stateStyle)
	}
	out.WriteString(body.String())
	out.WriteString("</svg>\n")
	return []byte(out.String())
}

const style = `<style>
  svg { background: #ffffff }
  text { font: 12px ui-monospace, Menlo, Consolas, monospace; fill: #1f2328 }
  .heading { font-weight: bold; font-size: 14px }
  .name { font-weight: bold }
  .what, .end text { fill: #59636e }
  rect { fill: #f6f8fa; stroke: #59636e }
  .end rect { fill: none; stroke-dasharray: 3 3 }
  path { fill: none; stroke-width: 1.5 }
  .done { stroke: #1a7f37 }
  .fail { stroke: #cf222e; stroke-dasharray: 6 3 }
  .cancel { stroke: #59636e; stroke-dasharray: 2 3 }
  .label { font-size: 10px }
</style>
<defs>
  <marker id="done" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto"><path d="M0 0L8 4L0 8z" style="fill:#1a7f37"/></marker>
  <marker id="fail" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto"><path d="M0 0L8 4L0 8z" style="fill:#cf222e"/></marker>
  <marker id="cancel" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto"><path d="M0 0L8 4L0 8z" style="fill:#59636e"/></marker>
</defs>
`

// stateStyle is for the states of steps.
const stateStyle = `<style>
  .state-done rect { fill: #dafbe1; stroke: #1a7f37 }
  .state-failed rect { fill: #ffebe9; stroke: #cf222e }
  .state-running rect { fill: #ddf4ff; stroke: #0969da; stroke-width: 2 }
  .state-waiting rect { fill: #fff8c5; stroke: #9a6700; stroke-width: 2 }
  .state-skipped rect, .state-cancelled rect { stroke-dasharray: 4 3 }
  .state-not_reached { opacity: 0.55 }
</style>
`

// hasStates reports whether it is the graph of a pipeline that runs or ran.
func (g Graph) hasStates() bool {
	return slices.ContainsFunc(g.Nodes, func(n Node) bool { return n.State != "" })
}

// box is a node with its place.
type box struct {
	Node
	end         bool
	layer       int
	x, y, width float64
}

// placedGraph is a graph with places for all that is drawn.
type placedGraph struct {
	boxes         []box
	edges         []Edge
	right         float64 // of the boxes
	width, height float64
}

// layout puts the nodes into layers: each below what leads to it, as far as that does not go
// in circles.
func layout(g Graph) *placedGraph {
	l := &placedGraph{edges: g.Edges}
	for _, n := range g.Nodes {
		l.boxes = append(l.boxes, box{Node: n})
	}
	for _, e := range g.Edges {
		if e.From == anyStep && l.find(anyStep) == nil {
			l.boxes = append(l.boxes, box{Node: Node{Name: anyStep}, end: true})
		}
	}
	for _, e := range g.Edges {
		if runbook.IsEnd(e.To) && l.find(e.To) == nil {
			l.boxes = append(l.boxes, box{Node: Node{Name: e.To}, end: true})
		}
	}
	l.layers()
	l.place()
	return l
}

func (l *placedGraph) find(name string) *box {
	if i := slices.IndexFunc(l.boxes, func(b box) bool { return b.Name == name }); i >= 0 {
		return &l.boxes[i]
	}
	return nil
}

// layers finds the longest way to each node that does not go backwards.
func (l *placedGraph) layers() {
	forward := l.forward()
	for range l.boxes { // a way has at most so many edges
		for _, e := range forward {
			from, to := l.find(e.From), l.find(e.To)
			to.layer = max(to.layer, from.layer+1)
		}
	}
	last := 0
	for _, b := range l.boxes {
		last = max(last, b.layer)
	}
	for i := range l.boxes {
		if runbook.IsEnd(l.boxes[i].Name) {
			l.boxes[i].layer = last
		}
	}
}

// forward are the edges that close no circle, going from the first step as the pipeline does.
// What leads away from any step says nothing about the order.
func (l *placedGraph) forward() (edges []Edge) {
	const open, closed = 1, 2
	state := map[string]int{}
	var visit func(name string)
	visit = func(name string) {
		state[name] = open
		for _, e := range l.edges {
			if e.From != name || l.find(e.To) == nil || state[e.To] == open {
				continue
			}
			edges = append(edges, e)
			if state[e.To] == 0 {
				visit(e.To)
			}
		}
		state[name] = closed
	}

	for _, b := range l.boxes {
		if state[b.Name] == 0 {
			visit(b.Name)
		}
	}
	return edges
}

func (l *placedGraph) place() {
	rows := map[int][]int{}
	last := 0
	for i := range l.boxes {
		b := &l.boxes[i]
		longest := max(utf8.RuneCountInString(b.mark+b.Name), utf8.RuneCountInString(b.What))
		b.width = max(letter*float64(longest)+24, l.exits(b.Name))
		rows[b.layer] = append(rows[b.layer], i)
		last = max(last, b.layer)
	}

	for layer := range last + 1 {
		x := 0.0
		for _, i := range rows[layer] {
			l.boxes[i].x, l.boxes[i].y = x, float64(layer)*(boxHeight+layerGap)
			x += l.boxes[i].width + boxGap
		}
		l.right = max(l.right, x-boxGap)
	}

	l.height = float64(last)*(boxHeight+layerGap) + boxHeight
	l.width = l.right + laneGap*float64(l.detours()+1)
}

// exits is how wide a box is that all of its edges leave side by side.
func (l *placedGraph) exits(name string) float64 {
	width := float64(firstExit)
	for _, e := range l.edges {
		if e.From == name {
			width += e.room()
		}
	}
	return width
}

// room is how far an edge is from the next one of the same box.
func (e Edge) room() float64 { return labelLetter*float64(utf8.RuneCountInString(e.label())) + 14 }

// label is the word at an edge; there is none where the place that it leads to says it.
func (e Edge) label() string {
	if e.On == "branch" || e.On == "needs" {
		return ""
	}
	return e.On
}

// detours is how many edges go round the boxes.
func (l *placedGraph) detours() (n int) {
	for _, e := range l.edges {
		if from, to := l.find(e.From), l.find(e.To); to != nil && to.layer != from.layer+1 {
			n++
		}
	}
	return n
}

func (l *placedGraph) draw(out *strings.Builder) {
	detour := 0
	exits := map[string]float64{} // of those that are drawn
	for _, e := range l.edges {
		from, to := l.find(e.From), l.find(e.To)
		if to == nil {
			continue
		}

		x, y := from.x+firstExit+exits[e.From], from.y+boxHeight
		exits[e.From] += e.room()
		path := ""
		if to.layer == from.layer+1 {
			tx := to.x + to.width/2
			path = fmt.Sprintf("M%.1f %.1fV%.1fC%.1f %.1f %.1f %.1f %.1f %.1f", x, y, y+straight, x, y+straight+layerGap/2, tx, to.y-layerGap/2, tx, to.y)
		} else {
			detour++
			lane := l.right + laneGap*float64(detour)
			apart := 3 * float64(detour%5)
			path = fmt.Sprintf("M%.1f %.1fV%.1fH%.1fV%.1fH%.1fV%.1f", x, y, y+straight+2+apart, lane, to.y-10-apart, to.x+to.width-12-apart, to.y)
		}

		fmt.Fprintf(out, "<path class=\"%s\" d=\"%s\" marker-end=\"url(#%s)\"/>\n", e.class(), path, e.class())
		if label := e.label(); label != "" {
			fmt.Fprintf(out, "<text class=\"label\" x=\"%.1f\" y=\"%.1f\">%s</text>\n", x+4, y+11, escape(label))
		}
	}

	for _, b := range l.boxes {
		b.draw(out)
	}
}

func (b box) draw(out *strings.Builder) {
	class := "step"
	if b.end {
		class = "end"
	}
	if b.State != "" {
		class += " state-" + escape(b.State)
	}
	fmt.Fprintf(out, "<g class=\"%s\"><title>%s</title><rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%d\" rx=\"6\"/>", class, escape(strings.TrimSpace(b.Name+" "+b.What)), b.x, b.y, b.width, boxHeight)
	if b.What == "" {
		fmt.Fprintf(out, "<text x=\"%.1f\" y=\"%.1f\">%s</text></g>\n", b.x+12, b.y+27, escape(b.Name))
		return
	}
	fmt.Fprintf(out, "<text class=\"name\" x=\"%.1f\" y=\"%.1f\">%s</text>", b.x+12, b.y+20, escape(b.mark+b.Name))
	fmt.Fprintf(out, "<text class=\"what\" x=\"%.1f\" y=\"%.1f\">%s</text></g>\n", b.x+12, b.y+36, escape(b.What))
}

// escape makes a text one that cannot be taken for anything else.
func escape(text string) string {
	var b bytes.Buffer
	_ = xml.EscapeText(&b, []byte(plain.Line(text))) // a buffer takes everything
	return b.String()
}
