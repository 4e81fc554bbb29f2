package queue

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/sys/checktest"
	"github.com/stopgate/stopgate/internal/sys/process/processtest"
)

// children are what the test binary is besides.
var children = map[string]func(args []string) error{}

func TestMain(m *testing.M) { processtest.Main(m, children) }

var check = checktest.OK

// noon is when everything happens.
var noon = time.Date(2026, 2, 20, 12, 0, 0, 0, time.UTC)

const noonText = "2026-02-20T12:00:00.000Z"

// text is a queue as JSON, by which two are compared.
func text(t testing.TB, q Queue) string {
	t.Helper()
	b, err := json.MarshalIndent(q, "", "  ")
	check(t, err)
	return string(b)
}

// after applies events, one after the other.
func after(q Queue, events ...Event) Transition {
	o := Transition{Queue: q}
	for _, e := range events {
		o = Apply(o.Queue, e, noon)
	}
	return o
}

// fresh is a new queue.
func fresh(commands ...string) Queue { return New("s", "q1", commands, noon) }

// sent are the events up to the confirmation of a prompt that was typed.
func sent(id int, prompt, command string) []Event {
	return []Event{Begun{id}, Pressed{id}, Prompt{prompt, command}}
}

// wantEnd fails when the queue did not end like that.
func wantEnd(t *testing.T, o Transition, kind EndKind, why string) {
	t.Helper()
	ending, ended := o.Ended()
	if want := (Ending{kind, why, ""}); !ended || ending != want || o.Action != Finished || o.Drive {
		t.Errorf("%s, ended %t with %+v, drive %t; want %+v", o.Action, ended, ending, o.Drive, want)
	}
}

// wantOutcome fails when the event did not do that.
func wantOutcome(t *testing.T, o Transition, a Action, drive bool) {
	t.Helper()
	if o.Action != a || o.Drive != drive {
		t.Errorf("%s, drive %t; want %s, %t", o.Action, o.Drive, a, drive)
	}
	if ending, ended := o.Ended(); ended {
		t.Errorf("it ended: %+v", ending)
	}
}

// statuses are those of the commands, in their order.
func statuses(q Queue) []Status {
	var all []Status
	for _, c := range q.Commands {
		all = append(all, c.Status)
	}
	return all
}
