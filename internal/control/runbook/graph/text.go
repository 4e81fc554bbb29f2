package graph

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/stopgate/stopgate/internal/control/runbook"
)

// Text draws the graph in lines of text. Each step has a line, and below it one for each
// transition. One that does not lead to the next step is a line of its own beside the text.
func (g Graph) Text() []string {
	d := drawing{}
	width := 0
	for _, n := range g.Nodes {
		width = max(width, utf8.RuneCountInString(n.Name))
	}

	for i, n := range g.Nodes {
		d.node(n.Name, n.Name+strings.Repeat(" ", width-utf8.RuneCountInString(n.Name))+"  "+n.What)
		next := ""
		if i+1 < len(g.Nodes) {
			next = g.Nodes[i+1].Name
		}
		d.edges(g.from(n.Name), next)
	}

	if shared := g.from(anyStep); len(shared) > 0 {
		d.node(anyStep, anyStep)
		d.edges(shared, "")
	}
	return d.draw()
}

// drawing is lines of text, and the lanes beside them.
type drawing struct {
	lines []string
	at    map[string]int // the lines of nodes
	lanes []lane
}

// lane is an edge that is drawn beside the text.
type lane struct {
	from   int // its line
	to     string
	target int
	column int
}

// top and bottom are the lines that a lane reaches.
func (l lane) top() int    { return min(l.from, l.target) }
func (l lane) bottom() int { return max(l.from, l.target) }

func (d *drawing) node(name, text string) {
	if d.at == nil {
		d.at = map[string]int{}
	}
	d.at[name] = len(d.lines)
	d.lines = append(d.lines, text)
}

func (d *drawing) edges(edges []Edge, next string) {
	for _, e := range edges {
		switch {
		case runbook.IsEnd(e.To):
			d.lines = append(d.lines, "  "+e.On+" → ("+e.To+")")
		case e.To == next:
			d.lines = append(d.lines, "  "+e.On+" ↓")
		default:
			d.lanes = append(d.lanes, lane{from: len(d.lines), to: e.To})
			d.lines = append(d.lines, "  "+e.On)
		}
	}
}

// arrange gives every lane a column in which no other is in its way. Short ones are next to
// the text.
func (d *drawing) arrange() (columns int) {
	for i := range d.lanes {
		d.lanes[i].target = d.at[d.lanes[i].to]
	}
	slices.SortStableFunc(d.lanes, func(a, b lane) int {
		return cmp.Or(cmp.Compare(a.bottom()-a.top(), b.bottom()-b.top()), cmp.Compare(a.from, b.from))
	})
	for i := range d.lanes {
		l := &d.lanes[i]
		for slices.ContainsFunc(d.lanes[:i], func(other lane) bool {
			return other.column == l.column && other.top() <= l.bottom() && l.top() <= other.bottom()
		}) {
			l.column++
		}
		columns = max(columns, l.column+1)
	}
	return columns
}

func (d *drawing) draw() []string {
	columns := d.arrange()
	if columns == 0 {
		return d.lines
	}

	width := 0
	for _, line := range d.lines {
		width = max(width, utf8.RuneCountInString(line))
	}

	out := make([]string, len(d.lines))
	for i, line := range d.lines {
		beside := d.beside(i, columns)
		head, fill := "  ", " "
		if beside[0] == '─' {
			head, fill = " ─", "─"
		}
		if slices.ContainsFunc(d.lanes, func(l lane) bool { return l.target == i }) {
			head = " ◀"
		}
		gap := width - utf8.RuneCountInString(line)
		out[i] = strings.TrimRight(line+head+strings.Repeat(fill, gap+1)+string(beside), " ")
	}
	return out
}

// beside are the lanes beside a line. A lane that another one only crosses is drawn as ┼.
func (d *drawing) beside(line, columns int) []rune {
	cells := []rune(strings.Repeat(" ", 2*columns))
	reach := -1 // of what begins or ends here
	for _, l := range d.lanes {
		if l.from == line || l.target == line {
			reach = max(reach, l.column)
		}
	}

	for i := range cells {
		if i < 2*reach+1 {
			cells[i] = '─'
		}
	}

	for _, l := range d.lanes {
		at := 2*l.column + 1
		joins := l.from == line || l.target == line
		switch {
		case line < l.top() || line > l.bottom():
		case !joins && l.column < reach:
			cells[at] = '┼'
		case !joins:
			cells[at] = '│'
		case line == l.bottom() && l.column < reach:
			cells[at] = '┴'
		case line == l.bottom():
			cells[at] = '╯'
		case l.column < reach:
			cells[at] = '┬'
		default:
			cells[at] = '╮'
		}
	}
	return cells
}
