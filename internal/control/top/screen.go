package top

import (
	"errors"
	"strings"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
)

// Screen is what the window shows: at most Height lines of at most Width columns.
func Screen(s *State) string {
	if s.Width <= 0 || s.Height <= 0 {
		return ""
	}
	lines := []string{s.header()}
	if s.roomy() {
		lines = append(lines, s.tabs())
	}
	lines = append(lines, fit(s.content(), s.body())...)
	if s.Height >= 3 {
		lines = append(lines, s.bottom())
	}
	if s.roomy() {
		lines = append(lines, faint(cut(s.keys(), s.Width)))
	}
	return strings.Join(lines[:min(len(lines), s.Height)], "\n")
}

// roomy reports whether there is room for more than the rows and what is said about them.
func (s *State) roomy() bool { return s.Height >= 8 }

// body is how many lines there are for what the screen is about.
func (s *State) body() int {
	switch {
	case s.roomy():
		return s.Height - 4
	case s.Height >= 3:
		return s.Height - 2
	}
	return max(0, s.Height-1)
}

// fit fills or cuts lines to exactly that many.
func fit(lines []string, height int) []string {
	for len(lines) < height {
		lines = append(lines, "")
	}
	return lines[:height]
}

// content is what the screen is about.
func (s *State) content() []string {
	switch {
	case s.mode == helpMode:
		return s.scrolled(s.helpLines())
	case !s.Link.Up && !s.Link.Seen:
		return s.downLines()
	}
	switch s.mode {
	case detailMode:
		return s.scrolled(s.detailLines())
	case formMode:
		return s.scrolled(s.formLines())
	case logMode:
		return s.logLines()
	}
	if s.wide() {
		return s.sideBySide()
	}
	return s.listLines()
}

// wide reports whether there is room for details beside the list.
func (s *State) wide() bool { return s.Width >= 150 && s.roomy() }

// sideBySide is the list, and the details of the row that is selected.
func (s *State) sideBySide() (lines []string) {
	const between = " │ "
	left, right := *s, *s
	left.Width = s.Width * 11 / 20
	right.Width = s.Width - left.Width - cells(between)
	right.detail = s.peek
	list, details := fit(left.listLines(), s.body()), fit(right.detailLines(), s.body())
	for i := range list {
		lines = append(lines, list[i]+strings.Repeat(" ", max(0, left.Width-cells(list[i])))+faint(between)+details[i])
	}
	return lines
}

// scrolled leaves out the lines above those that the person looks at.
func (s *State) scrolled(lines []string) []string {
	from := min(s.scroll, max(0, len(lines)-s.body()))
	return lines[from:]
}

// downLines say that there is no daemon, and what helps.
func (s *State) downLines() (lines []string) {
	if s.Link.Err == nil {
		return nil
	}
	lines = append(lines, "")
	if errors.Is(s.Link.Err, daemonapi.ErrNotRunning) {
		lines = append(lines, wrap("The daemon is not running, so no pipeline continues.\n\nStart it with: stopgate daemon start\n\nThis screen connects as soon as it runs.", s.Width)...)
	} else {
		lines = append(lines, wrap("The daemon cannot be asked: "+line(s.Link.Err.Error())+"\n\nCheck it with: stopgate daemon status", s.Width)...)
	}
	enforced, _ := s.enforced()
	return append(append(lines, ""), wrap("Hooks judge stops without it: "+enforced+".", s.Width)...)
}

// bottom is what the person types, or what there is to say.
func (s *State) bottom() string {
	switch {
	case s.typing:
		return cut("/"+line(s.filter)+"_", s.Width)
	case s.notice.text != "" && s.notice.bad:
		return red(cut("✗ "+line(s.notice.text), s.Width))
	case s.notice.text != "":
		return cut(line(s.notice.text), s.Width)
	case s.mode == listMode && s.filter != "":
		return cut("filter: "+line(s.filter)+"  (esc clears it)", s.Width)
	case s.mode == listMode:
		return cut(s.whole(), s.Width)
	}
	return ""
}

// whole is the text of the selected row that its column may have no room for.
func (s *State) whole() string {
	at, found := s.selected()
	if !found {
		return ""
	}
	r := &s.table.rows[at]
	if r.decision != nil {
		return line(some(r.what) + ": " + some(r.decision.Context))
	}
	return line(some(r.what) + ": " + some(r.last))
}
