//go:build unix

package chaos

import (
	_ "embed"
	"strings"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
)

// The runbook has a command for each kind.
//
//go:embed testdata/chaos.toml
var runbookText string

// kind is a kind of owner: how it ends, whoever is killed meanwhile.
type kind struct {
	name string
	end  string // how it ends, and the steps that it went through
	// What a person does: the answer to a decision that it asks for, or something
	// when it is so far.
	answer daemonapi.Answer
	cancel string // the step in which it is cancelled
	resume bool   // it is resumed when it has failed
}

func kinds() []kind {
	return []kind{
		{name: "one", end: "done: only completed"},
		{name: "space", end: "done: first completed, second completed"},
		{name: "retried", end: "done: flaky failed, flaky failed, flaky completed"},
		{name: "chain", end: "done: first completed, second completed, third completed, fourth completed"},
		{name: "talks", end: "done: agent completed, after completed"},
		{name: "branches", end: "done: all completed, after completed"},
		{name: "circle", end: "done: test failed, repair completed, test failed, repair completed, test completed"},
		{name: "space-none", end: "failed: bad failed"},
		{name: "items", end: "done: each completed"},
		{name: "hopeless", end: "failed: try failed, try failed, try failed, try failed, try failed"},
		{name: "nudged", end: "done: agent completed"},
		{name: "branch-fails", end: "failed: all failed, tidy completed"},
		{name: "broken", end: "failed: good completed, bad failed"},
		{name: "space-kept", end: "done: only completed"},
		{name: "uses", end: "done: other completed, after completed"},
		{name: "saved", end: "done: frail failed, frail completed, after completed", resume: true},
		{name: "gated", end: "done: agent completed, after completed"},
		{name: "branches-cancelled", end: "cancelled: long cancelled, tidy completed", cancel: "long"},
		{name: "cancelled", end: "cancelled: long cancelled, tidy completed", cancel: "long"},
		{name: "dies", end: "done: agent completed"},
		{name: "space-saved", end: "done: frail failed, frail completed", resume: true},
		{name: "dead", end: "done: agent completed, after completed", answer: daemonapi.Answer{Option: "retry"}},
		{name: "asks", end: "done: agent completed", answer: daemonapi.Answer{Message: "Go on like this."}},
		{name: "space-cancelled", end: "cancelled: long cancelled, tidy completed", cancel: "long"},
		{name: "given-up", end: "cancelled: agent cancelled, tidy completed", answer: daemonapi.Answer{Option: "cancel"}},
		{name: "fails", end: "failed: agent failed, after completed"},
		{name: "space-agent", end: "done: agent completed, after completed"},
		{name: "crowd", end: "done: agent completed"},
		{name: "alone", end: "done: run completed"},
		{name: "alone-idle", end: "done: run completed", answer: daemonapi.Answer{Option: "done"}},
	}
}

// over reports whether an owner of the kind is at its end for good.
func (k kind) over(o *daemonapi.Owner) bool {
	switch o.Status {
	case "failed":
		return !k.resume
	case "done", "cancelled":
		return true
	}
	return false
}

// ending is how an owner ended, as kinds tell it.
func ending(o daemonapi.Owner) string {
	var visits []string
	for _, v := range o.Steps {
		visits = append(visits, v.Step+" "+v.Outcome)
	}
	return o.Status + ": " + strings.Join(visits, ", ")
}

// details is everything about an end that does not differ from one owner of a kind to
// the next.
func details(o daemonapi.Owner) string {
	var b strings.Builder
	b.WriteString(ending(o) + "; " + o.Error)
	for _, v := range o.Steps {
		b.WriteString("; " + v.Error)
	}
	return b.String()
}
