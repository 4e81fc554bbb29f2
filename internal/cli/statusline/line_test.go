package statusline

import (
	"math"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/harness/hook"
	"github.com/stopgate/stopgate/internal/record/event"
	"github.com/stopgate/stopgate/internal/record/stops"
)

// stopped is a stop that the gates answered so.
func stopped(decision, outcome, status string, gates ...event.Gate) *stops.Stop {
	return stops.Of(&event.Record{
		Kind: event.Answered, Event: "Stop", Project: "/p", Decision: decision,
		Verdicts: []event.Verdict{{Keeper: "gates", Outcome: outcome, Status: status, Blocked: decision == "block", Message: "a message"}},
		Trees:    []event.Tree{{Root: "/p", Status: status, Gates: gates}},
	})
}

func gate(job, outcome string) event.Gate { return event.Gate{Job: job, Outcome: outcome} }

func TestLine(t *testing.T) {
	lint, test := gate("check:.:lint", event.GateFailed), gate("check:src:test", event.GateFailed)
	pass, proven := gate("check:.:vet", event.GatePassed), gate("check:.:fmt", event.GateProven)
	other := func(keeper, outcome, status, message string) *stops.Stop {
		return stops.Of(&event.Record{Kind: event.Answered, Event: "Stop", Project: "/p", Decision: "allow", Verdicts: []event.Verdict{{Keeper: keeper, Outcome: outcome, Status: status, Message: message}}})
	}
	for want, v := range map[string]View{
		"stopgate no project":            {},
		"stopgate no stop yet":           {Project: true},
		"stopgate off until 15:04":       {Project: true, Off: time.Date(2026, 1, 2, 15, 4, 0, 0, time.UTC), Stop: stopped("allow", "passed", "passed", pass)},
		"stopgate ✓ 2 gates passed":      {Project: true, Stop: stopped("allow", "passed", "passed", pass, proven)},
		"stopgate ✓ unchanged":           {Project: true, Stop: stopped("allow", "passed", "unchanged")},
		"stopgate ✓ no applicable gates": {Project: true, Stop: stopped("allow", "passed", "no_applicable_gates")},
		"stopgate ✗ lint and test in src failed · 2 open · queue 1/3 · $0.42":         {Project: true, Stop: stopped("block", "failed", "failed", lint, test, pass), Open: 2, Done: 1, Queued: 3, USD: 0.4199},
		"stopgate ! lint still failing · 1 open":                                      {Project: true, Stop: stopped("allow", "failed", "retry_limit_exceeded", lint), Open: 1},
		"stopgate ! not enforced: not approved":                                       {Project: true, Stop: other("trust", "could_not_run", "untrusted", "never approved")},
		"stopgate ! not enforced: could not run":                                      {Project: true, Stop: stopped("allow", "could_not_run", "infrastructure_error")},
		"stopgate ! not enforced: mode: observe":                                      {Project: true, Stop: stopped("allow", "failed", "would_block", lint)},
		"stopgate ✓ the supervisor says the work is complete · $1.00 · reviews $0.25": {Project: true, Stop: other("supervisor", "passed", "completed", "the supervisor says the work is complete"), USD: 1, Reviews: 0.25},
		"stopgate ! hook command \"x\" failed":                                        {Project: true, Stop: other("guard", "failed", "reported", `hook command "x" failed`)},
	} {
		if got := v.Line(false, math.MaxInt32); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// No line is wider than the terminal; what matters least goes first.
func TestLineFitsItsWidth(t *testing.T) {
	v := View{Project: true, Stop: stopped("block", "failed", "failed", gate("check:.:lint", event.GateFailed)), Open: 1, Done: 1, Queued: 3, USD: 0.42, Reviews: 3}
	for width, want := range map[int]string{
		100: "stopgate ✗ lint failed · 1 open · queue 1/3 · $0.42 · reviews $3.00",
		55:  "stopgate ✗ lint failed · 1 open · queue 1/3 · $0.42",
		44:  "stopgate ✗ lint failed · 1 open · queue 1/3",
		31:  "stopgate ✗ lint failed · 1 open",
		20:  "stopgate ✗ lint fai…",
		10:  "✗ lint fa…",
		1:   "…",
	} {
		if got := v.Line(false, width); got != want {
			t.Errorf("%d columns: %q, want %q", width, got, want)
		}
	}
	for width := range 100 {
		if n := term.Cells(v.Line(true, width)); n > width {
			t.Errorf("%d columns of %d", n, width)
		}
	}
}

// FuzzLine gives it a name that an agent can choose, and any input.
func FuzzLine(f *testing.F) {
	f.Add([]byte(`{"session_id":"s","cwd":"/p","cost":{"total_cost_usd":1e308}}`), "a\x1b]0;owned\a\x1b[2J\r\nb\u202e\x9b31m\x00", 40)
	f.Add([]byte(`{"session_id":7,"workspace":[],"cost":{"total_cost_usd":"x"}}`), strings.Repeat("\u4e16", 100), 9)
	f.Add([]byte(`null`), "", 0)
	f.Fuzz(func(t *testing.T, input []byte, name string, width int) {
		in, ok := hook.DecodeStatusLine(input)
		place := Place{StateDir: t.TempDir(), Now: time.Now}
		v := place.Look(in)
		if !ok && (in != hook.StatusLine{}) {
			t.Fatalf("%q gives %+v", input, in)
		}
		v.Stop = stopped("block", "failed", "failed", gate("check:"+name+":"+name, event.GateFailed))
		line := v.Line(false, width)
		if at := strings.IndexFunc(line, func(c rune) bool { return !unicode.IsPrint(c) }); at >= 0 {
			t.Fatalf("%q", line)
		}
		if term.Cells(line) > max(0, width) {
			t.Fatalf("%d columns of %d: %q", term.Cells(line), width, line)
		}
	})
}
