package status

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/cli/gates"
	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/gate/gauntlet"
	"github.com/stopgate/stopgate/internal/gate/gauntlet/kept"
	"github.com/stopgate/stopgate/internal/record/event"
	"github.com/stopgate/stopgate/internal/record/stops"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

const (
	// whyHeight is how many lines an explanation takes at most, where what must be said fits: those of
	// a terminal, without the one for the prompt.
	whyHeight = 23
	// whyColumn is where what is said begins, behind the name of the line.
	whyColumn = 12
	// mostGates are the gates that are listed one by one, for each thing that is said of them.
	mostGates = 6
	// tailLines are the last lines of a log: at least and at most.
	leastTail, mostTail = 3, 12
)

// whyWriter lays an explanation out.
type whyWriter struct {
	paint    term.Paint
	stateDir string // the logs of gates are kept there
	width    int    // math.MaxInt where nothing is to be wrapped
}

func (w *whyWriter) lines(e *explanation) []string {
	if e.Stop == nil {
		lines := w.headline(w.paint.Yellow("–"), e.Headline)
		lines = append(lines, w.next(e.Next)...)
		return append(lines, w.lost(e.Lost)...)
	}

	s := e.Stop
	lines := w.headline(w.mark(s), e.Headline)
	lines = append(lines, w.row("stop", w.origin(s, e.now()))...)
	lines = append(lines, w.judged(s)...)
	lines = append(lines, w.gates("ran", s, event.GateFailed, event.GateCouldNotRun, event.GateNotStarted, event.GatePassed)...)
	lines = append(lines, w.gates("proven", s, event.GateProven)...)
	lines = append(lines, w.skipped(s)...)
	lines = append(lines, w.keepers(s)...)
	if s.Decision != stops.Unanswered {
		lines = append(lines, w.row("cost", cost(s))...)
	}
	end := append(w.next(e.Next), w.lost(e.Lost)...)
	return slices.Concat(lines, w.logs(s, whyHeight-len(lines)-len(end)), end)
}

func (w *whyWriter) headline(mark, text string) []string {
	return term.Hang(mark+" ", w.wrap(text, 2))
}

// row is a text behind its name.
func (w *whyWriter) row(name, text string) []string {
	return term.Hang(w.paint.Faint(term.Pad(name, whyColumn)), w.wrap(text, whyColumn))
}

func (w *whyWriter) wrap(text string, taken int) []string {
	if w.width == math.MaxInt {
		return []string{plain.Line(text)}
	}
	return term.Wrap(plain.Line(text), max(20, w.width-taken))
}

// mark is one character for how a stop was answered.
func (w *whyWriter) mark(s *stops.Stop) string {
	switch {
	case s.Decision == stops.Blocked:
		return w.paint.Red("✗")
	case s.Clean():
		return w.paint.Green("✓")
	}
	return w.paint.Yellow("!")
}

// origin is when and where a stop was.
func (w *whyWriter) origin(s *stops.Stop, now time.Time) string {
	text := s.ID
	if s.Session != "" {
		text += fmt.Sprintf(", session %.8s", s.Session)
	}
	text += fmt.Sprintf(", %s (%s ago)", strings.TrimSpace(shortTime(s.Time, now)), term.Age(s.Time, now))
	if s.Agent.ID != "" {
		text += ", subagent " + s.Agent.ID
	}
	if s.AfterBlock {
		text += ", after a block"
	}
	return text
}

// judged is a row for each tree that a stop was judged in.
func (w *whyWriter) judged(s *stops.Stop) (lines []string) {
	if len(s.Trees) == 0 && s.Project != "" {
		return w.row("project", term.Shown(s.Project))
	}
	for i := range s.Trees {
		t := &s.Trees[i]
		text := term.Shown(t.Root)
		if t.Why != "" {
			text += ", not judged: " + t.Why
		} else {
			text += ": " + strings.ReplaceAll(t.Status, "_", " ")
		}
		lines = append(lines, w.row("judged", text)...)
	}
	return lines
}

// gates lists the gates with those outcomes, in that order.
func (w *whyWriter) gates(name string, s *stops.Stop, outcomes ...string) (lines []string) {
	var rows [][]string
	var marks []string
	for _, outcome := range outcomes {
		s.Asked(func(_ *event.Tree, g *event.Gate) {
			if g.Outcome != outcome {
				return
			}
			marks = append(marks, gates.Mark(w.paint, gauntlet.Outcome(outcome)))
			rows = append(rows, []string{plain.Line(stops.JobName(g.Job)), w.took(g), plain.Line(g.Why)})
		})
	}
	if len(rows) == 0 {
		return nil
	}

	more := max(0, len(rows)-mostGates)
	rows = rows[:len(rows)-more]
	const taken = 11 // name and mark
	width := w.width
	if width < math.MaxInt {
		width = max(20, width-taken)
	}
	for i, line := range term.Table(rows, width, nil) {
		lines = append(lines, w.paint.Faint(term.Pad(name, whyColumn))+marks[i]+" "+line)
		name = ""
	}
	if more > 0 {
		lines = append(lines, fmt.Sprintf("%9sand %d more", "", more))
	}
	return lines
}

