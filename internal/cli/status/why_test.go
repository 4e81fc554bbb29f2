package status

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/stopgate/stopgate/internal/cli/goldentest"
	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/gate/gauntlet/kept"
	"github.com/stopgate/stopgate/internal/record/event"
	"github.com/stopgate/stopgate/internal/record/stops"
)

// told is an explanation of a record, in so many columns, with the logs that a state directory keeps.
func told(stateDir string, r event.Record, width int) []string {
	r.Call, r.Event, r.Time = "01M7MM6K67Q1PNRQ1RP9311AD7", "Stop", time.Date(2026, 11, 17, 11, 0, 0, 0, time.UTC)
	if r.Kind == "" {
		r.Kind = event.Answered
	}
	e := about(stops.Of(&r), 0)
	e.now = func() time.Time { return r.Time.Add(90 * time.Second) }
	w := whyWriter{width: width, stateDir: stateDir}
	return w.lines(e)
}

// keptLog is a log of a gate, and the state directory that keeps it.
func keptLog(t *testing.T, name, text string) (stateDir, log string) {
	t.Helper()
	stateDir = t.TempDir()
	log = filepath.Join(kept.Dir(stateDir), "project", name)
	check(t, os.MkdirAll(filepath.Dir(log), 0o700))
	check(t, os.WriteFile(log, []byte(text), 0o600))
	return stateDir, log
}

func gate(job, outcome, why string, ms int64) event.Gate {
	return event.Gate{Job: job, Outcome: outcome, Why: why, DurationMS: ms}
}

func TestWhyInWords(t *testing.T) {
	var text strings.Builder
	for i := range 40 {
		fmt.Fprintf(&text, "line %d of what the gate printed\n", i)
	}
	state, log := keptLog(t, "lint.log", text.String())
	dir := filepath.Dir(log)

	lint := gate("check:.:lint", event.GateFailed, "Exited with code 1", 1200)
	lint.Log = log
	quality := gate("review:src:quality", event.GateFailed, "2 violations", 41_000)
	quality.Cost, quality.Log = event.Cost{USD: 0.0825}, filepath.Join(dir, "gone.log")
	judged := event.Tree{
		Root: "/home/me/proj", Tree: "4968beecfc9f11", Approval: "dd064e4109ae22", Status: "failed", More: 7,
		Gates: []event.Gate{
			lint, quality, gate("check:.:test", event.GatePassed, "", 3400), gate("check:.:e2e", event.GateNotStarted, "lint fails fast", 0),
			gate("check:.:vet", event.GateProven, "unchanged since it passed on 2026-11-17 10:00", 0),
			gate("check:docs:links", event.GateSkipped, "nothing that it checks has changed", 0),
			gate("check:web:build", event.GateSkipped, "nothing that it checks has changed", 0),
			gate("check:.:slow", event.GateSkipped, "does not run here: run_locally is false", 0),
		},
	}
	proven := event.Tree{Root: "/home/me/proj", Tree: "4968beecfc9f11", Status: "passed", Gates: []event.Gate{
		gate("check:.:vet", event.GateProven, "unchanged since it passed on 2026-11-17 10:00", 0),
		gate("check:.:test", event.GateProven, "unchanged since it passed on 2026-11-17 10:00", 0),
	}}
	passed := func(keeper string) event.Verdict {
		return event.Verdict{Keeper: keeper, Outcome: "passed", Status: "passed", DurationMS: 120}
	}
	block := event.Verdict{Keeper: "gates", Outcome: "failed", Status: "failed", Blocked: true, DurationMS: 45_000, Message: "2 of 5 gates failed", Cost: event.Cost{USD: 0.0825, InputTokens: 90, OutputTokens: 7}}

	for name, r := range map[string]event.Record{
		"blocked": {Session: "8f3c2a10-aaaa", Project: "/home/me/proj", Decision: "block", DurationMS: 45_900, Verdicts: []event.Verdict{passed("guard"), block}, Trees: []event.Tree{judged}},
		"proven":  {Session: "8f3c2a10-aaaa", Project: "/home/me/proj", Decision: "allow", DurationMS: 9, Verdicts: []event.Verdict{passed("gates")}, Trees: []event.Tree{proven}},
		"edited": {Session: "8f3c2a10-aaaa", Project: "/home/me/proj", Decision: "allow", DurationMS: 9, Trees: []event.Tree{proven}, Verdicts: []event.Verdict{
			{Keeper: "trust", Outcome: "passed", Status: "edited", Message: "/home/me/proj/.gauntlet differs from what was approved (config.yml); the approved files run instead. To approve it as it is now: stopgate trust"},
			passed("gates"),
		}},
		"limit": {Session: "8f3c2a10-aaaa", Project: "/home/me/proj", Decision: "allow", DurationMS: 9, Trees: []event.Tree{judged}, Verdicts: []event.Verdict{
			{Keeper: "gates", Outcome: "failed", Status: "retry_limit_exceeded", Message: "2 gates failed"},
		}},
		"off": {Session: "8f3c2a10-aaaa", Project: "/home/me/proj", Decision: "allow", Verdicts: []event.Verdict{
			{Keeper: "off", Outcome: "could_not_run", Status: "off", Message: "off in this project until 2026-11-17 12:00:00; nothing is checked (lunch)"},
		}},
		"untrusted": {Session: "8f3c2a10-aaaa", Project: "/home/me/proj", Decision: "allow", Verdicts: []event.Verdict{
			{Keeper: "trust", Outcome: "could_not_run", Status: "untrusted", Message: "/home/me/proj/.gauntlet was never approved, so nothing in it runs"},
		}},
		"supervisor": {Session: "8f3c2a10-aaaa", Project: "/home/me/proj", Decision: "block", Trees: []event.Tree{proven}, Verdicts: []event.Verdict{
			passed("gates"),
			{Keeper: "supervisor", Outcome: "failed", Status: "not_completed", Blocked: true, Message: "the supervisor says the work is not complete (review 1 of at most 10)", Cost: event.Cost{USD: 0.25}, DurationMS: 31_000},
		}},
		"unanswered": {Kind: event.Received, Session: "8f3c2a10-aaaa", Project: "/home/me/proj"},
	} {
		t.Run(name, func(t *testing.T) {
			lines := told(state, r, 80)
			for _, line := range lines {
				if term.Cells(line) > 80 && !strings.Contains(line, dir) {
					t.Errorf("%d columns: %s", term.Cells(line), line)
				}
			}
			if len(lines) > whyHeight {
				t.Errorf("%d lines", len(lines))
			}
			goldentest.Check(t, "why/"+name+".txt", strings.ReplaceAll(strings.Join(lines, "\n")+"\n", dir, "/logs"))
		})
	}
}

