//go:build unix

package driver

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/session/queue"
	"github.com/stopgate/stopgate/internal/session/terminal"
	"github.com/stopgate/stopgate/internal/session/wake"
	"github.com/stopgate/stopgate/internal/sys/lockfile"
)

func TestRuling36Refusals(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.register(`{"agents":[{"agent_id":"warden","session_name":"warden-main-4","working_directory":"/srv/warden","commands":["/clear","/gsd:*","say *","a*"]}]}`)
	w := s.ready(mainSession)
	for _, tt := range []struct {
		name  string
		order Order
		words string
	}{
		{"no session", Order{Commands: []string{"/clear"}}, "is empty"},
		{"a blank session", Order{Session: " \n", Commands: []string{"/clear"}}, "is empty"},
		{"no commands", Order{Session: mainSession}, "no commands"},
		{"a blank command", Order{Session: mainSession, Commands: []string{"/clear", " \n\t"}}, "command 2: the text is blank"},
		{"escape", Order{Session: mainSession, Commands: []string{"a\x1bb"}}, "command 1: control character U+001B at line 1, column 2"},
		{"interrupt", Order{Session: mainSession, Commands: []string{"a\n\x03"}}, "line 2, column 1"},
		{"carriage return", Order{Session: mainSession, Commands: []string{"a\rb"}}, "carriage return"},
		{"a C1 control", Order{Session: mainSession, Commands: []string{"a\u009b"}}, "U+009B"},
		{"not UTF-8", Order{Session: mainSession, Commands: []string{"a\xff"}}, "not UTF-8"},
		{"too long", Order{Session: mainSession, Commands: []string{"a" + strings.Repeat("b", terminal.MaxText)}}, "at most"},
		{"not permitted", Order{Session: mainSession, Commands: []string{"/clear", "rm -rf /"}}, "the registry does not allow command 2 in session warden-main-4: rm -rf /"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := s.outside().Create(t.Context(), tt.order)
			var refused *RefusedError
			if !errors.As(err, &refused) || !strings.Contains(err.Error(), tt.words) {
				t.Errorf("got %v, want it refused with %q", err, tt.words)
			}
			if left := files(t, filepath.Join(s.state, "logs")); len(left) > 0 {
				t.Errorf("left %q", left)
			}
		})
	}
	w.wantBytes("")
	if _, err := w.order("/clear", "/gsd:x", "say\ttab", "say one\nsay two"); err == nil {
		t.Error("a pattern of blanks is no pattern of tabs")
	}
	_, err := w.order("/clear", "/gsd:x", "say one\nsay\ttwo")
	check(t, err)
}

// A registry that cannot be read may hold a list that permits little: nothing is typed, no
// command and no message.
func TestRuling36AnUnreadableRegistryPermitsNothing(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{"cut off": `{"agents": [`, "empty": "", "another file": `{"agent": []}`} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			s.faulty = true
			w := s.ready(mainSession)
			s.register(text)
			for _, key := range []string{"", "k"} {
				_, err := s.outside().Create(t.Context(), Order{Session: mainSession, Key: key, Commands: []string{"/clear"}})
				var refused *RefusedError
				if !errors.As(err, &refused) || !strings.Contains(err.Error(), "stopgate registry check") {
					t.Errorf("with the key %q: got %v, want it refused", key, err)
				}
			}
			w.wantBytes("")
			if left := files(t, filepath.Join(s.state, "logs")); len(left) > 0 {
				t.Errorf("left %q", left)
			}
		})
	}
}

func TestRuling36NoSuchSession(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	order := Order{Session: mainSession, Commands: []string{"/clear"}}
	_, err := s.outside().Create(t.Context(), order)
	if !errors.Is(err, terminal.ErrNoSession) {
		t.Errorf("without a server: %v", err)
	}
	s.ready(mainSession + "2") // a name that begins so
	if _, err = s.outside().Create(t.Context(), order); !errors.Is(err, terminal.ErrNoSession) {
		t.Errorf("without the session: %v", err)
	}
	s.env = append(s.env, "PATH="+t.TempDir())
	if _, err = s.outside().Create(t.Context(), order); !errors.Is(err, terminal.ErrNotInstalled) {
		t.Errorf("without tmux: %v", err)
	}
	if left := files(t, filepath.Join(s.state, "logs")); len(left) > 0 {
		t.Errorf("left %q", left)
	}
}

