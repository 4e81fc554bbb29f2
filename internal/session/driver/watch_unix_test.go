//go:build unix

package driver

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/session/queue"
	"github.com/stopgate/stopgate/internal/session/wake"
	"github.com/stopgate/stopgate/internal/sys/lockfile"
)

// watchful is a pace at which a watcher acts at once. What it is not to do it would do many times
// while a test looks on.
var watchful = Pace{
	Ready: time.Second, Confirm: time.Second, Last: long, Still: 2 * glance,
	Look: 5 * time.Millisecond, Free: 10 * time.Millisecond, Dropped: 300 * time.Millisecond, Stuck: long,
}

// atOnce is a pace at which nothing is hoped for.
var atOnce = Pace{Ready: time.Millisecond, Look: 5 * time.Millisecond, Free: long, Dropped: long, Stuck: 100 * time.Millisecond}

// watch is the process that watches. It ends with the last queue, or with the test.
func (s *scene) watch() (ended <-chan error) {
	s.t.Helper()
	return s.watchAt(watchful)
}

func (s *scene) watchAt(pace Pace) (ended <-chan error) {
	s.t.Helper()
	s.pace, s.delivering = pace, true
	done := make(chan error, 1)
	s.working.Go(func() { done <- s.watcher().Watch(s.t.Context()) })
	return done
}

// watcher is a driver whose clock goes as clocks do.
func (s *scene) watcher() *Driver {
	d := s.driver()
	d.Now = time.Now
	return d
}

// wantComplete waits for the end of the queue and for the end of the watcher.
func (s *scene) wantComplete(ended <-chan error) {
	s.t.Helper()
	eventually(s.t, "the queue is complete", func() bool { return exists(s.file(mainSession, ".done")) })
	s.wantLetters(wake.QueueComplete)
	s.empty()
	s.wantEnd(ended)
}

// waitFailed waits until the queue has failed, and a sender was started to tell of it.
func (s *scene) waitFailed() {
	s.t.Helper()
	eventually(s.t, "the queue has failed, and that is told", func() bool { return exists(s.file(mainSession, ".stale")) && s.senders() > 0 })
}

// empty takes the letters away, as a sender does.
func (s *scene) empty() { check(s.t, os.RemoveAll(filepath.Join(s.state, "outbox"))) }

func (s *scene) wantEnd(ended <-chan error) {
	s.t.Helper()
	select {
	case err := <-ended:
		check(s.t, err)
	case <-time.After(long):
		s.t.Fatal("it still watches")
	}
}

// A person writes something into the input box and clears it with Ctrl-C, or opens a dialog and
// leaves it with Esc. Neither fires a hook.
func TestP3WhatKeptACommandFromBeingTypedIsGone(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		hook  func(w *window)
		looks looks
	}{
		{"text, then Ctrl-C", func(*window) {}, looks{Box: "half a thought"}},
		{"a dialog of their own, then Esc", func(*window) {}, looks{Screen: dialogScreen}},
		{"a permission, then Esc", func(w *window) {
			w.prompt("p0", "a person's")
			w.hook("permission-request.bash", nil)
		}, looks{Screen: dialogScreen}},
		{"a turn, then Esc", func(w *window) { w.prompt("p0", "a person's") }, looks{Works: true}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			s.pace = impatient
			w := s.ready(mainSession).live()
			tt.hook(w)
			w.Show(tt.looks)
			_, err := w.order("/gsd:a")
			check(t, err)
			if d := s.active(); d.State != queue.Waiting {
				t.Fatalf("the delivery is %+v", d)
			}
			ended := s.watch()
			w.wantBytes("")
			w.Show(looks{})
			s.wantComplete(ended)
			w.wantBytes(pasted("/gsd:a") + enter)
		})
	}
}

// A person interrupts the command itself, in a dialog or while it is worked on.
func TestP3ACommandThatIsInterruptedFails(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name         string
		hook         func(w *window)
		looks, after looks
	}{
		{"in a dialog", func(w *window) { w.hook("permission-request.bash", nil) }, looks{Screen: dialogScreen}, looks{}},
		{"at work", func(*window) {}, looks{Works: true}, looks{}},
		{"before any answer, which brings the text back", func(*window) {}, looks{Works: true}, looks{Box: "/gsd:a"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			w := s.ready(mainSession)
			w.give("/gsd:a", "/gsd:b")
			w.prompt("p1", "/gsd:a")
			tt.hook(w)
			w.Show(tt.looks)
			ended := s.watch()
			w.Show(tt.after)
			s.waitFailed()
			s.wantFailed("it was interrupted")
			s.empty()
			s.wantEnd(ended)
			w.wantBytes("")
		})
	}
}

