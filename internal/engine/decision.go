package engine

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// question is what a person is to be asked.
type question struct {
	source  Source
	reason  string // for the log, such as "on_stop: escalate"
	context string // for the person
	trigger string // what the agent did
	undone  string // the message that may not have arrived
}

// ask escalates a trigger.
func (d *draft) ask(t trigger, reason, context string) {
	d.escalate(question{source: t.from(), reason: reason, context: context, trigger: t.name})
}

// escalate asks a person. Whoever calls it has seen to it that nobody is asked already.
func (d *draft) escalate(q question) {
	d.settleTriggers()
	decision := Decision{
		ID: decisionID(d.ID, d.Serial+1), Source: q.source, Step: d.Step, Context: clip(q.context, maxWords),
		Trigger: q.trigger, Undone: q.undone, Options: options(q.source), Created: d.in.Time,
	}
	if d.Agent != nil {
		decision.AgentID = d.Agent.ID
	}
	d.fact(DecisionCreated{decision})
	title := "Pipeline needs attention: " + d.Name
	if d.Kind == AgentRun {
		title = "Agent needs attention: " + d.Command
		d.fact(RunStatus{runEscalated, q.reason, decision.ID})
	} else {
		d.fact(StepWaiting{d.Step, q.reason, decision.ID})
	}
	d.tell(title, decision.Context)
}

// The options' names.
const (
	optNudge  = "nudge"
	optRetry  = "retry"
	optDone   = "done"
	optSkip   = "skip"
	optCancel = "cancel"
)

// options are the answers to a question, by what led to it. The first is recommended.
func options(source Source) []Option {
	cancel := Option{Name: optCancel, Description: "Cancel it"}
	skip := Option{Name: optSkip, Description: "Count the step as done and go on"}
	retry := func(what string) []Option {
		return []Option{{optRetry, what, true}, skip, cancel}
	}
	switch source {
	case FromDead, FromError:
		return retry("Start the agent again in its session")
	case FromGate:
		return retry("Run the gate again")
	case FromLost:
		return retry("Do it again")
	}
	return []Option{
		{optNudge, "Tell the agent to go on", true},
		{Name: optDone, Description: "The step is done: go on"},
		cancel,
	}
}

// answer is a person's decision. It moves the owner.
func (d *draft) answer(a Answer) error {
	if d.Decision == nil || d.Decision.ID != a.Decision {
		return d.settled(a.Decision)
	}
	if size := sizeOf(a.Message); size > maxAsked {
		return &Refusal{"invalid", fmt.Sprintf("the message takes %d bytes; at most %d", size, maxAsked)}
	}
	message := strings.TrimSpace(sound(a.Message))
	option, err := d.Decision.option(a.Option, message)
	if err != nil {
		return err
	}
	if message != "" && d.Agent == nil && (option == optNudge || option == optRetry) {
		return &Refusal{"invalid", "no agent runs that could be given a message: choose one of " + d.Decision.names()}
	}
	decision := *d.Decision
	d.fact(DecisionResolved{decision.ID, option, message})
	switch option {
	case optDone, optSkip:
		d.complete()
	case optCancel:
		d.giveUp("a person decided so")
	default:
		d.intervened()
		d.again(decision, option, message)
	}
	return nil
}

// again lets the step go on as a person wants.
func (d *draft) again(decision Decision, option, message string) {
	switch {
	case d.Agent == nil:
		d.runStep(d.current())
	case option == optNudge || message != "":
		d.say(cmp.Or(message, defaultNudge))
	case decision.Source == FromGate:
		d.fact(AttemptCounted{decision.Trigger, 1})
		d.startGate(decision.Trigger)
	case decision.Undone != "":
		d.say(decision.Undone)
	default:
		d.restart(defaultNudge, d.Agent.Session)
	}
}

// option finds the option that was chosen, by name or number. Words alone are for the
// agent.
func (d *Decision) option(chosen, message string) (string, error) {
	if chosen == "" && message != "" {
		return optNudge, nil
	}
	if n, err := strconv.Atoi(chosen); err == nil && n >= 1 && n <= len(d.Options) {
		return d.Options[n-1].Name, nil
	}
	if slices.ContainsFunc(d.Options, func(o Option) bool { return o.Name == chosen }) {
		return chosen, nil
	}
	if chosen == "" {
		return "", &Refusal{"invalid", "choose one of " + d.names() + ", or give a message"}
	}
	return "", &Refusal{"invalid", fmt.Sprintf("%q is no option: choose one of %s", clip(chosen, 80), d.names())}
}

func (d *Decision) names() string {
	var names []string
	for _, o := range d.Options {
		names = append(names, o.Name)
	}
	return strings.Join(names, ", ")
}

// recommended is the option that is taken when a person just resumes.
func (d *Decision) recommended() string {
	i := slices.IndexFunc(d.Options, func(o Option) bool { return o.Recommended })
	return d.Options[max(i, 0)].Name
}

// settled says what became of a decision that is not open.
func (d *draft) settled(id string) error {
	i := slices.IndexFunc(d.Settled, func(s Decision) bool { return s.ID == id })
	if i < 0 {
		return &Refusal{"not_found", fmt.Sprintf("there is no decision %q", clip(id, 80))}
	}
	s := d.Settled[i]
	how := "was answered with " + strconv.Quote(s.Chosen)
	if s.Closed != "" {
		how = "was closed: " + s.Closed
	}
	return &Refusal{"conflict", fmt.Sprintf("the decision %s (%s)", how, s.Resolved.Format(time.RFC3339))}
}

// overtake closes the open decision, if there is one, without an answer.
func (d *draft) overtake(why string) {
	if d.Decision != nil {
		d.fact(DecisionClosed{d.Decision.ID, why})
	}
}
