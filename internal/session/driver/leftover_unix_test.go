//go:build unix

package driver

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/session/queue"
	"github.com/stopgate/stopgate/internal/session/wake"
)

// gone are the ways in which a client leaves its queue to another one in the session.
var gone = map[string]func(s *scene, w *window){
	"with its pane":    func(s *scene, w *window) { s.tmux("kill-pane", "-t", w.ID) },
	"its pane is left": func(_ *scene, w *window) { w.hook("session-end.other", nil) },
}

func TestAQueueOfAClientThatIsGoneIsStale(t *testing.T) {
	t.Parallel()
	for name, leave := range gone {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			w := s.started(mainSession)
			w.give("/gsd:a", "/gsd:b")
			other := w.beside()
			leave(s, w)
			other.start("startup")
			s.ended(mainSession, ".stale")
			other.stop("p1", "Done.")
			letters := s.letters()
			if n := len(letters); n < 2 || letters[n-2].Kind != wake.QueueStale || letters[n-1].Kind != wake.Stop {
				t.Errorf("the letters are %+v", letters)
			}
		})
	}
}

// No resumption makes a queue stale: the conversation goes on, and the queue with it.
func TestRuling313AQueueGoesOnWhereTheSessionIsResumed(t *testing.T) {
	t.Parallel()
	for name, leave := range gone {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			w := s.started(mainSession)
			w.give("/gsd:a")
			other := w.beside()
			leave(s, w)
			other.start("resume")
			s.wantDriven(1)
			other.prompt("p1", "/gsd:a")
			other.stop("p1", "Done.")
			q := s.ended(mainSession, ".done")
			if result(q.Commands[0]) != "Done." {
				t.Errorf("the queue is %+v", q)
			}
		})
		t.Run(name+", in the middle of a command", func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			w := s.started(mainSession)
			w.give("/gsd:a")
			w.prompt("p1", "/gsd:a")
			other := w.beside()
			leave(s, w)
			other.start("resume")
			s.ended(mainSession, ".stale")
			letters := s.letters()
			if l := letters[len(letters)-1]; l.Kind != wake.QueueFailed || !strings.Contains(l.Headline, "Claude Code ended while working on it") {
				t.Errorf("the agent reads %q", l.Headline)
			}
		})
	}
}

// Where the other client lives, the queue is its own.
func TestAQueueOfAnotherClientIsLeftAlone(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	w := s.started(mainSession)
	w.give("/gsd:a")
	other := w.beside()
	for _, source := range []string{"startup", "resume", "clear"} {
		other.start(source)
	}
	s.wantLetters()
	if q := s.queue(mainSession); q.Completed() != 0 {
		t.Error("the queue has moved on")
	}
}

// What a retry brought to its end is not typed again by the next.
func TestRetryTakesTheQueueThatEndedLast(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	w := s.ready(mainSession).live()
	w.give("/gsd:a")
	_, err := s.driver().Cancel(mainSession, "a person")
	check(t, err)
	_, err = s.outside().Retry(t.Context(), mainSession)
	check(t, err)
	eventually(t, "the queue is complete", func() bool { return exists(s.file(mainSession, ".done")) })
	var refused *RefusedError
	if _, err := s.outside().Retry(t.Context(), mainSession); !errors.As(err, &refused) {
		t.Errorf("got %v, want it refused", err)
	}
	w.wantBytes(pasted("/gsd:a") + enter)
}

func TestRetryAsksTheAllowList(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	w := s.ready(mainSession)
	w.give("/gsd:a")
	_, err := s.driver().Cancel(mainSession, "a person")
	check(t, err)
	s.register(`{"agents": [{"agent_id": "warden", "session_name": "` + mainSession + `", "working_directory": "/w", "openclaw_session_id": "x", "commands": ["/clear"]}]}`)
	if _, err := s.outside().Retry(t.Context(), mainSession); err == nil || !strings.Contains(err.Error(), "does not allow") {
		t.Errorf("got %v", err)
	}
	w.wantBytes("")
}

// Whoever was to tell of a queue's end and to rename its file died.
func TestWhatSomebodyDiedBeforeIsFinished(t *testing.T) {
	t.Parallel()
	for name, begin := range map[string]func(s *scene, w *window) error{
		"create": func(_ *scene, w *window) error { _, err := w.order("/gsd:new"); return err },
		"retry":  func(s *scene, _ *window) error { _, err := s.outside().Retry(s.t.Context(), mainSession); return err },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			w := s.ready(mainSession)
			w.give("/gsd:a")
			q := queue.Apply(s.queue(mainSession), queue.Withdrawn{Why: "a person"}, s.now()).Queue
			check(t, os.Remove(s.file(mainSession, "")))
			check(t, s.driver().queues().Create(mainSession, q))
			check(t, begin(s, w))
			s.wantLetters(wake.QueueCancelled)
			if q := s.queue(mainSession); len(q.Commands) != 1 || q.Stopgate.Ending != nil {
				t.Errorf("the queue is %+v", q)
			}
		})
	}
}

// Hooks are told nothing of a new name; whoever uses it tells them.
func TestCreateUnderANewNameOfTheSession(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	w := s.ready("old").live()
	s.tmux("rename-session", "-t", "=old:", mainSession)
	_, err := s.outside().Create(t.Context(), Order{Session: mainSession, Commands: []string{"/gsd:a"}})
	check(t, err)
	eventually(t, "the queue is complete", func() bool { return exists(s.file(mainSession, ".done")) })
	w.wantBytes(pasted("/gsd:a") + enter)
	s.wantLetters(wake.QueueComplete)
}

func TestADamagedQueueMakesRoom(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	w := s.ready(mainSession)
	w.give("/gsd:a")
	check(t, os.WriteFile(s.file(mainSession, ""), []byte("{"), 0o600))
	_, err := s.outside().Create(t.Context(), Order{Session: mainSession, Commands: []string{"/gsd:b"}, Replace: true})
	check(t, err)
	s.wantLetters(wake.QueueFailed)
	w.wantBytes(pasted("/gsd:b") + enter)
}

// Whoever is not found in a broken registry is not woken, and nobody would know why.
func TestASessionsStartTellsOfABrokenRegistry(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.faulty = true
	w := s.window(mainSession)
	if r := w.start("startup"); r.Message != "" {
		t.Errorf("told %q", r.Message)
	}
	s.register(`{"agents": [`)
	if r := w.start("startup"); !strings.Contains(r.Message, "agent-registry.json:1:") {
		t.Errorf("told %q", r.Message)
	}
}
