//go:build unix

package driver

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/session/presence"
	"github.com/stopgate/stopgate/internal/session/queue"
	"github.com/stopgate/stopgate/internal/session/wake"
)

// active is the delivery of the session's active command.
func (s *scene) active() *queue.Delivery {
	s.t.Helper()
	q := s.queue(mainSession)
	if q.Active() == nil {
		s.t.Fatalf("no command is active: %s", statuses(q))
	}
	return q.Active().Stopgate
}

// wantFailed is a queue whose first command failed, and whose agent knows why.
func (s *scene) wantFailed(why string) {
	s.t.Helper()
	q := s.ended(mainSession, ".stale")
	if q.Commands[0].Status != queue.Failed || !strings.Contains(q.Commands[0].Stopgate.Why, why) {
		s.t.Errorf("the first command is %s: %s; want %q", q.Commands[0].Status, q.Commands[0].Stopgate.Why, why)
	}
	if l := s.wantLetters(wake.QueueFailed); !strings.Contains(l.Headline, why) || l.Queue.Path != s.file(mainSession, ".stale") {
		s.t.Errorf("the agent reads %q about %s", l.Headline, l.Queue.Path)
	}
	if s.senders() == 0 {
		s.t.Error("nobody sends that")
	}
}

// A message of ours that is in the input box already needs Enter, and no more. What a person
// wants to be typed does not: they may have written it there themselves.
func TestMessageThatIsThereAlready(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]string{"": "", "k-1": enter} {
		s := newScene(t)
		s.pace = impatient
		w := s.ready(mainSession)
		w.Show(looks{Box: "go on"})
		q := w.newQueue("go on")
		q.Stopgate.Key = key
		check(t, queue.NewStore(s.state).Create(w.session, q))
		if _, err := s.driver().enter(t.Context(), mainSession, false); err != nil {
			t.Fatal(err)
		}
		w.wantBytes(want)
	}
}

// A queue that was written again may have the number, the size or the time of the file before it.
func TestSameFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "queue")
	look := func(text string, at int64) os.FileInfo {
		t.Helper()
		check(t, os.WriteFile(path, []byte(text), 0o600))
		check(t, os.Chtimes(path, time.Time{}, time.Unix(at, 0)))
		info, err := os.Stat(path)
		check(t, err)
		return info
	}
	first := look("one", 1)
	if !same(look("two", 1), first) {
		t.Error("nothing differs")
	}
	if same(look("one", 2), first) {
		t.Error("another time")
	}
	if same(look("three", 1), first) {
		t.Error("another size")
	}
}

// A pane that is not ready is left alone. The next hook tries once more.
func TestRuling39NotReady(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		looks looks
		why   string
	}{
		{"a dialog", looks{Screen: dialogScreen}, "a dialog is open"},
		{"no prompt", looks{Screen: shellScreen}, "no prompt"},
		{"a person's text in the box", looks{Box: "half a thought"}, "text in the input box"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			s.pace = impatient
			w := s.ready(mainSession)
			w.Show(tt.looks)
			w.give("/gsd:a", "/gsd:b")
			s.deliver()
			if d := s.active(); d.State != queue.Waiting || d.Why != tt.why || d.Tries != 1 {
				t.Errorf("the delivery is %+v", d)
			}
			s.wantLetters()
			w.idle("p0")
			s.wantDriven(1)
			s.deliver()
			s.wantFailed(tt.why)
			w.wantBytes("")
		})
	}
}

func TestRuling39ReadyAtTheSecondTry(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.pace = impatient
	w := s.ready(mainSession)
	w.Show(looks{Screen: dialogScreen})
	w.give("/gsd:a")
	s.deliver()
	w.wantBytes("")
	w.Show(looks{})
	w.stop("p0", "The dialog was answered.")
	s.wantDriven(1)
	s.wantLetters()
	s.pace = patient
	w.live()
	s.deliver()
	w.wantBytes(pasted("/gsd:a") + enter)
}

// A client that shows its box a moment later is waited for.
func TestDeliverWaitsForTheBox(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.delivering = true
	w := s.ready(mainSession).live()
	w.Show(looks{Screen: shellScreen})
	w.give("/gsd:a")
	check(t, s.drive(mainSession))
	w.wantBytes("")
	w.Show(looks{})
	eventually(t, "the queue is complete", func() bool { return len(s.letters()) > 0 })
	w.wantBytes(pasted("/gsd:a") + enter)
}

