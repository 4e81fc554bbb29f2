//go:build unix

package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/agents/agentdir"
	"github.com/stopgate/stopgate/internal/agents/errand"
	"github.com/stopgate/stopgate/internal/control/effect"
	"github.com/stopgate/stopgate/internal/control/engine"
	"github.com/stopgate/stopgate/internal/control/runbook"
	"github.com/stopgate/stopgate/internal/session/driver"
	"github.com/stopgate/stopgate/internal/session/presence"
	"github.com/stopgate/stopgate/internal/session/queue"
	"github.com/stopgate/stopgate/internal/session/terminal"
	"github.com/stopgate/stopgate/internal/sys/checktest"
	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
)

// long bounds what a test waits for; nothing takes that long.
const long = 3 * time.Minute

const id = "0b5e7b5c-5a0d-5f3a-9b1e-2f6d1c8e4a77"

var owner = &engine.Owner{ID: "0123456789abcdef"}

type scene struct {
	Terminals
	t   *testing.T
	cwd string
}

func newScene(t *testing.T) *scene {
	t.Helper()
	tmux := environtest.Need(t, "tmux")
	state, err := os.MkdirTemp("", "agent") // a short path, for the socket
	check(t, err)
	bin := programs(t)
	s := &scene{t: t, cwd: t.TempDir(), Terminals: Terminals{
		Config: filepath.Join(state, "config.yml"), Now: time.Now,
		Log: func(format string, args ...any) { t.Logf(format, args...) },
		Errands: effect.Errands{
			StateDir: state, Program: filepath.Join(bin, "stopgate"),
			Environ: []string{"PATH=" + path(bin, tmux), "HOME=" + t.TempDir(), "SHELL=/bin/sh", "TERM=xterm-256color", "LC_ALL=C", "GORACE=atexit_sleep_ms=0"},
			Log:     func(owner string) string { return filepath.Join(state, "logs", owner+".log") },
		},
	}}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), long)
		defer cancel()
		if err := errors.Join(s.Kill(ctx, id), s.End(ctx)); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			log, _ := os.ReadFile(filepath.Join(state, "logs", "driver.log"))
			heard, _ := os.ReadFile(filepath.Join(s.cwd, "heard"))
			t.Logf("heard: %s\ndriver: %s", heard, log)
		}
		eventually(t, "nobody writes there any more", func() bool { return os.RemoveAll(state) == nil })
	})
	return s
}

var eventually = checktest.Eventually

func (s *scene) agent(prompt string) engine.AgentStart {
	return engine.AgentStart{ID: id, Name: "worker", Run: "claude", Prompt: prompt, Cwd: s.cwd, Step: "work", OnStop: runbook.StopIdle, ClaudeCode: true}
}

func (s *scene) start(a engine.AgentStart) {
	s.t.Helper()
	check(s.t, s.Start(s.t.Context(), owner, a))
}

func (s *scene) heard() string {
	text, _ := os.ReadFile(filepath.Join(s.cwd, "heard"))
	return string(text)
}

func (s *scene) awaits(text string) {
	s.t.Helper()
	eventually(s.t, text, func() bool { return strings.Contains(s.heard(), text) })
}

func (s *scene) own() agentdir.Dir {
	s.t.Helper()
	d, err := agentdir.At(s.Errands.StateDir, id)
	check(s.t, err)
	return d
}

func (s *scene) hasSession() bool {
	s.t.Helper()
	has, err := s.server().HasSession(s.t.Context(), Session("worker", id))
	check(s.t, err)
	return has
}

