package queue

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The steps of section 4 of the specification, with the hooks as the client sends
// them.
func TestSeed4AdvancementSteps(t *testing.T) {
	q := fresh("/clear", "/gsd:plan-phase 3", "a plain prompt\nof two lines")
	if diff := cmp.Diff([]Status{Active, Pending, Pending}, statuses(q)); diff != "" {
		t.Fatalf("step 3, the first is active (-want +got):\n%s", diff)
	}

	o := after(q, Begun{1}, Pressed{1}, SessionEnd{"clear"}, SessionStart{"clear", "c2"})
	wantOutcome(t, o, Advanced, true)
	first := o.Queue.Commands[0]
	if first.Status != Done || first.Result != nil || first.CompletedAt.String() != noonText {
		t.Errorf("step 7, SessionStart is /clear's end: %+v", first)
	}
	if d := first.Stopgate; d.State != Confirmed || d.ConfirmedAt == nil {
		t.Errorf("it arrived: %+v", d)
	}

	o = after(o.Queue, sent(2, "p1", "/gsd:plan-phase 3")...)
	wantOutcome(t, o, Delivered, false)
	o = after(o.Queue, Stop{"p1", "The plan is ready."})
	wantOutcome(t, o, Advanced, true)
	second := o.Queue.Commands[1]
	if second.Status != Done || *second.Result != "The plan is ready." || second.CompletedAt.String() != noonText {
		t.Errorf("step 7, the result is saved: %+v", second)
	}
	if active := o.Queue.Active(); active.ID != 3 || active.Stopgate.State != Waiting {
		t.Errorf("step 8, the next one is active: %+v", active)
	}

	o = after(o.Queue, sent(3, "p2", "a plain prompt\nof two lines")...)
	o = after(o.Queue, Stop{"p2", ""})
	wantEnd(t, o, Complete, "")
	if third := o.Queue.Commands[2]; third.Status != Done || third.Result != nil {
		t.Errorf("a stop without a message ends it without a result: %+v", third)
	}
	if n, left := o.Queue.Completed(), o.Queue.Remaining(); n != 3 || left != nil || o.Queue.Status != "" {
		t.Errorf("step 10: %d are done, %q remain, status %q", n, left, o.Queue.Status)
	}
}

func TestSeed4CommandToAwaitsMapping(t *testing.T) {
	stop, clear, compact := Hook{Hook: "Stop"}, Hook{Hook: "SessionStart", Sub: new("clear")}, Hook{Hook: "SessionStart", Sub: new("compact")}
	for command, want := range map[string]Hook{
		"/clear":                  clear,
		" /clear ":                clear,
		"/clear now":              clear,
		"/compact":                compact,
		"/compact keep the names": compact,
		"/gsd:plan-phase 3":       stop,
		"/clear-all":              stop,
		"/clearly":                stop,
		"please /clear":           stop,
		"clear":                   stop,
		"":                        stop,
	} {
		if diff := cmp.Diff(want, Awaits(command)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", command, diff)
		}
	}
}

