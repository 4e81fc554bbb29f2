//go:build unix

package stop

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/harness/hook"
	"github.com/stopgate/stopgate/internal/record/event"
)

func TestRulings01To03RejectedPayload(t *testing.T) {
	tests := []struct {
		name    string
		payload func(s *scene) []byte
		faults  []string // in this order
	}{
		{
			"Missing agent_id field", func(s *scene) []byte { return s.payload(hook.SubagentStop, fields{"agent_id": nil}) },
			[]string{"missing required field: agent_id"},
		},
		{
			"Empty agent_id value", func(s *scene) []byte { return s.payload(hook.SubagentStop, fields{"agent_id": ""}) },
			[]string{"agent_id is required and cannot be empty"},
		},
		{
			"Blank agent_id value", func(s *scene) []byte { return s.payload(hook.SubagentStop, fields{"agent_id": " \t\n"}) },
			[]string{"agent_id is required and cannot be empty"},
		},
		{
			"Missing agent_transcript_path field", func(s *scene) []byte { return s.payload(hook.SubagentStop, fields{"agent_transcript_path": nil}) },
			[]string{"missing required field: agent_transcript_path"},
		},
		{
			"Empty agent_transcript_path value", func(s *scene) []byte { return s.payload(hook.SubagentStop, fields{"agent_transcript_path": ""}) },
			[]string{"agent_transcript_path is required and cannot be empty"},
		},
		{"Payload missing both new fields", func(s *scene) []byte {
			return s.payload(hook.SubagentStop, fields{"agent_id": nil, "agent_transcript_path": nil})
		}, []string{"missing required field: agent_id", "missing required field: agent_transcript_path"}},
		{"several faults at once", func(s *scene) []byte {
			return s.payload(hook.SubagentStop, fields{"session_id": "", "cwd": nil, "agent_id": " "})
		}, []string{"session_id is required and cannot be empty", "missing required field: cwd", "agent_id is required and cannot be empty"}},
		{"another event", func(s *scene) []byte { return s.payload(hook.Stop, nil) }, []string{"hook_event_name"}},
		{"not JSON", func(*scene) []byte { return []byte("{") }, []string{"invalid SubagentStop payload"}},
		{"nothing", func(*scene) []byte { return nil }, []string{"invalid SubagentStop payload"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newScene(t, "  SubagentStop:\n    - run: touch ran\n  Stop:\n    - run: touch ran\n")
			told := s.notify()
			r := s.raw(t.Context(), hook.SubagentStop, tt.payload(s))
			if r.Code != 1 || len(r.Stdout) > 0 {
				t.Errorf("exit %d, stdout %q; want 1 and nothing", r.Code, r.Stdout)
			}
			rest := r.Stderr
			for _, fault := range tt.faults {
				_, after, found := strings.Cut(rest, fault)
				if !found {
					t.Errorf("stderr %q, want %q in it, in order", r.Stderr, fault)
				}
				rest = after
			}
			if exists(s.path("ran")) {
				t.Error("a command ran")
			}
			if text, _ := os.ReadFile(told); len(text) > 0 || exists(s.state+"/logs") {
				t.Errorf("a notification went out: %q", text)
			}
			all := s.records()
			if len(all) != 2 || all[0].Kind != event.Received || all[1].Decision != "reject" || all[0].Call != all[1].Call || all[1].Event != "SubagentStop" {
				t.Errorf("the journal has %+v", all)
			}
		})
	}
}

func TestRulingC9BasePayloadIsValidatedOnEveryEvent(t *testing.T) {
	s := newScene(t, failing)
	for _, name := range []string{"session_id", "transcript_path", "hook_event_name", "cwd"} {
		if r := s.stop(fields{name: nil}); r.Code != 1 || len(r.Stdout) > 0 || !strings.Contains(r.Stderr, "missing required field: "+name) {
			t.Errorf("without %s: %+v", name, r)
		}
	}
}

// A hook may be called without the name of its event: then the payload names it, as far as it can be read.
func TestARejectedPayloadNamesItsEvent(t *testing.T) {
	s := newScene(t, failing)
	s.raw(t.Context(), "", s.payload(hook.SubagentStop, fields{"agent_id": nil}))
	s.raw(t.Context(), "", []byte("{"))
	if all := s.records(); len(all) != 4 || all[1].Event != "SubagentStop" || all[3].Event != "" {
		t.Errorf("the journal has %+v", all)
	}
}

// The seed's own document, from Complete valid payload.
func TestCompleteValidPayload(t *testing.T) {
	s := newScene(t, "  SubagentStop:\n    - run: touch ran\n")
	s.env = append(s.env, "CLAUDE_PROJECT_DIR="+s.root)
	r := s.raw(t.Context(), hook.SubagentStop, []byte(`{
  "session_id": "abc123",
  "transcript_path": "/tmp/main.json",
  "hook_event_name": "SubagentStop",
  "cwd": "/home/user/project",
  "stop_hook_active": true,
  "agent_id": "coder",
  "agent_transcript_path": "/tmp/agent.json"
}`))
	wantAllow(t, r)
	if !exists(s.path("ran")) {
		t.Error("the hook did not execute")
	}
	if rec := s.answered(); rec.Agent.ID != "coder" {
		t.Errorf("journaled as %+v", rec)
	}
}

