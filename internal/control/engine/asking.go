package engine

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/sys/plain"
)

// What an agent may ask, all of it in bytes of JSON: it is in an owner twice at most.
const (
	maxAsking  = 16       // at once
	maxParts   = 16       // questions, and choices of each
	maxLabel   = 2 << 10  // a text of a question
	maxPlan    = 16 << 10 // a plan, and what a permission is for
	maxAskSize = 48 << 10 // all of it
)

// stray is how long after a request for which a hook waits Claude Code's notification of
// the same request comes, at most: it comes six seconds after it, also when the request
// is over.
const stray = 10 * time.Second

// waitsFor reports whether a person is asked because of something.
func (d *draft) waitsFor(source Source) bool { return d.Decision != nil && d.Decision.Source == source }

// onScreen reports whether the open decision is about something that the agent's client
// shows, and that is gone when Claude Code is.
func (d *draft) onScreen() bool {
	return d.Decision.Ref != "" || d.Decision.Source == FromStart || d.Decision.Source == FromPrompt && d.Agent.ClaudeCode
}

// prompted is an agent that waits for a person. Where a hook waits for the answer, that
// can be given; of others only their terminal can take it.
func (d *draft) prompted(w AgentPrompt) {
	kind, text := clip(w.Type, maxID), clip(w.Text, maxWords)
	if w.Ref != "" {
		d.asked(Asking{clip(w.Ref, maxID), kind, text, clipAsk(w.Ask), w.Subagent})
		return
	}
	fact := AgentPrompt{AgentID: w.AgentID, Type: kind, Text: text}
	if !w.Notice && !d.Agent.Exited && d.asksPeople() {
		fact.Kept = keptLater // nobody tells of it again
	}
	d.fact(fact)
	if !d.listens() || d.asksPeople() || w.Notice && d.in.Time.Sub(d.Agent.Asked).Abs() < stray {
		return
	}
	d.dialog(Dialog{kind, text})
}

// asksPeople reports whether the agent asks something that hooks wait for the answers to.
func (d *draft) asksPeople() bool {
	return len(d.Agent.Asking) > 0 || d.Decision != nil && d.Decision.Ref != ""
}

// dialog tells of something on the agent's screen.
func (d *draft) dialog(on Dialog) {
	words := "The agent waits for an answer"
	if on.Type != "" {
		words += " (" + on.Type + ")"
	}
	words = colon(words, on.Text)
	if d.Agent.ClaudeCode {
		words += d.attach()
	}
	d.fire(trigger{name: onPrompt, text: words})
}

// attach says where a person finds the agent's screen.
func (d *draft) attach() string {
	return "\nAnswer in its terminal: stopgate agent attach " + d.Agent.ID
}

// asked keeps what an agent asks until its turn comes: one thing is asked at a time. What
// is too much is left to Claude Code's own dialog. An agent that asks is not silent, but an
// error is not over because a subagent asks.
func (d *draft) asked(a Asking) {
	if d.Agent.Exited || d.knows(a.Ref) {
		return
	}
	if len(d.Agent.Asking) >= maxAsking {
		d.fact(AgentPromptOver{d.Agent.ID, a.Ref})
		return
	}
	if !a.Subagent || !d.parked() {
		d.calm()
	}
	d.fact(AgentAsked{d.Agent.ID, a})
}

// knows reports whether something was asked already, or is over.
func (d *draft) knows(ref string) bool {
	return d.Decision != nil && d.Decision.Ref == ref || d.Agent.asks(ref) || slices.Contains(d.Agent.Over, ref) ||
		slices.ContainsFunc(d.Settled, func(s Decision) bool { return s.Ref == ref && s.AgentID == d.Agent.ID })
}

// promptOver is a hook that waits no longer. One that is heard of before what it waited
// for is remembered.
func (d *draft) promptOver(w AgentPromptOver) {
	ref := clip(w.Ref, maxID)
	open := d.Decision != nil && d.Decision.Ref == ref
	if ref == "" || d.knows(ref) && !open && !d.Agent.asks(ref) {
		return
	}
	d.fact(AgentPromptOver{d.Agent.ID, ref})
	if open {
		d.overtake("answered or withdrawn in Claude Code")
		d.runsOn()
	}
	if d.Agent.Pending == onPrompt && len(d.Agent.Asking) == 0 {
		d.calm()
	}
	if open {
		d.firePending()
	}
}

