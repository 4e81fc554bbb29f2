//go:build unix

package driver

import (
	"testing"

	"github.com/stopgate/stopgate/internal/session/queue"
)

// What a client shows is asked where its hooks may not have told: not of a person who
// interrupts it, and not always of what a person typed while it worked.
func TestAClientThatShowsThatItWorks(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		busy  bool // by its hooks
		looks looks
		typed bool
	}{
		{"free, and shows nothing", false, looks{Moves: true}, true},
		{"free, but goes on", false, looks{Works: true, Moves: true}, false},
		{"free, and always looks so", false, looks{Works: true}, true},
		{"busy", true, looks{Works: true, Moves: true}, false},
		{"busy without moving", true, looks{Works: true}, false},
		{"interrupted", true, looks{}, true},
		{"interrupted, as far as is known", true, looks{Moves: true}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			s.pace.Still = 20 * glance
			w := s.ready(mainSession).live()
			if tt.busy {
				w.prompt("p0", "a person's")
				s.waitsForAMove(!tt.typed)
			}
			w.give("/gsd:a")
			w.Show(tt.looks)
			s.deliver()
			if !tt.typed {
				if d := s.active(); d.State != "waiting" || d.Why != "Claude Code is busy" || d.Tries != 0 {
					t.Errorf("the delivery is %+v", d)
				}
				w.wantBytes("")
				return
			}
			eventually(t, "the queue is complete", func() bool { return len(s.letters()) > 0 })
			w.wantBytes(pasted("/gsd:a") + enter)
		})
	}
}

// waitsForAMove lets a client that is to be seen at work take its time to show it.
func (s *scene) waitsForAMove(works bool) {
	if works {
		s.pace.Still = long
	}
}

// confirmed is a session whose client has the first command of a queue.
func (s *scene) confirmed(commands ...string) *window {
	s.t.Helper()
	w := s.ready(mainSession)
	w.give(commands...)
	s.step(queue.Begun{ID: 1}, queue.Pressed{ID: 1})
	w.prompt("p1", commands[0])
	return w
}

// A command that the client was interrupted in is given up, and none that it works on or
// asks about.
func TestGiveUp(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		then  func(w *window)
		looks looks
		over  bool
	}{
		{"interrupted", func(*window) {}, looks{}, true},
		{"interrupted at a question", func(w *window) { w.hook("permission-request.bash", nil) }, looks{}, true},
		{"interrupted and cleared", func(w *window) { w.hook("session-start.clear", nil) }, looks{}, true},
		{"works", func(*window) {}, looks{Works: true}, false},
		{"moves", func(*window) {}, looks{Moves: true}, false},
		{"asks", func(w *window) { w.hook("permission-request.bash", nil) }, looks{Screen: dialogScreen}, false},
		{"a person types", func(*window) {}, looks{Box: "hm"}, false},
		{"not its own", func(w *window) { w.stop("p1", "m") }, looks{}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			s.pace.Still = 20 * glance
			s.waitsForAMove(!tt.over)
			w := s.confirmed("/gsd:a", "/gsd:b")
			tt.then(w)
			w.Show(tt.looks)
			check(t, s.driver().GiveUp(t.Context(), mainSession))
			if over := !exists(s.file(mainSession, "")); over != tt.over {
				t.Errorf("given up: %t", over)
			}
			if tt.over {
				if e := s.ended(mainSession, ".stale").Stopgate.Ending; e.Kind != queue.Cancel {
					t.Errorf("it ended with %+v", e)
				}
			}
			w.wantBytes("")
		})
	}
}

// The stop may come while one looks.
func TestGiveUpTooLate(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.pace.Still = 20 * glance
	w := s.confirmed("/gsd:a", "/gsd:b")
	given := make(chan error, 1)
	go func() { given <- s.driver().GiveUp(t.Context(), mainSession) }()
	eventually(t, "somebody looks", func() bool { return exists(queue.NewStore(s.state).DriverLock(mainSession)) })
	w.stop("p1", "m")
	check(t, <-given)
	if q := s.queue(mainSession); q.Completed() != 1 || q.Active() == nil {
		t.Errorf("the queue is %+v", q)
	}
}
