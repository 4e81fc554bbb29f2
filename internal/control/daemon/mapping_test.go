package daemon

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/control/engine"
	"github.com/stopgate/stopgate/internal/control/runbook"
	"github.com/stopgate/stopgate/internal/gate/keeper"
	"github.com/stopgate/stopgate/internal/gate/protect"
	"github.com/stopgate/stopgate/internal/record/event"
	"github.com/stopgate/stopgate/internal/record/journal"
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
	reset := noon.Add(time.Hour)
	answered := hook("UserPromptSubmit", event.Enums{})
	answered.Kind = event.Answered
	allowed := event.Record{
		Kind: event.Answered, Event: "Stop", Session: "s", Prompt: "p", Decision: "allow",
		Verdicts: []event.Verdict{{Keeper: "gates"}, {Keeper: "lifecycle"}},
	}
	gatesAlone := allowed
	gatesAlone.Verdicts = allowed.Verdicts[:1]
	red := allowed
	red.Verdicts = []event.Verdict{
		{Keeper: "gates", Outcome: "failed", Status: "retry_limit_exceeded", Message: "tried 3 times"},
		{Keeper: "guard", Outcome: "failed", Status: "gave_up"},
		{Keeper: "supervisor", Outcome: "could_not_run", Message: "no reviewer"},
		{Keeper: "lifecycle", Outcome: "passed"},
	}
	off := allowed
	off.Verdicts = []event.Verdict{{Keeper: "off", Outcome: "could_not_run", Status: "off"}}
	late := allowed
	late.Verdicts = []event.Verdict{{Keeper: "gates", Outcome: "could_not_run", Status: "deadline"}, {Keeper: "chain", Outcome: "could_not_run"}}
	reported := allowed
	reported.Verdicts = []event.Verdict{{Keeper: "guard", Outcome: "failed", Status: "reported", Message: "red"}, {Keeper: "lifecycle"}}
	asks, needs, observed := allowed, allowed, allowed
	asks.Verdicts = []event.Verdict{{Keeper: protect.Name, Outcome: "failed", Status: protect.Asks, Message: "a_test.go deleted"}, {Keeper: "lifecycle"}}
	needs.Verdicts = []event.Verdict{{Keeper: protect.Name, Outcome: "failed", Status: protect.NeedsPerson, Message: "a_test.go deleted"}, {Keeper: "lifecycle"}}
	observed.Verdicts = []event.Verdict{{Keeper: "gates", Outcome: "failed", Status: keeper.WouldBlock, Message: "red"}, {Keeper: "lifecycle"}}
	blocked := allowed
	blocked.Decision = "block"
	subagent := hook("Notification", event.Enums{NotificationType: "idle_prompt"})
	subagent.Agent.ID = "sub"
	for name, test := range map[string]struct {
		record event.Record
		who    string
		want   engine.Happening
	}{
		"complete":              {word(event.AgentSignal, event.Word{Kind: "complete", Message: "m"}), "a", engine.AgentSignal{AgentID: "x", Signal: engine.Signal{Kind: engine.SignalComplete, Message: "m"}}},
		"escalate":              {word(event.AgentSignal, event.Word{Kind: "escalate"}), "a", engine.AgentSignal{AgentID: "x", Signal: engine.Signal{Kind: engine.SignalEscalate}}},
		"continue":              {word(event.AgentSignal, event.Word{Kind: "continue"}), "a", engine.AgentSignal{AgentID: "x", Signal: engine.Signal{Kind: engine.SignalContinue}}},
		"no such signal":        {word(event.AgentSignal, event.Word{Kind: "finish"}), "a", nil},
		"emitted idle":          {word(event.AgentIdle, event.Word{Prompt: "q"}), "a", engine.AgentIdle{AgentID: "x", Prompt: "q"}},
		"emitted prompt":        {word(event.AgentPrompt, event.Word{Type: "question", Message: "m"}), "a", engine.AgentPrompt{AgentID: "x", Type: "question", Text: "m"}},
		"emitted stop":          {word(event.AgentStop, event.Word{Prompt: "q"}), "a", engine.AgentStop{AgentID: "x", Prompt: "q"}},
		"emitted question":      {word(event.AgentPrompt, event.Word{Type: "question", Ref: "r"}), "a", engine.AgentPrompt{AgentID: "x", Type: "question", Ref: "r"}},
		"a subagent's question": {word(event.AgentPrompt, event.Word{Kind: event.Subagent, Type: "question", Ref: "r"}), "a", engine.AgentPrompt{AgentID: "x", Type: "question", Ref: "r", Subagent: true}},
		"nobody waits":          {word(event.AgentPromptOver, event.Word{Ref: "r"}), "a", engine.AgentPromptOver{AgentID: "x", Ref: "r"}},
		"another session":       {word(event.AgentSession, event.Word{Ref: "s2"}), "a", engine.AgentSession{AgentID: "x", Session: "s2"}},
		"emitted error":         {word(event.AgentError, event.Word{Kind: "rate_limit", Message: "API Error: 429", Prompt: "q"}), "a", engine.AgentError{AgentID: "x", Kind: runbook.RateLimited, Text: "API Error: 429", Prompt: "q"}},
		"emitted by a newer":    {word("agent:dances", event.Word{}), "a", nil},
		"emitted nothing":       {event.Record{Kind: event.Emitted, Event: event.AgentIdle}, "", nil},
		"idle":                  {hook("Notification", event.Enums{NotificationType: "idle_prompt"}), "s", engine.AgentIdle{AgentID: "x", Prompt: "p"}},
		"permission":            {hook("Notification", event.Enums{NotificationType: "permission_prompt"}), "s", engine.AgentPrompt{AgentID: "x", Type: "permission", Notice: true}},
		"a dialog":              {hook("Notification", event.Enums{NotificationType: "agent_needs_input"}), "s", engine.AgentPrompt{AgentID: "x", Type: "other"}},
		"another notice":        {hook("Notification", event.Enums{NotificationType: "auth_success"}), "s", nil},
		"a prompt":              {hook("UserPromptSubmit", event.Enums{}), "s", engine.AgentWorking{AgentID: "x", Prompt: "p"}},
		"a stop with red gates": {red, "s", engine.AgentRested{AgentID: "x", Prompt: "p", Unmet: "gates: tried 3 times; guard: gave_up"}},
		"a stop while off":      {off, "s", engine.AgentRested{AgentID: "x", Prompt: "p"}},
		"a stop out of time":    {late, "s", engine.AgentRested{AgentID: "x", Prompt: "p"}},
		"a stop with a report":  {reported, "s", engine.AgentRested{AgentID: "x", Prompt: "p"}},
		"E.20: it is asked":     {asks, "s", engine.AgentRested{AgentID: "x", Prompt: "p", Unmet: "protect: a_test.go deleted"}},
		"E.20: needs a person":  {needs, "s", engine.AgentRested{AgentID: "x", Prompt: "p", Unmet: "protect: a_test.go deleted"}},
		"E.23: only observed":   {observed, "s", engine.AgentRested{AgentID: "x", Prompt: "p"}},
		"the gates alone":       {gatesAlone, "", nil},
		"a stop":                {allowed, "s", engine.AgentRested{AgentID: "x", Prompt: "p"}},
		"a stop that is held":   {blocked, "", nil},
		"a stop to be judged":   {hook("Stop", event.Enums{}), "", nil},
		"a task's end":          {hook("UserPromptSubmit", event.Enums{Source: "task"}), "s", engine.AgentWorking{AgentID: "x", Prompt: "p", Source: "task"}},
		"failure":               {hook("StopFailure", event.Enums{Error: "rate_limit"}), "s", engine.AgentError{AgentID: "x", Kind: runbook.RateLimited, Text: "rate_limit", Prompt: "p"}},
		"failure until":         {hook("StopFailure", event.Enums{Error: "rate_limit", Reset: reset.Format(time.RFC3339)}), "s", engine.AgentError{AgentID: "x", Kind: runbook.RateLimited, Text: "rate_limit", Reset: reset, Prompt: "p"}},
		"failure until when":    {hook("StopFailure", event.Enums{Error: "rate_limit", Reset: "soon"}), "s", engine.AgentError{AgentID: "x", Kind: runbook.RateLimited, Text: "rate_limit", Prompt: "p"}},
		"a session's start":     {hook("SessionStart", event.Enums{Source: "startup"}), "s", engine.AgentReady{AgentID: "x"}},
		"a session's end":       {hook("SessionEnd", event.Enums{Reason: "other"}), "", nil},
		"a tool":                {hook("PreToolUse", event.Enums{ToolName: "Bash"}), "", nil},
		"an answer":             {answered, "", nil},
		"what a subagent did":   {subagent, "", nil},
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
			in, ok := meaning{stateDir: t.TempDir()}.input(&test.record, &engine.Owner{Agent: &engine.Agent{ID: "x"}})
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
	in, _ := meaning{}.input(&event.Record{ID: "r1", Kind: event.Emitted, Event: event.AgentIdle, Word: &event.Word{Agent: "a"}}, &engine.Owner{Agent: &engine.Agent{ID: "a"}})
	if in.ID != "r1:agent:idle" {
		t.Error(in.ID)
	}
}

