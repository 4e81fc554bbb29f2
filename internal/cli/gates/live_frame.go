package gates

import (
	"fmt"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/cli/term"
)

// frame is what the screen shows now: never more lines than it has, nor longer
// ones.
func (l *live) frame(width, height int) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	room := max(1, height-2) // the last line, and the cursor below it
	shown, rest := l.choose(room)
	names := nameColumn(l.gates, width)
	lines := make([]string, 0, len(shown)+1)
	for _, gate := range shown {
		lines = append(lines, gate.line(l.paint, names, width, now))
	}
	last := term.Cut(l.tally(rest, now), width)
	if height < 3 && len(lines) > 0 {
		return lines[:1]
	}
	return append(lines, l.paint.Faint(last))
}

// choose picks the gates that fit: those at work before those that did not pass,
// those before the ones that wait, and the passed last. They stay in order.
func (l *live) choose(room int) (shown []*liveGate, rest int) {
	if len(l.gates) <= room {
		return l.gates, 0
	}
	chosen := map[*liveGate]bool{}
	for interest := range interests {
		for _, gate := range l.gates {
			if len(chosen) < room && gate.interest() == interest {
				chosen[gate] = true
			}
		}
	}
	for _, gate := range l.gates {
		if chosen[gate] {
			shown = append(shown, gate)
		}
	}
	return shown, len(l.gates) - len(shown)
}

// interests is how many there are; 0 is the most.
const interests = 4

func (g *liveGate) interest() int {
	switch {
	case g.result == nil && !g.begun.IsZero():
		return 0
	case g.result != nil && !good(g.result.Outcome):
		return 1
	case g.result == nil:
		return 2
	}
	return 3
}

// tally is the line below the gates.
func (l *live) tally(rest int, now time.Time) string {
	if len(l.gates) == 0 {
		return term.Spinner(l.begun, now) + " looking for changes"
	}
	done := 0
	for _, gate := range l.gates {
		if gate.result != nil {
			done++
		}
	}
	text := fmt.Sprintf("%d of %d done, %s", done, len(l.gates), term.Elapsed(now.Sub(l.begun)))
	if rest > 0 {
		text += fmt.Sprintf(", %d not shown", rest)
	}
	if l.ending {
		text += ", interrupted: stopping what still runs"
	}
	return text
}

// nameColumn is the width of the names: the longest, but not so much that
// nothing is left for the rest of the line.
func nameColumn(gates []*liveGate, width int) int {
	longest := 0
	for _, gate := range gates {
		longest = max(longest, term.Cells(gate.name))
	}
	return min(longest, max(width/2, width-term.TimeColumn-24), max(1, width-term.TimeColumn-3))
}

// line is the gate's line: mark, name, time, and what there is to say.
func (g *liveGate) line(p term.Paint, names, width int, now time.Time) string {
	mark, spent, says := g.state(p, now)
	name := term.Pad(g.name, names)
	room := width - 2 - names - 1 - term.TimeColumn
	if room < 0 {
		return strings.TrimRight(mark+" "+term.Cut(g.name, width-2), " ")
	}
	text := fmt.Sprintf("%s %s %*s", mark, name, term.TimeColumn, spent)
	if room > 4 && says != "" {
		text += "  " + p.Faint(term.Cut(says, room-2))
	}
	return strings.TrimRight(text, " ")
}

func (g *liveGate) state(p term.Paint, now time.Time) (sign, spent, says string) {
	switch {
	case g.result != nil:
		return Mark(p, g.result.Outcome), took(g.result), endWords(g.result)
	case g.begun.IsZero():
		return p.Faint("·"), "", "waiting"
	}
	return term.Spinner(g.begun, now), term.Elapsed(now.Sub(g.begun)), g.printed
}
