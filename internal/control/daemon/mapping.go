package daemon

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/stopgate/stopgate/internal/control/engine"
	"github.com/stopgate/stopgate/internal/control/runbook"
	"github.com/stopgate/stopgate/internal/gate/guard"
	"github.com/stopgate/stopgate/internal/gate/keeper"
	"github.com/stopgate/stopgate/internal/record/event"
	"github.com/stopgate/stopgate/internal/record/journal"
)

// concerns names the agent, or Claude Code's session, that a record tells something of
// that matters here; "" for all others, which are most. Hook calls count when they are
// received, since they may never be answered; a stop when nobody has objected to it, of all
// who look at an agent's. What a subagent does is its agent's affair.
func concerns(r *event.Record) string {
	switch {
	case r.Kind == event.Emitted && r.Word != nil:
		return r.Word.Agent
	case r.Agent != (event.SubagentRef{}):
		return ""
	case r.Kind == event.Answered && r.Event == "Stop" && r.Decision == "allow" && slices.ContainsFunc(r.Verdicts, endsTurn):
		return r.Session
	case r.Kind != event.Received:
		return ""
	}
	if slices.Contains(heededHooks, r.Event) {
		return r.Session
	}
	return ""
}

// heededHooks are the hooks that count when they are called.
var heededHooks = []string{"Notification", "SessionStart", "StopFailure", "UserPromptSubmit"}

// endsTurn tells the answer to an agent's stop from that of a hook for the gates alone: the lifecycle
// was asked, or nobody while stopgate is off, or there was no time left to ask it.
func endsTurn(v event.Verdict) bool {
	return slices.Contains([]string{"lifecycle", "off", "chain"}, v.Keeper)
}

// unmet is what keepers still object to although the stop was allowed, because they have tried
// often enough or leave it to a person. One that could not look says nothing about the work, and
// one that only reports or observes objects to nothing.
func unmet(verdicts []event.Verdict) string {
	var all []string
	for _, v := range verdicts {
		if v.Outcome == "failed" && !v.Blocked && v.Status != guard.Reported && v.Status != keeper.WouldBlock {
			all = append(all, v.Keeper+": "+cmp.Or(v.Message, v.Status))
		}
	}
	return strings.Join(all, "; ")
}

// concerned is the owner that a record concerns. Who speaks gives its own id: the last word of
// an agent that was replaced is not its successor's, although that has its session.
func concerned(s *engine.State, r *event.Record, who string) *engine.Owner {
	if r.Kind == event.Emitted {
		return s.OwnerOfAgent(who)
	}
	return s.OwnerOf(who)
}

// mayConcern is false for the JSON of a record that concerns nobody. Most are such, and
// need not be decoded. It relies on how the journal's encoder writes records: kind and
// event come before everything that others have a say in.
func mayConcern(json []byte) bool {
	_, rest, _ := bytes.Cut(json, []byte(`"kind":"`))
	if bytes.HasPrefix(rest, []byte(event.Emitted)) {
		return true
	}
	_, name, _ := bytes.Cut(rest, []byte(`"event":"`))
	if bytes.HasPrefix(rest, []byte(event.Answered)) {
		return bytes.HasPrefix(name, []byte(`Stop"`))
	}
	if !bytes.HasPrefix(rest, []byte(event.Received)) {
		return false
	}
	return slices.ContainsFunc(heededHooks, func(hook string) bool { return bytes.HasPrefix(name, []byte(hook)) })
}

// isAnswer is true for the JSON of the answer to a hook call.
func isAnswer(json []byte) bool {
	_, kind, _ := bytes.Cut(json, []byte(`"kind":"`))
	return bytes.HasPrefix(kind, []byte(event.Answered+`"`))
}

// meaning knows what records mean for an owner.
type meaning struct {
	stateDir string
	key      func() ([]byte, error) // the journal's, for hashes of prompts
}

// input is what a record means for an owner, which has an agent. The id is that of the
// call, so that what is read twice is one input.
//
// The end of a session is not the end of the agent: Claude Code may continue in another session, which its next hook
// names. The wait for the process reports its exit.
func (m meaning) input(r *event.Record, o *engine.Owner) (in engine.Input, ok bool) {
	what := m.heard(r, o)
	if r.Kind == event.Emitted {
		what = m.said(r, o.Agent.ID)
	}
	return engine.Input{ID: cmp.Or(r.Call, r.ID) + ":" + r.Event, Time: r.Time, Journal: true, What: what}, what != nil
}

