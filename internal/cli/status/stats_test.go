package status

import (
	"math"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/stopgate/stopgate/internal/cli/goldentest"
	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/record/event"
	"github.com/stopgate/stopgate/internal/record/stops"
)

func everywhere(string) bool { return true }

// played counts stops of two projects: a failure that was fixed, proofs, a gate that cannot make up its
// mind, reviews, and a stop at which nothing was enforced.
func played() *stops.Tally {
	var t stops.Tally
	at := time.Date(2026, 11, 17, 9, 0, 0, 0, time.UTC)
	stop := func(session, root, tree, decision string, gates ...event.Gate) {
		at = at.Add(time.Minute)
		outcome := map[string]string{"allow": "passed", "block": "failed"}[decision]
		t.Add(stops.Of(&event.Record{
			Kind: event.Answered, Event: "Stop", Call: at.String(), Time: at, Session: session, Project: root, Decision: decision, DurationMS: 62_000,
			Verdicts: []event.Verdict{{Keeper: "gates", Outcome: outcome, Status: outcome, Blocked: decision == "block"}},
			Trees:    []event.Tree{{Root: root, Tree: tree, Approval: "a", Status: outcome, Gates: gates}},
		}))
	}
	review := gate("review:src:quality", event.GatePassed, "", 40_000)
	review.Cost = event.Cost{USD: 0.25}
	stop("s1", "/home/me/web", "A", "block", gate("check:.:lint", event.GateFailed, "", 2000), gate("check:.:test", event.GatePassed, "", 61_000))
	stop("s1", "/home/me/web", "B", "allow", gate("check:.:lint", event.GatePassed, "", 2200), gate("check:.:test", event.GatePassed, "", 63_000), review)
	stop("s1", "/home/me/web", "B", "allow", gate("check:.:lint", event.GateProven, "", 0), gate("check:.:test", event.GateProven, "", 0), gate("review:src:quality", event.GateProven, "", 0))
	stop("s2", "/home/me/api", "C", "block", gate("check:.:e2e", event.GateFailed, "", 9000))
	stop("s2", "/home/me/api", "C", "allow", gate("check:.:e2e", event.GatePassed, "", 8000), gate("check:.:never", event.GateProven, "", 0))
	t.Add(stops.Of(&event.Record{Kind: event.Answered, Event: "Stop", Session: "s3", Decision: "allow", Time: at, Project: "/home/me/api", Verdicts: []event.Verdict{{Keeper: "off", Outcome: "could_not_run", Status: "off"}}}))
	t.Add(stops.Of(&event.Record{Kind: event.Answered, Event: "Stop", Session: "s3", Decision: "allow", Time: at, Project: "/home/me/api", Verdicts: []event.Verdict{
		{Keeper: "supervisor", Outcome: "passed", Status: "completed", DurationMS: 30_000, Cost: event.Cost{USD: 0.5}},
	}}))
	return &t
}

func TestStatsInWords(t *testing.T) {
	all := statsOf(played(), everywhere)
	all.Since = time.Date(2026, 11, 10, 9, 0, 0, 0, time.UTC)
	one := statsOf(played(), func(root string) bool { return root == "/home/me/web" })
	one.Project, one.Lost = "/home/me/web", 2
	none := statsOf(&stops.Tally{}, everywhere)

	for name, s := range map[string]*stats{"all": all, "project": one, "none": none} {
		lines := s.lines(false, 80)
		for _, line := range lines {
			if term.Cells(line) > 80 {
				t.Errorf("%s: %d columns: %s", name, term.Cells(line), line)
			}
		}
		goldentest.Check(t, "stats/"+name+".txt", strings.Join(lines, "\n")+"\n")
	}
}

// What proofs saved is the median of a gate's own runs, times how often it was proven; what was never
// run is not guessed.
func TestStatsOfProofs(t *testing.T) {
	s := statsOf(played(), everywhere)
	if want := 2*time.Second + 61*time.Second + 40*time.Second; s.Saved.Time != want || s.Saved.USD != 0.25 || s.Saved.Times != 4 || s.Saved.Unknown != 1 {
		t.Errorf("saved %+v, want %s", s.Saved, want)
	}
	if s.Caught != 1 || s.Reviews.Runs != 1 || s.Reviews.Cost.USD != 0.25 || s.Totals.Reviews.Cost.USD != 0.5 {
		t.Errorf("%+v", s)
	}
}

// The numbers add up: a stop that was neither allowed nor blocked is counted by its own name.
func TestStatsAddUp(t *testing.T) {
	tally := played()
	for range 2 {
		tally.Add(stops.Of(&event.Record{Kind: event.Answered, Event: "Stop", Decision: "reject", Time: time.Now(), Verdicts: []event.Verdict{{Keeper: "protocol", Outcome: "could_not_run", Status: "invalid_payload"}}}))
	}
	tally.Add(stops.Of(&event.Record{Kind: event.Received, Event: "Stop", Session: "s1", Time: time.Now()}))
	s := statsOf(tally, everywhere)
	want := "10 in 3 sessions: 5 allowed, 2 blocked, 2 with an unreadable payload, 1 without an answer"
	if text := strings.Join(s.lines(false, math.MaxInt), "\n"); !strings.Contains(text, want) {
		t.Errorf("not %q:\n%s", want, text)
	}
}

// A gate that takes less than a millisecond ran all the same; one that was only ever proven did not.
func TestStatsOfAFastGate(t *testing.T) {
	var tally stops.Tally
	tally.Add(stops.Of(&event.Record{Kind: event.Answered, Event: "Stop", Session: "s1", Decision: "allow", Trees: []event.Tree{
		{Root: "/web", Tree: "A", Gates: []event.Gate{gate("check:.:fast", event.GatePassed, "", 0), gate("check:.:never", event.GateProven, "", 0)}},
	}}))
	text := strings.Join(statsOf(&tally, everywhere).lines(false, 80), "\n")
	if !strings.Contains(text, "SLOWEST") || !strings.Contains(text, "fast") || strings.Contains(text, "never ") {
		t.Errorf("%s", text)
	}
}

func TestStatsAreHarmless(t *testing.T) {
	evil := "a\x1b]0;owned\a\x1b[2J\r\nb\u202e\x9b31m\x00" + strings.Repeat("x", 1<<20)
	var tally stops.Tally
	for _, outcome := range []string{event.GateFailed, event.GatePassed} {
		tally.Add(stops.Of(&event.Record{Kind: event.Answered, Event: "Stop", Session: evil, Project: evil, Decision: "allow", Trees: []event.Tree{
			{Root: evil, Tree: "A", Gates: []event.Gate{gate(evil, outcome, evil, 1)}},
		}}))
	}
	s := statsOf(&tally, everywhere)
	for _, project := range []string{"", evil} {
		s.Project = project
		for _, width := range []int{80, 20, math.MaxInt} {
			for _, line := range s.lines(false, width) {
				if at := strings.IndexFunc(line, func(c rune) bool { return !unicode.IsPrint(c) }); at >= 0 {
					t.Fatalf("%q at width %d", line[max(0, at-10):at+10], width)
				}
			}
		}
	}
}