func TestStartSendKill(t *testing.T) {
	s := newScene(t)
	a := s.agent("it's\n\"$HOME\" -")
	for range 2 {
		s.start(a)
	}
	s.awaits("stop\n")
	if diff := cmp.Diff(fmt.Sprintf("started startup %s\nprompt %q\nstop\n", id, a.Prompt), s.heard()); diff != "" {
		t.Error(diff)
	}
	if s.own().OnStop() != agentdir.Idle {
		t.Error("what a stop means is not on record")
	}
	if got, err := s.own().Session(); err != nil || got != (agentdir.Session{ID: id}) {
		t.Errorf("the session is %+v, %v", got, err)
	}
	if got, err := s.own().Terminal(); err != nil || got != (agentdir.Terminal{Socket: Socket(s.Errands.StateDir), Session: "stopgate-worker-0b5e7b5c"}) {
		t.Errorf("the terminal is %+v, %v", got, err)
	}
	screen, err := s.Look(t.Context(), id)
	if err != nil || screen.Kind != "" || !strings.Contains(screen.Text, "● Hello.") || strings.Contains(screen.Text, "\x1b") {
		t.Errorf("it shows %+v, %v", screen, err)
	}

	check(t, s.Send(t.Context(), id, "k-1", "go on\nplease"))
	s.awaits("prompt \"go on\\nplease\"\n")
	check(t, s.Send(t.Context(), id, "k-1", "go on\nplease"))
	check(t, s.Send(t.Context(), id, "k-2", "and on"))
	s.awaits("prompt \"and on\"\nstop\n")
	if n := strings.Count(s.heard(), "go on"); n != 1 {
		t.Errorf("it was told %d times", n)
	}

	check(t, s.Kill(t.Context(), id))
	if r, err := s.Wait(t.Context(), id); err != nil || r.Lost || r.Code == 0 {
		t.Errorf("it ended with %+v, %v", r, err)
	}
	if s.hasSession() {
		t.Error("its session is still there")
	}
	var failure *errand.Failure
	if err := s.Send(t.Context(), id, "k-3", "are you there?"); !errors.As(err, &failure) {
		t.Errorf("a message to one that has ended: %v", err)
	}
	check(t, s.Send(t.Context(), id, "k-2", "and on")) // that it has got
	check(t, s.Kill(t.Context(), id))
}

// What was started is not started again, and what it has made of its files stays.
func TestStartAgainChangesNothing(t *testing.T) {
	s := newScene(t)
	s.start(s.agent("work"))
	s.awaits("prompt")
	check(t, s.own().SetSession(agentdir.Session{ID: "cleared"}))
	a := s.agent("something else")
	a.Run = "no-such-client"
	s.start(a)
	if got, err := s.own().Session(); err != nil || got.ID != "cleared" {
		t.Errorf("the session is %+v, %v", got, err)
	}
	if strings.Count(s.heard(), "started") != 1 {
		t.Errorf("heard %s", s.heard())
	}
}

// A busy client gets its message when it is free, and one after the other.
func TestSendToABusyClient(t *testing.T) {
	s := newScene(t)
	s.start(s.agent("work"))
	s.awaits("prompt")
	sent := make(chan error, 1)
	go func() { sent <- s.Send(t.Context(), id, "k-1", "the message") }()
	eventually(t, "it is held", func() bool {
		q, found := queue.NewStore(s.Errands.StateDir).Find(Session("worker", id), "k-1")
		return found && q.Commands[0].Stopgate.Why == "Claude Code is busy"
	})
	select {
	case err := <-sent:
		t.Fatalf("it was sent: %v", err)
	default:
	}
	check(t, os.WriteFile(filepath.Join(s.cwd, "free"), nil, 0o600))
	check(t, <-sent)
	s.awaits("prompt \"work\"\nstop\nprompt \"the message\"\nstop\n")
}

// A message does not come before what the client was started with.
func TestSendRightAfterTheStart(t *testing.T) {
	s := newScene(t)
	a := s.agent("the task")
	a.Run = "claude --slow"
	s.start(a)
	s.awaits("started")
	sent := make(chan error, 1)
	go func() { sent <- s.Send(t.Context(), id, "k-1", "the message") }()
	eventually(t, "its first hook", func() bool { return len(presence.NewBook(s.Errands.StateDir).All()) > 0 })
	check(t, os.WriteFile(filepath.Join(s.cwd, "first"), nil, 0o600))
	check(t, <-sent)
	s.awaits("prompt \"the task\"\nstop\nprompt \"the message\"\nstop\n")
}