// askNext asks what an agent asked first, when nobody is asked anything else. What was
// found late is asked after the catch-up: its hook may still wait.
func (d *draft) askNext() {
	switch {
	case d.Agent == nil || !d.listens() || d.in.Late || d.Shell != nil || d.Agent.Pending != "":
	case len(d.Agent.Asking) > 0:
		d.fire(trigger{name: onPrompt, text: d.Agent.Asking[0].words()})
	case d.Agent.Dialog != nil:
		on := *d.Agent.Dialog
		d.fact(AgentPrompt{AgentID: d.Agent.ID, Type: on.Type, Text: on.Text, Kept: keptNow})
		d.dialog(on)
	}
}

// words is what is asked, in a sentence.
func (a Asking) words() string {
	switch questions := a.Ask.Questions; {
	case a.Type == typePlan:
		return colon("The agent asks you to approve its plan", cmp.Or(a.Text, plain.FirstLine(a.Ask.Plan)))
	case a.Type == typePermission:
		return colon(strings.TrimSpace("The agent asks for permission to use "+cmp.Or(a.Ask.Tool, "a tool")), cmp.Or(a.Text, a.Ask.Input))
	case len(questions) > 1:
		var all []string
		for _, q := range questions {
			all = append(all, q.Question)
		}
		return fmt.Sprintf("The agent asks %d questions: %s", len(all), strings.Join(all, " / "))
	case len(questions) == 1:
		return colon("The agent asks", questions[0].Question)
	}
	return colon("The agent asks", cmp.Or(a.Text, a.Ask.Input))
}

// The types of what agents ask.
const (
	typeQuestion   = "question"
	typePlan       = "plan"
	typePermission = "permission"
)

// source is what a decision about it comes from.
func (a Asking) source() Source {
	switch a.Type {
	case typeQuestion:
		return FromQuestion
	case typePlan:
		return FromPlan
	case typePermission:
		return FromApproval
	}
	return FromPrompt
}

// clipAsk is what is asked in a size that can be kept. Claude Code asks four questions with
// four choices at most.
func clipAsk(a Ask) Ask {
	c := clipAskTo(a, maxLabel, maxLabel)
	if sizeOf(c) > maxAskSize {
		c = clipAskTo(a, 100, 0)
	}
	return c
}

// clipAskTo is what is asked with no more than so many bytes for each text, and for each
// description.
func clipAskTo(a Ask, text, description int) Ask {
	c := Ask{Tool: clip(a.Tool, maxID), Plan: clip(a.Plan, maxPlan), Input: clip(a.Input, maxPlan)}
	for _, q := range a.Questions[:min(len(a.Questions), maxParts)] {
		question := Question{Question: clip(q.Question, text), Header: clip(q.Header, maxID), Multi: q.Multi}
		for _, o := range q.Options[:min(len(q.Options), maxParts)] {
			choice := Choice{Label: clip(o.Label, text)}
			if description > 0 {
				choice.Description = clip(o.Description, description)
			}
			question.Options = append(question.Options, choice)
		}
		c.Questions = append(c.Questions, question)
	}
	return c
}

// started is a client's first sign of life, or the first that it works.
func (d *draft) started(begun bool) {
	if !d.Agent.Unbegun() || d.Agent.Ready && !begun {
		return
	}
	if !d.Agent.Ready {
		d.fact(AgentReady{d.Agent.ID})
	}
	if begun && d.Agent.Prompt != "" {
		d.fact(AgentBegan{d.Agent.ID})
	}
	if d.waitsFor(FromStart) {
		d.overtake("Claude Code has started")
		d.runsOn()
	}
}

// ScreenUnbegun is that of a client that has started, and does not work on its prompt.
const ScreenUnbegun = "unbegun"

// blocked is a client that did not start. No action of a runbook can help there.
func (d *draft) blocked(w AgentBlocked) {
	if !d.Agent.Unbegun() || d.Agent.Ready != (w.Screen == ScreenUnbegun) || !d.listens() {
		return
	}
	w.Screen, w.Text = clip(w.Screen, maxID), clip(w.Text, maxWords)
	d.fact(w)
	what := map[string]string{
		"trust":       "Claude Code asks whether to trust the directory",
		"login":       "Claude Code is not logged in",
		"api_key":     "Claude Code asks whether to use an API key",
		"onboarding":  "Claude Code shows its first-run setup",
		"silent":      "Claude Code has started, but has not called a hook",
		ScreenUnbegun: "Claude Code has started, but does not work on its prompt: it may be an unknown command",
	}[w.Screen]
	what = cmp.Or(what, "Claude Code did not start")
	d.escalate(question{
		source: FromStart, reason: "Claude Code did not start: " + w.Screen,
		context: strings.TrimSpace(what + d.attach() + "\n" + w.Text),
	})
}
