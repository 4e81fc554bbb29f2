//go:build unix

package conformance

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/session/queue/queuetest"
)

const wardenMain = "warden-main-4"

const seedQueue = queuetest.Seed

var plainQueue = queuetest.Plain

// Section 4, creation: the agent's one call makes the seed's file, types the first
// command and is over, while the client is still at work.
func TestSeed003TheDriverCreatesTypesAndExits(t *testing.T) {
	s := newStage(t, nil)
	p := s.open(wardenMain)
	r := s.call(tuiDriver, `{ "session": "warden-main-4", "commands": ["/clear", "/gsd:plan-phase 3"] }`)
	if r.code != 0 || r.stderr != "" {
		t.Fatalf("%+v", r)
	}
	if diff := cmp.Diff(plainQueue(t, seedQueue), plainQueue(t, slurp(t, s.file(wardenMain, "")))); diff != "" {
		t.Errorf("the file (-seed +got):\n%s", diff)
	}
	p.wantTyped("/clear")
	files, err := os.ReadDir(s.state("logs", "queues"))
	check(t, err)
	for _, file := range files {
		if name := file.Name(); name != "queue-warden-main-4.json" && !strings.HasSuffix(name, ".lock") {
			t.Errorf("%s lies beside the queue", name)
		}
	}
	s.wantLetters()
}

// Section 4, steps 5 to 11.
func TestSeed003AQueueRunsByItsHooks(t *testing.T) {
	s := newStage(t, nil)
	p := s.open(wardenMain)
	commands := []string{"/clear", "/gsd:plan-phase 3", "a plain prompt\nin \"two\" lines; of -5 kB " + strings.Repeat("äöü 👩‍💻 ", 300) + "end"}
	s.create(wardenMain, commands...)
	for n, want := range []string{"active pending pending", "done active pending", "done done active"} {
		s.wantQueue(wardenMain, "", want)
		p.work(n + 1)
	}
	l := s.wantLetters("queue_complete")
	s.wantNoQueue(wardenMain)
	done := s.file(wardenMain, ".done")
	inOrder(t, l.text, "## Event Metadata", "- Session: "+wardenMain, "Queue complete. 3/3 commands executed. Results attached.", "- Queue file: "+done, "## Instructions")
	var results []string
	for _, c := range s.queue(wardenMain, ".done").Commands {
		result := ""
		if c.Result != nil {
			result = *c.Result
		}
		results = append(results, result)
		if c.Status != "done" || c.CompletedAt == nil {
			t.Errorf("command %d is %s", c.ID, c.Status)
		}
	}
	if diff := cmp.Diff([]string{"", answerTo(commands[1]), answerTo(commands[2])}, results); diff != "" {
		t.Errorf("the results (-want +got):\n%s", diff)
	}
	p.wantTyped(commands...)
}

func TestSeed003ManualInputCancels(t *testing.T) {
	s := newStage(t, nil)
	p := s.open(wardenMain)
	s.create(wardenMain, "/gsd:a", "/gsd:b", "/gsd:c")
	p.work(1)
	p.sent(2)
	p.prompt("prompt-2", "/gsd:b")
	p.prompt("mine", "I would rather do this myself")
	l := s.wantLetters("queue_cancelled")
	contains(t, l.text, `Queue cancelled by manual input. Completed: 1/3. Remaining: ["/gsd:b","/gsd:c"]`, s.file(wardenMain, ".stale"))
	s.wantNoQueue(wardenMain)
	s.wantQueue(wardenMain, ".stale", "done active pending")
	if got := s.queue(wardenMain, ".stale").Status; got != "cancelled" {
		t.Errorf("the queue's status is %q", got)
	}
	p.stop("mine", "Of course.")
	s.wantLetters("queue_cancelled", "stop")
	p.wantTyped("/gsd:a", "/gsd:b")
}

func TestSeed003StartupFindsAStaleQueue(t *testing.T) {
	s := newStage(t, nil)
	p := s.open(wardenMain)
	s.wantLetters() // a clean start
	s.create(wardenMain, "/gsd:a", "/gsd:b")
	p.work(1)
	p.sent(2)
	p.id = "another client"
	p.start("startup")
	l := s.wantLetters("queue_stale")
	contains(t, l.text, `Previous session had unfinished queue. Completed: 1/2. Remaining: ["/gsd:b"]`, s.file(wardenMain, ".stale"))
	s.wantNoQueue(wardenMain)
	s.wantQueue(wardenMain, ".stale", "done active")
	p.start("startup")
	s.wantLetters("queue_stale")
}