// said is what was emitted.
func (m meaning) said(r *event.Record, agent string) engine.Happening {
	w := r.Word
	switch r.Event {
	case event.AgentSignal:
		switch w.Kind {
		case engine.SignalComplete, engine.SignalFail, engine.SignalEscalate, engine.SignalContinue:
			return engine.AgentSignal{AgentID: agent, Signal: engine.Signal{Kind: w.Kind, Message: w.Message}, Values: values(w.Data)}
		}
	case event.AgentIdle:
		return engine.AgentIdle{AgentID: agent, Prompt: w.Prompt}
	case event.AgentPrompt:
		prompt := engine.AgentPrompt{AgentID: agent, Type: w.Type, Text: w.Message, Ref: w.Ref, Subagent: w.Kind == event.Subagent}
		if w.Ref != "" {
			prompt.Ask = asked(m.stateDir, agent, w.Ref)
		}
		return prompt
	case event.AgentPromptOver:
		return engine.AgentPromptOver{AgentID: agent, Ref: w.Ref}
	case event.AgentStop:
		return engine.AgentStop{AgentID: agent, Prompt: w.Prompt}
	case event.AgentError:
		return engine.AgentError{AgentID: agent, Kind: errorKind(w.Kind), Text: cmp.Or(w.Message, w.Kind), Reset: resetOf(r), Prompt: w.Prompt}
	case event.AgentSession:
		return engine.AgentSession{AgentID: agent, Session: w.Ref}
	}
	return nil
}

// values are what a signal hands to other steps: text as it is, everything else as JSON. What is
// no object was not checked by emit, and hands over nothing.
func values(data string) map[string]string {
	var object map[string]json.RawMessage
	if data == "" || json.Unmarshal([]byte(data), &object) != nil {
		return nil
	}
	all := map[string]string{}
	for name, raw := range object {
		var text string
		if json.Unmarshal(raw, &text) != nil {
			text = string(raw)
		}
		all[name] = text
	}
	return all
}

// heard is what a hook was called for. The first that a client calls is that of its
// session's start: what else is heard of the session before that comes from the agent that
// had it before, and is being ended.
func (m meaning) heard(r *event.Record, o *engine.Owner) engine.Happening {
	agent := o.Agent.ID
	if o.Agent.ClaudeCode && !o.Agent.Ready && r.Event != "SessionStart" {
		return nil
	}

	switch r.Event {
	case "Stop":
		return engine.AgentRested{AgentID: agent, Prompt: r.Prompt, Unmet: unmet(r.Verdicts)}
	case "SessionStart":
		if r.Session == agent && o.Agent.Session != agent { // which there was nothing in to go on with
			return engine.AgentSession{AgentID: agent, Session: agent}
		}
		return engine.AgentReady{AgentID: agent}
	case "UserPromptSubmit":
		return engine.AgentWorking{AgentID: agent, Prompt: r.Prompt, Source: r.Enums.Source, Ours: m.ours(r.PromptHash, o)}
	case "StopFailure":
		return engine.AgentError{AgentID: agent, Kind: errorKind(r.Enums.Error), Text: r.Enums.Error, Reset: resetOf(r), Prompt: r.Prompt}
	case "Notification":
		switch r.Enums.NotificationType {
		case "idle_prompt":
			return engine.AgentIdle{AgentID: agent, Prompt: r.Prompt}
		case "permission_prompt":
			return engine.AgentPrompt{AgentID: agent, Type: "permission", Notice: true}
		case "agent_needs_input", "elicitation_dialog": // a dialog that no hook is asked about
			return engine.AgentPrompt{AgentID: agent, Type: "other"}
		}
	}
	return nil
}

// resetOf is when the API takes requests again, where an error says so.
func resetOf(r *event.Record) time.Time {
	reset, err := time.Parse(time.RFC3339, r.Enums.Reset)
	if err != nil {
		return time.Time{}
	}
	return reset
}

// ours reports whether a prompt, of which only the hash is known, is a message that its
// owner sends to the agent now.
func (m meaning) ours(hash string, o *engine.Owner) bool {
	if hash == "" {
		return false
	}
	var key []byte
	for _, e := range o.Effects {
		if e.Kind != engine.SendAgent || e.Target != o.Agent.ID {
			continue
		}
		if key == nil {
			var err error
			if key, err = m.key(); err != nil {
				return false
			}
		}
		for _, text := range typed(e.Text) {
			if journal.PromptHash(key, text) == hash {
				return true
			}
		}
	}
	return false
}

// typed are the forms in which a text that was typed may reach Claude Code's hook, but for
// white space: it composes letters, and newer ones drop what nobody sees.
func typed(text string) []string {
	composed := norm.NFC.String(text)
	seen := strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) || unicode.IsControl(r) && !unicode.IsSpace(r) {
			return -1
		}
		return r
	}, composed)
	return []string{composed, seen}
}

// errorKind is what a runbook calls Claude Code's words for errors of the API (of 2.1:
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
