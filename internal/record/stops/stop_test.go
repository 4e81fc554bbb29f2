package stops

import (
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/record/event"
)

// answered is a record of a stop that was answered so.
func answered(decision string, verdicts []event.Verdict, trees ...event.Tree) *event.Record {
	return &event.Record{
		Kind: event.Answered, Call: "C1", Event: "Stop", Session: "s1", Project: "/p", Time: time.Unix(100, 0).UTC(),
		Decision: decision, Verdicts: verdicts, Trees: trees, DurationMS: 40,
	}
}

func verdict(keeper, outcome, status string) event.Verdict {
	return event.Verdict{Keeper: keeper, Outcome: outcome, Status: status, Message: keeper + " says " + status}
}

func TestDecisionOfAStop(t *testing.T) {
	blocking := verdict("gates", "failed", "failed")
	blocking.Blocked = true
	adopted := event.Verdict{Keeper: "chain", Outcome: "passed", Status: "adopted", Reused: true, Blocked: true}
	judged := event.Tree{Root: "/p", Status: "passed", Gates: []event.Gate{{Job: "check:.:t", Outcome: event.GatePassed}}}
	spared := event.Tree{Root: "/p", Status: "stop_hook_disabled", Why: "stop_hook.enabled is false"}

	for name, test := range map[string]struct {
		record   *event.Record
		decision Decision
		by       string // keeper
		gap      GapKind
	}{
		"passed":           {answered("allow", []event.Verdict{verdict("guard", "passed", "passed"), verdict("gates", "passed", "passed")}, judged), Allowed, "gates", ""},
		"blocked":          {answered("block", []event.Verdict{verdict("guard", "passed", "passed"), blocking}, judged), Blocked, "gates", ""},
		"held":             {answered("block", []event.Verdict{verdict("trust", "could_not_run", "damaged_approval"), blocking}), Blocked, "gates", ""},
		"gave up":          {answered("allow", []event.Verdict{verdict("guard", "failed", "gave_up")}), GaveUp, "guard", ""},
		"retry limit":      {answered("allow", []event.Verdict{verdict("gates", "failed", "retry_limit_exceeded")}, judged), GaveUp, "gates", ""},
		"reviewed enough":  {answered("allow", []event.Verdict{verdict("gates", "passed", "passed"), verdict("supervisor", "failed", "limit_reached")}), GaveUp, "supervisor", ""},
		"needs a person":   {answered("allow", []event.Verdict{verdict("protect", "failed", "needs_person")}), GaveUp, "protect", ""},
		"reported only":    {answered("allow", []event.Verdict{verdict("guard", "failed", "reported")}), Allowed, "guard", ""},
		"observed":         {answered("allow", []event.Verdict{verdict("gates", "failed", "would_block")}, judged), Allowed, "gates", Observing},
		"off":              {answered("allow", []event.Verdict{verdict("off", "could_not_run", "off")}), Allowed, "off", Off},
		"never approved":   {answered("allow", []event.Verdict{verdict("trust", "could_not_run", "untrusted")}), Allowed, "trust", Untrusted},
		"edited":           {answered("allow", []event.Verdict{verdict("trust", "passed", "edited"), verdict("gates", "passed", "passed")}, judged), Allowed, "gates", ""},
		"edited, no gates": {answered("allow", []event.Verdict{verdict("trust", "passed", "edited")}), Allowed, "trust", NothingSet},
		"another's":        {answered("allow", []event.Verdict{verdict("owner", "could_not_run", "foreign_owner")}), Allowed, "owner", ForeignOwner},
		"invalid":          {answered("allow", []event.Verdict{verdict("config", "could_not_run", "invalid_config")}), Allowed, "config", BadConfig},
		"not judged":       {answered("allow", []event.Verdict{verdict("gates", "passed", "stop_hook_disabled")}, spared), Allowed, "gates", NotJudged},
		"one of two trees": {answered("allow", []event.Verdict{verdict("gates", "passed", "passed")}, spared, judged), Allowed, "gates", ""},
		"cut off":          {answered("allow", []event.Verdict{verdict("gates", "could_not_run", "deadline")}, judged), Allowed, "gates", CouldNotRun},
		"nothing set":      {answered("allow", nil), Allowed, "", NothingSet},
		"supervisor alone": {answered("allow", []event.Verdict{verdict("supervisor", "passed", "completed")}, spared), Allowed, "supervisor", ""},
		"adopted":          {answered("block", []event.Verdict{adopted}), Blocked, "chain", ""},
		"rejected":         {answered("reject", []event.Verdict{verdict("protocol", "could_not_run", "invalid_payload")}), Rejected, "protocol", BadPayload},
		"received":         {&event.Record{Kind: event.Received, Event: "Stop"}, Unanswered, "", NoAnswer},
		"no project":       {&event.Record{Kind: event.Answered, Event: "Stop", Decision: "allow"}, Allowed, "", NoProject},
		"API error":        {&event.Record{Kind: event.Answered, Event: "StopFailure", Decision: "allow", Enums: event.Enums{Error: "overloaded"}}, Allowed, "", APIError},
	} {
		t.Run(name, func(t *testing.T) {
			s := Of(test.record)
			by, gap := "", GapKind("")
			if s.By != nil {
				by = s.By.Keeper
			}
			if s.Gap != nil {
				gap = s.Gap.Kind
			}
			if s.Decision != test.decision || by != test.by || gap != test.gap {
				t.Errorf("%s by %q, gap %q; want %s by %q, gap %q", s.Decision, by, gap, test.decision, test.by, test.gap)
			}
		})
	}
}