// What works, or waits for an answer that its agent knows of, is left alone.
func TestTheWatcherLeavesAClientThatWorksAlone(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		hook  func(w *window)
		looks looks
	}{
		{"it shows that it works", func(*window) {}, looks{Works: true}},
		{"it waits for an answer", func(w *window) { w.hook("permission-request.bash", nil) }, looks{Screen: dialogScreen}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			w := s.ready(mainSession)
			w.give("/gsd:a", "/gsd:b")
			w.prompt("p1", "/gsd:a")
			tt.hook(w)
			w.Show(tt.looks)
			s.pace = watchful
			s.pace.Stuck = time.Millisecond
			d := s.watcher()
			v := &watcher{Driver: d, pace: s.pace, sights: map[string]*sight{}}
			for range 50 {
				all, err := d.queues().List()
				check(t, err)
				for _, l := range all {
					check(t, v.see(t.Context(), l))
				}
				time.Sleep(s.pace.Look)
			}
			s.wantLetters()
			s.wantDriven(0)
			w.stop("p1", "Done.")
			if q := s.queue(mainSession); q.Completed() != 1 {
				t.Errorf("the queue is %s", statuses(q))
			}
		})
	}
}

// Killed between any two steps, and no hook comes.
func TestP3AWatcherFollowsATypistThatWasKilled(t *testing.T) {
	t.Parallel()
	const (
		text  = "/gsd:plan-phase 3"
		paste = "\x1b[200~" + text + "\x1b[201~"
	)
	for _, tt := range []struct {
		name     string
		before   bool
		command  string
		typed    string // when it was killed
		reported bool
	}{
		{name: "before it looks", before: true, command: "capture-pane"},
		{name: "after it looked", command: "capture-pane"},
		{name: "after Begun", before: true, command: "paste-buffer", reported: true},
		{name: "after the paste", command: "paste-buffer", typed: paste},
		{name: "after Pressed", before: true, command: "send-keys", typed: paste},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			w := s.ready(mainSession)
			w.give(text)
			s.killed(tt.before, tt.command)
			w.settled(tt.typed)
			w.live()
			ended := s.watch()
			if !tt.reported {
				s.wantComplete(ended)
				w.wantBytes(paste + enter)
				return
			}
			s.waitFailed()
			s.wantFailed("the process that typed it was killed")
			s.empty()
			s.wantEnd(ended)
			w.wantBytes("")
		})
	}
}

// What stays in the way is told in the end, however it came there.
func TestP3AQueueThatCannotTypeFails(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		hook func(s *scene, w *window)
		why  string
	}{
		{"text in the box", func(_ *scene, w *window) { w.Show(looks{Box: "half a thought"}) }, "text in the input box"},
		{"a dialog that no hook told of", func(_ *scene, w *window) { w.Show(looks{Screen: dialogScreen}) }, "a dialog is open"},
		{"no client", func(_ *scene, w *window) { w.Show(looks{Screen: shellScreen}) }, "no prompt"},
		{"no pane", func(s *scene, w *window) {
			s.window("elsewhere")
			s.tmux("kill-pane", "-t", w.ID)
		}, "no such tmux pane"},
		{"no server", func(s *scene, _ *window) { s.tmux("kill-server") }, "no such tmux pane"},
		{"nobody can type", func(s *scene, _ *window) { s.driveErr = errors.New("no program") }, "Claude Code is idle"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			s.faulty = true
			w := s.ready(mainSession)
			w.give("/gsd:a", "/gsd:b")
			tt.hook(s, w)
			s.watchAt(atOnce)
			s.waitFailed()
			s.wantFailed("it could not be typed")
			s.wantFailed(tt.why)
		})
	}
}

