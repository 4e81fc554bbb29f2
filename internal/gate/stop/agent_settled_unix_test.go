//go:build unix

package stop

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stopgate/stopgate/internal/agents/agentdir"
	"github.com/stopgate/stopgate/internal/harness/hook"
)

// A turn that ends in an error of the API is at its end: what was asked in it is settled.
func TestATurnThatFailedWaitsForNothing(t *testing.T) {
	s, daemon := managed(t, agentdir.Signal, "")
	process, wait := s.hooker(s.askFor("Bash", nil, nil))
	ref := <-daemon.waiting
	check(t, process.Kill())
	wait()
	failure := fields{"error": "overloaded", "last_assistant_message": "API Error: 529"}
	other := fields{"error": "overloaded", "session_id": "other"}
	wantAllow(t, s.call(hook.StopFailure, other))
	s.wantEmitted("agent:prompt permission p1")
	wantAllow(t, s.call(hook.StopFailure, failure))
	s.wantEmitted("agent:prompt permission p1", "agent:prompt_over")
	if got := s.lastEmitted().Word.Ref; got != ref {
		t.Errorf("%q is over, asked was %q", got, ref)
	}
	s.wantNothingAsked()
}

// An agent whose client has the gates in a hook of their own has a queue like any other.
func TestAgentHookStopMovesTheQueue(t *testing.T) {
	held, daemon := managed(t, agentdir.Signal, "")
	s := held.onStage()
	s.give("/gsd:a", "/gsd:b")
	stop := func() (r reply) {
		service := s.service()
		service.Lifecycle, service.Driver = s.lifecycle(), s.driver
		payload := s.payload(hook.Stop, fields{"last_assistant_message": "done"})
		r.Reply = service.AgentStop(t.Context(), agentID, bytes.NewReader(payload))
		if len(r.Stdout) > 0 {
			check(t, json.Unmarshal(r.Stdout, &r))
		}
		return r
	}
	wantBlock(t, stop(), signalCommand)
	s.wantQueue("active pending")
	if s.driven != 0 {
		t.Error("a stop that is blocked moved the queue")
	}
	daemon.says("continue")
	wantAllow(t, stop())
	s.wantQueue("done active")
	if s.driven != 1 {
		t.Errorf("driven %d times", s.driven)
	}
}