// Whatever an agent can name or print, nothing of it steers the terminal.
func TestWhyIsHarmless(t *testing.T) {
	evil := "a\x1b]0;owned\a\x1b[2J\r\nb\u202e\x9b31m\x00" + strings.Repeat("x", 1<<20)
	state, log := keptLog(t, "1.log", evil+"\n"+evil)
	g := event.Gate{Job: "check:" + evil + ":" + evil, Outcome: event.GateFailed, Why: evil, Log: log}
	skipped := event.Gate{Job: evil, Outcome: event.GateSkipped, Why: evil}
	r := event.Record{
		Session: evil, Project: evil, Agent: event.SubagentRef{ID: evil}, Decision: "block", Effects: []string{evil},
		Verdicts: []event.Verdict{{Keeper: evil, Outcome: evil, Status: evil, Message: evil}, {Keeper: "gates", Blocked: true, Outcome: "failed", Message: evil}},
		Trees:    []event.Tree{{Root: evil, Tree: evil, Approval: evil, Status: evil, Why: evil, Gates: []event.Gate{g, skipped}}},
	}
	for _, width := range []int{80, 20, math.MaxInt} {
		for _, line := range told(state, r, width) {
			if at := strings.IndexFunc(line, func(c rune) bool { return !unicode.IsPrint(c) }); at >= 0 {
				t.Fatalf("%q at width %d", line[max(0, at-10):at+10], width)
			}
		}
	}
}

// A path that is longer than a line takes room from the end of the log, so that the first line stays on
// the screen.
func TestWhyFitsTheScreenWithALongPath(t *testing.T) {
	state, log := keptLog(t, strings.Repeat("long", 30)+".log", strings.Repeat("line\n", 100))
	lint := gate("check:.:lint", event.GateFailed, "Exited with code 1", 1200)
	lint.Log = log
	gates := []event.Gate{lint}
	for i := range mostGates {
		gates = append(gates, gate(fmt.Sprintf("check:.:test%d", i), event.GatePassed, "", 5))
	}
	rows := 0
	w := whyWriter{width: 80}
	for _, line := range told(state, event.Record{
		Session: "8f3c2a10", Project: "/p", Decision: "block", Trees: []event.Tree{{Root: "/p", Status: "failed", Gates: gates}},
		Verdicts: []event.Verdict{{Keeper: "gates", Outcome: "failed", Status: "failed", Blocked: true}},
	}, 80) {
		rows += w.rows(line)
	}
	if rows > whyHeight || rows < whyHeight-4 {
		t.Errorf("%d rows of %d", rows, whyHeight)
	}
}

func TestTheEndOfALog(t *testing.T) {
	for text, want := range map[string]string{
		"one\n":                                "one",
		"one\ntwo\nthree\n\n\n":                "two|three",
		strings.Repeat("x", 100_000) + "\nend": strings.Repeat("x", 500) + "…|end",
	} {
		state, path := keptLog(t, "1.log", text)
		if got := strings.Join(logEnd(state, path, 2), "|"); got != want {
			t.Errorf("%.40q: %d bytes, %.60q", text, len(got), got)
		}
	}

	state, path := keptLog(t, "1.log", "a secret\n")
	dir := filepath.Dir(path)
	for name, path := range map[string]string{"gone": filepath.Join(dir, "none.log"), "cannot be read": filepath.Dir(dir), "cannot be read: ": filepath.Join(t.TempDir(), "1.log")} {
		if got := logEnd(state, path, 2); len(got) != 1 || !strings.HasPrefix(got[0], "("+name) {
			t.Errorf("%s: %q", name, got)
		}
	}
}