func TestWhatIsNoStop(t *testing.T) {
	for _, r := range []event.Record{{Event: "PreToolUse", Kind: event.Answered}, {Event: "Stop", Kind: event.Emitted}, {}} {
		if s := Of(&r); s != nil {
			t.Errorf("%+v is %+v", r, s)
		}
	}
}

func TestCountsAndCostOfAStop(t *testing.T) {
	reviewed := verdict("supervisor", "passed", "completed")
	reviewed.Cost = event.Cost{USD: 0.25}
	gates := verdict("gates", "passed", "passed")
	gates.Cost = event.Cost{USD: 0.5}
	s := Of(answered("allow", []event.Verdict{gates, reviewed}, event.Tree{Root: "/p", More: 3, Gates: []event.Gate{
		{Job: "a", Outcome: event.GateProven}, {Job: "b", Outcome: event.GateSkipped}, {Job: "c", Outcome: event.GatePassed},
	}}))
	if s.Cost.USD != 0.75 {
		t.Errorf("cost %v", s.Cost)
	}
	if n := s.Counts(); n[event.GateSkipped] != 4 || n[event.GateProven] != 1 || n[event.GatePassed] != 1 {
		t.Errorf("%v", n)
	}
	asked := ""
	s.Asked(func(_ *event.Tree, g *event.Gate) { asked += g.Job })
	if asked != "ac" {
		t.Errorf("asked %q", asked)
	}
}

func TestHeadlineOfOneAndMany(t *testing.T) {
	for want, gates := range map[string][]event.Gate{
		"Allowed although the gates still fail: the retry limit is reached":     nil,
		"Allowed although lint still fails: the retry limit is reached":         {{Job: "check:.:lint", Outcome: event.GateFailed}},
		"Allowed although lint and test still fail: the retry limit is reached": {{Job: "check:.:lint", Outcome: event.GateFailed}, {Job: "check:.:test", Outcome: event.GateFailed}},
	} {
		s := Of(&event.Record{
			Kind: event.Answered, Event: "Stop", Decision: "allow", Trees: []event.Tree{{Root: "/p", Gates: gates}},
			Verdicts: []event.Verdict{{Keeper: "gates", Outcome: "failed", Status: "retry_limit_exceeded"}},
		})
		if got := s.Headline(); got != want {
			t.Errorf("%q", got)
		}
	}
}