// Each command is triggered by what the one before it awaits, and the first by Stop.
func TestSeed4TriggersAreTheAwaitsBefore(t *testing.T) {
	q := fresh("a", "/clear", "/compact", "b")
	want := []Hook{{Hook: "Stop"}, {Hook: "Stop"}, {Hook: "SessionStart", Sub: new("clear")}, {Hook: "SessionStart", Sub: new("compact")}}
	var got []Hook
	for _, c := range q.Commands {
		got = append(got, c.Trigger)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A queue by hand may have nothing active: the trigger makes the first one so.
func TestSeed4ATriggerReleasesThePendingCommand(t *testing.T) {
	pending := fresh("/clear", "b")
	pending.Commands[0].Status, pending.Commands[0].Stopgate = Pending, nil
	o := after(pending, Stop{"p0", "what came before"})
	wantOutcome(t, o, Advanced, true)
	if c := o.Queue.Commands[0]; c.Status != Active || c.Result != nil {
		t.Errorf("%+v", c)
	}

	done := fresh("/clear", "b")
	done.Commands[0].Status = Done
	wantOutcome(t, after(done, Stop{"p0", "m"}), Mismatch, false)
	wantOutcome(t, after(done, SessionStart{"compact", "c1"}), Mismatch, false)
	wantOutcome(t, after(done, SessionStart{"clear", "c2"}), Advanced, true)
}

func TestSeed4ManualInputCancels(t *testing.T) {
	o := after(fresh("a", "b", "c"), sent(1, "p1", "a")...)
	o = after(o.Queue, Stop{"p1", "m"}, Prompt{"p2", "wait, do something else"})
	wantEnd(t, o, Cancel, "manual input")
	if left := o.Queue.Remaining(); o.Queue.Status != Cancelled || o.Queue.Completed() != 1 || !slices.Equal(left, []string{"b", "c"}) {
		t.Errorf("status %q, %d done, remaining %q", o.Queue.Status, o.Queue.Completed(), left)
	}
}

func TestSeed4StartupMakesTheQueueStale(t *testing.T) {
	o := after(fresh("a", "b"), SessionStart{"startup", "c2"})
	wantEnd(t, o, Stale, "")
	if o.Queue.Status != "" {
		t.Errorf("the queue's status is %q", o.Queue.Status)
	}
}

func TestRuling31OurOwnPromptConfirmsAndGivesItsPromptID(t *testing.T) {
	for _, prompt := range []string{"/gsd:plan-phase 3", " /gsd:plan-phase 3\n", "/gsd:plan-phase\t3", "/gsd:plan-phase  3"} {
		o := after(fresh("/gsd:plan-phase 3", "b"), Begun{1}, Pressed{1}, Prompt{"p1", prompt})
		wantOutcome(t, o, Delivered, false)
		if d := o.Queue.Commands[0].Stopgate; d.State != Confirmed || d.PromptID != "p1" || d.ConfirmedAt.String() != noonText {
			t.Errorf("%q: %+v", prompt, d)
		}
	}
	for _, prompt := range []string{"/gsd:plan-phase 33", "/gsd:plan-phase", "/GSD:plan-phase 3", "b", "", "/gsd:plan-phase 3 4"} {
		wantEnd(t, after(fresh("/gsd:plan-phase 3", "b"), Begun{1}, Pressed{1}, Prompt{"p1", prompt}), Cancel, "manual input")
	}
}

func TestRuling31ATaskNotificationIsNotAPerson(t *testing.T) {
	q := after(fresh("a", "b"), sent(1, "p1", "a")...).Queue
	o := after(q, Prompt{"p2", " <task-notification>\n<task-id>x</task-id>"}, Stop{"p2", "The task in the background is done."})
	wantOutcome(t, o, Mismatch, false)
	o = after(o.Queue, Stop{"p1", "the message of a"})
	wantOutcome(t, o, Advanced, true)
	if result := *o.Queue.Commands[0].Result; result != "the message of a" {
		t.Errorf("result %q", result)
	}
	wantEnd(t, after(q, Prompt{"p2", "see <task-notification>"}), Cancel, "manual input")
	// Newer clients tell at once of what is typed while they work, with the id of what they work on.
	wantEnd(t, after(q, Prompt{"p1", "see there"}), Cancel, "manual input")
}

// Newer clients tell at once of what is typed while they work, with the id of the prompt
// that they work on, and tell nothing when they begin with it.
func TestRuling37ACommandThatComesWhileTheClientWorksIsDoneByItsOwnStop(t *testing.T) {
	task := Prompt{"n1", "<task-notification>"}
	isB := func(e Event) bool { p, ok := e.(Prompt); return ok && p.Text == "b" }
	for name, events := range map[string][]Event{
		"on a task":               {task, Begun{2}, Pressed{2}, Prompt{"n1", "b"}, Stop{"n1", "of the task"}},
		"on a task's stop":        {task, Begun{2}, Pressed{2}, Stop{"n1", "of the task"}, Prompt{"n1", "b"}},
		"on a prompt nobody told": {Stop{"n1", "of a person"}, Begun{2}, Pressed{2}, Prompt{"n1", "b"}},
		"on the stop before":      {Begun{2}, Pressed{2}, Prompt{"p1", "b"}, Stop{"p1", "of a"}},
		"told twice":              {task, Begun{2}, Pressed{2}, Prompt{"n1", "b"}, Prompt{"n1", "b"}, Stop{"n1", "of the task"}, Stop{"n1", "of the task"}},
	} {
		t.Run(name, func(t *testing.T) {
			q := after(fresh("a", "b", "c"), append(sent(1, "p1", "a"), Stop{"p1", "of a"})...).Queue
			o := after(q, events...)
			if active := o.Queue.Active(); active == nil || active.ID != 2 || !active.Confirmed() {
				t.Fatalf("it is %+v", o.Queue)
			}
			wantEnd(t, after(o.Queue, Idle{"n1"}), Broken, "command 2 failed: Claude Code waits for input, but did not report a stop: it was interrupted")
			wantEnd(t, after(o.Queue, StopFailure{"p2", ""}), Broken, "command 2 failed: the model's API failed")
			o = after(o.Queue, Stop{"p2", "of b"})
			wantOutcome(t, o, Advanced, true)
			if result := *o.Queue.Commands[1].Result; result != "of b" {
				t.Errorf("result %q", result)
			}
			wantOutcome(t, after(o.Queue, events[slices.IndexFunc(events, isB)]), Ignored, false)
		})
	}
}

// Two installations tell of each prompt twice, perhaps late. Nobody typed.
func TestRuling31APromptThatIsToldTwiceDoesNotCancel(t *testing.T) {
	o := after(fresh("a", "b"), sent(1, "p1", "a")...)
	wantOutcome(t, after(o.Queue, Prompt{"p1", "a"}), Ignored, false)
	o = after(o.Queue, Stop{"p1", "m"}, Prompt{"p1", "a"})
	wantOutcome(t, o, Ignored, false)
	o = after(fresh("a", "a"), append(sent(1, "p1", "a"), Stop{"p1", "m1"}, Prompt{"p1", "a"}, Stop{"p1", "m1"})...)
	wantOutcome(t, o, Redriven, true)
	if c := o.Queue.Commands[1]; c.Status != Active || c.Confirmed() {
		t.Errorf("the first command's hooks moved the second: %+v", c)
	}
}

// A person who interrupts a command and sends it again has it under a new prompt.
func TestRuling31ACommandThatIsSentAgainHasTheNewPrompt(t *testing.T) {
	o := after(fresh("a", "b"), append(sent(1, "p1", "a"), Prompt{"p2", "a"})...)
	wantOutcome(t, o, Delivered, false)
	wantOutcome(t, after(o.Queue, Stop{"p1", "m"}), Mismatch, false)
	wantOutcome(t, after(o.Queue, Stop{"p2", "m"}), Advanced, true)
}

func TestRuling33AQueueTakesStopsWithoutAMessage(t *testing.T) {
	o := after(fresh("a", "b"), append(sent(1, "p1", "a"), Stop{"p1", ""})...)
	wantOutcome(t, o, Advanced, true)
}

func TestRuling37OnlyTheStopOfItsPromptCompletesACommand(t *testing.T) {
	q := after(fresh("a", "b"), sent(1, "p1", "a")...).Queue
	wantOutcome(t, after(q, Stop{"p0", "somebody else's"}), Mismatch, false)
	wantOutcome(t, after(q, Stop{"p1", "its own"}), Advanced, true)
	// Clients before prompt ids give none.
	wantOutcome(t, after(q, Stop{"", "m"}), Advanced, true)
	q = after(fresh("a", "b"), sent(1, "", "a")...).Queue
	wantOutcome(t, after(q, Stop{"p9", "m"}), Advanced, true)
	// A stop before the confirmation is that of the turn before.
	o := after(fresh("a", "b"), Begun{1}, Pressed{1}, Stop{"p0", "the turn before"})
	wantOutcome(t, o, Redriven, true)
	if c := o.Queue.Commands[0]; c.Status != Active || c.Result != nil {
		t.Errorf("%+v", c)
	}
}

func TestRuling37ClearAndCompactAwaitTheirSessionStart(t *testing.T) {
	for _, source := range []string{"clear", "compact"} {
		q := after(fresh("/"+source, "b"), Begun{1}, Pressed{1}).Queue
		for _, other := range []Event{Stop{"p1", "m"}, SessionStart{"resume", "c2"}, SessionStart{map[string]string{"clear": "compact", "compact": "clear"}[source], "c2"}} {
			o := after(q, other)
			wantOutcome(t, o, Redriven, true)
			if o.Queue.Completed() != 0 {
				t.Errorf("%+v completed /%s", other, source)
			}
		}
		wantOutcome(t, after(q, SessionStart{source, "c2"}), Advanced, true)
	}
}

func TestRuling37PreCompactConfirmsACompact(t *testing.T) {
	q := after(fresh("/compact", "b"), Begun{1}, Pressed{1}, PreCompact{"p0"}).Queue
	if d := q.Commands[0].Stopgate; d.State != Confirmed || d.PromptID != "p0" {
		t.Fatalf("%+v", d)
	}
	wantOutcome(t, after(q, PreCompact{"p0"}), Ignored, false)
	wantOutcome(t, after(q, SessionStart{"compact", "c1"}), Advanced, true)
	wantOutcome(t, after(fresh("a", "/compact"), Begun{1}, PreCompact{"p0"}), Ignored, false)
}

// Where nothing was typed, whatever the client says is not about our command.
func TestRuling38WhatWasNotTypedIsNotDone(t *testing.T) {
	for _, source := range []string{"clear", "compact"} {
		o := after(fresh("/"+source, "b"), PreCompact{"p0"}, SessionStart{source, "c2"})
		wantOutcome(t, o, Redriven, true)
		if o.Queue.Completed() != 0 {
			t.Errorf("somebody else's /%s completed ours", source)
		}
	}
}

func TestRuling37StopFailureFails(t *testing.T) {
	q := after(fresh("a", "b", "c"), append(sent(1, "p1", "a"), Stop{"p1", "m"})...).Queue
	q = after(q, sent(2, "p2", "b")...).Queue
	wantOutcome(t, after(q, StopFailure{"p1", "late"}), Mismatch, false)
	o := after(q, StopFailure{"p2", "API Error: 529 overloaded"})
	want := Ending{Broken, "command 2 failed: the model's API failed", "API Error: 529 overloaded"}
	if ending, _ := o.Ended(); ending != want || o.Action != Finished {
		t.Errorf("%s with %+v, want %+v", o.Action, ending, want)
	}
	if diff := cmp.Diff([]Status{Done, Failed, Pending}, statuses(o.Queue)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if c := o.Queue.Commands[1]; c.Stopgate.Why != "the model's API failed" || c.Result != nil || c.CompletedAt != nil {
		t.Errorf("%+v", c)
	}
}

// What comes after a stop that needs a person is not typed, and can be taken up again.
func TestE20AQueueEndsWhereAPersonIsNeeded(t *testing.T) {
	const why = "a person is needed"
	halted := Halted{Stop{"p1", "m"}, why}
	works := after(fresh("a", "b", "c"), sent(1, "p1", "a")...).Queue
	last := after(fresh("a"), sent(1, "p1", "a")...).Queue
	clear := after(fresh("/clear", "b"), sent(1, "p1", "/clear")...).Queue
	for name, tt := range map[string]struct {
		q    Queue
		left []string
	}{
		"its own stop":            {works, []string{"b", "c"}},
		"the last command":        {last, nil},
		"a command not typed yet": {fresh("a", "b"), []string{"a", "b"}},
		"one that awaits another": {clear, []string{"/clear", "b"}},
	} {
		o := after(tt.q, halted)
		wantEnd(t, o, Broken, why)
		if diff := cmp.Diff(tt.left, o.Queue.Remaining()); diff != "" || !o.Changed {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if c := after(works, halted).Queue.Commands[0]; *c.Result != "m" || c.CompletedAt == nil {
		t.Errorf("%+v", c)
	}
}

func TestRuling38OneMoreEnterAndThenItFailed(t *testing.T) {
	o := after(fresh("a", "b"), Begun{1}, Pressed{1})
	if d := o.Queue.Commands[0].Stopgate; d.State != Entered || d.Enters != 1 || d.TypedAt == nil || d.EnteredAt == nil {
		t.Fatalf("%+v", d)
	}
	o = after(o.Queue, Pressed{1})
	wantOutcome(t, o, Moved, false)
	o = after(o.Queue, Pressed{1})
	wantOutcome(t, o, Ignored, false)
	if d := o.Queue.Commands[0].Stopgate; o.Changed || d.Enters != MaxEnters {
		t.Errorf("a third Enter: %+v", d)
	}
	o = after(o.Queue, Undelivered{1, "nothing confirmed it"})
	wantEnd(t, o, Broken, "command 1 failed: nothing confirmed it")
	if diff := cmp.Diff([]Status{Failed, Pending}, statuses(o.Queue)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestRuling38NothingIsTypedTwice(t *testing.T) {
	q := after(fresh("a", "b"), Begun{1}).Queue
	for _, e := range [][]Event{{Begun{1}}, {Stop{"p0", "m"}, Begun{1}}, {SessionStart{"resume", "c2"}, Begun{1}}, {Idle{"p0"}, Begun{1}}, {Pressed{1}, Begun{1}}, {Prompt{"p1", "a"}, Begun{1}}} {
		if o := after(q, e...); o.Changed || o.Action != Ignored {
			t.Errorf("%+v: %s", e, o.Action)
		}
	}
}

// What the one who types says late says nothing about a command that the client has.
func TestRuling38AConfirmedCommandIsDelivered(t *testing.T) {
	q := after(fresh("a", "b"), sent(1, "p1", "a")...).Queue
	for _, e := range []Event{Begun{1}, Pressed{1}, NotReady{1, "x"}, Held{1, "x"}, Undelivered{1, "x"}} {
		if o := Apply(q, e, noon); o.Changed || o.Action != Ignored {
			t.Errorf("%+v: %s", e, o.Action)
		}
	}
}

func TestRuling39APaneThatIsNotReadyWaitsForTheHookAndThenFails(t *testing.T) {
	o := after(fresh("a", "b"), NotReady{1, "a dialog is open"})
	wantOutcome(t, o, Moved, false)
	if d := o.Queue.Commands[0].Stopgate; d.State != Waiting || d.Tries != 1 || d.Why != "a dialog is open" {
		t.Errorf("%+v", d)
	}
	o = after(o.Queue, Stop{"p0", "m"})
	wantOutcome(t, o, Redriven, true)
	if again := after(o.Queue, Begun{1}); again.Queue.Commands[0].Stopgate.Why != "" {
		t.Errorf("it no longer waits: %+v", again.Queue.Commands[0].Stopgate)
	}
	o = after(o.Queue, NotReady{1, "there is no prompt"})
	wantEnd(t, o, Broken, "command 1 failed: it could not be typed: there is no prompt")
}

// A client that works is no try, however often it is looked at.
func TestRuling39ABusyClientIsWaitedFor(t *testing.T) {
	o := Transition{Queue: fresh("a", "b")}
	for i := range 5 {
		o = after(o.Queue, Held{1, "it works"})
		if o.Changed != (i == 0) {
			t.Errorf("look %d: changed %t", i, o.Changed)
		}
	}
	if d := o.Queue.Commands[0].Stopgate; d.State != Waiting || d.Tries != 0 || d.Why != "it works" {
		t.Errorf("%+v", d)
	}
	wantOutcome(t, after(o.Queue, Begun{1}), Moved, false)
}

func TestRuling313ResumeAndCompactNeverMakeAQueueStale(t *testing.T) {
	for _, source := range []string{"resume", "compact", "a source of the future"} {
		q := after(fresh("a", "b"), sent(1, "p1", "a")...).Queue
		wantOutcome(t, after(q, SessionStart{source, "c2"}), Mismatch, false)
		wantOutcome(t, after(fresh("a", "b"), SessionStart{source, "c2"}), Redriven, true)
	}
	awaiting := fresh("a", "b")
	awaiting.Commands[0].Awaits = Hook{Hook: "SessionStart", Sub: new("resume")}
	wantOutcome(t, after(awaiting, Begun{1}, Pressed{1}, SessionStart{"resume", "c2"}), Advanced, true)
}

// Two installations tell of one /clear twice: the second must not complete the second
// command.
func TestASessionStartThatIsToldTwiceCountsOnce(t *testing.T) {
	o := after(fresh("/clear", "/clear", "b"), Begun{1}, Pressed{1}, SessionStart{"clear", "c2"}, Begun{2}, Pressed{2}, SessionStart{"clear", "c2"})
	wantOutcome(t, o, Ignored, false)
	if o.Changed || o.Queue.Completed() != 1 {
		t.Errorf("changed %t, %d are done", o.Changed, o.Queue.Completed())
	}
	wantOutcome(t, after(o.Queue, SessionStart{"clear", "c3"}), Advanced, true)
}

// The repetition of what was before the client's end does not hide that end.
func TestASessionStartThatIsToldTwiceDoesNotUndoTheEnd(t *testing.T) {
	o := after(fresh("/clear", "b"), Begun{1}, Pressed{1}, SessionStart{"clear", "c2"})
	o = after(o.Queue, append(sent(2, "p1", "b"), SessionEnd{"other"}, SessionStart{"clear", "c2"}, SessionStart{"resume", "c2"})...)
	wantEnd(t, o, Broken, "command 2 failed: Claude Code ended while working on it")
}

func TestAClientThatEndedInTheMiddleOfACommandFailsItWhenItIsBack(t *testing.T) {
	q := after(fresh("a", "b"), append(sent(1, "p1", "a"), SessionEnd{"other"})...).Queue
	if q.Stopgate.EndedAt.String() != noonText {
		t.Errorf("ended at %v", q.Stopgate.EndedAt)
	}
	wantEnd(t, after(q, SessionStart{"resume", "c1"}), Broken, "command 1 failed: Claude Code ended while working on it")
	wantEnd(t, after(q, SessionStart{"startup", "c2"}), Stale, "")
	// What was not delivered is still to be seen to.
	o := after(fresh("a", "b"), SessionEnd{"other"}, SessionStart{"resume", "c1"})
	wantOutcome(t, o, Redriven, true)
	if o.Queue.Stopgate.EndedAt != nil {
		t.Error("the client is back")
	}
	// The stop that was on its way counts.
	wantOutcome(t, after(q, Stop{"p1", "m"}), Advanced, true)
	for _, reason := range []string{"clear", "resume"} {
		if o := after(q, SessionEnd{reason}); o.Changed {
			t.Errorf("%s goes on with another session", reason)
		}
	}
}

// Esc ends a turn without any hook.
func TestAnInterruptedCommandFailsWhenTheClientIsIdle(t *testing.T) {
	const why = "Claude Code waits for input, but did not report a stop: it was interrupted"
	q := after(fresh("a", "b"), sent(1, "p1", "a")...).Queue
	wantEnd(t, after(q, Idle{"p1"}), Broken, "command 1 failed: "+why)
	wantOutcome(t, after(q, Idle{"p0"}), Mismatch, false) // of the turn before
	wantOutcome(t, after(q, Idle{""}), Mismatch, false)
	// Work in the background may end, and make a turn of its own, in between.
	o := after(q, Prompt{"p2", "<task-notification>"}, Stop{"p2", "m"})
	wantOutcome(t, o, Mismatch, false)
	wantOutcome(t, after(o.Queue, Idle{"p0"}), Mismatch, false)
	wantEnd(t, after(o.Queue, Idle{"p2"}), Broken, "command 1 failed: "+why)
	// The stop of the command may still come.
	wantOutcome(t, after(o.Queue, Stop{"p1", "m"}), Advanced, true)
}

func TestWithdrawn(t *testing.T) {
	o := after(fresh("a", "b"), Withdrawn{"stopgate queue cancel"})
	wantEnd(t, o, Cancel, "stopgate queue cancel")
	if o.Queue.Status != Cancelled {
		t.Errorf("status %q", o.Queue.Status)
	}
}

func TestAQueueThatIsMarkedCancelledByHandEnds(t *testing.T) {
	q := fresh("a", "b")
	q.Status = Cancelled
	wantEnd(t, after(q, Stop{"p1", "m"}), Cancel, "a change of its file")
}

func TestAQueueWithNothingLeftIsComplete(t *testing.T) {
	q := fresh("a")
	q.Commands[0].Status = Done
	wantEnd(t, after(q, Held{1, "x"}), Complete, "")
}

// Whoever finds a queue with its end written down has only to finish that.
func TestAnEndedQueueStaysEnded(t *testing.T) {
	for _, end := range []Event{SessionStart{"startup", "c2"}, Prompt{"p9", "x"}, Undelivered{1, "x"}, Withdrawn{"x"}} {
		ended := after(fresh("a", "b"), end)
		for name, e := range rowEvents("a") {
			o := Apply(ended.Queue, e, noon.Add(1))
			if o.Changed || o.Drive || o.Action != Finished || text(t, o.Queue) != text(t, ended.Queue) {
				t.Errorf("%s after %+v: %s", name, end, o.Action)
			}
		}
	}
}

func TestAgainKeepsResultsAndBeginsWithWhatIsNotDone(t *testing.T) {
	old := after(fresh("a", "b", "c"), append(sent(1, "p1", "a"), Stop{"p1", "m"}, Begun{2}, Undelivered{2, "x"})...).Queue
	old.Stopgate.Place = &Place{Socket: "/tmp/tmux", PID: 7, Pane: "%3"}
	before := text(t, old)
	q := Again(old, "q2", noon)
	if text(t, old) != before {
		t.Error("the old queue was changed")
	}
	if diff := cmp.Diff([]Status{Done, Active, Pending}, statuses(q)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if c := q.Commands[1]; *c.Stopgate != (Delivery{State: Waiting}) || *q.Commands[0].Result != "m" {
		t.Errorf("%+v", c)
	}
	want := Meta{ID: "q2", Session: "s", CreatedAt: Time{noon}, Place: old.Stopgate.Place}
	if diff := cmp.Diff(want, *q.Stopgate); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	cancelled := after(fresh("a"), Withdrawn{"x"}).Queue
	if q := Again(cancelled, "q2", noon); q.Status != "" || q.Active() == nil {
		t.Errorf("it is still cancelled: %s", text(t, q))
	}
}

func TestAt(t *testing.T) {
	here := Place{Socket: "/tmp/tmux", PID: 7, Pane: "%3"}
	q := fresh("a")
	byHand := Queue{Commands: q.Commands}
	if !q.At(here) || !byHand.At(here) {
		t.Error("a queue that does not say is for every place")
	}
	q.Stopgate.Place = &here
	for _, there := range []Place{{"/tmp/other", 7, "%3"}, {"/tmp/tmux", 8, "%3"}, {"/tmp/tmux", 7, "%33"}} {
		if q.At(there) || !q.At(here) {
			t.Errorf("%+v", there)
		}
	}
}

func TestLongCommandsMatch(t *testing.T) {
	long := strings.Repeat("word 🎉 \"quoted\"; ", 1<<14)
	c := Command{Command: long}
	if !c.Matches(strings.ReplaceAll(long, " ", "\n")) || c.Matches(long+"x") {
		t.Error("not the same words")
	}
}

// A client that does not say which session it has now has cleared it all the same.
func TestAClearWithoutASession(t *testing.T) {
	wantOutcome(t, after(fresh("/clear", "next"), Begun{1}, Pressed{1}, SessionStart{"clear", ""}), Advanced, true)
}

// What nobody sees in a prompt makes it no other one.
func TestInvisibleCharactersDoNotCount(t *testing.T) {
	c := Command{Command: "fix the tests"}
	for text, same := range map[string]bool{"fix\u200b the tests": true, "\ufefffix the\u2060 tests": true, "fix these tests": false} {
		if c.Matches(text) != same {
			t.Errorf("%q: the same is %t", text, !same)
		}
	}
}