func TestRuling07UnknownFieldsAreIgnored(t *testing.T) {
	s := newScene(t, failing)
	wantBlock(t, s.stop(fields{"new": fields{"deep": []int{1}}, "x": nil}), "fix it")
}

func TestRuling08CommandsAreWrittenUnderHooks(t *testing.T) {
	s := newScene(t, "  SubagentStop:\n    - {match: 'coder*', run: echo \"$CONCLAUDE_AGENT_ID $CONCLAUDE_HOOK_EVENT\" >>ran}\n")
	wantAllow(t, s.call(hook.SubagentStop, nil))
	wantAllow(t, s.call(hook.SubagentStop, fields{"agent_type": "tester"}))
	if text, _ := os.ReadFile(s.path("ran")); string(text) != "a1 SubagentStop\n" {
		t.Errorf("ran %q", text)
	}
}

func TestRuling09NotificationNamesTheAgent(t *testing.T) {
	tests := map[string]struct {
		extra fields
		want  string
	}{
		"id and type":      {nil, "1|subagent a1 (coder) finished\n"},
		"id alone":         {fields{"agent_type": nil}, "1|subagent a1 finished\n"},
		"hostile":          {fields{"agent_id": "$(touch x) `y` \"z\" '"}, "1|subagent $(touch x) `y` \"z\" ' (coder) finished\n"},
		"outside projects": {fields{"cwd": "/"}, "1|subagent a1 (coder) finished\n"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, failing)
			told := s.notify()
			wantAllow(t, s.call(hook.SubagentStop, tt.extra))
			eventually(t, "the notification arrives", func() bool {
				text, _ := os.ReadFile(told)
				return string(text) == tt.want
			})
		})
	}
}

func TestRuling09NoNotificationForABlockedAgentOrAStop(t *testing.T) {
	s := newScene(t, failing+"  SubagentStop:\n    - {run: exit 1, on_failure: block}\n")
	s.notify()
	wantBlock(t, s.call(hook.SubagentStop, nil), "exit 1")
	wantBlock(t, s.stop(nil), "fix it")
	if exists(s.state + "/logs") {
		t.Error("a notification went out")
	}
}

// What a person wants for a project holds for hooks as well as for the daemon.
func TestNotificationsGoTheWaysOfTheProject(t *testing.T) {
	now := time.Date(2026, 6, 1, 12, 30, 0, 0, time.Local)
	quiet, loud := "{from: \"12:00\", to: \"13:00\"}", "{from: \"22:00\", to: \"07:00\"}"
	for name, tt := range map[string]struct {
		general, project string // settings
		told             bool
	}{
		"in general":             {"command: TELL", "path: /elsewhere, muted: true", true},
		"muted":                  {"command: TELL", "path: ROOT, muted: true", false},
		"muted above":            {"command: TELL", "path: ABOVE, muted: true", false},
		"at home":                {"command: TELL", "path: \"~/\", muted: true", false},
		"its own command":        {"command: exit 1", "path: ROOT, command: TELL", true},
		"no command":             {"command: TELL", "path: ROOT, command: \"\"", false},
		"a command of its alone": {"desktop: true", "path: ROOT, command: TELL", true},
		"quiet":                  {"command: TELL\n  quiet: " + quiet, "path: /elsewhere", false},
		"quiet at other hours":   {"command: TELL\n  quiet: " + loud, "path: /elsewhere", true},
		"quiet in the project":   {"command: TELL", "path: ROOT, quiet: " + quiet, false},
		"never quiet there":      {"command: TELL\n  quiet: " + quiet, "path: ROOT, quiet: off", true},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, failing)
			told := s.notify()
			s.now = func() time.Time { return now }
			s.env = append(s.env, "HOME="+filepath.Dir(s.root))
			words := strings.NewReplacer("TELL", filepath.Join(s.state, "tell"), "ROOT", s.root, "ABOVE", filepath.Dir(s.root))
			write(t, s.global, words.Replace("notify:\n  "+tt.general+"\n  projects: [{"+tt.project+"}]\n"))
			wantAllow(t, s.call(hook.SubagentStop, nil))
			if tt.told {
				eventually(t, "the notification arrives", func() bool {
					text, _ := os.ReadFile(told)
					return string(text) == "1|subagent a1 (coder) finished\n"
				})
			} else if exists(s.state + "/logs") {
				t.Error("a notification went out")
			}
		})
	}
}

func TestRuling09NotificationThatCannotStartChangesNothing(t *testing.T) {
	s := newScene(t, failing)
	write(t, s.global, "notify: {command: notify}\n")
	write(t, s.state+"/logs", "a file in place of the directory")
	wantAllow(t, s.call(hook.SubagentStop, nil))
	if !strings.Contains(s.stderr.String(), "notify: ") {
		t.Errorf("stderr: %q", s.stderr.String())
	}
}

func TestAWordIsNoSentence(t *testing.T) {
	for text, want := range map[string]string{"": "", "resume": "resume", "a b": "?", strings.Repeat("x", 64): strings.Repeat("x", 64), strings.Repeat("x", 65): "?"} {
		if got := word(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
