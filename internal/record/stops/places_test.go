package stops

import (
	"fmt"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/record/event"
)

// stopIn is a stop of a session, for one prompt of it.
func stopIn(root, call string, minute int, decision Decision, afterBlock bool) *Stop {
	return &Stop{
		ID: call, Time: noon.Add(time.Duration(minute) * time.Minute), Event: "Stop", Session: "s", Prompt: "p", Project: root,
		Decision: decision, AfterBlock: afterBlock, Verdicts: []event.Verdict{verdict("gates", "passed", "passed")},
	}
}

// A block is proven to block by the stop after it, of the same prompt: the agent went on.
func TestIssue18ABlockIsProvenByTheStopAfterIt(t *testing.T) {
	var p Places
	p.Add(stopIn("/p", "a", 0, Blocked, false))
	if one := p.All(noon)[0]; one.Proof.ID != "" || one.Blocked.ID != "a" {
		t.Errorf("%+v", one)
	}
	p.Add(stopIn("/p", "b", 1, Allowed, true))
	p.Add(stopIn("/p", "c", 2, Allowed, false))
	one := p.All(noon)[0]
	if one.Proof.ID != "b" || one.Held.ID != "a" || one.Last.ID != "c" || one.Judged.ID != "c" || one.Stops != 3 {
		t.Errorf("%+v", one)
	}
	other := stopIn("/p", "e", 4, Allowed, true)
	other.Prompt = "another"
	p.Add(stopIn("/p", "d", 3, Blocked, false))
	p.Add(other)
	if one := p.All(noon)[0]; one.Proof.ID != "b" {
		t.Errorf("a stop of another prompt proves something: %+v", one)
	}
}

// Stops at which nothing was enforced, that got no answer, of subagents and of no project.
func TestIssue18PlacesTellWhatIsNotEnforced(t *testing.T) {
	var p Places
	gap := stopIn("/p", "a", 0, Allowed, false)
	gap.Gap = &Gap{Kind: Untrusted}
	subagent := stopIn("/p", "b", 1, Allowed, false)
	subagent.Event = "SubagentStop"
	for _, s := range []*Stop{gap, subagent, stopIn("", "c", 2, Allowed, false), stopIn("/p", "d", 3, Unanswered, false), stopIn("/p", "e", 4, Unanswered, false), stopIn("/p", "e", 5, Allowed, false)} {
		p.Add(s)
	}
	one := p.All(noon.Add(time.Hour))[0]
	if one.Unanswered != 1 || one.Judged.ID != "e" || one.Stops != 2 || len(p.All(noon)) != 1 {
		t.Errorf("%+v", one)
	}
}

func TestIssue18PlacesAreBounded(t *testing.T) {
	var p Places
	for i := range mostPlaces + 10 {
		p.Add(stopIn(fmt.Sprintf("/p%d", i), "a", i, Blocked, false))
	}
	for i := range 5 * mostOpen {
		s := stopIn("/q", fmt.Sprint(i), mostPlaces+20, Unanswered, false)
		p.Add(s)
		s.Session, s.Decision = fmt.Sprint(i), Blocked
		p.Add(s)
	}
	if len(p.all) != mostPlaces || p.all["/p0"] != nil || len(p.all["/q"].open) > mostOpen || len(p.all["/q"].blocks) > mostOpen {
		t.Errorf("%d places", len(p.all))
	}
}