// Another daemon goes on waiting for what the last one sent; a message that nobody wants
// any more is taken back.
func TestSendIsGivenUp(t *testing.T) {
	s := newScene(t)
	s.start(s.agent("work"))
	s.awaits("prompt")
	queues := queue.NewStore(s.Errands.StateDir)
	give := func(cause error) {
		t.Helper()
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		sent := make(chan error, 1)
		go func() { sent <- s.Send(ctx, id, "k-1", "the message") }()
		eventually(t, "it is there", func() bool { return queues.Exists(Session("worker", id)) })
		cancel(cause)
		err := <-sent
		var failure *errand.Failure
		if cause == effect.ErrUnwanted && (!errors.As(err, &failure) || failure.Why != "it was withdrawn") || cause != effect.ErrUnwanted && !errors.Is(err, cause) {
			t.Errorf("it says %v", err)
		}
	}
	give(context.Canceled)
	if !queues.Exists(Session("worker", id)) {
		t.Error("a daemon that stops takes its message back")
	}
	give(effect.ErrUnwanted)
	if queues.Exists(Session("worker", id)) {
		t.Error("a message that is not wanted stays")
	}
	var failure *errand.Failure
	if err := s.Send(t.Context(), id, "k-1", "the message"); !errors.As(err, &failure) {
		t.Errorf("what was taken back: %v", err)
	}
}

// What is typed by somebody who is killed is typed by the next daemon.
func TestSendThatNobodyTyped(t *testing.T) {
	s := newScene(t)
	s.Errands.Environ = append(s.Errands.Environ, "KILLED=1")
	s.start(s.agent("work"))
	s.awaits("prompt")
	ctx, cancel := context.WithCancel(t.Context())
	sent := make(chan error, 1)
	go func() { sent <- s.Send(ctx, id, "k-1", "the message") }()
	eventually(t, "it waits", func() bool { return queue.NewStore(s.Errands.StateDir).HasKey(Session("worker", id), "k-1") })
	cancel()
	if err := <-sent; !errors.Is(err, context.Canceled) {
		t.Errorf("it says %v", err)
	}
	check(t, os.WriteFile(filepath.Join(s.cwd, "free"), nil, 0o600))
	s.awaits("stop\n")
	check(t, s.Send(t.Context(), id, "k-1", "the message"))
	s.awaits("prompt \"work\"\nstop\nprompt \"the message\"\nstop\n")
}

func TestSendWhereAPersonIs(t *testing.T) {
	s := newScene(t)
	s.start(s.agent("work"))
	s.awaits("prompt")
	session := Session("worker", id)
	_, err := s.driver().Create(t.Context(), driver.Order{Session: session, Commands: []string{"mine"}})
	check(t, err)
	if err := s.Send(t.Context(), id, "k-1", "the message"); err == nil || !strings.Contains(err.Error(), "already has a queue") {
		t.Errorf("it says %v", err)
	}
	_, err = s.driver().Cancel(session, "a person")
	check(t, err)
	sent := make(chan error, 1)
	go func() { sent <- s.Send(t.Context(), id, "k-1", "the message") }()
	eventually(t, "it waits", func() bool { return queue.NewStore(s.Errands.StateDir).HasKey(session, "k-1") })
	s.typeInto("work on this") // before the client is free
	var failure *errand.Failure
	if err := <-sent; !errors.As(err, &failure) || !strings.Contains(err.Error(), "something else was typed") {
		t.Errorf("it says %v", err)
	}
}

// keys presses keys as a person does.
func (s *scene) keys(keys ...string) {
	s.t.Helper()
	tmux := exec.Command("tmux", append([]string{"-S", Socket(s.Errands.StateDir), "send-keys", "-t", "=" + Session("worker", id) + ":"}, keys...)...)
	if out, err := tmux.CombinedOutput(); err != nil {
		s.t.Fatalf("%v: %s", err, out)
	}
}

// typeInto types as a person does.
func (s *scene) typeInto(text string) {
	s.t.Helper()
	panes, err := s.server().Panes(s.t.Context(), Session("worker", id))
	check(s.t, err)
	check(s.t, panes[0].Paste(s.t.Context(), text))
	check(s.t, panes[0].Enter(s.t.Context()))
}

