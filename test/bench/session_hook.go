//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/stopgate/stopgate/internal/session/presence"
	"github.com/stopgate/stopgate/internal/session/queue"
	"github.com/stopgate/stopgate/internal/session/terminal"
	"github.com/stopgate/stopgate/internal/session/wake"
	"github.com/stopgate/stopgate/internal/sys/lockfile"
)

// sessionHook measures what a queue that moves on adds to a stop.
func sessionHook(ctx context.Context, l *lab, r *report) error {
	const limit, rounds = 1.6, 300
	s, err := l.newStage(ctx)
	if err != nil {
		return err
	}
	defer s.close()
	plain, queued, woken := s.stop("plain"), s.stop("queued"), s.stop("woken")
	for _, h := range []*stopHook{plain, queued, woken} {
		if err := h.enter(ctx); err != nil {
			return err
		}
	}
	outside := s.stop("outside")
	outside.before = outside.writePayload
	if err := queued.withQueue(); err != nil {
		return err
	}
	if err := woken.withAgent(); err != nil {
		return err
	}
	if err := settle(ctx); err != nil {
		return err
	}
	m, err := l.race(ctx, rounds, plain.program, queued.program, outside.program, woken.program)
	if err != nil {
		return err
	}
	r.table("**A stop of a client in tmux**, against one without a queue")
	r.reference("stopgate hook Stop, no queue", &m[0])
	r.row("stopgate hook Stop, the queue moves on", &m[1], figure{m[1].ratioTo(&m[0]), "times no queue", limit})
	r.row("stopgate hook Stop, not in tmux", &m[2], figure{m[2].ratioTo(&m[0]), "times no queue", 0})
	r.row("stopgate hook Stop, an agent is woken", &m[3], figure{m[3].ratioTo(&m[0]), "times no queue", 0})
	return nil
}

// stopHook is a stop of a client with a home of its own.
type stopHook struct {
	program
	stage  *stage
	home   string
	pane   terminal.Pane
	prompt int // of this stop
}

func (s *stage) stop(name string) *stopHook {
	home := s.path("home-" + name)
	return &stopHook{
		program: program{
			name: name, dir: home, stdin: filepath.Join(home, "payload.json"), piped: true,
			args: []string{s.stopgate, "hook", "Stop"},
			env:  []string{"HOME=" + home, "STOPGATE_STATE_DIR=" + filepath.Join(home, "state")},
		},
		stage: s, home: home,
	}
}

func (h *stopHook) state() string { return filepath.Join(h.home, "state") }

// enter puts the client into a session. Its pane is gone before anything is measured:
// whoever is started to type there then has nothing to wait for.
func (h *stopHook) enter(ctx context.Context) (err error) {
	if h.pane, err = h.stage.open(ctx, h.name, "sleep", "86400"); err != nil {
		return err
	}
	h.env = append(h.env, inside(h.pane)...)
	if err := h.writePayload(ctx); err != nil {
		return err
	}
	if _, _, err := h.stage.run(ctx, h.program); err != nil { // the client makes itself known
		return err
	}
	client, known := presence.NewBook(h.state()).Load(h.pane.Server.Socket, h.pane.PID, h.pane.ID)
	if !known || client.Session != h.name {
		return fmt.Errorf("the hook made of the session: %+v", client)
	}
	h.before = func(ctx context.Context) error {
		client.State, client.Since = presence.Busy, time.Now() // by its prompt, before the stop
		if err := presence.NewBook(h.state()).Store(client); err != nil {
			return err
		}
		return h.writePayload(ctx)
	}
	_, err = h.stage.tmux(ctx, "kill-session", "-t", "="+h.name)
	return err
}

// writePayload writes what no stop before it had: an agent is told the same news once.
func (h *stopHook) writePayload(context.Context) error {
	h.prompt++
	text := fmt.Sprintf(`{"session_id":"bench","prompt_id":"prompt-%d","transcript_path":"%[2]s/t.jsonl","cwd":"%[2]s","hook_event_name":"Stop","stop_hook_active":false,"last_assistant_message":"Done. Next: /gsd:plan-phase 3"}`, h.prompt, h.home)
	return write(h.stdin, text)
}

// withQueue gives the session, for each stop, a queue whose second command is the one
// that is done by it.
func (h *stopHook) withQueue() error {
	store := queue.NewStore(h.state())
	now := time.Now()
	q := queue.New(h.name, wake.Key(h.name), []string{"/clear", "/gsd:plan-phase 3", "Run the tests.\nThen fix what fails."}, now)
	q.Stopgate.Place = &queue.Place{Socket: h.pane.Server.Socket, PID: h.pane.PID, Pane: h.pane.ID}
	for _, e := range []queue.Event{
		queue.Begun{ID: 1},
		queue.Pressed{ID: 1},
		queue.SessionStart{Source: "clear", ClaudeSession: "bench"},
		queue.Begun{ID: 2},
		queue.Pressed{ID: 2},
		queue.Prompt{PromptID: "PROMPT", Text: "/gsd:plan-phase 3"},
	} {
		q = queue.Apply(q, e, now).Queue
	}
	if err := store.Create(h.name, q); err != nil {
		return err
	}
	text, err := os.ReadFile(store.Path(h.name))
	if err != nil {
		return err
	}
	prepare := h.before
	h.before = func(ctx context.Context) error {
		if err := prepare(ctx); err != nil {
			return err
		}
		return os.WriteFile(store.Path(h.name), bytes.ReplaceAll(text, []byte("PROMPT"), fmt.Appendf(nil, "prompt-%d", h.prompt)), 0o600)
	}
	h.after = func(ctx context.Context) error { // whoever was started finds no pane, and gives up
		if err := until(ctx, "the queue ends", func() bool { return !store.Exists(h.name) }); err != nil {
			return err
		}
		if err := ended(ctx, func() (func(), error) { return lockfile.Acquire(ctx, store.DriverLock(h.name), time.Minute) }); err != nil {
			return err
		}
		last, err := store.Last(h.name)
		if q := last.Queue; err == nil && (q.Completed() != 2 || q.Commands[2].Status != queue.Failed) {
			err = fmt.Errorf("the queue became %+v", q)
		}
		return err
	}
	return nil
}

// withAgent registers an agent for the session. Who is told is a program that counts.
func (h *stopHook) withAgent() error {
	told := filepath.Join(h.home, "told")
	registry, err := json.Marshal(map[string]any{"agents": []any{map[string]any{
		"agent_id": "warden", "session_name": h.name, "working_directory": h.home,
		"gateway": map[string]any{"transport": "command", "command": []string{"sh", "-c", "echo >> " + told}},
	}}})
	if err != nil {
		return err
	}
	outbox, stops := wake.NewOutbox(h.state()), 0
	h.after = func(ctx context.Context) error {
		stops++
		err := until(ctx, "the letter is sent", func() bool {
			lines, _ := os.ReadFile(told) // none: nobody was told yet
			return len(lines) == stops && !outbox.Waiting()
		})
		if err != nil {
			return err
		}
		return ended(ctx, outbox.Box("warden").Hold)
	}
	return write(filepath.Join(h.home, ".config", "agent-gauntlet", "agent-registry.json"), string(registry))
}

// ended waits until a process that was started has given its lock back, and a moment for
// the rest of its end: it must not disturb what is measured next.
func ended(ctx context.Context, take func() (func(), error)) error {
	err := until(ctx, "a process that was started ends", func() bool {
		release, err := take()
		if err == nil {
			release()
		}
		return err == nil
	})
	time.Sleep(3 * time.Millisecond)
	return err
}
