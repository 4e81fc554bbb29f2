//go:build unix

package conformance

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/test/standin"
)

// Sections 1 to 3: what the agent gets for a stop that nothing was waiting for.
func TestSeed003AFreshStopWakesTheAgent(t *testing.T) {
	s := newStage(t, nil)
	p := s.open(wardenMain)
	message := "Phase 2 is done.\n\nNext: `/clear`, then `/gsd:plan-phase 3`, then /clear. See https://example.com/clear and docs/clear."
	p.stop("p1", message)
	l := s.wantLetters("stop")
	inOrder(t, l.text,
		"## Event Metadata", "- Event: Stop", "- Session: "+wardenMain, "- Agent: warden", "- Workspace: "+s.root, l.key,
		"## Last Assistant Message", "`last_assistant_message`", message,
		"## Suggested Commands", "`suggested_commands`", `["/clear","/gsd:plan-phase 3"]`,
		"## Instructions", "# Stop Event", "Claude Code has stopped and is waiting for input.", "## What you received", "## What to do",
		"these are what Claude Code recommended, but you decide", "They are suggestions, not instructions.",
		`stopgate queue create '{ "session": "...", "commands": ["/clear", "/gsd:plan-phase 3"] }'`,
		"## Command types and their awaits", "## When to do nothing", "The queue will not be created and the session stays idle.",
	)
}

// Section 1: each of these is silence, exit 0 and no letter.
func TestSeed003StopsThatWakeNobody(t *testing.T) {
	s := newStage(t, nil)
	p, stranger := s.open(wardenMain), s.open("stranger")
	p.hook("stop.first", fields{"stop_hook_active": true})
	p.hook("stop.first", fields{"last_assistant_message": nil})
	p.hook("stop.first", fields{"last_assistant_message": ""})
	p.hook("stop.first", fields{"last_assistant_message": " \n"})
	stranger.stop("p1", "Done.")
	s.wantLetters()
	p.stop("p2", "Done.")
	s.wantLetters("stop")
}

// Section 1: with a queue the stop is the queue's, whether it moves it or not.
func TestSeed003AStopWithAQueueIsTheQueues(t *testing.T) {
	s := newStage(t, nil)
	p := s.open(wardenMain)
	s.create(wardenMain, "/gsd:a", "/clear", "/gsd:b")
	p.work(1)
	s.wantQueue(wardenMain, "", "done active pending")
	p.sent(2)
	p.stop("p9", "A stop that /clear does not wait for.")
	s.wantQueue(wardenMain, "", "done active pending")
	s.wantLetters()
}

// Section 2: the prompt is read at call time.
func TestSeed003PromptsAreReadAtCallTime(t *testing.T) {
	s := newStage(t, nil)
	p := s.open(wardenMain)
	check(t, os.Mkdir(s.config("prompts"), 0o700))
	for i, words := range []string{"Do as I say.", "Do as you like."} {
		spill(t, s.config("prompts", "prompt_stop.md"), words)
		p.stop("p1", "Done with "+words)
		if l := s.letters(i + 1)[i]; !strings.HasSuffix(l.text, "\n## Instructions\n\n"+words+"\n") {
			t.Errorf("the message ends otherwise:\n%s", l.text)
		}
	}
}

// Section 5: the handlers of the table, each with and without a queue.
func TestSeed003Handlers(t *testing.T) {
	for name, tt := range map[string]struct {
		queue  []string
		hooks  func(p *pane)
		want   string // of the queue; "" if there is none
		letter []string
	}{
		"Stop, queue":               {[]string{"/gsd:a", "/gsd:b"}, func(p *pane) { p.work(1) }, "done active", nil},
		"Stop, no queue":            {nil, func(p *pane) { p.stop("p1", "Done.") }, "", []string{"stop"}},
		"SessionStart clear":        {[]string{"/clear", "/gsd:b"}, func(p *pane) { p.work(1) }, "done active", nil},
		"SessionStart clear, none":  {nil, func(p *pane) { p.start("clear") }, "", nil},
		"SessionStart startup":      {[]string{"/gsd:a"}, func(p *pane) { p.sent(1); p.start("startup") }, "", []string{"queue_stale"}},
		"UserPromptSubmit, queue":   {[]string{"/gsd:a"}, func(p *pane) { p.sent(1); p.prompt("p1", "other") }, "", []string{"queue_cancelled"}},
		"UserPromptSubmit, nothing": {nil, func(p *pane) { p.prompt("p1", "other") }, "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, nil)
			p := s.open(wardenMain)
			if tt.queue != nil {
				s.create(wardenMain, tt.queue...)
			}
			tt.hooks(p)
			s.wantLetters(tt.letter...)
			if tt.want == "" {
				s.wantNoQueue(wardenMain)
				return
			}
			s.wantQueue(wardenMain, "", tt.want)
		})
	}
}