// took is how long a gate ran and what it cost, where it ran.
func (w *whyWriter) took(g *event.Gate) string {
	if g.Outcome == event.GateProven || g.Outcome == event.GateNotStarted {
		return ""
	}
	text := elapsed(time.Duration(g.DurationMS) * time.Millisecond)
	if g.Cost.USD > 0 {
		text += fmt.Sprintf(" $%.4f", g.Cost.USD)
	}
	return text
}

// skipped says of the gates that were not asked why, those with the same reason together.
func (w *whyWriter) skipped(s *stops.Stop) (lines []string) {
	const most = 3
	groups, more := s.Skipped(), s.Counts()[event.GateSkipped]
	groups = groups[:min(len(groups), most)]
	for i, group := range groups {
		more -= len(group.Names)
		text := strings.Join(plain.Few(group.Names, mostGates), ", ") + ": " + group.Why
		if i == len(groups)-1 && more > 0 {
			text += fmt.Sprintf("; and %d more", more)
		}
		lines = append(lines, w.row("skipped", text)...)
	}
	return lines
}

// keepers are who was asked, and what they said that the headline does not say.
func (w *whyWriter) keepers(s *stops.Stop) (lines []string) {
	asked := event.Record{Effects: s.Effects}
	var notes []string
	for i := range s.Verdicts {
		v := &s.Verdicts[i]
		if v != s.By || s.Gap == nil {
			asked.Verdicts = append(asked.Verdicts, *v)
		}
		if v.Message == "" || v == s.By && !strings.Contains(v.Message, "\n") {
			continue
		}
		notes = append(notes, w.row("note", plain.Cut(plain.Line(v.Message), 300))...)
	}
	if said := reasons(&asked); said != "" {
		lines = w.row("decided by", said)
	}
	return append(lines, notes...)
}

// cost is what a stop took.
func cost(s *stops.Stop) string {
	text := elapsed(time.Duration(s.DurationMS) * time.Millisecond)
	if s.DurationMS == 0 {
		text = "under 1ms"
	}
	if s.Cost.USD > 0 {
		text += ", " + term.Money(s.Cost, 0)
	}
	return text
}

// logs are the paths of the logs of gates that did not pass and, as far as there is room, their last
// lines.
func (w *whyWriter) logs(s *stops.Stop, room int) (lines []string) {
	var failed []event.Gate
	s.Asked(func(_ *event.Tree, g *event.Gate) {
		if g.Log != "" && (g.Outcome == event.GateFailed || g.Outcome == event.GateCouldNotRun) {
			failed = append(failed, *g)
		}
	})
	const most = 2
	more := max(0, len(failed)-most)
	failed = failed[:len(failed)-more]
	for _, g := range failed {
		path := w.paint.Faint(term.Pad("log", whyColumn)) + term.Shown(g.Log) // whole: it is to be copied
		share := min(max(room/len(failed)-w.rows(path), leastTail), mostTail)
		lines = append(lines, path)
		for _, line := range logEnd(w.stateDir, g.Log, share) {
			lines = append(lines, "    "+w.cut(line, 4))
		}
	}
	if more > 0 {
		lines = append(lines, w.row("logs", fmt.Sprintf("%d more: stopgate log --session %.8s", more, s.Session))...)
	}
	return lines
}

// rows is how many rows of the screen a line takes.
func (w *whyWriter) rows(line string) int { return 1 + max(0, term.Cells(line)-1)/w.width }

func (w *whyWriter) cut(line string, taken int) string {
	if w.width == math.MaxInt {
		return line
	}
	return term.Cut(line, max(20, w.width-taken))
}

// logEnd is the end of a log, or why it cannot be read.
func logEnd(stateDir, path string, most int) []string {
	lines, err := kept.Tail(stateDir, path, most)
	if err != nil {
		return []string{"(" + kept.Trouble(err) + ")"}
	}
	return lines
}

// next are the steps that a person can take.
func (w *whyWriter) next(steps []string) (lines []string) {
	for i, step := range steps {
		name := "next"
		if i > 0 {
			name = ""
		}
		lines = append(lines, w.row(name, step)...)
	}
	return lines
}

// lost says that the journal has records that cannot be read.
func (w *whyWriter) lost(n int) []string {
	if n == 0 {
		return nil
	}
	return w.row("damaged", plain.Count(n, "record")+" of the journal cannot be read, and a later stop may be among them: stopgate log verify")
}
