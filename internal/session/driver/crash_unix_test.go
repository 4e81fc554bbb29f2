//go:build unix

package driver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/session/queue"
	"github.com/stopgate/stopgate/internal/session/wake"
)

const (
	typistStateEnv  = "STOPGATE_TYPIST_STATE"
	typistConfigEnv = "STOPGATE_TYPIST_CONFIG"
)

// deliverAlone is the process that a hook starts.
func deliverAlone(session string) error {
	d := &Driver{
		StateDir: os.Getenv(typistStateEnv), ConfigDir: os.Getenv(typistConfigEnv), Environ: os.Environ(), Now: time.Now,
		Drive: func(string) error { return nil }, Send: func() error { return nil },
		Log:  func(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) },
		Pace: patient,
	}
	ctx, cancel := context.WithTimeout(context.Background(), long)
	defer cancel()
	return d.Deliver(ctx, session)
}

// killed runs a delivery that is killed before or after its tmux does something.
func (s *scene) killed(before bool, command string) {
	s.t.Helper()
	program, err := exec.LookPath("tmux")
	check(s.t, err)
	dir := s.t.TempDir()
	run := program + ` "$@"`
	kill := "kill -9 $PPID; exit 1"
	then := run + "; " + kill
	if before {
		then = kill
	}
	script := fmt.Sprintf("#!/bin/sh\ncase \"$*\" in\n*%s*) %s ;;\nesac\nexec %s\n", command, then, run)
	check(s.t, os.WriteFile(filepath.Join(dir, "tmux"), []byte(script), 0o755))
	self, err := os.Executable()
	check(s.t, err)
	cmd := exec.Command(self)
	cmd.Env = slices.Concat(s.env, []string{
		"PATH=" + dir + ":/usr/bin:/bin", typistEnv + "=" + mainSession, typistStateEnv + "=" + s.state, typistConfigEnv + "=" + s.config,
	})
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		s.t.Fatalf("it was not killed: %v: %s", err, out)
	}
}

// Killed between any two steps: the next hook goes on, or reports it. Nothing is typed
// twice.
func TestKilledBetweenAnyTwoSteps(t *testing.T) {
	t.Parallel()
	const (
		text  = "/gsd:plan-phase 3"
		paste = "\x1b[200~" + text + "\x1b[201~"
	)
	for _, tt := range []struct {
		name     string
		before   bool
		command  string
		state    queue.DeliveryState
		typed    string // when it was killed
		want     string // after the next hook
		reported bool
	}{
		{name: "before it looks", before: true, command: "capture-pane", state: queue.Waiting, want: paste + enter},
		{name: "after it looked", command: "capture-pane", state: queue.Waiting, want: paste + enter},
		{name: "after Begun", before: true, command: "paste-buffer", state: queue.Typing, reported: true},
		{name: "after the paste", command: "paste-buffer", state: queue.Typing, typed: paste, want: paste + enter},
		{name: "after Pressed", before: true, command: "send-keys", state: queue.Entered, typed: paste, want: paste + enter},
	} {
		for _, event := range []string{"idle", "stop"} {
			t.Run(tt.name+" "+event, func(t *testing.T) {
				t.Parallel()
				s := newScene(t)
				w := s.ready(mainSession)
				w.give(text, "/gsd:next")
				s.killed(tt.before, tt.command)
				w.wantBytes(tt.typed)
				if d := s.active(); d.State != tt.state {
					t.Fatalf("the delivery is %+v, want it %s", d, tt.state)
				}
				w.settled(tt.typed)
				switch event {
				case "idle":
					w.idle("p0")
				case "stop":
					w.stop("p0", "of an older turn")
				}
				s.wantDriven(1)
				s.wantLetters()
				s.pace.Confirm = impatient.Confirm
				w.answer()
				s.deliver()
				w.wantBytes(tt.want)
				if tt.reported {
					s.wantFailed("the process that typed it was killed")
					return
				}
				if d := s.active(); d.State != queue.Confirmed {
					t.Errorf("the delivery is %+v", d)
				}
			})
		}
	}
}

// settled waits until the terminal shows what was typed.
func (w *window) settled(typed string) {
	w.s.t.Helper()
	if typed == "" {
		return
	}
	eventually(w.s.t, "the text is in the box", func() bool {
		return strings.Contains(w.s.tmux("capture-pane", "-p", "-t", w.ID), "\u00a0/gsd:")
	})
}

// answer makes the client confirm what it gets, and no more.
func (w *window) answer() {
	w.s.working.Go(func() {
		for text := range w.Sent {
			w.prompt("p1", text)
		}
	})
}

// Killed after Enter the rest is the client's: its hooks need nobody.
func TestKilledAfterEnter(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	w := s.ready(mainSession)
	w.give("/gsd:a")
	s.killed(false, "send-keys")
	w.wantBytes(pasted("/gsd:a") + enter)
	if d := s.active(); d.State != queue.Entered || d.Enters != 1 {
		t.Fatalf("the delivery is %+v", d)
	}
	w.live()
	eventually(t, "the queue is complete", func() bool { return len(s.letters()) > 0 })
	s.wantLetters(wake.QueueComplete)
	s.wantDriven(0)
	w.wantBytes(pasted("/gsd:a") + enter)
}

// Killed after each of its two Enters, and no hook comes: it is reported.
func TestKilledAfterTheLastEnter(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	w := s.ready(mainSession)
	w.Show(looks{Swallow: 1000})
	w.give("/gsd:a")
	s.step(queue.Begun{ID: 1}, queue.Pressed{ID: 1}, queue.Pressed{ID: 1})
	w.Show(looks{Box: "/gsd:a"})
	w.idle("p0")
	s.wantDriven(1)
	s.pace = impatient
	s.deliver()
	s.wantFailed("no hook of Claude Code confirmed it")
	w.wantBytes("")
}