// Two sessions at the same time, one of whose names begins with the other.
func TestSeed003SessionsAreIsolated(t *testing.T) {
	s := newStage(t, nil)
	a, b := s.open("warden-1"), s.open("warden-10")
	s.create(a.session, "one of a", "two of a")
	s.create(b.session, "one of b", "two of b")
	before := plainQueue(t, slurp(t, s.file(b.session, "")))
	a.work(1)
	a.prompt("other", "something else")
	s.wantQueue(a.session, ".stale", "done active")
	b.sent(1)
	if diff := cmp.Diff(before, plainQueue(t, slurp(t, s.file(b.session, "")))); diff != "" {
		t.Errorf("the queue of b changed:\n%s", diff)
	}
	b.work(1)
	b.work(2)
	s.wantLetters("queue_cancelled", "queue_complete")
	s.wantQueue(b.session, ".done", "done done")
	b.wantTyped("one of b", "two of b")
}

// A session whose agent does nothing stays as it is: no queue is idle.
func TestSeed003NoQueueIsIdle(t *testing.T) {
	s := newStage(t, nil)
	p := s.open(wardenMain)
	p.stop("p1", "All is done.")
	s.wantLetters("stop")
	if exists(s.state("logs", "queues")) {
		t.Error("there are queues")
	}
	p.wantTyped()
}

// The seed's document as an older script writes it, without anything of ours.
func TestSeed003AHandWrittenQueueRuns(t *testing.T) {
	s := newStage(t, nil)
	p := s.open(wardenMain)
	check(t, os.MkdirAll(s.state("logs", "queues"), 0o700))
	spill(t, s.file(wardenMain, ""), seedQueue)
	p.hook("session-end.clear", nil) // somebody typed /clear
	p.id += "'"
	p.start("clear")
	s.wantQueue(wardenMain, "", "done active")
	p.work(1)
	contains(t, s.wantLetters("queue_complete").text, "Queue complete. 2/2 commands executed. Results attached.")
	p.wantTyped("/gsd:plan-phase 3")
}

// Section 8: a result is kept, whatever it says. The agent judges it.
func TestSeed003ResultsAreNotJudged(t *testing.T) {
	s := newStage(t, nil)
	p := s.open(wardenMain)
	s.create(wardenMain, "/gsd:a", "/gsd:b")
	p.prompt("prompt-1", p.sent(1))
	const says = "Error: API Error: 500. I failed, and I cannot go on. /clear"
	p.stop("prompt-1", says)
	s.wantQueue(wardenMain, "", "done active")
	p.work(2)
	s.wantLetters("queue_complete")
	if result := s.queue(wardenMain, ".done").Commands[0].Result; result == nil || *result != says {
		t.Errorf("the result is %v", result)
	}
	p.wantTyped("/gsd:a", "/gsd:b")
}

// Section 7, failure status: what the seed left for later.
func TestSeed003ACommandFails(t *testing.T) {
	s := newStage(t, nil)
	p := s.open(wardenMain)
	s.create(wardenMain, "/gsd:a", "/gsd:b", "/gsd:c")
	p.work(1)
	p.prompt("prompt-2", p.sent(2))
	p.hook("stop-failure.api-error", fields{"prompt_id": "prompt-2"})
	l := s.wantLetters("queue_failed")
	contains(t, l.text, "Queue failed: command 2 failed: the model's API failed", `Completed: 1/3. Remaining: ["/gsd:b","/gsd:c"]`, "API Error: 400 lab error 400")
	s.wantNoQueue(wardenMain)
	s.wantQueue(wardenMain, ".stale", "done failed pending")
	p.wantTyped("/gsd:a", "/gsd:b")

	// What is left can be done again.
	if r := s.call(stopgate, "queue", "retry", wardenMain); r.code != 0 {
		t.Fatalf("%+v", r)
	}
	p.work(3)
	p.work(4)
	s.wantLetters("queue_failed", "queue_complete")
	p.wantTyped("/gsd:a", "/gsd:b", "/gsd:b", "/gsd:c")
	if r := s.call(stopgate, "queue", "retry", wardenMain); r.code != 1 || r.stdout != "" {
		t.Errorf("nothing is left to do: %+v", r)
	}
	p.wantTyped("/gsd:a", "/gsd:b", "/gsd:b", "/gsd:c")
}
