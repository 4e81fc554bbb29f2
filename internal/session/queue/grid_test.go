package queue

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The tables say what each event does in each state of the first of two commands, in
// the words of Action, or that of EndKind where the queue ends; "broken" is a queue that failed
// without a command that did. "none" is a queue by
// hand in which nothing is active, "by-hand" one whose active command has no stopgate
// object. A confirmed command has the prompt p1.

// events of the rows of the tables.
func rowEvents(command string) map[string]Event {
	return map[string]Event{
		"stop-p1":       Stop{"p1", "message"},
		"stop-p2":       Stop{"p2", "message"},
		"stop":          Stop{"", "message"},
		"failure-p1":    StopFailure{"p1", "API Error: 529"},
		"failure-p2":    StopFailure{"p2", "API Error: 529"},
		"startup":       SessionStart{"startup", "c2"},
		"resume":        SessionStart{"resume", "c2"},
		"clear":         SessionStart{"clear", "c2"},
		"compact":       SessionStart{"compact", "c1"},
		"end-clear":     SessionEnd{"clear"},
		"end-resume":    SessionEnd{"resume"},
		"end-exit":      SessionEnd{"prompt_input_exit"},
		"prompt-own":    Prompt{"p3", command},
		"prompt-again":  Prompt{"p1", command},
		"prompt-person": Prompt{"p3", "something else"},
		"prompt-task":   Prompt{"p3", "<task-notification>\n<task-id>1"},
		"precompact":    PreCompact{"p3"},
		"idle-p1":       Idle{"p1"},
		"idle-p2":       Idle{"p2"},
		"idle":          Idle{""},
		"withdrawn":     Withdrawn{"queue cancel"},
		"begun":         Begun{1},
		"begun-other":   Begun{2},
		"pressed":       Pressed{1},
		"pressed-other": Pressed{2},
		"not-ready":     NotReady{1, "a dialog is open"},
		"held":          Held{1, "it works"},
		"undelivered":   Undelivered{1, "nothing confirmed it"},
		"und.-other":    Undelivered{2, "nothing confirmed it"},
		"stuck-none":    Stuck{0, "", "nothing moves it on"},
		"stuck-waiting": Stuck{1, Waiting, "nothing moves it on"},
		"stuck-typing":  Stuck{1, Typing, "nothing moves it on"},
		"stuck-entered": Stuck{1, Entered, "nothing moves it on"},
		"stuck-conf.":   Stuck{1, Confirmed, "nothing moves it on"},
		"stuck-other":   Stuck{2, Confirmed, "nothing moves it on"},
	}
}

func inState(command, state string) Queue {
	q := New("s", "q1", []string{command, "b"}, noon)
	c := &q.Commands[0]
	switch state {
	case "none":
		c.Status, c.Stopgate = Pending, nil
	case "by-hand":
		c.Stopgate = nil
	case "confirmed":
		*c.Stopgate = Delivery{State: Confirmed, Enters: 1, PromptID: "p1"}
	default:
		c.Stopgate.State = DeliveryState(state)
	}
	return q
}

func TestEveryEventInEveryStateOfAPrompt(t *testing.T) {
	checkGrid(t, "/gsd:plan-phase 3", `
event          none       waiting    typing     entered    confirmed  by-hand
stop-p1        advanced   redriven   redriven   redriven   advanced   advanced
stop-p2        advanced   redriven   redriven   redriven   mismatch   advanced
stop           advanced   redriven   redriven   redriven   advanced   advanced
failure-p1     ignored    redriven   redriven   redriven   failed     failed
failure-p2     ignored    redriven   redriven   redriven   mismatch   failed
startup        stale      stale      stale      stale      stale      stale
resume         mismatch   redriven   redriven   redriven   mismatch   mismatch
clear          mismatch   redriven   redriven   redriven   mismatch   mismatch
compact        mismatch   redriven   redriven   redriven   mismatch   mismatch
end-clear      ignored    ignored    ignored    ignored    ignored    ignored
end-resume     ignored    ignored    ignored    ignored    ignored    ignored
end-exit       ignored    ignored    ignored    ignored    ignored    ignored
prompt-own     cancelled  confirmed  confirmed  confirmed  confirmed  confirmed
prompt-again   cancelled  confirmed  confirmed  confirmed  ignored    confirmed
prompt-person  cancelled  cancelled  cancelled  cancelled  cancelled  cancelled
prompt-task    ignored    ignored    ignored    ignored    ignored    ignored
precompact     ignored    ignored    ignored    ignored    ignored    ignored
idle-p1        ignored    redriven   redriven   redriven   failed     mismatch
idle-p2        ignored    redriven   redriven   redriven   mismatch   mismatch
idle           ignored    redriven   redriven   redriven   mismatch   mismatch
withdrawn      cancelled  cancelled  cancelled  cancelled  cancelled  cancelled
begun          ignored    typing     ignored    ignored    ignored    ignored
begun-other    ignored    ignored    ignored    ignored    ignored    ignored
pressed        ignored    ignored    typing     typing     ignored    ignored
pressed-other  ignored    ignored    ignored    ignored    ignored    ignored
not-ready      ignored    typing     ignored    ignored    ignored    ignored
held           ignored    typing     ignored    ignored    ignored    ignored
undelivered    ignored    failed     failed     failed     ignored    ignored
und.-other     ignored    ignored    ignored    ignored    ignored    ignored
stuck-none     broken     ignored    ignored    ignored    ignored    ignored
stuck-waiting  ignored    failed     ignored    ignored    ignored    ignored
stuck-typing   ignored    ignored    failed     ignored    ignored    ignored
stuck-entered  ignored    ignored    ignored    failed     ignored    ignored
stuck-conf.    ignored    ignored    ignored    ignored    failed     failed
stuck-other    ignored    ignored    ignored    ignored    ignored    ignored
`)
}

