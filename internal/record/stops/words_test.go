package stops

import (
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/record/event"
)

func TestHeadlines(t *testing.T) {
	blocking := func(keeper, status, message string) event.Verdict {
		return event.Verdict{Keeper: keeper, Outcome: "failed", Status: status, Blocked: true, Message: message}
	}
	tree := func(status string, gates ...event.Gate) event.Tree {
		return event.Tree{Root: "/p", Status: status, Gates: gates}
	}
	gate := func(job, outcome string) event.Gate { return event.Gate{Job: job, Outcome: outcome} }
	lint, test := gate("check:.:lint", event.GateFailed), gate("check:src:a:test", event.GateFailed)
	review := gate("review:.:quality", event.GateFailed)
	pass, proven := gate("check:.:vet", event.GatePassed), gate("check:.:fmt", event.GateProven)

	for want, test := range map[string]struct {
		record *event.Record
		short  string
		next   string // what the steps hold, in that order
	}{
		"Blocked: lint, test in src:a and review quality failed": {
			answered("block", []event.Verdict{blocking("gates", "failed", "x")}, tree("failed", lint, test, review, pass)),
			"lint, test in src:a and review quality failed", "check --gate lint|check --gate test|review --gate quality|violations list",
		},
		`Blocked: hook command "make" failed`: {
			answered("block", []event.Verdict{blocking("guard", "failed", "hook command \"make\" failed\nand more")}), `hook command "make" failed`, "",
		},
		"Blocked: the agent has not signalled": {
			answered("block", []event.Verdict{blocking("lifecycle", "idle", "the agent has not signalled")}), "the agent has not signalled", "agent list",
		},
		"Allowed although lint still fails: the retry limit is reached": {
			answered("allow", []event.Verdict{verdict("gates", "failed", "retry_limit_exceeded")}, tree("retry_limit_exceeded", lint)),
			"lint still failing", "check --gate lint|stopgate clean",
		},
		"Allowed although protected files wait for approval: protect says needs_person": {
			answered("allow", []event.Verdict{verdict("protect", "failed", "needs_person")}), "protect still failing", "stopgate approve",
		},
		"Allowed: 2 gates passed, 1 of them earlier for exactly this content": {
			answered("allow", []event.Verdict{verdict("gates", "passed", "passed")}, tree("passed", pass, proven)), "2 gates passed", "",
		},
		"Allowed: 1 gate passed earlier for exactly this content": {
			answered("allow", []event.Verdict{verdict("gates", "passed", "passed")}, tree("passed", proven)), "1 gate passed", "",
		},
		"Allowed: nothing has changed here since the session began": {
			answered("allow", []event.Verdict{verdict("gates", "passed", "unchanged")}, event.Tree{Status: "unchanged", Since: event.SinceStart}), "unchanged since the session began", "",
		},
		"Allowed: nothing has changed here since the gates passed, or since the session began": { // of an older stopgate
			answered("allow", []event.Verdict{verdict("gates", "passed", "unchanged")}, tree("unchanged")), "unchanged", "",
		},
		"Allowed: no gate covers what changed": {
			answered("allow", []event.Verdict{verdict("gates", "passed", "no_applicable_gates")}, tree("no_applicable_gates")), "no applicable gates", "",
		},
		"Allowed, but: protect says asks": {
			answered("allow", []event.Verdict{verdict("protect", "failed", "asks")}), "protect says asks", "stopgate approve",
		},
		"Allowed, but not everything was checked: supervisor says unavailable": {
			answered("allow", []event.Verdict{verdict("gates", "passed", "passed"), verdict("supervisor", "could_not_run", "unavailable")}, tree("passed", pass)),
			"not everything was checked: supervisor says unavailable", "",
		},
		"Allowed, and nothing was enforced: no gate, hook command or supervisor is set up for such a stop": {
			answered("allow", nil), "not enforced: nothing set up", "stopgate init",
		},
		"Allowed, and nothing was enforced: trust says untrusted": {
			answered("allow", []event.Verdict{verdict("trust", "could_not_run", "untrusted")}), "not enforced: not approved", "stopgate trust",
		},
		"Not checked: stopgate could not read what Claude Code sent: protocol says invalid_payload": {
			answered("reject", []event.Verdict{verdict("protocol", "could_not_run", "invalid_payload")}), "not enforced: unreadable payload", "",
		},
		"The turn ended with an API error (overloaded), so there was nothing to check": {
			&event.Record{Kind: event.Answered, Event: "StopFailure", Decision: "allow", Enums: event.Enums{Error: "overloaded"}}, "not enforced: API error", "",
		},
		"No answer: the hook is still running, or was killed before it enforced anything": {
			&event.Record{Kind: event.Received, Event: "Stop"}, "no answer", "stopgate status; ",
		},
	} {
		s := Of(test.record)
		if got := s.Headline(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if got := s.Short(); got != test.short {
			t.Errorf("%s: in short %q, want %q", want, got, test.short)
		}
		steps := strings.Join(s.Next(), "|")
		for _, part := range strings.Split(test.next, "|") {
			_, rest, found := strings.Cut(steps, part)
			if steps = rest; !found {
				t.Errorf("%s: %q does not come in %q", want, part, s.Next())
			}
		}
		if test.next == "" && len(s.Next()) > 0 {
			t.Errorf("%s: %q", want, s.Next())
		}
	}
}

// Every gap has its words and, where a person can close it, the command that does.
func TestEveryGapHasItsWords(t *testing.T) {
	for _, kind := range []GapKind{Off, Untrusted, BadConfig, ForeignOwner, Observing, NotJudged, CouldNotRun, NoProject, NothingSet} {
		g := &Gap{Kind: kind}
		if words := kind.words(); words.what == "" || !strings.Contains(words.next, "stopgate ") || kind.Word() == "" || !strings.HasSuffix(g.sentence(), words.what) {
			t.Errorf("%s: %+v, %q, %q", kind, words, kind.Word(), g.sentence())
		}
	}
}

func TestJobNames(t *testing.T) {
	for job, want := range map[string]string{
		"check:.:lint": "lint", "review:.:quality": "review quality", "check:src/a:lint": "lint in src/a", "check:a:b:lint": "lint in a:b",
		"runner": "runner", "": "", ":": ":", "check:": "check:", "a:b": "a:b",
	} {
		if got := JobName(job); got != want {
			t.Errorf("%q: %q, want %q", job, got, want)
		}
	}
}