// Enter would answer a dialog, or run the text in a shell.
func TestRuling39WhatOpensAfterThePasteGetsNoEnter(t *testing.T) {
	t.Parallel()
	for screen, why := range map[string]string{dialogScreen: "a dialog is open", shellScreen: "no prompt"} {
		t.Run(screen, func(t *testing.T) {
			s := newScene(t)
			w := s.ready(mainSession)
			w.Show(looks{OnPaste: screen})
			w.give("/gsd:a")
			s.deliver()
			s.wantFailed("Enter was not pressed: " + why)
			w.wantBytes(pasted("/gsd:a"))
		})
	}
}

func TestRuling38AnEnterThatWasNotHeardIsPressedOnceMore(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.pace.Confirm = impatient.Confirm
	w := s.ready(mainSession)
	w.Show(looks{Swallow: 1})
	w.live()
	w.give("/gsd:a")
	s.deliver()
	eventually(t, "the queue is complete", func() bool { return len(s.letters()) > 0 })
	s.wantLetters(wake.QueueComplete)
	w.wantBytes(pasted("/gsd:a") + enter + enter)
}

func TestRuling38NeverMoreThanTwoEnters(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.pace = impatient
	s.pace.Ready = long
	w := s.ready(mainSession)
	w.Show(looks{Swallow: 1000})
	w.give("/gsd:a", "/gsd:b")
	s.deliver()
	s.wantFailed("no hook of Claude Code confirmed it")
	w.wantBytes(pasted("/gsd:a") + enter + enter)
	if got := statuses(s.ended(mainSession, ".stale")); got != "failed pending" {
		t.Errorf("the commands are %s", got)
	}
	// No later hook types anything.
	w.idle("p0")
	w.stop("p0", "")
	s.wantDriven(0)
}

// The text is gone from the box, and no hook tells of it.
func TestRuling38ATextThatDisappearsIsNotTypedAgain(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.pace = impatient
	s.pace.Ready = long
	w := s.ready(mainSession) // nobody calls its hooks
	w.give("/gsd:a")
	s.deliver()
	s.wantFailed("no hook of Claude Code confirmed it")
	w.wantBytes(pasted("/gsd:a") + enter)
}

// A command that opens a dialog gets no second Enter.
func TestRuling39NoSecondEnterForADialog(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.pace = impatient
	w := s.ready(mainSession)
	w.give("/model")
	s.step(queue.Begun{ID: 1}, queue.Pressed{ID: 1})
	w.Show(looks{Screen: dialogScreen})
	s.deliver()
	s.wantFailed("no hook of Claude Code confirmed it")
	w.wantBytes("")
}

// step writes down what somebody has done who is gone.
func (s *scene) step(events ...queue.Event) {
	s.t.Helper()
	for _, e := range events {
		o, err := s.driver().apply(mainSession, func(q queue.Queue) queue.Transition { return queue.Apply(q, e, s.now()) })
		check(s.t, err)
		if o.Action != queue.Moved {
			s.t.Fatalf("%#v did nothing: %s", e, o.Action)
		}
	}
}

func TestAPaneThatIsGoneIsTold(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		kill func(s *scene, w *window)
	}{
		{"the pane before", func(s *scene, w *window) {
			s.window("elsewhere") // the server goes on
			s.tmux("kill-pane", "-t", w.ID)
		}},
		{"the pane in the middle", func(s *scene, w *window) {
			s.window("elsewhere")
			w.Show(looks{OnPaste: "exit"})
		}},
		{"the server before", func(s *scene, _ *window) { s.tmux("kill-server") }},
		{"the server in the middle", func(_ *scene, w *window) { w.Show(looks{OnPaste: "kill-server"}) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newScene(t)
			w := s.ready(mainSession)
			w.give("/gsd:a")
			tt.kill(s, w)
			s.deliver()
			s.wantFailed("no such tmux pane")
		})
	}
}