func TestSendToOneThatDies(t *testing.T) {
	s := newScene(t)
	s.start(s.agent("work"))
	s.awaits("prompt")
	sent := make(chan error, 1)
	go func() { sent <- s.Send(t.Context(), id, "k-1", "the message") }()
	queues := queue.NewStore(s.Errands.StateDir)
	eventually(t, "it waits", func() bool { return queues.HasKey(Session("worker", id), "k-1") })
	check(t, s.Kill(t.Context(), id))
	var failure *errand.Failure
	if err := <-sent; !errors.As(err, &failure) {
		t.Errorf("it says %v", err)
	}
	if queues.Exists(Session("worker", id)) {
		t.Error("its queue is still there")
	}
}

// A person who interrupts the client in the middle of a message fires no hook. The next
// message arrives all the same, and nothing is typed while a question is there.
func TestSendAfterAnInterruption(t *testing.T) {
	for name, c := range map[string]struct{ first, until string }{
		"in the middle of a turn": {"work on", "prompt \"work on\"\n"},
		"at a question":           {"ask me", "asks\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			s.start(s.agent("hello"))
			s.awaits("stop\n")
			check(t, s.Send(t.Context(), id, "k-1", c.first))
			s.awaits(c.until)
			ctx, cancel := context.WithTimeout(t.Context(), long)
			defer cancel()
			sent := make(chan error, 1)
			go func() { sent <- s.Send(ctx, id, "k-2", "the message") }()
			s.keys("Escape")
			s.awaits("interrupted\n")
			check(t, <-sent)
			s.awaits("interrupted\nprompt \"the message\"\nstop\n")
			for key, text := range map[string]string{"k-1": c.first, "k-2": "the message"} {
				check(t, s.Send(ctx, id, key, text)) // which it has got
				if n := strings.Count(s.heard(), "prompt \""+text); n != 1 {
					t.Errorf("%s arrived %d times", text, n)
				}
			}
		})
	}
}

// The queue of a client that has ended is over, and nobody is told.
func TestQueueEndsWithItsClient(t *testing.T) {
	for name, end := range map[string]func(s *scene) error{
		"killed": func(s *scene) error { return s.Kill(t.Context(), id) },
		"ended": func(s *scene) error {
			err := s.Errands.Agents().Kill(t.Context(), id)
			_, waited := s.Wait(t.Context(), id)
			return errors.Join(err, waited)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			check(t, os.WriteFile(filepath.Join(s.Errands.StateDir, "agent-registry.json"), []byte(`{"agents":[{"agent_id":"warden","session_name":"*"}]}`), 0o600))
			s.start(s.agent("hello"))
			s.awaits("stop\n")
			check(t, s.Send(t.Context(), id, "k-1", "work on"))
			check(t, end(s))
			queues := queue.NewStore(s.Errands.StateDir)
			if queues.Exists(Session("worker", id)) {
				t.Error("its queue is still there")
			}
			check(t, s.Send(t.Context(), id, "k-1", "work on")) // that it has got
			letters, err := filepath.Glob(filepath.Join(s.Errands.StateDir, "outbox", "*", "0*.json"))
			check(t, err)
			for _, path := range letters {
				if text, err := os.ReadFile(path); err != nil || strings.Contains(string(text), "queue_cancelled") {
					t.Errorf("somebody is told: %s, %v", text, err)
				}
			}
			if len(letters) == 0 {
				t.Error("nobody is ever told")
			}
		})
	}
}

func TestWhatIsNotTyped(t *testing.T) {
	s := newScene(t)
	s.start(s.agent(""))
	s.awaits("started")
	for _, text := range []string{" exit\n", ":wq", "\x1b[201~x", " "} {
		var failure *errand.Failure
		if err := s.Send(t.Context(), id, "k", text); !errors.As(err, &failure) {
			t.Errorf("%q: %v", text, err)
		}
	}
	var failure *errand.Failure
	if err := s.Send(t.Context(), "../x", "k", "text"); !errors.As(err, &failure) {
		t.Error(err)
	}
	if err := s.Send(t.Context(), "unknown", "k", "text"); !errors.As(err, &failure) {
		t.Error(err)
	}
}

// What the client last showed is how it ended.
func TestClientThatDies(t *testing.T) {
	s := newScene(t)
	s.start(s.agent("die"))
	r, err := s.Wait(t.Context(), id)
	check(t, err)
	if r.Code != 3 || !strings.HasSuffix(r.Tail, "fatal: no tokens left") {
		t.Errorf("it ended with %+v", r)
	}
	eventually(t, "the session is gone", func() bool { return !s.hasSession() })
}