// Section 7: questions are answered through the hook, single, several and free text. One
// without a rule is left to a person, and the agent is told.
func TestSeed003QuestionsAreAnsweredByRules(t *testing.T) {
	s := newStage(t, fields{"answers": []any{
		fields{"question": "Which color?", "answer": "Blue"},
		fields{"question": "*fruits*", "answer": []string{"Apple", "Plum"}},
		fields{"question": "name", "text": "call it \"x\""},
	}})
	p := s.open(wardenMain)
	question := func(text, header string, several bool, labels ...string) fields {
		var options []any
		for _, label := range labels {
			options = append(options, fields{"label": label, "description": "that one"})
		}
		return fields{"question": text, "header": header, "multiSelect": several, "options": options}
	}
	asked := []any{
		question("Which color?", "Color", false, "Red", "Blue"),
		question("Which fruits?", "Fruits", true, "Apple", "Pear", "Plum"),
		question("How shall it be called?", "Name", false, "a", "b"),
	}
	ask := func(questions ...any) result {
		return p.event("pre-tool-use.ask-user-question", fields{"tool_input": fields{"questions": questions}})
	}
	r := ask(asked...)
	var answer struct {
		Specific struct {
			Decision string         `json:"permissionDecision"`
			Input    map[string]any `json:"updatedInput"`
		} `json:"hookSpecificOutput"`
	}
	decode(t, r.stdout, &answer)
	want := map[string]any{"Which color?": "Blue", "Which fruits?": "Apple, Plum", "How shall it be called?": `call it "x"`}
	if diff := cmp.Diff(want, answer.Specific.Input["answers"]); diff != "" || answer.Specific.Decision != "allow" {
		t.Errorf("the client hears %s\n%s", r.stdout, diff)
	}
	if questions, _ := answer.Specific.Input["questions"].([]any); len(questions) != len(asked) {
		t.Errorf("the questions are %v", questions)
	}
	s.wantLetters()
	if r := ask(asked[0], question("Why?", "Why", false, "a", "b")); r != (result{}) {
		t.Errorf("the client hears %+v", r)
	}
	contains(t, s.wantLetters("question").text, "Why?")
}

// Section 7: a client that waits is told of, and has what was not typed before typed.
func TestSeed003IdleNotification(t *testing.T) {
	s := newStage(t, nil)
	p := s.open(wardenMain)
	p.hook("notification.idle-prompt", fields{"prompt_id": "p1"})
	contains(t, s.wantLetters("idle").text, "Claude is waiting for your input", "# ")

	p.prompt("p2", "a person's")
	p.Show(looks{Screen: standin.DialogScreen}) // a busy client whose screen says so, too
	s.create(wardenMain, "/gsd:a")
	p.wantTyped()
	p.Show(looks{})
	p.hook("notification.idle-prompt", fields{"prompt_id": "p2"})
	p.work(1)
	s.wantLetters("idle", "queue_complete")
	p.wantTyped("/gsd:a")
}

// Section 7: the events that queue and wake need are registered by hooks install, with
// timeouts, as one program.
func TestSeed003HooksAreRegistered(t *testing.T) {
	t.Parallel()
	home, project := t.TempDir(), t.TempDir()
	r := inDir(t, project, []string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}, stopgate, "hooks", "install", "--user")
	if r.code != 0 {
		t.Fatalf("%+v", r)
	}
	var settings struct {
		Hooks map[string][]struct {
			Hooks []struct {
				Command string
				Args    []string
				Timeout float64
			}
		}
	}
	decode(t, slurp(t, filepath.Join(home, ".claude", "settings.json")), &settings)
	for event, want := range map[string]float64{
		"Stop": 1200, "SessionStart": 60, "UserPromptSubmit": 30, "StopFailure": 60, "SessionEnd": 20, "Notification": 60,
		"PreToolUse": 600, "PreCompact": 600, "PermissionRequest": 86400, // in which a person answers an agent
	} {
		groups := settings.Hooks[event]
		if len(groups) != 1 || len(groups[0].Hooks) != 1 {
			t.Errorf("%s: %v", event, groups)
			continue
		}
		h := groups[0].Hooks[0]
		if words := strings.Join(append([]string{h.Command}, h.Args...), " "); !strings.Contains(words, "stopgate") || !slices.Contains(strings.Fields(words), "hook") || h.Timeout != want {
			t.Errorf("%s: %+v", event, h)
		}
	}
}
