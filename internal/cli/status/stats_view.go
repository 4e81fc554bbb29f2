package status

import (
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/record/stops"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// mostListed are the gates of a table.
const mostListed = 5

// Print implements term.View.
func (s *stats) Print(out io.Writer) {
	for _, line := range s.lines(term.PaintFor(out), term.WidthOf(out)) {
		fmt.Fprintln(out, line)
	}
}

func (s *stats) lines(p term.Paint, width int) (lines []string) {
	row := func(name, text string) {
		beginning := p.Faint(term.Pad(name, 9))
		if width == math.MaxInt {
			lines = append(lines, beginning+plain.Line(text))
			return
		}
		lines = append(lines, term.Hang(beginning, term.Wrap(plain.Line(text), max(20, width-9)))...)
	}
	row("period", s.period())
	if s.Totals.Stops == 0 {
		row("stops", "none: no agent has stopped here in this time")
		row("next", "count everything: stopgate stats --since 0; test that stops are blocked: stopgate doctor")
		s.damage(row)
		return lines
	}

	t := &s.Totals
	row("stops", fmt.Sprintf("%d in %s: %s", t.Stops, plain.Count(s.Sessions, "session"), s.decisions()))
	if gaps := s.gaps(); gaps != "" {
		row("", gaps)
	}
	row("caught", plain.Count(s.Caught, "failure")+" that agents then fixed")
	row("saved", s.saved())
	row("waited", duration(time.Duration(t.WaitedMS)*time.Millisecond)+" in all for answers")
	row("reviews", s.reviews())
	lines = append(lines, s.table(p, width, "flakiest", []string{"FLIPS", "RUNS"}, s.worst(mostListed, func(g *gateStats) float64 { return float64(g.Flips) / float64(max(1, g.Runs)) }),
		func(g *gateStats) []string { return []string{fmt.Sprint(g.Flips), fmt.Sprint(g.Runs)} })...)
	lines = append(lines, s.table(p, width, "slowest", []string{"MEDIAN", "LONGEST", "RUNS", "PROVEN"}, s.worst(mostListed, slowness),
		func(g *gateStats) []string {
			return []string{elapsed(g.Typical()), elapsed(g.Slowest()), fmt.Sprint(g.Runs), fmt.Sprint(g.Proven)}
		})...)
	lines = append(lines, s.table(p, width, "most caught", []string{"CAUGHT", "FAILED", "RUNS"}, s.worst(mostListed, func(g *gateStats) float64 { return float64(g.Caught) }),
		func(g *gateStats) []string {
			return []string{fmt.Sprint(g.Caught), fmt.Sprint(g.Failed), fmt.Sprint(g.Runs)}
		})...)
	s.damage(row)
	return lines
}

// slowness is more than zero for each gate that ran, also in less than a millisecond.
func slowness(g *gateStats) float64 {
	if g.Runs == 0 {
		return 0
	}
	return 1 + float64(g.MedianMS)
}

// period is what was counted.
func (s *stats) period() string {
	text := "everything in the journal"
	if !s.Since.IsZero() {
		text = "since " + s.Since.Local().Format("2006-01-02 15:04")
	}
	if s.Project != "" {
		return text + ", in " + term.Shown(s.Project)
	}
	return text + ", in all projects"
}

// decisions are how the stops were answered. The numbers add up to all of them.
func (s *stats) decisions() string {
	t := &s.Totals
	unread, unanswered := t.Gaps[stops.BadPayload], t.Gaps[stops.NoAnswer]
	text := fmt.Sprintf("%d allowed, %d blocked", t.Stops-t.Blocked-unanswered-unread, t.Blocked)
	if unread > 0 {
		text += fmt.Sprintf(", %d with an unreadable payload", unread)
	}
	if unanswered > 0 {
		text += fmt.Sprintf(", %d without an answer", unanswered)
	}
	if t.GaveUp > 0 {
		text += fmt.Sprintf(", %d of the allowed although something still failed", t.GaveUp)
	}
	return text
}

// gapOrder is the order in which gaps are listed.
var gapOrder = []stops.GapKind{
	stops.Off, stops.Untrusted, stops.BadConfig, stops.ForeignOwner, stops.Observing, stops.NotJudged,
	stops.CouldNotRun, stops.NoProject, stops.NothingSet, stops.NoAnswer, stops.BadPayload,
}

// gaps are the stops at which nothing was enforced; empty where there were none.
func (s *stats) gaps() string {
	var words []string
	total := 0
	for _, gap := range gapOrder {
		if n := s.Totals.Gaps[gap]; n > 0 {
			words = append(words, fmt.Sprintf("%s (%d)", gap.Word(), n))
			total += n
		}
	}
	if total == 0 {
		return ""
	}
	return fmt.Sprintf("nothing was enforced at %s: %s", plain.Count(total, "stop"), strings.Join(words, ", "))
}

// saved is what proofs saved, and what is not counted.
func (s *stats) saved() string {
	if s.Saved.Times == 0 {
		return "nothing yet: no gate was answered from a proof"
	}
	text := duration(s.Saved.Time)
	if s.Saved.USD > 0 {
		text += fmt.Sprintf(" and $%.2f", s.Saved.USD)
	}
	text += fmt.Sprintf(" by %s from proofs", plain.Count(s.Saved.Times, "answer"))
	if s.Saved.Unknown > 0 {
		text += fmt.Sprintf(" (%d not counted: no run in this time to compare with)", s.Saved.Unknown)
	}
	return text
}

func (s *stats) reviews() string {
	supervisor := &s.Totals.Reviews
	if s.Reviews.Runs+supervisor.Asked == 0 {
		return "none"
	}
	text := fmt.Sprintf("%d by gates (%d failed)", s.Reviews.Runs, s.Reviews.Failed)
	if supervisor.Asked+supervisor.Reused > 0 {
		text += fmt.Sprintf(", %d by the supervisor (%d refused, %d used again)", supervisor.Asked, supervisor.Refused, supervisor.Reused)
	}
	if usd := s.Reviews.Cost.USD + supervisor.Cost.USD; usd > 0 {
		text += fmt.Sprintf(", $%.2f", usd)
	}
	return text
}

// table lists gates under a title.
func (s *stats) table(p term.Paint, width int, title string, head []string, all []gateStats, cells func(g *gateStats) []string) []string {
	if len(all) == 0 {
		return nil
	}
	rows := [][]string{append([]string{strings.ToUpper(title)}, head...)}
	if s.Project == "" {
		rows[0] = append(rows[0], "PROJECT")
	}
	for i := range all {
		g := &all[i]
		row := append([]string{plain.Line(stops.JobName(g.Job))}, cells(g)...)
		if s.Project == "" {
			row = append(row, plain.Line(filepath.Base(g.Root)))
		}
		rows = append(rows, row)
	}
	none := func(_, _ int, text string) string { return text }
	return append([]string{""}, term.Table(rows, width, term.Headed(p, none))...)
}

func (s *stats) damage(row func(name, text string)) {
	if s.Lost > 0 {
		row("damaged", plain.Count(s.Lost, "record")+" of the journal cannot be read and do not count: stopgate log verify")
	}
	if s.More {
		row("", "there were more gates or sessions than can be counted one by one")
	}
}

// duration is a length of time in the units that a person would say.
func duration(d time.Duration) string {
	switch {
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < 100*time.Hour:
		return term.Elapsed(d)
	}
	return fmt.Sprintf("%d hours", int(d.Hours()))
}