// A queue by hand whose first command nothing releases, one that is damaged, and one whose end
// was never told.
func TestP3NoQueueIsLeftBehind(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		make func(s *scene, w *window)
		kind wake.Kind
		file string
	}{
		{"released by nothing", func(s *scene, _ *window) {
			s.write(mainSession, `{"commands":[{"id":1,"command":"/gsd:a","status":"pending","trigger":{"hook":"Stop","sub":null},"awaits":{"hook":"Stop","sub":null}}]}`)
		}, wake.QueueFailed, ".stale"},
		{"damaged", func(s *scene, _ *window) { s.write(mainSession, "{") }, wake.QueueFailed, ".corrupt"},
		{"at its end", func(s *scene, w *window) {
			w.give("/gsd:a")
			q := queue.Apply(s.queue(mainSession), queue.Withdrawn{Why: "a person"}, s.now()).Queue
			check(s.t, os.Remove(s.file(mainSession, "")))
			check(s.t, s.driver().queues().Create(mainSession, q))
		}, wake.QueueCancelled, ".stale"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			w := s.ready(mainSession)
			tt.make(s, w)
			pace := atOnce
			pace.Dropped = pace.Stuck
			s.watchAt(pace)
			eventually(t, "its end is told", func() bool { return len(s.letters()) > 0 })
			s.wantLetters(tt.kind)
			eventually(t, "its file has its last name", func() bool { return exists(s.file(mainSession, tt.file)) })
		})
	}
}

// What goes wrong again and again is logged once, and tried until it is right.
func TestTheWatcherLogsAnErrorOnce(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.faulty = true
	w := s.ready(mainSession)
	w.give("/gsd:a")
	q := queue.Apply(s.queue(mainSession), queue.Withdrawn{Why: "a person"}, s.now()).Queue
	check(t, os.Remove(s.file(mainSession, "")))
	check(t, s.driver().queues().Create(mainSession, q))
	s.register(`{"agents": [`)
	d := s.watcher()
	d.Pace = atOnce
	v := &watcher{Driver: d, pace: atOnce, sights: map[string]*sight{}}
	logged := 0
	d.Log = func(format string, args ...any) {
		if strings.HasPrefix(format, "session ") {
			logged++
		}
	}
	for range 5 {
		v.log(mainSession, v.see(t.Context(), queue.Listed{Session: mainSession, Queue: q}))
		v.sights[mainSession].looked = time.Time{}
	}
	if logged != 1 {
		t.Errorf("logged %d times", logged)
	}
	s.register(registryText)
	check(t, v.see(t.Context(), queue.Listed{Session: mainSession, Queue: q}))
	s.wantLetters(wake.QueueCancelled)
}

// One process watches over all queues, and no longer than there are any.
func TestOneWatcherForAllQueues(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	w := s.ready(mainSession)
	w.Show(looks{Works: true})
	w.give("/gsd:a")
	ended := s.watch()
	lock := s.driver().queues().WatchLock()
	eventually(t, "it watches", func() bool { held, err := lockfile.Held(lock); return err == nil && held })
	check(t, s.watcher().Watch(t.Context())) // there is one

	started := 0
	d := s.driver()
	d.StartWatch = func() error { started++; return nil }
	d.ensureWatched()
	if started != 0 {
		t.Error("a second watcher was started")
	}

	_, err := s.driver().Cancel(mainSession, "a person")
	check(t, err)
	s.empty()
	s.wantEnd(ended)
	d.ensureWatched()
	if started != 1 {
		t.Error("no watcher was started")
	}
}

// A queue has its watcher before anything is typed, and a hook brings it back.
func TestWhoStartsTheWatcher(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	w := s.ready(mainSession)
	started := 0
	start := func() error { started++; return nil }
	want := func(n int, when string) {
		t.Helper()
		if started != n {
			t.Errorf("%s: started %d times, want %d", when, started, n)
		}
	}

	ctx, cancel := context.WithCancel(t.Context())
	d := s.outside()
	d.StartWatch = func() error { cancel(); return start() } // so that nothing can be typed any more
	_, _ = d.Create(ctx, Order{Session: mainSession, Commands: []string{"/gsd:a"}})
	w.wantBytes("")
	want(1, "create")

	d = s.driver(w.environ()...)
	d.StartWatch = start
	d.Hook(t.Context(), Call{Payload: w.payload("user-prompt-submit.typed-in-tmux", fields{"prompt_id": "p1", "prompt": "/gsd:a"})})
	want(2, "a hook")
	d.Hook(t.Context(), Call{Payload: w.payload("stop.first", fields{"prompt_id": "p1"})})
	want(2, "the end of the queue")
	d.Hook(t.Context(), Call{Payload: w.payload("stop.first", fields{"prompt_id": "p2"})})
	want(2, "no queue")
}

