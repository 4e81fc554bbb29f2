package engine

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/control/runbook"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// question is what a person is to be asked.
type question struct {
	source  Source
	reason  string // for the log, such as "on_stop: escalate"
	context string // for the person
	trigger string // what the agent did
	undone  string // the message that may not have arrived
	next    string // the step that is not entered before
	asking  Asking // what the agent asks, where a hook waits for the answer
}

// ask escalates a trigger. What the agent asks a person itself is asked as it is.
func (d *draft) ask(t trigger, reason, context string) {
	q := question{source: t.from(), reason: reason, context: context, trigger: t.name}
	if t.name == onPrompt && len(d.Agent.Asking) > 0 {
		q.asking = d.Agent.Asking[0]
		q.source = q.asking.source()
		if words := q.asking.words(); !strings.HasPrefix(context, words) {
			q.context = clip(words, maxWords/2) + "\n" + context
		}
	}
	d.escalate(q)
}

// escalate asks a person. The caller makes sure that no decision is open already.
func (d *draft) escalate(q question) {
	d.settleTriggers()
	decision := Decision{
		ID: decisionID(d.ID, d.Serial+1), Source: q.source, Step: d.Step, Context: clip(q.context, maxWords), Reason: escalated(q.reason),
		Trigger: q.trigger, Undone: q.undone, Next: q.next, Ref: q.asking.Ref, Options: d.options(q), Created: d.in.Time,
	}

	if decision.Ref != "" {
		decision.Ask, decision.Subagent = &q.asking.Ask, q.asking.Subagent
	}
	if d.Agent != nil {
		decision.AgentID = d.Agent.ID
	}

	d.fact(DecisionCreated{decision})
	title := "Pipeline needs attention: " + d.Name
	if d.Kind == AgentRun {
		title = "Agent needs attention: " + d.Command
		d.fact(AgentRunStatusChanged{runEscalated, q.reason, decision.ID})
	} else {
		d.fact(StepWaiting{d.Step, q.reason, decision.ID})
	}
	d.notify(title, plain.FirstLine(decision.Context), decision.ID)
}

// escalated is a reason as people read it.
func escalated(reason string) string {
	handler, why, found := strings.Cut(reason, ": ")
	switch {
	case found && why == "escalate":
		return "escalated: " + handler
	case found && strings.HasPrefix(handler, "on_"):
		return "escalated: " + handler + ", " + why
	}
	return reason
}

// The options' names.
const (
	optNudge   = "nudge"
	optRetry   = "retry"
	optDone    = "done"
	optSkip    = "skip"
	optCancel  = "cancel"
	optAccept  = "accept"
	optRevise  = "revise"
	optApprove = "approve"
	optDeny    = "deny"
	optExtend  = "extend"
	optFail    = "fail"
)

// options are the answers to a question, by what led to it. The last cancels.
func (d *draft) options(q question) []Option {
	cancel := Option{Name: optCancel, Description: "Cancel it"}
	skip := Option{Name: optSkip, Description: "Treat the step as done and continue"}
	done := Option{Name: optDone, Description: "The step is done; continue"}
	fail := Option{Name: optFail, Description: "Fail the step"}
	retry := func(what string) []Option {
		return []Option{{optRetry, what, true}, skip, fail, cancel}
	}

	switch q.source {
	case FromStep:
		return append(d.approvalOptions(), cancel)
	case FromDead, FromError:
		return retry("Restart the agent in its session")
	case FromGate:
		return retry("Run the gate again")
	case FromLost:
		return retry("Try again")
	case FromQuestion:
		return choicesOf(q.asking.Ask, cancel)
	case FromPlan:
		return []Option{{optAccept, "Approve the plan and continue", true}, {Name: optRevise, Description: "Change the plan as your message says"}, cancel}
	case FromApproval:
		return []Option{{Name: optApprove, Description: "Allow it"}, {Name: optDeny, Description: "Do not allow it; your message goes to the agent"}, cancel}
	case FromStart:
		return []Option{{optRetry, "Restart Claude Code", true}, cancel}
	case FromBudget:
		if q.next != "" {
			done.Description = "Stop here and treat it as done"
		}
		return []Option{{optExtend, "Continue with the same amount again", true}, done, cancel}
	case FromPrompt:
		if d.Agent.ClaudeCode {
			return []Option{done, fail, cancel}
		}
	}
	return []Option{{optNudge, "Tell the agent to continue", true}, done, fail, cancel}
}