func TestClientThatAsks(t *testing.T) {
	s := newScene(t)
	a := s.agent("")
	a.Run = "claude --trust"
	s.start(a)
	eventually(t, "it asks", func() bool {
		screen, err := s.Look(t.Context(), id)
		return err == nil && screen.Kind == terminal.Trust && strings.Contains(screen.Text, "I trust this folder")
	})
	// Nobody types into a client that was not heard of.
	ctx, cancel := context.WithTimeout(t.Context(), 3*lookEvery)
	defer cancel()
	if err := s.Send(ctx, id, "k-1", "the message"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("it says %v", err)
	}
	if queue.NewStore(s.Errands.StateDir).Exists(Session("worker", id)) {
		t.Error("a message waits to be typed")
	}
}

func TestCannotStart(t *testing.T) {
	for name, c := range map[string]struct {
		change func(s *scene, a *engine.AgentStart)
		want   string
	}{
		"no tmux":      {func(s *scene, a *engine.AgentStart) { a.Env = map[string]string{"PATH": "/nowhere"} }, "tmux was not found"},
		"no client":    {func(s *scene, a *engine.AgentStart) { a.Run = "X=1 no-such-client --model x" }, "the program no-such-client was not found"},
		"none there":   {func(s *scene, a *engine.AgentStart) { a.Run = "./claude" }, "the program ./claude was not found"},
		"no directory": {func(s *scene, a *engine.AgentStart) { a.Cwd = filepath.Join(s.cwd, "missing") }, "does not exist"},
		"no id":        {func(s *scene, a *engine.AgentStart) { a.ID = "../x" }, "invalid agent id"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			a := s.agent("x")
			c.change(s, &a)
			if name == "no tmux" {
				s.Errands.Program = filepath.Join(s.cwd, "stopgate") // whose directory is on the PATH
			}
			err := s.Start(t.Context(), owner, a)
			var failure *errand.Failure
			if !errors.As(err, &failure) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("it says %v", err)
			}
			if s.hasSession() {
				t.Error("there is a session")
			}
		})
	}
}

// A session that somebody launched who did not live to see it begin is in nobody's way.
func TestStartAfterAnInterruptedOne(t *testing.T) {
	s := newScene(t)
	check(t, s.server().NewSession(t.Context(), terminal.NewSession{Name: Session("worker", id), Dir: s.cwd, Argv: []string{"sleep", "1000"}}))
	s.start(s.agent("hello"))
	s.awaits("stop\n")
}

func TestResume(t *testing.T) {
	s := newScene(t)
	const old = "11111111-2222-5333-9444-555555555555"
	transcript := filepath.Join(s.cwd, "config", "projects", "-some-where", old+".jsonl")
	check(t, os.MkdirAll(filepath.Dir(transcript), 0o700))
	check(t, os.WriteFile(transcript, []byte(`{"type":"user"}`+"\n"), 0o600))
	a := s.agent("go on")
	a.Resume, a.Env = old, map[string]string{"CLAUDE_CONFIG_DIR": filepath.Join(s.cwd, "config")}
	s.start(a)
	s.awaits("stop\n")
	if diff := cmp.Diff("started resume "+old+"\nprompt \"go on\"\nstop\n", s.heard()); diff != "" {
		t.Error(diff)
	}
	if got, err := s.own().Session(); err != nil || got.ID != old {
		t.Errorf("the session is %+v, %v", got, err)
	}
}

// Of a session that never had a prompt the client knows nothing.
func TestResumeOfNothing(t *testing.T) {
	s := newScene(t)
	const old = "11111111-2222-5333-9444-555555555555"
	first, err := agentdir.At(s.Errands.StateDir, old)
	check(t, err)
	check(t, os.MkdirAll(first.Path(), 0o700))
	check(t, os.WriteFile(first.Path("prompt.md"), []byte("the task"), 0o600))
	a := s.agent("go on")
	a.Resume = old
	s.start(a)
	s.awaits("stop\n")
	if diff := cmp.Diff("started startup "+old+"\nprompt \"the task\\n\\ngo on\"\nstop\n", s.heard()); diff != "" {
		t.Error(diff)
	}
}

