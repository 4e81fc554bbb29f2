package daemon

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/engine"
	"github.com/stopgate/stopgate/internal/event"
	"github.com/stopgate/stopgate/internal/runbook"
)

var noon = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)

func TestWhatRecordsMean(t *testing.T) {
	word := func(name string, w event.Word) event.Record {
		w.Agent = "a"
		return event.Record{Kind: event.Emitted, Event: name, Word: &w}
	}
	hook := func(name string, enums event.Enums) event.Record {
		return event.Record{Kind: event.Received, Event: name, Session: "s", Prompt: "p", Enums: enums}
	}
	answered := hook("UserPromptSubmit", event.Enums{})
	answered.Kind = event.Answered
	subagent := hook("Notification", event.Enums{NotificationType: "idle_prompt"})
	subagent.Agent.ID = "sub"
	for name, test := range map[string]struct {
		record event.Record
		who    string
		want   engine.Happening
	}{
		"complete":            {word(event.AgentSignal, event.Word{Kind: "complete", Message: "m"}), "a", engine.AgentSignal{Agent: "x", Signal: engine.Signal{Kind: engine.SignalComplete, Message: "m"}}},
		"escalate":            {word(event.AgentSignal, event.Word{Kind: "escalate"}), "a", engine.AgentSignal{Agent: "x", Signal: engine.Signal{Kind: engine.SignalEscalate}}},
		"continue":            {word(event.AgentSignal, event.Word{Kind: "continue"}), "a", engine.AgentSignal{Agent: "x", Signal: engine.Signal{Kind: engine.SignalContinue}}},
		"no such signal":      {word(event.AgentSignal, event.Word{Kind: "finish"}), "a", nil},
		"emitted idle":        {word(event.AgentIdle, event.Word{Prompt: "q"}), "a", engine.AgentIdle{Agent: "x", Prompt: "q"}},
		"emitted prompt":      {word(event.AgentPrompt, event.Word{Type: "question", Message: "m"}), "a", engine.AgentPrompt{Agent: "x", Type: "question", Text: "m"}},
		"emitted stop":        {word(event.AgentStop, event.Word{Prompt: "q"}), "a", engine.AgentStop{Agent: "x", Prompt: "q"}},
		"emitted by a newer":  {word("agent:dances", event.Word{}), "a", nil},
		"emitted nothing":     {event.Record{Kind: event.Emitted, Event: event.AgentIdle}, "", nil},
		"idle":                {hook("Notification", event.Enums{NotificationType: "idle_prompt"}), "s", engine.AgentIdle{Agent: "x", Prompt: "p"}},
		"permission":          {hook("Notification", event.Enums{NotificationType: "permission_prompt"}), "s", engine.AgentPrompt{Agent: "x", Type: "permission"}},
		"another notice":      {hook("Notification", event.Enums{NotificationType: "auth_success"}), "s", nil},
		"a prompt":            {hook("UserPromptSubmit", event.Enums{}), "s", engine.AgentWorking{Agent: "x", Prompt: "p"}},
		"failure":             {hook("StopFailure", event.Enums{Error: "rate_limit"}), "s", engine.AgentError{Agent: "x", Kind: runbook.RateLimited, Text: "rate_limit"}},
		"a session's end":     {hook("SessionEnd", event.Enums{Reason: "other"}), "", nil},
		"a tool":              {hook("PreToolUse", event.Enums{ToolName: "Bash"}), "", nil},
		"an answer":           {answered, "", nil},
		"what a subagent did": {subagent, "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			test.record.Call, test.record.ID, test.record.Time = "call", "id", noon
			if who := concerns(&test.record); who != test.who {
				t.Fatalf("it concerns %q", who)
			}
			if test.who == "" {
				return
			}
			if text, err := json.Marshal(test.record); err != nil || !mayConcern(text) {
				t.Errorf("%s would not be read: %v", text, err)
			}
			in, ok := inputOf(&test.record, "x")
			if ok != (test.want != nil) {
				t.Fatalf("%+v, %t", in, ok)
			}
			if !ok {
				return
			}
			want := engine.Input{ID: "call:" + test.record.Event, Time: noon, Journal: true, What: test.want}
			if diff := cmp.Diff(want, in); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestMostRecordsAreNotRead(t *testing.T) {
	for _, r := range []event.Record{
		{Kind: event.Received, Event: "PreToolUse"},
		{Kind: event.Answered, Event: "Notification"},
		{Kind: event.Received, Event: "Stop", Session: `"event":"Notification`},
		{Kind: event.Received, Event: "Stop", Project: `/p/"kind":"emitted"`},
	} {
		text, err := json.Marshal(r)
		if err != nil || mayConcern(text) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestARecordWithoutCallHasAnIDAllTheSame(t *testing.T) {
	in, _ := inputOf(&event.Record{ID: "r1", Kind: event.Emitted, Event: event.AgentIdle, Word: &event.Word{Agent: "a"}}, "a")
	if in.ID != "r1:agent:idle" {
		t.Error(in.ID)
	}
}

func TestErrorKinds(t *testing.T) {
	for word, want := range map[string]runbook.ErrorKind{
		"authentication_failed": runbook.Unauthorized, "oauth_org_not_allowed": runbook.Unauthorized,
		"billing_error": runbook.OutOfCredits, "rate_limit": runbook.RateLimited, "overloaded": runbook.RateLimited,
		"connection_error": runbook.NoInternet, "unknown": runbook.OtherError, "server_error": runbook.OtherError, "": runbook.OtherError,
	} {
		if got := errorKind(word); got != want {
			t.Errorf("%q is %q", word, got)
		}
	}
}
