package runbook

import (
	"strconv"
	"strings"
)

// maxUSD is more than anybody means to spend.
const maxUSD = 1_000_000

// DefaultAnswers are what a decision can expire to.
func DefaultAnswers() []Default { return []Default{DefaultGoOn, DefaultDone, DefaultCancel} }

// budget reads what may be spent: money, time or both.
func (v value) budget(to *Budget) {
	ok := v.table(
		field{key: "usd", read: func(v value) { v.dollars(&to.USD) }},
		field{key: "time", read: func(v value) { v.duration(&to.Time) }},
	)
	if ok && len(v.node.entries) == 0 {
		v.fault("budget is empty", `write { usd = 5.0 }, { time = "2h" } or both`)
	}
}

// expire reads how long a decision waits for a person, and what holds then.
func (v value) expire(to *Expire) {
	v.table(
		field{key: "after", required: true, read: func(v value) { v.duration(&to.After) }},
		field{key: "answer", required: true, read: func(v value) { oneOf(v, "answer", &to.Answer, DefaultAnswers()...) }},
	)
}

// dollars reads an amount above 0.
func (v value) dollars(to *float64) {
	if !v.is(numberKind, "") {
		return
	}
	amount, err := strconv.ParseFloat(strings.ReplaceAll(v.node.text, "_", ""), 64)
	if err != nil || !(amount > 0) || amount > maxUSD {
		v.fault(v.name+" must be a number above 0 and at most "+strconv.Itoa(maxUSD), "")
		return
	}
	*to = amount
}
