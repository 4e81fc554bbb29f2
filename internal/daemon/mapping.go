package daemon

import (
	"bytes"
	"cmp"

	"github.com/stopgate/stopgate/internal/engine"
	"github.com/stopgate/stopgate/internal/event"
	"github.com/stopgate/stopgate/internal/runbook"
)

// concerns names the agent, or the client's session, that a record tells something of
// that matters here; "" for all others, which are most. Hook calls count when they are
// received, since they may never be answered. What a subagent does is its agent's affair.
func concerns(r *event.Record) string {
	switch {
	case r.Kind == event.Emitted && r.Word != nil:
		return r.Word.Agent
	case r.Kind != event.Received || r.Agent != (event.Agent{}):
		return ""
	}
	switch r.Event {
	case "Notification", "StopFailure", "UserPromptSubmit":
		return r.Session
	}
	return ""
}

// concerned is the owner that a record concerns. Who speaks gives its own id: the last word of
// an agent that was replaced is not its successor's, although that has its session.
func concerned(s *engine.State, r *event.Record, who string) (*engine.Owner, bool) {
	if r.Kind == event.Emitted {
		return s.Agent(who)
	}
	return s.OfAgent(who)
}

// mayConcern is false for the JSON of a record that concerns nobody. Most are such, and
// need not be decoded. It relies on how the journal's encoder writes records: kind and
// event come before everything that others have a say in.
func mayConcern(json []byte) bool {
	_, rest, _ := bytes.Cut(json, []byte(`"kind":"`))
	if bytes.HasPrefix(rest, []byte(event.Emitted)) {
		return true
	}
	if !bytes.HasPrefix(rest, []byte(event.Received)) {
		return false
	}
	_, rest, _ = bytes.Cut(rest, []byte(`"event":"`))
	for _, name := range []string{"Notification", "StopFailure", "UserPromptSubmit"} {
		if bytes.HasPrefix(rest, []byte(name)) {
			return true
		}
	}
	return false
}

// inputOf is what a record means for an agent. The id is that of the call, so that what is
// read twice is one input.
//
// A session's end is no exit, since the client may go on in another one; that its process
// has ended is told by whoever waits for it. Which session a client goes on in after
// /clear, the records do not say.
func inputOf(r *event.Record, agent string) (in engine.Input, ok bool) {
	what := heard(r, agent)
	if r.Kind == event.Emitted {
		what = said(r, agent)
	}
	return engine.Input{ID: cmp.Or(r.Call, r.ID) + ":" + r.Event, Time: r.Time, Journal: true, What: what}, what != nil
}

// said is what was emitted.
func said(r *event.Record, agent string) engine.Happening {
	w := r.Word
	switch r.Event {
	case event.AgentSignal:
		switch kind := engine.SignalKind(w.Kind); kind {
		case engine.SignalComplete, engine.SignalEscalate, engine.SignalContinue:
			return engine.AgentSignal{Agent: agent, Signal: engine.Signal{Kind: kind, Message: w.Message}}
		}
	case event.AgentIdle:
		return engine.AgentIdle{Agent: agent, Prompt: w.Prompt}
	case event.AgentPrompt:
		return engine.AgentPrompt{Agent: agent, Type: w.Type, Text: w.Message}
	case event.AgentStop:
		return engine.AgentStop{Agent: agent, Prompt: w.Prompt}
	}
	return nil
}

// heard is what a hook was called for.
func heard(r *event.Record, agent string) engine.Happening {
	switch r.Event {
	case "UserPromptSubmit":
		return engine.AgentWorking{Agent: agent, Prompt: r.Prompt}
	case "StopFailure":
		return engine.AgentError{Agent: agent, Kind: errorKind(r.Enums.Error), Text: r.Enums.Error}
	case "Notification":
		switch r.Enums.NotificationType {
		case "idle_prompt":
			return engine.AgentIdle{Agent: agent, Prompt: r.Prompt}
		case "permission_prompt":
			return engine.AgentPrompt{Agent: agent, Type: "permission"}
		}
	}
	return nil
}

// errorKind is what a runbook calls the client's words for errors of the API (of 2.1:
// authentication_failed, oauth_org_not_allowed, billing_error, rate_limit, overloaded,
// invalid_request, model_not_found, server_error, unknown, max_output_tokens). A network
// that is down is "unknown" to it.
func errorKind(word string) runbook.ErrorKind {
	switch word {
	case "authentication_failed", "oauth_org_not_allowed":
		return runbook.Unauthorized
	case "billing_error":
		return runbook.OutOfCredits
	case "rate_limit", "overloaded":
		return runbook.RateLimited
	case "connection_error":
		return runbook.NoInternet
	}
	return runbook.OtherError
}