func TestRuling36AQueueThatExists(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	w := s.ready(mainSession)
	_, err := w.order("/gsd:a", "/gsd:b")
	check(t, err)
	w.wantBytes(pasted("/gsd:a") + enter)
	if _, err := w.order("/gsd:c"); !errors.Is(err, queue.ErrExists) {
		t.Errorf("created beside another: %v", err)
	}
	if got := s.queue(mainSession).Commands[0].Command; got != "/gsd:a" {
		t.Errorf("the queue is that of %s", got)
	}
	_, err = s.outside().Create(t.Context(), Order{Session: mainSession, Commands: []string{"/gsd:c"}, Replace: true})
	check(t, err)
	l := s.wantLetters(wake.QueueCancelled)
	if want := `Queue cancelled by a new queue. Completed: 0/2. Remaining: ["/gsd:a","/gsd:b"]`; l.Headline != want {
		t.Errorf("the headline is %s, want %s", l.Headline, want)
	}
	if s.sends != 1 {
		t.Errorf("%d senders", s.sends)
	}
	text, err := os.ReadFile(s.file(mainSession, ".stale"))
	check(t, err)
	if !strings.Contains(string(text), `"status": "cancelled"`) {
		t.Errorf("the old queue is %s", text)
	}
	if got := s.queue(mainSession).Commands[0].Command; got != "/gsd:c" {
		t.Errorf("the queue is that of %s", got)
	}
	w.wantBytes(pasted("/gsd:a") + enter + pasted("/gsd:c") + enter)

	// Replacing nothing is creating.
	other := s.ready("warden-main-5")
	_, err = s.outside().Create(t.Context(), Order{Session: other.session, Commands: []string{"/gsd:c"}, Replace: true})
	check(t, err)
	other.wantBytes(pasted("/gsd:c") + enter)
}

func TestACommandIsTypedWithoutBlanksAroundItsSlash(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	w := s.ready(mainSession)
	q, err := w.order(" /clear \n", "  indented  ")
	check(t, err)
	w.wantBytes(pasted("/clear") + enter)
	if q.Commands[0].Command != "/clear" || *q.Commands[0].Awaits.Sub != "clear" || q.Commands[1].Command != "  indented  " {
		t.Errorf("the queue is %+v", q.Commands)
	}
}

func TestCreateForABusyClient(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	w := s.ready(mainSession).live()
	w.prompt("p0", "a person's")
	_, err := w.order("/gsd:a")
	check(t, err)
	s.wantDriven(0)
	w.wantBytes("")
	w.stop("p0", "Done.") // the turn in which the agent was asked
	s.wantDriven(1)
	s.wantLetters()
	s.deliver()
	eventually(t, "the queue is complete", func() bool { return len(s.letters()) > 0 })
	s.wantLetters(wake.QueueComplete)
	w.wantBytes(pasted("/gsd:a") + enter)
}

// A queue that is there before the client's first hook would be stale by that.
func TestCreateWaitsForAClientThatIsStarting(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	w := s.client(mainSession, looks{Screen: shellScreen})
	created := make(chan error, 1)
	s.working.Go(func() {
		_, err := w.order("/gsd:a")
		created <- err
	})
	w.Show(looks{})
	w.start("startup")
	check(t, <-created)
	w.wantBytes(pasted("/gsd:a") + enter)
	s.wantLetters()
	w.prompt("p1", "/gsd:a")
	w.stop("p1", "done")
	s.wantLetters(wake.QueueComplete)
}