func TestEnvironment(t *testing.T) {
	s := newScene(t)
	a := s.agent("")
	check(t, os.WriteFile(filepath.Join(s.cwd, "claude"), []byte(`#!/bin/sh
printf '%s\n' "$STOPGATE_AGENT_ID" "$OJ_AGENT_ID" "$OJ_STATE_DIR" "$STOPGATE_STATE_DIR" "$OWN" "$X" "$CLAUDE_CODE_STOP_HOOK_BLOCK_CAP" "$(cat "$OJ_STATE_DIR/agents/$OJ_AGENT_ID/config.json")" "$*" > said.tmp
mv said.tmp said
`), 0o700))
	a.Run, a.Env = "X=y ./claude --model 'a b'", map[string]string{"OWN": "1", "OJ_AGENT_ID": "another", "OJ_STATE_DIR": "/elsewhere"}
	s.Errands.Environ = append(s.Errands.Environ, "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP=20")
	s.start(a)
	_, err := s.Wait(t.Context(), id)
	check(t, err)
	text, err := os.ReadFile(filepath.Join(s.cwd, "said"))
	check(t, err)
	state := s.Errands.StateDir
	want := []string{id, id, state, state, "1", "y", "20", `{"on_stop":"idle"}`, "--model a b --session-id " + id + " --settings " + s.own().Path("settings.json"), ""}
	if diff := cmp.Diff(want, strings.Split(string(text), "\n")); diff != "" {
		t.Error(diff)
	}
}

func TestLongPrompt(t *testing.T) {
	s := newScene(t)
	prompt := strings.Repeat("it's long. ", 20<<10)
	s.start(s.agent(prompt))
	s.awaits("stop\n")
	if want := fmt.Sprintf("prompt %q\n", "Read the file "+s.own().Path("prompt.md")+" and do what it says."); !strings.Contains(s.heard(), want) {
		t.Errorf("it heard %s", s.heard())
	}
	if text, err := os.ReadFile(s.own().Path("prompt.md")); err != nil || string(text) != prompt {
		t.Errorf("the file has %d bytes, %v", len(text), err)
	}
	if text, err := os.ReadFile(s.own().Path("settings.json")); err != nil || !strings.Contains(string(text), `"Read(/`+s.own().Path("prompt.md")+`)"`) {
		t.Errorf("the client would ask whether it may read it: %s, %v", text, err)
	}
}

func TestSettingsFile(t *testing.T) {
	s := newScene(t)
	s.start(s.agent("x"))
	s.awaits("stop\n")
	text, err := os.ReadFile(s.own().Path("settings.json"))
	check(t, err)
	var file struct {
		Permissions struct{ Allow []string }
	}
	check(t, json.Unmarshal(text, &file))
	want := []string{"Bash(" + s.Errands.Program + " emit agent:signal:*)", "Bash(stopgate emit agent:signal:*)", "Bash(oj emit agent:signal:*)"}
	if diff := cmp.Diff(want, file.Permissions.Allow); diff != "" {
		t.Error(diff)
	}
}

// When the last one has ended, so has the server; End ends also what a person has there.
// A daemon that was started again may have another PATH, and must still be able to end what
// it left.
func TestKillWithoutTmux(t *testing.T) {
	s := newScene(t)
	s.start(s.agent("x"))
	c := s.Terminals
	c.Errands.Environ = append(slices.Clone(c.Errands.Environ), "PATH="+t.TempDir())
	for range 2 {
		check(t, c.Kill(t.Context(), id))
	}
	if r, err := c.Wait(t.Context(), id); err != nil || r.Code == 0 {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestEnd(t *testing.T) {
	s := newScene(t)
	check(t, s.End(t.Context()))
	s.start(s.agent("x"))
	check(t, s.server().NewSession(t.Context(), terminal.NewSession{Name: "a-person", Dir: s.cwd, Argv: []string{"sleep", "1000"}}))
	check(t, s.Kill(t.Context(), id))
	check(t, s.End(t.Context()))
	if has, err := s.server().HasSession(t.Context(), "a-person"); has || err != nil {
		t.Error(has, err)
	}
}