func TestEveryEventInEveryStateOfAClear(t *testing.T) {
	checkGrid(t, "/clear", `
event          none       waiting    typing     entered    confirmed  by-hand
stop-p1        advanced   redriven   redriven   redriven   mismatch   mismatch
stop-p2        advanced   redriven   redriven   redriven   mismatch   mismatch
stop           advanced   redriven   redriven   redriven   mismatch   mismatch
failure-p1     ignored    redriven   redriven   redriven   failed     failed
failure-p2     ignored    redriven   redriven   redriven   mismatch   failed
startup        stale      stale      stale      stale      stale      stale
resume         mismatch   redriven   redriven   redriven   mismatch   mismatch
clear          mismatch   redriven   advanced   advanced   advanced   advanced
compact        mismatch   redriven   redriven   redriven   mismatch   mismatch
end-clear      ignored    ignored    ignored    ignored    ignored    ignored
prompt-own     cancelled  confirmed  confirmed  confirmed  confirmed  confirmed
prompt-person  cancelled  cancelled  cancelled  cancelled  cancelled  cancelled
precompact     ignored    ignored    ignored    ignored    ignored    ignored
idle-p2        ignored    redriven   redriven   redriven   failed     mismatch
undelivered    ignored    failed     failed     failed     ignored    ignored
`)
}

func TestEveryEventInEveryStateOfACompact(t *testing.T) {
	checkGrid(t, "/compact keep the plan", `
event          none       waiting    typing     entered    confirmed  by-hand
stop-p1        advanced   redriven   redriven   redriven   mismatch   mismatch
failure-p1     ignored    redriven   redriven   redriven   failed     failed
startup        stale      stale      stale      stale      stale      stale
resume         mismatch   redriven   redriven   redriven   mismatch   mismatch
clear          mismatch   redriven   redriven   redriven   mismatch   mismatch
compact        mismatch   redriven   advanced   advanced   advanced   advanced
prompt-own     cancelled  confirmed  confirmed  confirmed  confirmed  confirmed
prompt-person  cancelled  cancelled  cancelled  cancelled  cancelled  cancelled
precompact     ignored    ignored    confirmed  confirmed  ignored    ignored
idle-p1        ignored    redriven   redriven   redriven   failed     mismatch
undelivered    ignored    failed     failed     failed     ignored    ignored
`)
}

func checkGrid(t *testing.T, command, grid string) {
	lines := strings.Split(strings.TrimSpace(grid), "\n")
	states := strings.Fields(lines[0])[1:]
	events := rowEvents(command)
	for _, line := range lines[1:] {
		cells := strings.Fields(line)
		e, known := events[cells[0]]
		if !known || len(cells) != len(states)+1 {
			t.Fatalf("no row: %s", line)
		}
		for i, state := range states {
			t.Run(cells[0]+" when "+state, func(t *testing.T) {
				q := inState(command, state)
				before := text(t, q)
				o := Apply(q, e, noon)
				if diff := cmp.Diff(before, text(t, q)); diff != "" {
					t.Errorf("the argument was changed:\n%s", diff)
				}
				if (text(t, o.Queue) != before) != o.Changed {
					t.Errorf("changed %t, but it became\n%s", o.Changed, text(t, o.Queue))
				}
				check(t, o.Queue.check())
				checkCell(t, q, o, cells[i+1])
			})
		}
	}
}

// checkCell tells whether an outcome is what the word in the table means.
func checkCell(t *testing.T, before Queue, o Transition, word string) {
	t.Helper()
	wantStatuses, drive := statuses(before), false
	action := Action(word)
	switch word {
	case "advanced":
		wantStatuses, drive = []Status{Done, Active}, true
		if before.Active() == nil {
			wantStatuses = []Status{Active, Pending}
		}
		if d := o.Queue.Active().Stopgate; d == nil || *d != (Delivery{State: Waiting}) {
			t.Errorf("the next command is at %+v", d)
		}
	case "redriven":
		drive = true
	case "confirmed":
		if d := o.Queue.Commands[0].Stopgate; d.State != Confirmed || d.PromptID == "" || d.ConfirmedAt == nil {
			t.Errorf("not confirmed: %+v", d)
		}
	case "failed":
		wantStatuses = []Status{Failed, Pending}
		action = Finished
	case "broken":
		action, word = Finished, string(Broken)
	case "stale", "cancelled":
		action = Finished
	}
	if o.Action != action || o.Drive != drive {
		t.Errorf("%s, drive %t; want %s, %t", o.Action, o.Drive, action, drive)
	}
	if diff := cmp.Diff(wantStatuses, statuses(o.Queue)); diff != "" {
		t.Errorf("statuses (-want +got):\n%s", diff)
	}
	if ending, ended := o.Ended(); ended != (action == Finished) || ended && string(ending.Kind) != word {
		t.Errorf("ended %t: %+v", ended, ending)
	}
	if (o.Queue.Status == Cancelled) != (word == "cancelled") {
		t.Errorf("the queue's status is %q", o.Queue.Status)
	}
}
