package top

import (
	"cmp"
)

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

// helpLines explain the keys.
func (s *State) helpLines() (lines []string) {
	for _, text := range help {
		lines = append(lines, cut(text, s.Width))
	}
	if s.World.Fleet.Name != "" {
		lines = append(lines, cut("In a fleet, /host:NAME shows what is on one machine; host:. is this one. /job shows jobs that wait.", s.Width))
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
	"$ today: cost of everything started today.",
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
		sessionView: "No session of Claude Code has called a hook. See whether they are installed with: stopgate status",
		stopView:    "No stop was judged by gates yet. Add some with: stopgate init",
		projectView: "No project was approved. Set one up with: stopgate init",
	}[s.view], "No pipeline runs. Start one with: stopgate start")
}
