//go:build unix

package driver

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/session/queue"
	"github.com/stopgate/stopgate/internal/session/wake"
)

func TestSeed1WakesForAFreshStop(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	w := s.started(mainSession)
	r := w.stop("p1", "Phase 2 is done.")
	l := s.wantLetters(wake.Stop)
	if l.Session != mainSession || l.Event != "Stop" || *l.LastAssistantMessage != "Phase 2 is done." {
		t.Errorf("the letter is %+v", l)
	}
	if s.sends != 1 {
		t.Errorf("%d senders were started, want 1", s.sends)
	}
	if want := []string{"wake stop warden"}; !slices.Equal(r.Effects, want) || r.Message != "" || r.Input != nil {
		t.Errorf("reported %+v, want the effects %q alone", r, want)
	}
}

// Every row is a stop for which nobody is woken, and nobody is told of anything.
func TestSeed1SkipsAStop(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		session  string
		registry string
		changes  fields
	}{
		{name: "stop_hook_active", session: mainSession, changes: fields{"stop_hook_active": true}},
		{name: "session not in the registry", session: "elsewhere"},
		{name: "no registry", session: mainSession, registry: "-"},
		{name: "disabled", session: mainSession, registry: `{"agents":[{"agent_id":"warden","session_name":"warden-main-4","enabled":false}]}`},
		{name: "message empty", session: mainSession, changes: fields{"last_assistant_message": ""}},
		{name: "message blank", session: mainSession, changes: fields{"last_assistant_message": " \n"}},
		{name: "message missing", session: mainSession, changes: fields{"last_assistant_message": nil}},
		{name: "not among what the agent is woken for", session: mainSession, registry: `{"agents":[{"agent_id":"warden","session_name":"warden-main-4","wake_on":["idle"]}]}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newScene(t)
			switch tt.registry {
			case "":
			case "-":
				check(t, os.Remove(filepath.Join(s.config, "agent-registry.json")))
			default:
				s.register(tt.registry)
			}
			w := s.started(tt.session)
			r := w.hook("stop.first", tt.changes)
			s.wantLetters()
			if s.sends != 0 || r.Message != "" || len(r.Effects) != 0 {
				t.Errorf("%d senders, reported %+v; want silence", s.sends, r)
			}
		})
	}
}

func TestSeed1WithAQueueTheQueueIsAsked(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		command string
		want    queue.Status
	}{
		{"the active command awaits Stop", "/gsd:plan-phase 3", queue.Done},
		{"it awaits something else", "/clear", queue.Active},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newScene(t)
			w := s.started(mainSession)
			w.give(tt.command, "/gsd:next")
			w.prompt("p1", tt.command)
			w.stop("p1", "planned")
			s.wantLetters()
			if got := s.queue(mainSession).Commands[0].Status; got != tt.want {
				t.Errorf("the command is %s, want %s", got, tt.want)
			}
		})
	}
}

func TestRulingC3StopHookActiveThatIsOurs(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		ours bool
		want []wake.Kind
	}{
		{"a keeper of ours blocked", true, []wake.Kind{wake.Stop}},
		{"somebody else did", false, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newScene(t)
			w := s.started(mainSession)
			w.call(Call{Payload: w.payload("stop.after-a-block", nil), OursBlocked: tt.ours})
			s.wantLetters(tt.want...)
		})
	}
}

// What became of a queue is always told, whatever keeps a fresh stop from being told.
func TestRuling33WhatBecameOfAQueueIsAlwaysTold(t *testing.T) {
	t.Parallel()
	silent := fields{"prompt_id": "p1", "stop_hook_active": true, "last_assistant_message": ""}
	for _, tt := range []struct {
		name string
		end  func(w *window)
		want wake.Kind
	}{
		{"completion", func(w *window) { w.hook("stop.after-a-block", silent) }, wake.QueueComplete},
		{"cancel", func(w *window) { w.prompt("p2", "something else") }, wake.QueueCancelled},
		{"stale", func(w *window) { w.start("startup") }, wake.QueueStale},
		{"failure", func(w *window) { w.hook("stop-failure.api-error", fields{"prompt_id": "p1"}) }, wake.QueueFailed},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newScene(t)
			s.register(`{"agents":[{"agent_id":"warden","session_name":"warden-main-4","working_directory":"/srv/warden","wake_on":[]}]}`)
			w := s.started(mainSession)
			w.give("/gsd:plan-phase 3")
			w.prompt("p1", "/gsd:plan-phase 3")
			tt.end(w)
			s.wantLetters(tt.want)
		})
	}
}

func TestRulingC1OnlyInteractiveClientsInTmux(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		env     []string
		changes fields
	}{
		{name: "not interactive", env: []string{"CLAUDE_CODE_ENTRYPOINT=sdk-cli"}},
		{name: "entrypoint unknown", env: []string{"CLAUDE_CODE_ENTRYPOINT="}},
		{name: "a subagent", changes: fields{"agent_id": "a1"}},
		{name: "not in tmux", env: []string{"TMUX="}},
		{name: "no pane", env: []string{"TMUX_PANE="}},
		{name: "a pane that is none", env: []string{"TMUX_PANE=main"}},
	}
	events := []string{
		"stop.first", "stop-failure.api-error", "session-start.startup", "session-start.clear", "session-end.other",
		"user-prompt-submit.typed-in-tmux", "notification.idle-prompt", "notification.permission-prompt",
		"permission-request.bash", "pre-compact", "pre-tool-use.ask-user-question",
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newScene(t)
			path, wantUncalled := s.noTmux()
			w := s.window(mainSession)
			for _, event := range events {
				r := w.call(Call{Payload: w.payload(event, tt.changes)}, append(tt.env, path)...)
				if diff := cmp.Diff(Report{}, r); diff != "" {
					t.Errorf("%s: %s", event, diff)
				}
			}
			wantUncalled()
			if left := files(t, s.state); len(left) > 0 {
				t.Errorf("left %q", left)
			}
		})
	}
}

// A queue stays as it is when one of those calls comes from its own pane.
func TestRulingC1ANestedClientLeavesTheQueueAlone(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	w := s.started(mainSession)
	w.give("/gsd:plan-phase 3")
	w.prompt("p1", "/gsd:plan-phase 3")
	before := s.queue(mainSession)
	nested := "CLAUDE_CODE_ENTRYPOINT=sdk-cli"
	for _, event := range []string{"session-start.startup", "user-prompt-submit.typed-in-tmux", "stop.first", "session-end.other"} {
		w.call(Call{Payload: w.payload(event, fields{"session_id": "nested"})}, nested)
	}
	w.hook("stop.first", fields{"agent_id": "a1", "prompt_id": "p1"})
	if diff := cmp.Diff(before, s.queue(mainSession)); diff != "" {
		t.Error(diff)
	}
	s.wantLetters()
}

func TestSeed2MetadataContentInstructions(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	w := s.started(mainSession)
	message := "Done. Next: `/clear`, then `/gsd:plan-phase 3`. See https://example.com/clear and /gsd:plan-phase 3"
	w.stop("p1", message)
	l := s.wantLetters(wake.Stop)
	if diff := cmp.Diff([]string{"/clear", "/gsd:plan-phase 3"}, l.SuggestedCommands); diff != "" {
		t.Error(diff)
	}
	if *l.LastAssistantMessage != message {
		t.Errorf("the message is %q", *l.LastAssistantMessage)
	}
	rest := l.Body
	for _, part := range []string{"Stop", mainSession, "warden", message, `["/clear","/gsd:plan-phase 3"]`, "# Stop Event", "stopgate queue create"} {
		_, after, found := strings.Cut(rest, part)
		if !found {
			t.Fatalf("the body has no %q, or in another place:\n%s", part, l.Body)
		}
		rest = after
	}
}

func TestSeed2PromptsAreReadAtCallTime(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	w := s.started(mainSession)
	prompt := filepath.Join(s.config, "prompts", "prompt_stop.md")
	check(t, os.MkdirAll(filepath.Dir(prompt), 0o700))
	for i, text := range []string{"first words", "other words"} {
		check(t, os.WriteFile(prompt, []byte(text), 0o600))
		w.stop("p1", text+" are asked for")
		if l := s.letters()[i]; !strings.HasSuffix(l.Body, "\n"+text+"\n") {
			t.Errorf("the body does not end with %q:\n%s", text, l.Body)
		}
	}
	check(t, os.Remove(prompt))
	w.stop("p2", "back")
	if l := s.letters()[2]; !strings.Contains(l.Body, "# Stop Event") {
		t.Errorf("the body lacks the built-in prompt:\n%s", l.Body)
	}
}

func TestNewsApartFromQueues(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		payload string
		changes fields
		queue   bool
		want    []wake.Kind
		words   string // in the letter
	}{
		{name: "idle", payload: "notification.idle-prompt", want: []wake.Kind{wake.Idle}, words: "waiting for your input"},
		{name: "idle with a queue", payload: "notification.idle-prompt", queue: true},
		{name: "permission", payload: "notification.permission-prompt", want: []wake.Kind{wake.Permission}, words: "needs your permission"},
		{name: "permission with a queue", payload: "notification.permission-prompt", queue: true, want: []wake.Kind{wake.Permission}},
		{name: "another notification", payload: "notification.idle-prompt", changes: fields{"notification_type": "auth_success"}},
		{name: "permission request", payload: "permission-request.bash"}, // the notification tells, when nobody has answered for a while
		{name: "API error", payload: "stop-failure.api-error", want: []wake.Kind{wake.StopFailure}, words: "API Error: 400 lab error 400"},
		{name: "API error without a message", payload: "stop-failure.api-error", changes: fields{"last_assistant_message": nil}, want: []wake.Kind{wake.StopFailure}, words: "unknown"},
		{name: "end of the client", payload: "session-end.other"},
		{name: "end of the client with a queue", payload: "session-end.other", queue: true, want: []wake.Kind{wake.SessionEnd}},
		{name: "clear with a queue", payload: "session-end.clear", queue: true},
		{name: "start", payload: "session-start.startup"},
		{name: "prompt", payload: "user-prompt-submit.typed-in-tmux"},
		{name: "compaction", payload: "pre-compact"},
		{name: "tool", payload: "pre-tool-use.bash"},
		{name: "question", payload: "pre-tool-use.ask-user-question", want: []wake.Kind{wake.Question}, words: "Which color?"},
		{name: "question with a queue", payload: "pre-tool-use.ask-user-question", queue: true, want: []wake.Kind{wake.Question}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newScene(t)
			w := s.started(mainSession)
			if tt.queue {
				w.give("/gsd:plan-phase 3")
			}
			w.hook(tt.payload, tt.changes)
			l := s.wantLetters(tt.want...)
			if !strings.Contains(l.Body, tt.words) {
				t.Errorf("no %q in\n%s", tt.words, l.Body)
			}
			if wantSends := len(tt.want); s.sends != wantSends {
				t.Errorf("%d senders, want %d", s.sends, wantSends)
			}
			s.register(`{"agents":[{"agent_id":"warden","session_name":"warden-main-4","working_directory":"/srv/warden","wake_on":["stop"]}]}`)
			w.hook(tt.payload, tt.changes)
			s.wantLetters(tt.want...) // as before
		})
	}
}

// Two hooks may tell of one event: the client calls all that are registered.
func TestRuling311SameNewsSameKey(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		payload string
		queue   bool
		want    wake.Kind
	}{
		{"stop.first", false, wake.Stop},
		{"notification.idle-prompt", false, wake.Idle},
		{"stop-failure.api-error", false, wake.StopFailure},
		{"pre-tool-use.ask-user-question", false, wake.Question},
		{"session-end.other", true, wake.SessionEnd},
		{"session-start.startup", true, wake.QueueStale},
		{"user-prompt-submit.typed-in-tmux", true, wake.QueueCancelled},
	} {
		t.Run(string(tt.want), func(t *testing.T) {
			s := newScene(t)
			w := s.started(mainSession)
			if tt.queue {
				w.give("/gsd:plan-phase 3")
			}
			w.hook(tt.payload, nil)
			w.hook(tt.payload, nil)
			s.wantLetters(tt.want)
		})
	}
}

func TestSameNewsOfAnotherTurnOrSessionIsNew(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	w, other := s.started(mainSession), s.started("warden-main-5")
	other.id = w.id // not that of tmux
	w.stop("p1", "Done.")
	w.stop("p2", "Done.")
	w.stop("p2", "Really done.") // after a block of ours
	other.stop("p1", "Done.")
	w.idle("p3") // of whose stop no hook told
	w.idle("p4")
	l := s.wantLetters(wake.Stop, wake.Stop, wake.Stop, wake.Stop, wake.Idle, wake.Idle)
	if l.Session != mainSession {
		t.Errorf("the last letter is of session %q", l.Session)
	}
}

// An agent that was told of a stop is not told again that the client waits after it.
func TestP5IdlenessAfterAStopThatWasTold(t *testing.T) {
	t.Parallel()
	const onlyIdle = `{"agents":[{"agent_id":"warden","session_name":"warden-main-*","working_directory":"/srv/warden","wake_on":["idle"]}]}`
	for _, tt := range []struct {
		name  string
		stops func(s *scene, w *window)
		want  []wake.Kind
	}{
		{"a stop", func(_ *scene, w *window) { w.stop("p1", "Done.") }, []wake.Kind{wake.Stop}},
		{"a client without prompt ids", func(_ *scene, w *window) {
			w.hook("stop.first", fields{"prompt_id": nil})
		}, []wake.Kind{wake.Stop}},
		{"an API error", func(_ *scene, w *window) {
			w.hook("stop-failure.api-error", fields{"prompt_id": "p1"})
		}, []wake.Kind{wake.StopFailure}},
		{"a queue's last stop", func(_ *scene, w *window) {
			w.give("/gsd:a")
			w.prompt("p1", "/gsd:a")
			w.stop("p1", "Done.")
		}, []wake.Kind{wake.QueueComplete}},
		{"a queue's last /clear", func(s *scene, w *window) {
			w.give("/clear")
			s.step(queue.Begun{ID: 1}, queue.Pressed{ID: 1})
			w.hook("session-start.clear", fields{"prompt_id": nil})
		}, []wake.Kind{wake.QueueComplete}},
		{"another notice comes between", func(_ *scene, w *window) {
			w.stop("p1", "Done.")
			w.hook("notification.idle-prompt", fields{"notification_type": "auth_success"})
		}, []wake.Kind{wake.Stop}},

		{"a stop that says nothing", func(_ *scene, w *window) { w.stop("p1", "") }, []wake.Kind{wake.Idle}},
		{"a stop that the agent does not want to hear of", func(s *scene, w *window) {
			s.register(onlyIdle)
			w.stop("p1", "Done.")
		}, []wake.Kind{wake.Idle}},
		{"a turn after it that a person interrupts", func(_ *scene, w *window) {
			w.stop("p0", "Done.")
			w.prompt("p1", "go on")
		}, []wake.Kind{wake.Stop, wake.Idle}},
		{"a stop after it that says nothing", func(_ *scene, w *window) {
			w.stop("p0", "Done.")
			w.stop("p1", "")
		}, []wake.Kind{wake.Stop, wake.Idle}},
		{"a damaged queue that is found by a turn that a person interrupts", func(s *scene, w *window) {
			s.write(mainSession, "{")
			w.prompt("p1", "go on")
		}, []wake.Kind{wake.QueueFailed, wake.Idle}},
		{"a client that is started anew", func(_ *scene, w *window) {
			w.stop("p0", "Done.")
			w.start("startup")
		}, []wake.Kind{wake.Stop, wake.Idle}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			w := s.started(mainSession)
			tt.stops(s, w)
			w.idle("p1")
			s.wantLetters(tt.want...)
		})
	}
}

// A sender that was killed leaves letters behind. Any stop or start sees to them.
func TestLettersThatWaitAreSentByALaterHook(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	w := s.started(mainSession)
	other := s.started("elsewhere")
	w.stop("p1", "Done.")
	for i, hook := range []func(){
		func() { w.start("resume") },
		func() { w.hook("stop.first", fields{"last_assistant_message": nil}) },
		func() { other.stop("p1", "Done.") },
	} {
		hook()
		if s.sends != i+2 {
			t.Errorf("after hook %d: %d senders", i, s.sends)
		}
	}
	w.prompt("p2", "next")
	if s.sends != 4 {
		t.Errorf("a prompt started a sender")
	}
}

func TestSenderThatCannotBeStartedIsTold(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.sendErr = os.ErrPermission
	w := s.started(mainSession)
	if r := w.stop("p1", "Done."); !strings.Contains(r.Message, "outbox") || !strings.Contains(r.Message, "permission denied") {
		t.Errorf("told %q", r.Message)
	}
	s.wantLetters(wake.Stop)
}
