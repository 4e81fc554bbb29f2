package web

import (
	"html/template"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/gate/gauntlet/kept"
	"github.com/stopgate/stopgate/internal/gate/gauntlet/review"
	"github.com/stopgate/stopgate/internal/record/event"
	"github.com/stopgate/stopgate/internal/record/stops"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

const (
	// mostGates are the gates that are listed one by one, for each thing that is said of them.
	mostGates = 60
	// mostTails are the gates whose logs are looked into.
	mostTails = 6
	// mostFindings are the findings of one review.
	mostFindings = 50
	// mostTrees are the working trees of one stop.
	mostTrees = 20
)

// account is a stop as people are told of it.
type account struct {
	*stops.Stop
	Headline string
	Tone     string // of the headline: good, bad, warn or busy
	Next     []step
	Trees    []judged
	MoreTree int
	Skipped  []stops.Skipped
	// MoreSkipped are those that the journal does not name.
	MoreSkipped int
	Keepers     []event.Verdict
}

// step is what a person can do, with the command that does it.
type step struct{ Text, Command, Rest string }

// judged is a working tree with what its gates said.
type judged struct {
	*event.Tree
	Failed []gate // failed, could not run, or were not started
	Passed []gate
	Proven []gate
	More   int // gates that are not listed
}

// gate is what became of a gate.
type gate struct {
	event.Gate
	Name     string
	Review   bool
	Tail     []string // of its log
	Trouble  string   // why there is no tail
	Findings []review.Violation
	More     int // findings that are not listed
}

// tellStop is a stop as people are told of it, with so many lines of each log.
func (s *Site) tellStop(stop *stops.Stop, lines int) account {
	t := account{Stop: stop, Headline: stop.Headline(), Tone: toneOf(stop), Skipped: stop.Skipped(), Keepers: stop.Verdicts}
	for _, text := range stop.Next() {
		for part := range strings.SplitSeq(text, "; ") {
			t.Next = append(t.Next, stepOf(part))
		}
	}
	t.MoreSkipped = stop.Counts()[event.GateSkipped]
	for _, group := range t.Skipped {
		t.MoreSkipped -= len(group.Names)
	}
	t.Skipped, _ = firstOf(t.Skipped, mostGates)
	tails := mostTails
	for i := range stop.Trees[:min(len(stop.Trees), mostTrees)] {
		t.Trees = append(t.Trees, s.judgedIn(&stop.Trees[i], lines, &tails))
	}
	t.MoreTree = len(stop.Trees) - len(t.Trees)
	return t
}

// judgedIn sorts the gates of a tree by what people want to know first.
func (s *Site) judgedIn(t *event.Tree, lines int, tails *int) judged {
	j := judged{Tree: t}
	add := func(to *[]gate, g *event.Gate) {
		if len(*to) == mostGates {
			j.More++
			return
		}
		*to = append(*to, s.gateOf(g, lines, tails))
	}
	for _, outcome := range []string{event.GateFailed, event.GateCouldNotRun, event.GateNotStarted, event.GatePassed, event.GateProven} {
		for i := range t.Gates {
			g := &t.Gates[i]
			switch {
			case g.Outcome != outcome:
			case outcome == event.GatePassed:
				add(&j.Passed, g)
			case outcome == event.GateProven:
				add(&j.Proven, g)
			default:
				add(&j.Failed, g)
			}
		}
	}
	return j
}

// gateOf reads the log of a gate that did not pass, as long as there are tails left.
func (s *Site) gateOf(g *event.Gate, lines int, tails *int) gate {
	view := gate{Gate: *g, Name: stops.JobName(g.Job), Review: strings.HasPrefix(g.Job, "review:")}
	bad := g.Outcome == event.GateFailed || g.Outcome == event.GateCouldNotRun
	if !bad || g.Log == "" || lines == 0 || *tails == 0 {
		return view
	}
	*tails--
	if view.Review {
		found, err := kept.Findings(s.StateDir, g.Log)
		if err != nil {
			view.Trouble = kept.Trouble(err)
		}
		view.Findings, view.More = firstOf(found, mostFindings)
	}
	if len(view.Findings) > 0 {
		return view // the log has the same, in the reviewer's own form
	}
	var err error
	if view.Tail, err = kept.Tail(s.StateDir, g.Log, lines); err != nil {
		view.Trouble = kept.Trouble(err)
	}
	return view
}

// toneOf is the colour of a stop's headline.
func toneOf(s *stops.Stop) string {
	switch {
	case s.Decision == stops.Blocked:
		return "bad"
	case s.Decision == stops.Unanswered:
		return "busy"
	case s.Clean():
		return "good"
	}
	return "warn"
}

// stepOf finds the command in what a person can do, so that it can be copied.
func stepOf(text string) step {
	before, command, found := strings.Cut(text, ": stopgate ")
	if !found {
		return step{Text: plain.Line(text)}
	}
	command = "stopgate " + command
	command, rest, found := strings.Cut(command, " (")
	if found {
		rest = "(" + rest
	}
	return step{plain.Line(before) + ":", plain.Line(command), plain.Line(rest)}
}

// findStop reads a stop from the journal, nil where there is none. One that was answered stays as it is.
func (s *Site) findStop(id string) (*stops.Stop, error) {
	if stop, ok := s.stops.get(id); ok {
		return stop, nil
	}
	found, err := stops.Find(s.roster.journal, id, 1)
	if err != nil || len(found) == 0 || found[0].ID != id {
		return nil, err
	}
	if found[0].Decision != stops.Unanswered {
		s.stops.put(id, found[0])
	}
	return found[0], nil
}

// stopPage is one decision.
type stopPage struct {
	account
	Command string // that tells the same in a terminal
}

func readStop(r *Request) (any, error) {
	const whole, lines = 26, 40
	id := r.PathValue("id")
	if len(id) != whole || !plain.IsName(id, whole) {
		return nil, missing("There is no such stop.")
	}
	stop, err := r.site.findStop(id)
	if err != nil {
		return nil, unavailable(err)
	}
	if stop == nil {
		return nil, missing("There is no such stop. The journal keeps stops for 30 days.")
	}
	return stopPage{r.site.tellStop(stop, lines), "stopgate why --call " + id}, nil
}

// stopFunctions are what templates about stops can call besides.
var stopFunctions = template.FuncMap{
	"clipWords":   func(most int, text string) string { return plain.Clip(strings.TrimSpace(plain.Words(text)), most) },
	"spaced":      func(word string) string { return strings.ReplaceAll(plain.Line(word), "_", " ") },
	"begins":      begins,
	"minus":       func(a, b int) int { return a - b },
	"isNow":       func(t time.Time) bool { return ageText(time.Since(t)) == ageText(0) },
	"laneIcon":    laneIcon,
	"outcomes":    outcomes,
	"verdictIcon": verdictIcon,
	"verifyTone":  verifyTone,
	"outcomeIcon": outcomeIcon,
}

// verdictIcon is the symbol beside a headline.
func verdictIcon(tone string) string {
	return map[string]string{"good": "check", "bad": "cross", "warn": "alert"}[tone]
}

// outcomeIcon is the symbol of what a gate or a keeper came to.
func outcomeIcon(outcome string) string {
	switch outcome {
	case event.GatePassed, "":
		return "check"
	case event.GateProven:
		return "again"
	case event.GateFailed:
		return "cross"
	case event.GateCouldNotRun:
		return "alert"
	}
	return "dash"
}

// begins is the beginning of an id, which is enough to know it by.
func begins(most int, id string) string {
	characters := []rune(plain.Line(id))
	return string(characters[:min(len(characters), most)])
}

// firstOf are the first of some, and how many more there are.
func firstOf[T any](all []T, most int) (first []T, more int) {
	if len(all) <= most {
		return all, 0
	}
	return all[:most:most], len(all) - most
}
