// Package statusline makes the line that Claude Code shows below its input box: how the session's last
// stop was answered, what still fails, its queue and its cost. Claude Code runs it again and again, so
// it reads a handful of small files, starts nothing and asks no daemon.
package statusline

import (
	"fmt"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/record/stops"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// View is what the line is made of.
type View struct {
	Project bool        // there is one
	Off     time.Time   // until when stopgate is off in the project; zero where it is on
	Stop    *stops.Stop // the session's last one; nil where there was none
	Open    int         // gates of the project that fail and have not passed since
	Done    int         // commands of the session's queue that are done
	Queued  int         // all of them
	USD     float64     // what the session cost, as Claude Code says
	Reviews float64     // what the supervisor's reviews of it cost besides
}

// part is a text with the colour that it is shown in.
type part struct {
	text   string
	colour func(term.Paint, string) string
}

// Line is the view as one line of at most width columns: what does not fit is left out, from its end.
func (v *View) Line(p term.Paint, width int) string {
	const name, between = "stopgate ", " · "
	parts := v.parts()
	room := width - len(name)
	if room < 8 {
		return term.Cut(plain.Line(parts[0].text), max(0, width))
	}

	first := term.Cut(plain.Line(parts[0].text), room)
	room -= term.Cells(first)
	line := p.Faint(name) + parts[0].colour(p, first)
	for _, part := range parts[1:] {
		text := plain.Line(part.text)
		if room -= term.Cells(between) + term.Cells(text); room < 0 {
			break
		}
		line += p.Faint(between) + part.colour(p, text)
	}
	return line
}

// parts are what there is to say, what matters most first.
func (v *View) parts() []part {
	parts := []part{v.stop()}
	if v.Open > 0 {
		parts = append(parts, part{fmt.Sprintf("%d open", v.Open), term.Paint.Red})
	}
	if v.Queued > 0 {
		parts = append(parts, part{fmt.Sprintf("queue %d/%d", v.Done, v.Queued), term.Paint.Faint})
	}
	if v.USD > 0 {
		parts = append(parts, part{fmt.Sprintf("$%.2f", v.USD), term.Paint.Faint})
	}
	if v.Reviews > 0 {
		parts = append(parts, part{fmt.Sprintf("reviews $%.2f", v.Reviews), term.Paint.Faint})
	}
	return parts
}

// stop says how the last stop was answered, or why none is held back.
func (v *View) stop() part {
	s := v.Stop
	switch {
	case !v.Off.IsZero():
		return part{"off until " + v.Off.Local().Format("15:04"), term.Paint.Yellow}
	case s == nil && !v.Project:
		return part{"no project", term.Paint.Faint}
	case s == nil:
		return part{"no stop yet", term.Paint.Faint}
	case s.Decision == stops.Blocked:
		return part{"✗ " + s.Short(), term.Paint.Red}
	case s.Clean():
		return part{"✓ " + s.Short(), term.Paint.Green}
	}
	return part{"! " + strings.TrimSpace(s.Short()), term.Paint.Yellow}
}
