package top

import (
	"errors"
	"fmt"
	"strings"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
)

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
	parts = append(parts, s.fleetParts()...)
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
	place := s.place()
	if left := s.Width - used - cells(place); place != "" && left > 0 {
		text += strings.Repeat(" ", left) + faint(place)
	}
	return text
}

// place is where the selected row is in a list that does not fit the screen.
func (s *State) place() string {
	at, found := s.selected()
	if !found || s.mode != listMode || len(s.table.rows) < s.body() {
		return ""
	}
	return fmt.Sprintf("%d/%d", at+1, len(s.table.rows))
}
