package top

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

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

// header answers at a glance: which one needs me, what runs, is anything enforced.
func (s *State) header() string {
	if !s.Link.Up && !s.Link.Seen {
		return bold(cut("stopgate top: "+s.linkWord(), s.Width))
	}
	needs, runs := s.table.needs, s.table.runs
	word := "need you"
	if needs == 1 {
		word = "needs you"
	}
	parts := []part{{fmt.Sprintf("%d %s", needs, word), needs > 0, yellow}}
	if !s.Link.Up {
		parts = append(parts, part{s.linkWord(), true, red})
	}
	parts = append(parts, part{fmt.Sprintf("%d running", runs), false, nil})
	enforced, all := s.enforced()
	parts = append(parts, part{enforced, !all, red})
	if usd := s.spent(); usd > 0 {
		atLeast := ""
		if s.World.More {
			atLeast = "at least "
		}
		parts = append(parts, part{atLeast + money(usd) + " today", false, nil})
	}
	if s.World.Skew != "" {
		parts = append(parts, part{"the daemon is version " + line(s.World.Skew) + ": stopgate daemon restart", true, yellow})
	}
	for _, trouble := range s.World.Status.Trouble {
		parts = append(parts, part{line(trouble), true, red})
	}
	return joined(parts, s.Width)
}

// part is a part of a line, with a look where it is to be seen first.
type part struct {
	text  string
	stark bool
	look  func(string) string
}

// joined puts parts together, as far as there is room.
func joined(parts []part, width int) string {
	const between = " · "
	text, used := "", 0
	for i, p := range parts {
		sep := between
		if i == 0 {
			sep = ""
		}
		shown := cut(p.text, width-used-cells(sep))
		if shown == "" {
			break
		}
		used += cells(sep) + cells(shown)
		if p.stark {
			shown = bold(p.look(shown))
		} else {
			shown = bold(shown)
		}
		text += sep + shown
	}
	return text
}

// enforced says in how many projects stops are judged.
func (s *State) enforced() (text string, all bool) {
	n := 0
	for _, p := range s.World.Projects {
		if p.Enforced {
			n++
		}
	}
	switch total := len(s.World.Projects); {
	case total == 0:
		return "no project to enforce", true
	case n == total:
		return "enforced", true
	case n == 0:
		return "NOT ENFORCED (7: why)", false
	default:
		return fmt.Sprintf("enforced in %d of %d projects (7: why)", n, total), false
	}
}

// linkWord is how the connection is.
func (s *State) linkWord() string {
	switch {
	case s.Link.Err == nil:
		return "asking the daemon"
	case errors.Is(s.Link.Err, daemonapi.ErrNotRunning) && !s.Link.Seen:
		return "the daemon is not running"
	case s.Link.Seen:
		return "daemon lost " + ago(s.Link.Lost, s.Now) + " ago, trying again"
	}
	return "cannot ask the daemon"
}

func (s *State) tabs() string {
	text, used := "", 0
	for v, name := range views {
		label := fmt.Sprintf(" %d %s ", v+1, name)
		if used+cells(label) > s.Width {
			break
		}
		used += cells(label)
		if view(v) == s.view {
			label = reversed(label)
		}
		text += label
	}
	return text
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
		lines = append(lines, wrap("The daemon is not running, so no pipeline or agent moves.\n\nStart it with: stopgate daemon start\n\nThis screen finds it by itself.", s.Width)...)
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
		return line(r.what + ": " + r.decision.Context)
	}
	return line(r.what + ": " + r.last)
}

// keys are those that matter on this screen.
func (s *State) keys() string {
	switch s.mode {
	case formMode:
		switch {
		case s.form.sending:
			return "sending…"
		case s.form.confirm:
			return "y send  esc change"
		case s.form.typing:
			return "enter done  esc back"
		case s.form.multi():
			return "j/k move  space mark  enter take  esc back"
		}
		return "j/k move  1-9 or enter take  ctrl-d/u scroll  esc back"
	case detailMode:
		return "j/k scroll  a attach  d answer  l log  r refresh  esc back  ? help  q quit"
	case logMode:
		return "j/k scroll  G follow  esc back  q quit"
	case helpMode:
		return "j/k scroll  esc back  q quit"
	}
	if s.typing {
		return "enter keep  esc clear"
	}
	toggle := "f finished"
	if s.finished {
		toggle = "f hide"
	}
	return "enter details  d answer  a attach  l log  / filter  " + toggle + "  ? help  q quit"
}

// logLines are the end of the log, or what the person has scrolled to.
func (s *State) logLines() []string {
	height := max(0, s.body()-1)
	state := "following"
	switch {
	case s.log.err != nil:
		state = line(s.log.err.Error())
	case s.log.up > 0:
		state = fmt.Sprintf("%d lines below; G follows", s.log.up)
	case s.log.ended:
		state = "ended"
	}
	lines := []string{bold(cut("log of "+line(s.log.title)+"  ("+state+")", s.Width))}
	last := max(0, len(s.log.lines)-s.log.up)
	for _, text := range s.log.lines[max(0, last-height):last] {
		lines = append(lines, cut(s.logLine(text), s.Width))
	}
	return lines
}

// logLine is a line of a log with its time as people read it.
func (s *State) logLine(text string) string {
	text = line(text)
	stamp, rest, _ := strings.Cut(text, " ")
	if at, err := time.Parse(time.RFC3339, stamp); err == nil {
		return clock(at, s.Now) + " " + rest
	}
	return text
}

// helpLines explain the keys.
func (s *State) helpLines() (lines []string) {
	for _, text := range help {
		lines = append(lines, cut(text, s.Width))
	}
	return lines
}

var help = []string{
	"What needs you comes first, then what runs, then what is idle.",
	"",
	"j k, arrows    move                g G      first, last",
	"ctrl-d ctrl-u  half a screen       h, esc   back",
	"1 … 7, tab     choose the list     /        filter: all words must match",
	"enter          details: steps, conversation, gates, why it stopped",
	"a              attach to the agent's terminal (Ctrl-b d comes back)",
	"d              answer the decision: choose, type, confirm",
	"l              follow the log      f        show what has finished",
	"r              ask again           ctrl-z   suspend",
	"?              this help           q        quit",
	"",
	"?  decide, asking: a person has to answer     *  running, busy, starting",
	"!  held, dead, not enforced: see the details  ~  waiting, parked",
	".  queued    -  free    ✓  done, allowed    ✗  failed, blocked    x  cancelled",
	"",
	"In an agent's shell you can look and attach read-only, and not answer.",
	"$ today is what was started today has cost.",
}

// empty says what to do where a list has no row.
func (s *State) empty() string {
	if s.filter != "" {
		return "Nothing matches the filter; esc clears it."
	}
	return cmp.Or(map[view]string{
		nowView:     "Nothing needs you, and nothing runs. Start a pipeline with: stopgate start",
		inboxView:   "No open decisions.",
		agentView:   "No agent runs.",
		sessionView: "No session of Claude Code in tmux has called a hook. Set a project up with: stopgate init",
		stopView:    "No stop was judged by gates yet. Add some with: stopgate init",
		projectView: "No project was approved. Set one up with: stopgate init",
	}[s.view], "No pipeline runs. Start one with: stopgate start")
}