// The process that sends may be killed, too.
func TestTheWatcherHasLettersSent(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	w := s.ready(mainSession)
	w.stop("p0", "Done.")
	before := s.senders()
	ended := s.watch()
	eventually(t, "a sender is started", func() bool { return s.senders() > before })
	s.empty()
	s.wantEnd(ended)
}

// A sender has its time before the next one is started, and so has that of the hook that wrote a letter.
func TestSendersAreNotStartedAtOnce(t *testing.T) {
	at, started := time.Date(2026, 2, 20, 12, 0, 0, 0, time.UTC), 0
	w := &watcher{Driver: &Driver{
		StateDir: t.TempDir(),
		Now:      func() time.Time { return at },
		Send:     func() error { started++; return nil },
	}}
	after := func(d time.Duration, want int) {
		t.Helper()
		at = at.Add(d)
		if w.resend(); started != want {
			t.Errorf("%d were started, want %d", started, want)
		}
	}
	after(0, 0)
	check(t, w.outbox().Put(wake.Letter{AgentID: "warden", Kind: wake.Stop, Key: wake.Key("1"), Time: at}))
	after(again-1, 0)
	after(1, 1)
	after(again-1, 1)
	after(1, 2)
}

// What was seen of a queue does not end the one that took its place.
func TestTheWatcherFailsOnlyWhatItSaw(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.started(mainSession).give("/gsd:a")
	l := queue.Listed{Session: mainSession, Queue: s.queue(mainSession)}
	w := &watcher{Driver: s.driver()}
	before := positionOf(l.Queue)
	before.queue = "the one before"
	check(t, w.fail(l, before, "why"))
	if !exists(s.file(mainSession, "")) {
		t.Fatal("another queue has ended")
	}
	check(t, w.fail(l, positionOf(l.Queue), "why"))
	if exists(s.file(mainSession, "")) {
		t.Error("it has not ended")
	}
}

// A person who writes a queue by hand is given time.
func TestTheWatcherWaitsForAQueueThatIsBeingWritten(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.write(mainSession, "{")
	at := time.Date(2026, 2, 20, 12, 0, 0, 0, time.UTC)
	w := &watcher{Driver: s.driver(), pace: measured, sights: map[string]*sight{}}
	w.Now = func() time.Time { return at }
	l := queue.Listed{Session: mainSession, Err: errors.New("damaged")}
	for _, left := range []bool{true, true, false} {
		check(t, w.see(t.Context(), l))
		if exists(s.file(mainSession, "")) != left {
			t.Errorf("at %s it is not %t that it is left", at.Format(time.TimeOnly), left)
		}
		at = at.Add(measured.Dropped / 2)
	}
}

// A variable of several lines cannot go into the command line that tmux keeps.
func TestWhatAnotherWatcherKeeps(t *testing.T) {
	w := &watcher{Driver: &Driver{Environ: []string{"SECRET=1", "PATH=/bin", "HOME=/a\n/b", "TMPDIR=", "STOPGATE_STATE_DIR=/s t"}}}
	if got, want := w.kept(), []string{"PATH=/bin", "STOPGATE_STATE_DIR=/s t"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Were all processes of ours killed, the tmux server would start a watcher again.
func TestTmuxStartsAnotherWatcher(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	w := s.ready(mainSession)
	w.Show(looks{Works: true})
	w.give("/gsd:a")
	s.pace = watchful
	s.pace.Guard = 50 * time.Millisecond
	d := s.watcher()
	proof := filepath.Join(t.TempDir(), "it's 100% #{pid} #S")
	d.Environ = append(d.Environ, "STOPGATE_STATE_DIR="+proof, "SECRET=1")
	d.Watcher = []string{"sh", "-c", `test -z "$SECRET" && echo started >"$STOPGATE_STATE_DIR"; exit 1`}
	s.working.Go(func() { _ = d.Watch(t.Context()) })
	eventually(t, "tmux starts a watcher", func() bool { return exists(proof) })
	if screen := s.tmux("capture-pane", "-p", "-t", w.ID); strings.Contains(screen, "returned") {
		t.Errorf("tmux told of it:\n%s", screen)
	}
}
