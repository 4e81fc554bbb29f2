//go:build unix

package stop

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/gate/keeper"
	"github.com/stopgate/stopgate/internal/harness/hook"
	"github.com/stopgate/stopgate/internal/session/driver"
	"github.com/stopgate/stopgate/internal/session/presence"
	"github.com/stopgate/stopgate/internal/session/queue"
	"github.com/stopgate/stopgate/internal/session/wake"
)

// stage is a scene with an interactive client in tmux that an agent looks after.
type stage struct {
	*scene
	driver *driver.Driver
	driven int
	sends  int
}

const session = "warden-main-4"

// newStage needs no tmux: the client has told of itself before.
func newStage(t *testing.T, hooks string) *stage {
	t.Helper()
	return newScene(t, hooks).onStage()
}

func (scene *scene) onStage() *stage {
	t, s := scene.t, &stage{scene: scene}
	t.Helper()
	s.env = append(s.env, "CLAUDE_CODE_ENTRYPOINT=cli", "TMUX=/nowhere/s,7,0", "TMUX_PANE=%3")
	check(t, presence.NewBook(s.state).Store(presence.Instance{Session: session, Socket: "/nowhere/s", PID: 7, Pane: "%3", State: presence.Busy}))
	configDir := t.TempDir()
	write(t, filepath.Join(configDir, "agent-registry.json"), `{"agents":[{"agent_id":"warden","session_name":"warden-main-4","answers":[{"question":"*","answer":"Blue"}]}]}`)
	s.driver = &driver.Driver{
		StateDir: s.state, ConfigDir: configDir, Environ: s.env, Now: time.Now,
		Drive: func(string) error { s.driven++; return nil },
		Send:  func() error { s.sends++; return nil },
		Log:   func(format string, args ...any) { fmt.Fprintf(&s.stderr, format+"\n", args...) },
	}
	return s
}

func (s *stage) call(e hook.Event, extra fields) reply {
	s.t.Helper()
	service := s.service()
	service.Driver = s.driver
	r := reply{Reply: service.Handle(s.t.Context(), e, bytes.NewReader(s.payload(e, extra)))}
	if len(r.Stdout) > 0 {
		check(s.t, json.Unmarshal(r.Stdout, &r))
	}
	return r
}

// give gives the session a queue whose first command the client works on.
func (s *stage) give(commands ...string) {
	s.t.Helper()
	q := queue.New(session, "q1", commands, time.Now())
	q = queue.Apply(q, queue.Prompt{PromptID: "p1", Text: commands[0]}, time.Now()).Queue
	check(s.t, queue.NewStore(s.state).Create(session, q))
}

func (s *stage) wantQueue(want string) {
	s.t.Helper()
	q, err := queue.NewStore(s.state).Load(session)
	check(s.t, err)
	var got []string
	for _, c := range q.Commands {
		got = append(got, string(c.Status))
	}
	if strings.Join(got, " ") != want {
		s.t.Errorf("the commands are %q, want %q", got, want)
	}
}

func (s *stage) wantWakes(n int) {
	s.t.Helper()
	letters, err := filepath.Glob(filepath.Join(s.state, "outbox", "*", "0*.json"))
	check(s.t, err)
	if len(letters) != n {
		s.t.Errorf("%d letters, want %d", len(letters), n)
	}
}

// Of one stop that two entries bring, the first lets the next command go on. One that could not look does not do it again.
func TestRulingC6TheSecondEntryMovesNothing(t *testing.T) {
	s := newWork(t).onStage()
	s.config(strings.Replace(untilGood, "test ! -e red", "sh -c './tool'", 1))
	s.approve()
	write(t, s.path("tool"), "#!/bin/sh\n")
	check(t, os.Chmod(s.path("tool"), 0o700))
	s.give("/gsd:a", "/gsd:b", "/gsd:c")
	s.caller = "by hand"
	wantAllow(t, s.call(hook.Stop, nil))
	s.wantQueue("done active pending")
	driven := s.driven

	s.config(strings.Replace(untilGood, "test ! -e red", "no-such-program", 1))
	s.approve()
	s.caller = "settings"
	wantAllow(t, s.call(hook.Stop, nil), "could not run")
	s.wantQueue("done active pending")
	if s.driven != driven {
		t.Errorf("driven %d times, then %d", driven, s.driven)
	}
}

func TestRulingC6ABlockedStopMovesNothing(t *testing.T) {
	s := newStage(t, "")
	s.give("/gsd:a", "/gsd:b")
	s.keepers = []keeper.Keeper{always("guard", keeper.Verdict{}), blocker("gates")}
	wantBlock(t, s.call(hook.Stop, fields{"last_assistant_message": "done"}), "gates objects")
	s.wantQueue("active pending")
	if s.driven != 0 || s.sends != 0 || len(s.answered().Effects) != 0 {
		t.Errorf("driven %d times, %d senders, effects %q", s.driven, s.sends, s.answered().Effects)
	}
	if c, _ := presence.NewBook(s.state).Load("/nowhere/s", 7, "%3"); c.State != presence.Busy {
		t.Errorf("the client, which goes on, is %s", c.State)
	}

	// The stop that nobody objects to counts.
	s.keepers = nil
	wantAllow(t, s.call(hook.Stop, fields{"stop_hook_active": true, "last_assistant_message": "really done"}))
	s.wantQueue("done active")
	if want := []string{"queue advanced 1/2"}; s.driven != 1 || !slices.Equal(s.answered().Effects, want) {
		t.Errorf("driven %d times, effects %q", s.driven, s.answered().Effects)
	}
	s.wantWakes(0)
}