// choicesOf are the choices of the only question. Several questions are answered one by one.
func choicesOf(a Ask, cancel Option) []Option {
	var all []Option
	if len(a.Questions) == 1 {
		for _, c := range a.Questions[0].Options {
			all = append(all, Option{Name: c.Label, Description: c.Description})
			if c.Label == cancel.Name {
				cancel.Name = "cancel it"
			}
		}
	}
	return append(all, cancel)
}

// choice is an answer, understood.
type choice struct {
	does    string // what it does to the owner: an option's name; empty where a hook waits for the answer
	option  string // the name of the option that was chosen
	message string
	answers []string
	expired bool
}

// answer is a person's decision. It moves the owner.
func (d *draft) answer(a Answer) error {
	if d.Decision == nil || d.Decision.ID != a.Decision {
		return d.settled(a.Decision)
	}

	size := sizeOf(a.Message)
	for _, words := range a.Answers {
		size += sizeOf(words)
	}
	if size > maxAsked {
		return invalid("the message has %d bytes; at most %d", size, maxAsked)
	}

	a.Message = strings.TrimSpace(sound(a.Message))
	c, err := d.Decision.choose(a)
	if err != nil {
		return err
	}

	if d.Decision.Ref != "" && d.Agent.Killed && c.does != optCancel {
		return &Refusal{"conflict", "the agent is being killed and cannot get the answer"}
	}
	needNoAgent := []string{optDone, optSkip, optFail, optCancel}
	if c.message != "" && d.Agent == nil && d.Decision.Source != FromStep && !slices.Contains(needNoAgent, c.does) {
		return &Refusal{"invalid", "no agent is running that could get a message: choose one of " + d.Decision.names()}
	}

	d.resolve(c, c.message)
	return nil
}

// resolve does what was decided. Words are for the agent.
func (d *draft) resolve(c choice, words string) {
	decision := *d.Decision
	d.hush(decision.ID)
	d.fact(DecisionResolved{decision.ID, c.option, c.message, c.answers, c.expired})
	if decision.Source == FromStep && c.does != optCancel {
		d.decided(c)
		return
	}

	switch c.does {
	case optDone, optSkip:
		d.finish(decision)
	case optFail:
		d.fail(colon("failed by a person", c.message))
	case optCancel:
		why := "cancelled by the user"
		if c.expired {
			why = unanswered
		}
		d.giveUp(why)
	case optExtend:
		d.intervened()
		d.extend(decision, strings.TrimSpace(decision.Undone+"\n\n"+words))
	default:
		d.intervened()
		if decision.Ref == "" {
			d.again(decision, c.does, words)
			return
		}
		d.firePending()
	}
}

// finish counts the step as done. Where the budget is used up, no agent runs after it.
func (d *draft) finish(decision Decision) {
	if decision.Next != "" {
		d.end(runbook.EndDone)
		return
	}
	d.spared = decision.Source == FromBudget
	d.complete()
}

// again lets the step go on as a person wants.
func (d *draft) again(decision Decision, option, message string) {
	switch {
	case d.Agent == nil:
		d.runStep()
	case decision.Source == FromStart && d.Agent.Ready && message != "": // in place of a prompt that it did not take
		d.restart(message, d.sessionBefore(), true)
	case decision.Source == FromStart:
		d.reopen(message, true)
	case option == optNudge || message != "":
		if message == "" {
			message = d.unsaid()
		}
		d.say(cmp.Or(message, defaultNudge), message != "")
	case decision.Source == FromGate:
		d.fact(AttemptCounted{decision.Trigger, 1})
		d.startGate(decision.Trigger)
	case decision.Undone != "":
		d.say(decision.Undone, true)
	default:
		d.reopen("", true)
	}
}

// choose understands an answer: an option by name or number, or words alone.
func (d *Decision) choose(a Answer) (choice, error) {
	if d.Source == FromQuestion {
		return d.reply(a)
	}

	if len(a.Answers) > 1 || len(a.Answers) == 1 && a.Option != "" {
		return choice{}, invalid("it takes one answer: choose one of %s", d.names())
	}
	for _, only := range a.Answers {
		a.Option = strings.TrimSpace(sound(only))
	}

	option := a.Option
	if option == "" && a.Message != "" {
		option = d.worded()
		if option == "" {
			return choice{}, invalid("a message alone is not an answer: choose one of %s", d.names())
		}
	} else if i, err := d.find(option); err != nil {
		return choice{}, err
	} else {
		option = d.Options[i].Name
	}

	if a.Message != "" && (option == optAccept || option == optApprove) {
		return choice{}, invalid("the answer %q takes no message", option)
	}
	c := choice{does: option, option: option, message: a.Message}
	return c, nil
}

