package engine

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/control/runbook"
)

// total is what agents have cost together.
func total(spent map[string]Spent) (all Spent) {
	for _, agent := range slices.Sorted(maps.Keys(spent)) { // sums of floats depend on the order
		all.USD += spent[agent].USD
		all.Tokens += spent[agent].Tokens
	}
	return all
}

// Cost is what the owner's agents have cost together.
func (o *Owner) Cost() Spent { return total(o.Spent) }

// Budget is what the owner may cost, with what a person added. What is 0 has no limit.
func (o *Owner) Budget() runbook.Budget {
	b := o.Plan.Pipeline.Budget
	if b.USD > 0 {
		b.USD += o.Extended.USD
	}
	if b.Time > 0 {
		b.Time += o.Extended.Time
	}
	return b
}

// overBudget reports whether the budget is used up. What cleans up has none.
func (d *draft) overBudget() bool {
	if d.cleansUp() {
		return false
	}
	money, spare := d.exceeded()
	return money || spare
}

func (o *Owner) exceeded() (money, spare bool) {
	b := o.Budget()
	return b.USD > 0 && o.Cost().USD > b.USD, b.Time > 0 && o.Ran >= b.Time
}

// spent is what an agent has cost. What an older one cost is known later at times; it
// counts as well.
func (d *draft) spent(w AgentSpent) {
	old, known := d.Spent[w.AgentID]
	if !known && (d.Agent == nil || d.Agent.ID != w.AgentID) || w.AgentID == "" {
		return
	}
	now := Spent{old.USD, max(old.Tokens, w.Tokens)}
	if w.USD > old.USD && w.USD <= math.MaxInt32 {
		now.USD = w.USD
	}
	if now == old {
		return
	}
	d.fact(AgentSpent{w.AgentID, now.USD, now.Tokens})
	if d.Agent != nil && !d.Agent.Exited && d.overBudget() && !d.waitsFor(FromBudget) {
		d.exceed("")
	}
}

// exceed ends the agent, whose session stays, or the command, and asks a person whether more is to
// be spent. Words are what the agent was to be told.
func (d *draft) exceed(words string) {
	context := d.usedUp()
	if d.Decision != nil {
		context += "\nIt was waiting for a decision: " + d.Decision.Context
		d.overtake("the budget is used up")
	}
	switch {
	case d.Agent == nil:
		d.endShell()
		d.fact(ShellDropped{d.Shell.Key})
	case !d.Agent.Exited:
		d.endAgent()
	}
	d.escalate(question{source: FromBudget, reason: "the budget is used up", context: context, undone: words})
}

// exceedBefore asks a person before a step is entered that would cost more.
func (d *draft) exceedBefore(next string, how opening) {
	d.escalate(question{
		source: FromBudget, reason: "the budget is used up", next: next, undone: how.message,
		context: d.usedUp() + fmt.Sprintf(", before step %q", next),
	})
}

func (d *draft) usedUp() string {
	b, cost := d.Budget(), d.Cost()
	var all []string
	money, spare := d.exceeded()
	if money {
		all = append(all, fmt.Sprintf("spent $%.2f of $%.2f", cost.USD, b.USD))
	}
	if spare {
		all = append(all, fmt.Sprintf("ran for %s of %s", d.Ran.Round(time.Second), b.Time.Round(time.Second)))
	}
	return "The budget is used up: " + strings.Join(all, "; ")
}

// extend lets as much be spent again, and the owner go on.
func (d *draft) extend(decision Decision, words string) {
	money, spare := d.exceeded()
	more := d.Extended
	if money {
		more.USD = d.Cost().USD
	}
	if spare {
		more.Time = d.Ran
	}
	if more != d.Extended {
		d.fact(BudgetExtended{more})
	}

	switch {
	case decision.Next == "" && d.Agent == nil:
		d.runStep()
		return
	case decision.Next == "":
		d.reopen(words, true)
		return
	}

	how := opening{message: decision.Undone}
	if how.message != "" {
		how.session = d.lastSession(decision.Next)
	}
	d.enter(decision.Next, how)
}

// keepTime sets the timers that go with where the owner is now.
func (d *draft) keepTime() {
	_, caughtUp := d.in.What.(CaughtUp)
	if d.Terminal() || len(d.step.Facts)+len(d.step.Effects) == 0 && !caughtUp {
		return
	}
	if e := d.expiry(); e.After > 0 && d.Decision != nil && d.Decision.Expires.IsZero() && !d.in.Late {
		d.setTimer(expire, d.in.Time.Add(e.After))
	}
	d.keepBudget()
	d.keepTimeout()
}

// keepBudget sets the timer for the end of the budget's time.
func (d *draft) keepBudget() {
	left := d.Budget().Time - d.Ran
	if !d.AtWork() || d.cleansUp() || left <= 0 {
		d.cancelTimer(budget)
		return
	}
	d.keepTimer(budget, left)
}

// keepTimer sets a timer for the end of a time that passes only while the owner is at work. Where
// clocks disagree a little it is left as it is.
func (d *draft) keepTimer(name string, left time.Duration) {
	due := d.in.Time.Add(left)
	if set, is := d.Timers[name]; !is || set.Sub(due).Abs() > time.Minute {
		d.setTimer(name, due)
	}
}
