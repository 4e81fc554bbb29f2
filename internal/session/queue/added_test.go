package queue

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Commands that are added come after those that are there, as if the queue had been made with
// all of them.
func TestAddedCommandsAreLikeOthers(t *testing.T) {
	begun := after(fresh("a", "/clear"), sent(1, "p1", "a")...).Queue
	o := after(begun, Added{[]string{"b", "/compact"}}, Added{[]string{"c"}})
	wantOutcome(t, o, Grown, false)
	if err := o.Queue.check(); err != nil {
		t.Errorf("the queue is damaged: %v", err)
	}
	whole := after(fresh("a", "/clear", "b", "/compact", "c"), sent(1, "p1", "a")...).Queue
	if diff := cmp.Diff(whole, o.Queue); diff != "" {
		t.Errorf("(-made with all +added later):\n%s", diff)
	}
}

// A queue that has come to its end, or that delivers a message, takes no more commands.
func TestAddedCommandsAreRefused(t *testing.T) {
	done := after(fresh("a"), append(sent(1, "p1", "a"), Stop{"p1", ""}, Added{[]string{"b"}})...)
	wantEnd(t, done, Complete, "")
	if len(done.Queue.Commands) != 1 {
		t.Errorf("the queue is at its end and has %d commands", len(done.Queue.Commands))
	}

	message := fresh("a message")
	message.Stopgate.Key = "k"
	o := after(message, Added{[]string{"b"}})
	wantOutcome(t, o, Ignored, false)
	if o.Changed || len(o.Queue.Commands) != 1 {
		t.Errorf("the message's queue has %d commands", len(o.Queue.Commands))
	}
}