// Whoever still delivers for an earlier queue may begin with the new one, and wait for its
// confirmation, or see it end: then there is nothing to wait for, and nothing is wrong.
func TestCreateWhereAnotherHasTheTurn(t *testing.T) {
	t.Parallel()
	for _, ends := range []bool{false, true} {
		s := newScene(t)
		w := s.ready(mainSession)
		release, err := lockfile.Acquire(t.Context(), s.driver().queues().DriverLock(mainSession), 0)
		check(t, err)
		created := make(chan error, 1)
		s.working.Go(func() {
			_, err := w.order("/gsd:a")
			created <- err
		})
		eventually(t, "there is a queue", func() bool { return exists(s.file(mainSession, "")) })
		pressed, err := s.driver().enter(t.Context(), mainSession, false)
		if err != nil || !pressed {
			t.Fatalf("pressed: %t, %v", pressed, err)
		}
		if ends {
			w.prompt("p1", "/gsd:a")
			w.stop("p1", "done")
		}
		check(t, <-created)
		release()
		s.wantDriven(0)
		w.wantBytes(pasted("/gsd:a") + enter)
	}
}

func TestCreateForAClientWithoutHooks(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.pace.Report = impatient.Report
	w := s.client(mainSession, looks{})
	_, err := w.order("/gsd:a")
	check(t, err)
	w.wantBytes(pasted("/gsd:a") + enter)
	s.pace = impatient
	check(t, s.outside().Deliver(t.Context(), mainSession))
	s.wantFailed("no hook of Claude Code confirmed it")
}