// worded is the option that words alone stand for: they are for the agent. It is empty
// where they would not reach it, or would decide more than they say.
func (d *Decision) worded() string {
	switch d.Source {
	case FromPlan:
		return optRevise
	case FromApproval:
		return optDeny
	case FromStart, FromBudget, FromStep:
		return ""
	case FromPrompt:
		if d.Options[0].Name != optNudge {
			return ""
		}
	}
	return optNudge
}

// find is the option with a name, or a number.
func (d *Decision) find(chosen string) (int, error) {
	if i := slices.IndexFunc(d.Options, func(o Option) bool { return o.Name == chosen }); i >= 0 {
		return i, nil
	}
	if n, err := strconv.Atoi(chosen); err == nil && n >= 1 && n <= len(d.Options) {
		return n - 1, nil
	}
	if chosen == "" {
		return 0, invalid("choose one of %s, or give a message", d.names())
	}
	return 0, invalid("unknown option %q: choose one of %s", clip(chosen, 80), d.names())
}

func invalid(format string, args ...any) error {
	return &Refusal{"invalid", fmt.Sprintf(format, args...)}
}

// unanswered is why a decision has the answer that the runbook gives.
const unanswered = "no answer in time"

// expired answers a decision in place of a person, as the runbook says.
func (d *draft) expired() {
	if d.Decision == nil {
		return
	}
	c := d.Decision.byDefault(d.Plan.Pipeline.Expire.Answer)
	if d.Decision.Source == FromStep {
		c = d.approvalDefault()
	}
	c.message, c.expired = unanswered, true
	d.notify("Decision expired: "+d.Name, plain.FirstLine(d.Decision.Context)+": "+unanswered+"; the runbook answers "+strconv.Quote(cmp.Or(c.option, "go on")), "")
	d.resolve(c, "")
}

// byDefault is what the runbook's answer means. Nobody allows what only a person may.
func (d *Decision) byDefault(answer runbook.Default) choice {
	cancel := choice{does: optCancel, option: d.Options[len(d.Options)-1].Name}
	switch {
	case answer == runbook.DefaultDone:
		if slices.ContainsFunc(d.Options, func(o Option) bool { return o.Name == optSkip }) && d.Source != FromQuestion {
			return choice{does: optSkip, option: optSkip}
		}
		return choice{does: optDone, option: optDone}
	case answer != runbook.DefaultGoOn, d.Source == FromBudget:
		return cancel
	case d.Source == FromQuestion:
		var c choice
		for range d.Ask.Questions {
			c.answers = append(c.answers, "No answer in time: decide yourself.")
		}
		return c
	case d.Source == FromApproval:
		return choice{does: optDeny, option: optDeny}
	}

	option := d.Options[0].Name // it lets the agent go on
	if option == optDone {
		return cancel // only at its terminal can it
	}
	return choice{does: option, option: option}
}

func (d *Decision) names() string {
	var names []string
	for _, o := range d.Options {
		names = append(names, o.Name)
	}
	return strings.Join(names, ", ")
}

// recommended is the option that is taken when a person just resumes; none where the
// agent waits for an answer that says more than that.
func (d *Decision) recommended() string {
	i := slices.IndexFunc(d.Options, func(o Option) bool { return o.Recommended })
	if i < 0 || d.Ref != "" {
		return ""
	}
	return d.Options[i].Name
}

// settled says what became of a decision that is not open.
func (d *draft) settled(id string) error {
	i := slices.IndexFunc(d.Settled, func(s Decision) bool { return s.ID == id })
	if i < 0 {
		return &Refusal{"not_found", fmt.Sprintf("there is no decision %q", clip(id, 80))}
	}
	s := d.Settled[i]
	how := "was answered with " + strconv.Quote(cmp.Or(s.Chosen, s.Message, strings.Join(s.Answers, "; ")))
	switch {
	case s.Closed != "":
		how = "was closed: " + s.Closed
	case s.Expired:
		how += " by default: " + unanswered
	}
	return &Refusal{"conflict", fmt.Sprintf("the decision %s (%s)", how, s.Resolved.Format(time.RFC3339))}
}

// overtake closes the open decision, if there is one, without an answer.
func (d *draft) overtake(why string) {
	if d.Decision != nil {
		d.hush(d.Decision.ID)
		d.fact(DecisionClosed{d.Decision.ID, why})
	}
}