func TestRulingC6WithoutAQueueNobodyIsWokenForABlockedStop(t *testing.T) {
	s := newStage(t, failing)
	s.enforce()
	s.approve()
	message := fields{"last_assistant_message": "done"}
	wantBlock(t, s.call(hook.Stop, message), "fix it")
	s.wantWakes(0)

	// C.3: the flag is set by our own block, so the next stop is fresh.
	s.config("hooks: {}\n")
	s.approve()
	wantAllow(t, s.call(hook.Stop, fields{"stop_hook_active": true, "last_assistant_message": "fixed"}))
	s.wantWakes(1)
	if want := []string{"wake stop warden"}; !slices.Equal(s.answered().Effects, want) || s.sends != 1 {
		t.Errorf("effects %q, %d senders", s.answered().Effects, s.sends)
	}
}

func TestRulingC3AForeignBlockKeepsTheWakeBack(t *testing.T) {
	for _, tt := range []struct {
		name  string
		extra fields
	}{
		{"nobody of ours blocked", fields{}},
		{"ours blocked another prompt", fields{"prompt_id": "p2"}},
		{"ours blocked another session", fields{"session_id": "s2"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newStage(t, "")
			if len(tt.extra) > 0 {
				s.keepers = []keeper.Keeper{blocker("gates")}
				wantBlock(t, s.call(hook.Stop, fields{"last_assistant_message": "done"}), "gates")
				s.keepers = nil
			}
			tt.extra["stop_hook_active"], tt.extra["last_assistant_message"] = true, "done"
			wantAllow(t, s.call(hook.Stop, tt.extra))
			s.wantWakes(0)
		})
	}
}

// A keeper that could not run has not objected.
func TestRulingC6AKeeperThatBreaksKeepsNobodyFromAdvancing(t *testing.T) {
	s := newStage(t, "")
	s.give("/gsd:a", "/gsd:b")
	s.keepers = []keeper.Keeper{stub{"gates", func(context.Context, *keeper.Call) keeper.Verdict { panic("broken") }}}
	wantAllow(t, s.call(hook.Stop, fields{"last_assistant_message": "done"}), "broken")
	s.wantQueue("done active")
}

func TestTheDriverThatPanicsIsAnswered(t *testing.T) {
	s := newStage(t, "")
	s.driver.Now = func() time.Time { panic("no clock") }
	wantAllow(t, s.call(hook.Stop, fields{"last_assistant_message": "done"}), "internal error in the session driver")
	if !strings.Contains(s.stderr.String(), "no clock") {
		t.Errorf("logged %q", s.stderr.String())
	}
	if s.answered().Decision != "allow" {
		t.Errorf("the journal has %+v", s.answered())
	}
}

func TestQuestionAnsweredByRuleReachesTheClient(t *testing.T) {
	s := newStage(t, "")
	input := fields{"questions": []any{fields{"question": "Which color?", "header": "Color", "options": []any{fields{"label": "Red"}, fields{"label": "Blue"}}}}}
	question := fields{"tool_name": "AskUserQuestion", "tool_input": input}
	r := s.call(hook.PreToolUse, question)
	var out struct {
		Specific struct {
			Permission string `json:"permissionDecision"`
			Input      struct {
				Questions []any
				Answers   map[string]string
			} `json:"updatedInput"`
		} `json:"hookSpecificOutput"`
	}
	check(t, json.Unmarshal(r.Stdout, &out))
	if out.Specific.Permission != "allow" || out.Specific.Input.Answers["Which color?"] != "Blue" || len(out.Specific.Input.Questions) != 1 {
		t.Errorf("the client hears %s", r.Stdout)
	}
	// Where a keeper objects, nothing is answered.
	s.keepers = []keeper.Keeper{blocker("guard")}
	if r := s.call(hook.PreToolUse, question); !strings.Contains(string(r.Stdout), `"deny"`) || strings.Contains(string(r.Stdout), "updatedInput") {
		t.Errorf("the client hears %s", r.Stdout)
	}
}

// What the driver has to tell a person reaches them, and names us.
func TestACorruptQueueIsShownToThePerson(t *testing.T) {
	s := newStage(t, "")
	path := queue.NewStore(s.state).Path(session)
	write(t, path, "{")
	r := s.call(hook.Stop, fields{"last_assistant_message": "done"})
	wantAllow(t, r, "stopgate: ", strings.TrimSuffix(path, ".json")+".corrupt.json")
	s.wantWakes(1)
}

// Screens are read as the person's own configuration says.
func TestTheDriverGetsThePersonsPatterns(t *testing.T) {
	s := newStage(t, "")
	write(t, s.global, "terminal:\n  prompt: '^>> '\n")
	s.call(hook.Stop, nil)
	if s.driver.Screen.Prompt != "^>> " {
		t.Errorf("the screen is read by %+v", s.driver.Screen)
	}
}

func TestWithoutADriverNothingIsTouched(t *testing.T) {
	s := newStage(t, "")
	s.give("/gsd:a", "/gsd:b")
	r := s.scene.call(hook.Stop, fields{"last_assistant_message": "done"})
	wantAllow(t, r)
	s.wantQueue("active pending")
	if wake.NewOutbox(s.state).Waiting() {
		t.Error("somebody was woken")
	}
	if _, err := os.Stat(filepath.Join(s.state, "outbox")); err == nil {
		t.Error("there is an outbox")
	}
}