// What the client's hooks told counts before what its screen shows.
func TestABusyClientIsNotTypedInto(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		hook func(w *window)
		why  string
	}{
		{"busy", func(w *window) { w.prompt("p0", "a person's") }, "Claude Code is busy"},
		{"asking", func(w *window) { w.hook("permission-request.bash", nil) }, "Claude Code waits for an answer"},
		{"ended", func(w *window) { w.hook("session-end.other", nil) }, "Claude Code has ended"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newScene(t)
			w := s.ready(mainSession)
			tt.hook(w)
			w.give("/gsd:a")
			for range 3 { // that is no try
				s.deliver()
			}
			if d := s.active(); d.State != queue.Waiting || d.Why != tt.why || d.Tries != 0 {
				t.Errorf("the delivery is %+v", d)
			}
			w.wantBytes("")
			w.live()
			w.stop("p0", "")
			s.wantDriven(1)
			s.deliver()
			eventually(t, "the queue is complete", func() bool { return len(s.letters()) > 0 })
			w.wantBytes(pasted("/gsd:a") + enter)
		})
	}
}

// A person who interrupts the client fires no hook. Its screen does not move then.
func TestAClientThatIsSaidToBeBusyAndStandsStillIsTypedInto(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.pace.Still = 2 * glance
	w := s.ready(mainSession).live()
	w.prompt("p0", "a person's, who then pressed Escape")
	w.give("/gsd:a")
	s.deliver()
	eventually(t, "the queue is complete", func() bool { return len(s.letters()) > 0 })
	w.wantBytes(pasted("/gsd:a") + enter)
}

func TestForced(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.pace.Ready = time.Millisecond
	w := s.ready(mainSession).live()
	w.prompt("p0", "a person's")
	w.give("/gsd:a")
	force := func() error { _, err := s.driver().Retry(t.Context(), mainSession); return err }
	w.Show(looks{Screen: dialogScreen})
	var refused *RefusedError
	if err := force(); !errors.As(err, &refused) {
		t.Errorf("into a dialog: %v, want it refused", err)
	}
	if d := s.active(); d.State != queue.Waiting || d.Tries != 0 {
		t.Errorf("the delivery is %+v", d)
	}
	w.wantBytes("")
	s.pace.Ready = long
	w.Show(looks{})
	check(t, force())
	eventually(t, "the queue is complete", func() bool { return len(s.letters()) > 0 })
	w.wantBytes(pasted("/gsd:a") + enter)
}