// A prompt is ours if it is a message that is under way, however the client has changed it.
func TestOurPrompts(t *testing.T) {
	key := []byte("key")
	m := meaning{key: func() ([]byte, error) { return key, nil }}
	send := func(target, text string) engine.OpenEffect {
		return engine.OpenEffect{Effect: engine.Effect{Kind: engine.SendAgent, Target: target, Text: text}}
	}
	for name, test := range map[string]struct {
		effect engine.OpenEffect
		prompt string
		want   bool
	}{
		"the same":           {send("x", "go on"), "go on", true},
		"another":            {send("x", "go on"), "go away", false},
		"to another agent":   {send("y", "go on"), "go on", false},
		"white space":        {send("x", "go\ton\r\nnow  "), "go    on\n\nnow", true},
		"composed":           {send("x", "cafe\u0301"), "caf\u00e9", true},
		"what nobody sees":   {send("x", "go\u200bon\x07"), "goon", true},
		"that an old leaves": {send("x", "go\u200bon"), "go\u200bon", true},
		"no message":         {engine.OpenEffect{Effect: engine.Effect{Kind: engine.KillAgent, Target: "x", Text: "go on"}}, "go on", false},
	} {
		t.Run(name, func(t *testing.T) {
			o := &engine.Owner{Agent: &engine.Agent{ID: "x"}, Effects: []engine.OpenEffect{test.effect}}
			if got := m.ours(journal.PromptHash(key, test.prompt), o); got != test.want {
				t.Error(got)
			}
			if m.ours("", o) {
				t.Error("a prompt without a hash is ours")
			}
		})
	}
	m.key = func() ([]byte, error) { return nil, errors.New("no key") }
	if m.ours("x", &engine.Owner{Agent: &engine.Agent{ID: "x"}, Effects: []engine.OpenEffect{send("x", "go on")}}) {
		t.Error("without a key nobody knows")
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

// The client of an agent that goes on in an old session is heard of by its session's start
// first: until then the session's hooks are those of the agent before it. Its idle_prompt
// comes a minute after an error, just when the agent is started again.
func TestWhatTheAgentBeforeDidInTheSession(t *testing.T) {
	for name, test := range map[string]struct {
		agent engine.Agent
		event string
		want  bool
	}{
		"its idle":             {engine.Agent{ID: "x", Life: engine.Life{ClaudeCode: true}}, "Notification", false},
		"its prompt":           {engine.Agent{ID: "x", Life: engine.Life{ClaudeCode: true}}, "UserPromptSubmit", false},
		"its error":            {engine.Agent{ID: "x", Life: engine.Life{ClaudeCode: true}}, "StopFailure", false},
		"the start":            {engine.Agent{ID: "x", Life: engine.Life{ClaudeCode: true}}, "SessionStart", true},
		"after the start":      {engine.Agent{ID: "x", Life: engine.Life{ClaudeCode: true, Ready: true}}, "Notification", true},
		"of what has no start": {engine.Agent{ID: "x"}, "Notification", true},
	} {
		t.Run(name, func(t *testing.T) {
			r := event.Record{Kind: event.Received, Event: test.event, Session: "s", Prompt: "p", Enums: event.Enums{NotificationType: "idle_prompt"}}
			in, ok := meaning{}.input(&r, &engine.Owner{Agent: &test.agent})
			if ok != test.want {
				t.Errorf("%+v", in.What)
			}
		})
	}
}

// A client that could not go on in its session is in one of its own.
func TestMeaningOfANewSession(t *testing.T) {
	for name, test := range map[string]struct {
		session, began string
		want           engine.Happening
	}{
		"its own":          {"x", "x", engine.AgentReady{AgentID: "x"}},
		"that of before":   {"s", "s", engine.AgentReady{AgentID: "x"}},
		"not that of then": {"s", "x", engine.AgentSession{AgentID: "x", Session: "x"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := event.Record{Kind: event.Received, Event: "SessionStart", Session: test.began}
			in, _ := meaning{stateDir: t.TempDir()}.input(&r, &engine.Owner{Agent: &engine.Agent{ID: "x", Session: test.session, Life: engine.Life{ClaudeCode: true}}})
			if diff := cmp.Diff(test.want, in.What); diff != "" {
				t.Error(diff)
			}
		})
	}
}
