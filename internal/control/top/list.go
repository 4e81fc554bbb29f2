package top

import (
	"fmt"
	"slices"
)

// column is one of a list.
type column struct {
	head  string
	width int
	text  func(s *State, r *row) string
}

// columns are those that there is room for. The one with what happened takes what is left.
func (s *State) columns(rows []row) []column {
	state, what, project := 10, 17, 10
	if s.Width >= 100 {
		state, what, project = 11, 24, 14
	}
	if s.view == projectView {
		state, what = 14, s.Width/3
	}

	all := []column{
		{"STATE", state, func(_ *State, r *row) string { return r.mark() }},
		{"WHAT", what, func(_ *State, r *row) string { return line(r.what) }},
		{"PROJECT", project, func(_ *State, r *row) string { return line(r.project) }},
		{s.lastHead(), 0, func(_ *State, r *row) string { return line(r.last) }},
		{"FOR", 6, func(s *State, r *row) string { return ago(r.since, s.Now) }},
		{"COST", 7, func(_ *State, r *row) string { return money(r.usd) }},
	}

	if host, needed := hostColumn(rows); needed {
		all = slices.Insert(all, 1, host)
	}
	if s.view == stopView || s.view == projectView {
		all = all[:5]
		all[4].head = "AGO"
	}
	if s.view == projectView {
		all = []column{all[0], all[1], all[3]}
		all[1].head = "PROJECT"
	}
	if !slices.ContainsFunc(rows, func(r row) bool { return r.usd > 0 }) {
		all = slices.DeleteFunc(all, func(c column) bool { return c.head == "COST" })
	}

	// What is left out first says least: cost, project, age, then what happened.
	for _, head := range []string{"COST", "PROJECT", "FOR", "AGO", "HOST", s.lastHead()} {
		if s.leftFor(all) >= least || len(all) < 3 {
			break
		}
		all = slices.DeleteFunc(all, func(c column) bool { return c.head == head })
	}

	if at := slices.IndexFunc(all, func(c column) bool { return c.width == 0 }); at >= 0 {
		all[at].width = s.leftFor(all)
	} else {
		all[len(all)-1].width = max(0, all[len(all)-1].width+s.leftFor(all))
	}
	return all
}

// least is what the column with what happened needs to be of use.
const least = 16

// margin is for the mark of the row that is selected.
const margin = 2

// leftFor is how many columns of the window are left, with a space of two between them.
func (s *State) leftFor(all []column) int {
	left := s.Width - margin - 2*(len(all)-1)
	for _, c := range all {
		left -= c.width
	}
	return left
}

// lastHead names the column with what happened.
func (s *State) lastHead() string {
	switch s.view {
	case stopView, projectView:
		return "WHY"
	case inboxView:
		return "QUESTION"
	}
	return "STEP OR REASON"
}

// listLines are the rows around the one that is selected.
func (s *State) listLines() []string {
	rows := s.table.rows
	columns := s.columns(rows)
	height := s.body()
	var lines []string
	if s.roomy() {
		lines = append(lines, faint(cut("  "+s.draw(columns, func(c column) string { return c.head }), s.Width)))
		height--
	}
	at, found := s.selected()
	if !found {
		return append(append(lines, ""), wrap(s.empty(), s.Width)...)
	}

	from := min(max(0, at-height/2), max(0, len(rows)-height))
	to := min(len(rows), from+height)
	more := s.more(rows, to)
	if more != "" && to-from == height && height > 1 {
		to--
		if at >= to {
			from, to = from+1, to+1
		}
	}
	for i := from; i < to; i++ {
		lines = append(lines, s.drawRow(columns, &rows[i], i == at))
	}
	if more != "" {
		lines = append(lines, faint(cut("  "+more, s.Width)))
	}
	return lines
}

// more says what is not on the screen because the daemon has too many to ask for.
func (s *State) more(rows []row, shown int) string {
	if shown < len(rows) || s.filter != "" || s.view != nowView && s.view != pipelineView {
		return ""
	}
	c, r := s.World.Status.Pipelines, s.World.Status.Runs
	n := c.Done + c.Failed + c.Cancelled + r.Done + r.Failed + r.Cancelled
	for _, o := range s.World.Owners {
		if s.finished && o.Ended != nil {
			n--
		}
	}
	switch {
	case n <= 0:
		return ""
	case s.finished:
		return fmt.Sprintf("%d more have finished; list them with: stopgate pipeline list --all", n)
	}
	return fmt.Sprintf("%d finished; f shows the newest", n)
}

func (s *State) draw(columns []column, text func(c column) string) string {
	drawn := ""
	for i, c := range columns {
		if i > 0 {
			drawn += "  "
		}
		drawn += pad(text(c), c.width)
	}
	return drawn
}

func (s *State) drawRow(columns []column, r *row, selected bool) string {
	drawn := s.draw(columns, func(c column) string { return c.text(s, r) })
	if selected {
		return reversed(cut("> "+drawn, s.Width))
	}
	drawn = cut("  "+drawn, s.Width)
	switch {
	case !s.Link.Up || r.away.Ago() != "":
		return faint(drawn) // it may have changed since
	case r.rank == needsPerson:
		return yellow(drawn)
	case r.state == "failed" || r.state == "blocked" || r.state == "not enforced":
		return red(drawn)
	case r.rank == ended && s.view != stopView:
		return faint(drawn)
	}
	return drawn
}