func TestRuling310TypedAsItIs(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, text, want string }{
		{"a command", "/gsd:plan-phase 3", "/gsd:plan-phase 3"},
		{"no key for completion", "/gsd:pl\targ", "/gsd:pl\targ"},
		{"a dash, a semicolon", "-x;", "-x;"},
		{"a name of a file at the end", "read @README.md", "read @README.md "},
		{"not at the end", "@README.md is it", "@README.md is it"},
		{"a backslash at the end", `a\`, `a\ `},
		{"space after it", "a @b ", "a @b "},
		{"an exclamation mark", "!ls", " !ls"},
		{"lines", "one\n\n\nfour @x", "one\n\n\nfour @x "},
		{"100 kB", strings.Repeat("0123456789 äöü 👩‍💻\n", 4000), strings.Repeat("0123456789 äöü 👩‍💻\n", 4000)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			w := s.ready(mainSession).live()
			w.give(tt.text)
			s.deliver()
			w.wantBytes(pasted(tt.want) + enter)
			eventually(t, "it is taken for the command", func() bool { return len(s.letters()) > 0 })
			s.wantLetters(wake.QueueComplete)
		})
	}
}

// A queue that somebody wrote may hold anything.
func TestACommandThatMustNotBeTypedFails(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{"blank": ` \n`, "nothing": ``, "escape": `\u001b[201~`, "interrupt": `x\u0003`} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			w := s.ready(mainSession)
			s.write(mainSession, `{"commands":[{"id":1,"command":"`+text+`","status":"pending","trigger":{"hook":"Stop","sub":null},"awaits":{"hook":"Stop","sub":null}}]}`)
			w.stop("p0", "")
			s.wantDriven(1)
			s.deliver()
			s.wantFailed("")
			w.wantBytes("")
		})
	}
}

func TestOnlyOneDelivers(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.delivering = true
	w := s.ready(mainSession).live()
	w.give("/gsd:a", "/gsd:b")
	for range 4 {
		check(t, s.drive(mainSession))
	}
	eventually(t, "the queue is complete", func() bool { return len(s.letters()) > 0 })
	w.wantBytes(pasted("/gsd:a") + enter + pasted("/gsd:b") + enter)
}

// Whoever waits for a confirmation leaves the queue alone that took the place of its
// own.
func TestAQueueThatIsReplacedIsNotMistaken(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	w := s.ready(mainSession)
	w.Show(looks{Swallow: 1000})
	w.give("/gsd:a")
	delivered := make(chan error, 1)
	s.working.Go(func() { delivered <- s.driver().Deliver(t.Context(), mainSession) })
	eventually(t, "Enter reaches the client", func() bool { return strings.HasSuffix(w.bytes(), enter) })
	s.swap(w)
	select {
	case err := <-delivered:
		check(t, err)
	case <-time.After(long / 2): // before its patience is over
		t.Fatal("it still waits for the confirmation")
	}
	if d := s.active(); d.State != queue.Waiting || d.Why != "" {
		t.Errorf("the new queue's delivery is %+v", d)
	}
	s.wantLetters()
	w.wantBytes(pasted("/gsd:a") + enter)
}

// swap puts another queue with the same command in the place of the session's, at
// once.
func (s *scene) swap(w *window) {
	s.t.Helper()
	aside := queue.NewStore(filepath.Join(s.config, "aside"))
	check(s.t, aside.Create(mainSession, w.newQueue(s.queue(mainSession).Commands[0].Command)))
	check(s.t, os.Rename(aside.Path(mainSession), s.file(mainSession, "")))
}

// What becomes of a queue while somebody is on the way to type is seen at each step.
func TestAQueueThatEndsBeforeItsCommandIsTyped(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		end  func(s *scene, w *window)
		left bool
	}{
		{"cancelled", func(s *scene, _ *window) {
			_, err := s.driver().Cancel(mainSession, "a test")
			check(s.t, err)
		}, false},
		{"replaced", func(s *scene, w *window) { s.swap(w) }, true},
		{"confirmed", func(_ *scene, w *window) { w.prompt("p1", "/gsd:a") }, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newScene(t)
			w := s.ready(mainSession)
			w.give("/gsd:a")
			typist, err := s.driver().typist(t.Context(), mainSession)
			check(t, err)
			tt.end(s, w)
			before := files(t, filepath.Join(s.state, "logs"))
			pressed, err := typist.enter(true)
			if pressed || err != nil {
				t.Errorf("pressed: %t, %v", pressed, err)
			}
			check(t, typist.undelivered("a test", nil))
			w.wantBytes("")
			if diff := cmp.Diff(before, files(t, filepath.Join(s.state, "logs"))); diff != "" {
				t.Error(diff)
			}
			if exists(s.file(mainSession, "")) != tt.left {
				t.Errorf("there is a queue: %t", !tt.left)
			}
		})
	}
}

func TestADeliveryThatIsEndedLeavesTheRestToTheNext(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	w := s.ready(mainSession)
	w.Show(looks{Swallow: 1})
	w.give("/gsd:a")
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	s.working.Go(func() { ended <- s.driver().Deliver(ctx, mainSession) })
	eventually(t, "Enter reaches the client", func() bool { return strings.HasSuffix(w.bytes(), enter) })
	cancel()
	if err := <-ended; err == nil {
		t.Error("it says that it has delivered")
	}
	s.wantLetters()
	s.pace.Confirm = impatient.Confirm
	w.live()
	s.deliver()
	eventually(t, "the queue is complete", func() bool { return len(s.letters()) > 0 })
	s.wantLetters(wake.QueueComplete)
	w.wantBytes(pasted("/gsd:a") + enter + enter)
}

func TestScreensCanBeReadOtherwise(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.screen.Prompt = `^\$`
	s.pace = impatient
	s.pace.Ready = long
	w := s.client(mainSession, looks{Screen: shellScreen})
	w.start("startup")
	w.give("/gsd:a")
	s.deliver()
	w.wantBytes(pasted("/gsd:a"))
	// Enter before a text is there would become a part of it.
	s.wantFailed("it did not appear in the input box")
	s.screen.Prompt = `(`
	w.give("/gsd:b")
	if err := s.driver().Deliver(t.Context(), mainSession); err == nil {
		t.Error("a pattern that is none")
	}
	w.wantBytes(pasted("/gsd:a"))
}

func TestNothingToDeliver(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	w := s.ready(mainSession)
	if err := s.driver().Deliver(t.Context(), mainSession); !errors.Is(err, queue.ErrNone) {
		t.Errorf("without a queue: %v", err)
	}
	w.give("/gsd:a")
	w.prompt("p1", "/gsd:a")
	s.deliver() // the client has it
	w.wantBytes("")
	if c, _ := presence.NewBook(s.state).Load(s.socket(), w.PID, w.ID); c.State != presence.Busy {
		t.Errorf("the client is %s", c.State)
	}
}