func TestCreateWithoutAClient(t *testing.T) {
	t.Parallel()
	for _, ended := range []bool{false, true} {
		s := newScene(t)
		s.pace.Start = impatient.Start
		w := s.client(mainSession, looks{})
		if ended {
			w.start("startup")
			w.hook("session-end.other", nil)
		}
		w.Show(looks{Screen: shellScreen})
		if _, err := w.order("rm -rf /tmp/nothing"); !errors.Is(err, ErrNoClaude) || !strings.Contains(err.Error(), "session "+mainSession+" does not run Claude Code") {
			t.Errorf("got %v", err)
		}
		w.wantBytes("")
		if exists(s.file(mainSession, "")) {
			t.Error("there is a queue")
		}
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	w := s.window(mainSession)
	find := func() (string, error) {
		p, err := s.outside().find(t.Context(), mainSession)
		return p.ID, err
	}
	want := func(what string, w *window) {
		t.Helper()
		if id, err := find(); err != nil || id != w.ID {
			t.Errorf("%s: %s, %v; want %s", what, id, err, w.ID)
		}
	}
	want("the only pane", w)
	other := w.beside()
	if _, err := find(); err == nil || !strings.Contains(err.Error(), "2 panes") {
		t.Errorf("of two panes: %v", err)
	}
	w.start("startup")
	want("the one that told of itself", w)
	other.start("startup")
	want("the one that told of itself last", other)
	w.prompt("p1", "x")
	want("the one that is heard of last", w)
	w.hook("session-end.other", nil)
	want("the one that has not ended", other)
	s.tmux("kill-pane", "-t", other.ID)
	want("the only one that is left", w)
	// A pane that went to another session is not of this one any more.
	moved := w.beside()
	moved.start("startup")
	s.window("elsewhere")
	s.tmux("join-pane", "-d", "-s", moved.ID, "-t", "=elsewhere:")
	want("the one that stayed", w)
}

func TestCancel(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	w := s.started(mainSession)
	if _, err := s.driver().Cancel(mainSession, "a person"); !errors.Is(err, queue.ErrNone) {
		t.Errorf("without a queue: %v", err)
	}
	w.give("/gsd:a")
	q, err := s.driver().Cancel(mainSession, "a person")
	check(t, err)
	if q.Status != queue.Cancelled {
		t.Errorf("the queue is %+v", q)
	}
	if l := s.wantLetters(wake.QueueCancelled); !strings.HasPrefix(l.Headline, "Queue cancelled by a person.") || s.sends != 1 {
		t.Errorf("the headline is %q, %d senders", l.Headline, s.sends)
	}
	s.ended(mainSession, ".stale")
}

func TestRetry(t *testing.T) {
	t.Parallel()
	const text = "/gsd:a"
	retry := func(s *scene) (queue.Queue, error) { return s.outside().Retry(s.t.Context(), mainSession) }
	for _, tt := range []struct {
		name  string
		make  func(s *scene, w *window)
		typed string
	}{
		{"waiting, although busy", func(s *scene, w *window) {
			w.prompt("p0", "a person's")
			w.give(text)
			s.deliver()
		}, pasted(text) + enter},
		{"waiting, after a try", func(s *scene, w *window) {
			w.give(text)
			s.step(queue.NotReady{ID: 1, Why: "a dialog is open"})
		}, pasted(text) + enter},
		{"typing", func(s *scene, w *window) {
			w.give(text)
			s.step(queue.Begun{ID: 1})
			w.Show(looks{Box: text})
		}, enter},
		{"entered", func(s *scene, w *window) {
			w.give(text)
			s.step(queue.Begun{ID: 1}, queue.Pressed{ID: 1})
		}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newScene(t)
			w := s.ready(mainSession)
			tt.make(s, w)
			_, err := retry(s)
			check(t, err)
			w.wantBytes(tt.typed)
			s.wantDriven(1)
			s.wantLetters()
			if d := s.active(); d.State != queue.Entered {
				t.Errorf("the delivery is %+v", d)
			}
		})
	}
	t.Run("the client has it", func(t *testing.T) {
		s := newScene(t)
		w := s.ready(mainSession)
		w.give(text)
		w.prompt("p1", text)
		_, err := retry(s)
		check(t, err)
		w.wantBytes("")
		s.wantDriven(0)
	})
	t.Run("a dialog", func(t *testing.T) {
		s := newScene(t)
		s.pace = impatient
		w := s.ready(mainSession)
		w.Show(looks{Screen: dialogScreen})
		w.give(text)
		var refused *RefusedError
		if _, err := retry(s); !errors.As(err, &refused) {
			t.Errorf("got %v", err)
		}
		w.wantBytes("")
	})
	t.Run("no queue", func(t *testing.T) {
		s := newScene(t)
		s.ready(mainSession)
		if _, err := retry(s); !errors.Is(err, queue.ErrNone) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("damaged", func(t *testing.T) {
		s := newScene(t)
		w := s.ready(mainSession)
		s.write(mainSession, "{")
		if _, err := retry(s); err == nil {
			t.Error("no error")
		}
		w.wantBytes("")
	})
	t.Run("the rest of one that failed", func(t *testing.T) {
		s := newScene(t)
		w := s.ready(mainSession)
		w.give("/gsd:first", text, "/gsd:last")
		w.prompt("p1", "/gsd:first")
		w.stop("p1", "first done")
		w.prompt("p2", text)
		w.hook("stop-failure.api-error", fields{"prompt_id": "p2"})
		old := s.ended(mainSession, ".stale")
		_, err := retry(s)
		check(t, err)
		w.wantBytes(pasted(text) + enter)
		q := s.queue(mainSession)
		if statuses(q) != "done active pending" || result(q.Commands[0]) != "first done" || q.Stopgate.ID == old.Stopgate.ID {
			t.Errorf("the queue is %+v", q)
		}
		w.prompt("p3", text)
		w.stop("p3", "done")
		w.prompt("p4", "/gsd:last")
		w.stop("p4", "done")
		s.wantLetters(wake.QueueFailed, wake.QueueComplete)
	})
	t.Run("nothing is left", func(t *testing.T) {
		s := newScene(t)
		s.ready(mainSession)
		s.write(mainSession, strings.NewReplacer(`"active"`, `"done"`, `"pending"`, `"done"`).Replace(seedQueue))
		check(t, os.Rename(s.file(mainSession, ""), s.file(mainSession, ".stale")))
		var refused *RefusedError
		if _, err := retry(s); !errors.As(err, &refused) {
			t.Errorf("got %v", err)
		}
	})
}

func TestDelivered(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	w := s.ready(mainSession)
	typed := func() { check(t, s.outside().Type(t.Context(), mainSession, "k1", "/gsd:a")) }
	typed()
	typed() // as by a sender that was killed before it noted that it had
	delivered := func(key string) bool { return s.driver().queues().HasKey(mainSession, key) }
	if !delivered("k1") || delivered("k2") {
		t.Error("while it is there")
	}
	w.prompt("p1", "/gsd:a")
	w.stop("p1", "done")
	if !delivered("k1") || delivered("k2") {
		t.Error("when it is done")
	}
	if typed(); exists(s.file(mainSession, "")) {
		t.Error("typed again")
	}
}
