//go:build unix

package driver

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/queue"
	"github.com/stopgate/stopgate/internal/wake"
)

// A client that is resumed elsewhere in the session finds the queue of one that is gone.
func TestAQueueOfAClientThatIsGoneIsEnded(t *testing.T) {
	t.Parallel()
	for name, leave := range map[string]func(s *scene, w *window){
		"with its pane":    func(s *scene, w *window) { s.tmux("kill-pane", "-t", w.ID) },
		"its pane is left": func(_ *scene, w *window) { w.hook("session-end.other", nil) },
	} {
		for _, source := range []string{"startup", "resume"} {
			t.Run(name+" "+source, func(t *testing.T) {
				t.Parallel()
				s := newScene(t)
				w := s.started(mainSession)
				w.give("/gsd:a", "/gsd:b")
				other := w.beside()
				leave(s, w)
				before := len(s.letters())
				other.start(source)
				s.ended(mainSession, ".stale")
				letters := s.letters()
				if len(letters) != before+1 || letters[before].Kind != wake.QueueStale {
					t.Errorf("the letters are %+v", letters)
				}
				other.stop("p1", "Done.")
				if letters := s.letters(); letters[len(letters)-1].Kind != wake.Stop {
					t.Error("the session is silent")
				}
			})
		}
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
	if _, err := s.outside().Retry(t.Context(), mainSession); err == nil || !strings.Contains(err.Error(), "permits") {
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
