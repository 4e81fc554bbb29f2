//go:build unix

package conformance

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/test/standin"
)

// everyHook are the events that could move a queue or wake an agent.
var everyHook = []string{
	"session-start.startup", "user-prompt-submit.typed-in-tmux", "stop.first", "stop-failure.api-error",
	"notification.idle-prompt", "notification.permission-prompt", "pre-tool-use.ask-user-question", "pre-compact", "session-end.other",
}

func TestRulingC1OnlyInteractiveClientsHaveQueuesAndWakes(t *testing.T) {
	s := newStage(t, nil)
	p := s.open(wardenMain)
	s.create(wardenMain, "/gsd:a", "/gsd:b")
	p.prompt("prompt-1", p.sent(1))
	before := slurp(t, s.file(wardenMain, ""))
	for name, other := range map[string]struct {
		env     []string
		changes fields
	}{
		"claude -p in the same pane": {env: []string{"CLAUDE_CODE_ENTRYPOINT=sdk-cli"}, changes: fields{"session_id": "nested", "prompt_id": "nested"}},
		"no entry point":             {env: []string{"CLAUDE_CODE_ENTRYPOINT="}},
		"a subagent":                 {changes: fields{"agent_id": "a1", "agent_type": "coder", "prompt_id": "prompt-1"}},
		"outside tmux":               {env: []string{"TMUX=", "TMUX_PANE="}},
	} {
		for _, event := range everyHook {
			p.hook(event, other.changes, other.env...)
		}
		if now := slurp(t, s.file(wardenMain, "")); now != before {
			t.Fatalf("%s: the queue is\n%s", name, now)
		}
	}
	s.wantLetters()
	p.stop("prompt-1", answerTo("/gsd:a"))
	s.wantQueue(wardenMain, "", "done active")
}

// untilFixed is a project that lets nobody stop before it is fixed.
const untilFixed = "hooks:\n  Stop:\n    - run: test -e fixed || { echo fix it >&2; exit 2; }\n"

func (s *stage) guard(t *testing.T) {
	t.Helper()
	check(t, os.Mkdir(filepath.Join(s.root, ".gauntlet"), 0o700))
	spill(t, filepath.Join(s.root, ".gauntlet", "config.yml"), untilFixed)
}

// blocked is a stop that a keeper of ours blocks.
func (p *pane) blocked(id string) {
	p.s.t.Helper()
	if r := p.event("stop.first", fields{"prompt_id": id}); r.code != 0 || !strings.Contains(r.stdout, `"decision":"block"`) {
		p.s.t.Fatalf("not blocked: %+v", r)
	}
}

func TestRulingC3TheFlagAndTheFreshStop(t *testing.T) {
	s := newStage(t, nil)
	s.guard(t)
	p := s.open(wardenMain)
	p.blocked("p1")
	s.wantLetters()
	spill(t, filepath.Join(s.root, "fixed"), "")
	active := func(id string) { p.hook("stop.first", fields{"prompt_id": id, "stop_hook_active": true}) }
	active("p2") // somebody else blocked that
	s.wantLetters()
	active("p1") // we did
	s.wantLetters("stop")
}

func TestRulingC6ABlockedStopMovesNoQueue(t *testing.T) {
	s := newStage(t, nil)
	s.guard(t)
	p := s.open(wardenMain)
	s.create(wardenMain, "/gsd:a", "/gsd:b")
	p.prompt("prompt-1", p.sent(1))
	before := slurp(t, s.file(wardenMain, ""))
	p.blocked("prompt-1")
	if now := slurp(t, s.file(wardenMain, "")); now != before {
		t.Fatalf("the queue is\n%s", now)
	}
	p.wantTyped("/gsd:a")
	s.wantLetters()
	spill(t, filepath.Join(s.root, "fixed"), "")
	p.hook("stop.first", fields{"prompt_id": "prompt-1", "stop_hook_active": true, "last_assistant_message": "fixed"})
	s.wantQueue(wardenMain, "", "done active")
	if result := s.queue(wardenMain, "").Commands[0].Result; result == nil || *result != "fixed" {
		t.Errorf("the result is %v", result)
	}
}

func TestRuling31WhoseAPromptIs(t *testing.T) {
	for name, tt := range map[string]struct {
		prompt string
		want   string // of the queue, which is cancelled if that is empty
		state  string // of the delivery
	}{
		"equal":                    {"/gsd:plan-phase  3 ", "active pending", "confirmed"},
		"of the client's own":      {"<task-notification>\n<task-id>b1</task-id></task-notification>", "active pending", "entered"},
		"anything else":            {"/gsd:plan-phase 4", "", ""},
		"what the queue has later": {"/gsd:next", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, nil)
			p := s.open(wardenMain)
			s.create(wardenMain, "/gsd:plan-phase 3", "/gsd:next")
			p.sent(1)
			p.prompt("p1", tt.prompt)
			if tt.want == "" {
				s.wantLetters("queue_cancelled")
				s.wantNoQueue(wardenMain)
				return
			}
			s.wantQueue(wardenMain, "", tt.want)
			if got := s.queue(wardenMain, "").Commands[0].Stopgate.State; got != tt.state {
				t.Errorf("it is %s, want %s", got, tt.state)
			}
			s.wantLetters()
		})
	}
}

func TestRuling32AFinishedQueueIsNoQueue(t *testing.T) {
	s := newStage(t, nil)
	p := s.open(wardenMain)
	s.create(wardenMain, "first")
	p.work(1)
	contains(t, s.wantLetters("queue_complete").text, s.file(wardenMain, ".done"))
	p.stop("p9", "A person's.")
	s.wantLetters("queue_complete", "stop")
	s.create(wardenMain, "second") // is not refused
	p.work(2)
	s.wantLetters("queue_complete", "stop", "queue_complete")
	for suffix, want := range map[string]string{".done": "second", ".done.1": "first"} {
		if got := s.queue(wardenMain, suffix).Commands[0].Command; got != want {
			t.Errorf("%s is the queue of %q", suffix, got)
		}
	}
}

func TestRuling33GuardsAreForTheFreshStopAlone(t *testing.T) {
	s := newStage(t, fields{"wake_on": []string{}})
	p, stranger := s.open(wardenMain), s.open("stranger")
	silent := fields{"prompt_id": "p1", "stop_hook_active": true, "last_assistant_message": nil}
	for _, of := range []*pane{p, stranger} {
		s.create(of.session, "/gsd:a", "/gsd:b")
		of.prompt("p1", of.sent(1))
		of.hook("stop.first", silent)
		s.wantQueue(of.session, "", "done active")
		of.prompt("p2", of.sent(2))
		of.hook("stop.first", fields{"prompt_id": "p2", "stop_hook_active": true, "last_assistant_message": nil})
		s.wantQueue(of.session, ".done", "done done")
	}
	s.wantLetters("queue_complete") // the stranger has nobody
}

// 3.4 and 3.5: only hooks advance, and however many come at once, each step is done once.
func TestRuling35ManyHooksAtOnce(t *testing.T) {
	s := newStage(t, nil)
	p := s.open(wardenMain)
	s.create(wardenMain, "/gsd:a", "/gsd:b", "/gsd:c")
	p.prompt("prompt-1", p.sent(1))
	var all sync.WaitGroup
	for range 20 {
		cmd, payload := p.prepare("stop.first", fields{"prompt_id": "prompt-1", "last_assistant_message": answerTo("/gsd:a")})
		all.Go(func() {
			cmd.Stdin = bytes.NewReader(payload)
			if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	all.Wait()
	s.wantQueue(wardenMain, "", "done active pending")
	p.work(2)
	p.work(3)
	s.wantLetters("queue_complete")
	p.wantTyped("/gsd:a", "/gsd:b", "/gsd:c")
}

func TestRuling36TheDriversArgument(t *testing.T) {
	s := newStage(t, nil)
	p := s.open(wardenMain)
	refused := func(code int, words string, args ...string) {
		t.Helper()
		if r := s.call(tuiDriver, args...); r.code != code || !strings.Contains(r.stderr, words) || r.stdout != "" {
			t.Errorf("%q: %+v; want exit %d and %q", args, r, code, words)
		}
	}
	refused(1, "no tmux session warden-main", "--session", "warden-main", `["/clear"]`)
	refused(1, "control character U+0003", "--session", wardenMain, `["fine","a\u0003b"]`)
	refused(1, "carriage return", "--session", wardenMain, `["a\rb"]`)
	refused(2, "unknown key", `{"session":"warden-main-4","comands":["/clear"]}`)
	for _, session := range []string{"warden-main", wardenMain} {
		s.wantNoQueue(session)
	}
	p.wantTyped()
	if r := s.call(tuiDriver, "--session", wardenMain, `["two\nlines","a\ttab"]`); r.code != 0 {
		t.Fatalf("%+v", r)
	}
	refused(1, "already has a queue", "--session", wardenMain, `["/clear"]`)
	p.work(1)
	p.prompt("prompt-2", p.sent(2))
	if r := s.call(tuiDriver, "--replace", `{"session":"warden-main-4","commands":["other"]}`); r.code != 0 {
		t.Fatalf("%+v", r)
	}
	contains(t, s.wantLetters("queue_cancelled").text, `Queue cancelled by a new queue. Completed: 1/2. Remaining: ["a\ttab"]`)
	p.stop("prompt-2", "The old one's.") // the client was busy with it
	p.work(3)
	s.wantLetters("queue_cancelled", "queue_complete")
	p.wantTyped("two\nlines", "a\ttab", "other")
}

func TestRuling37WhichHookCompletesACommand(t *testing.T) {
	s := newStage(t, nil)
	p := s.open(wardenMain)
	s.create(wardenMain, "/gsd:a", "/compact", "/clear", "/gsd:b")
	p.prompt("prompt-1", p.sent(1))
	p.stop("another", "Of work in the background.")
	p.hook("stop-failure.api-error", fields{"prompt_id": "another"})
	p.hook("session-start.compact", nil) // the client's own
	s.wantQueue(wardenMain, "", "active pending pending pending")
	p.stop("prompt-1", "the answer")
	s.wantQueue(wardenMain, "", "done active pending pending")
	p.sent(2)
	p.stop("another", "no compaction")
	s.wantQueue(wardenMain, "", "done active pending pending")
	p.work(2)
	s.wantQueue(wardenMain, "", "done done active pending")
	p.work(3)
	p.work(4)
	s.wantLetters("queue_complete")
	first := s.queue(wardenMain, ".done").Commands[0]
	if first.Result == nil || *first.Result != "the answer" {
		t.Errorf("the first command is %+v", first)
	}
}

// One more Enter, and no more keys than that.
func TestRuling38AnEnterThatIsNotHeard(t *testing.T) {
	s := newStage(t, nil)
	once, never := s.open("warden-once"), s.open("warden-never")
	once.Show(looks{Swallow: 1})
	never.Show(looks{Swallow: 1000})
	s.create(never.session, "/gsd:a", "/gsd:b")
	s.create(once.session, "/gsd:a")
	once.work(1)
	s.wantQueue(once.session, ".done", "done")
	once.wantBytes(pasted("/gsd:a") + "\r\r")
	l := s.wantLetters("queue_complete", "queue_failed")
	contains(t, l.text, "Queue failed: command 1 failed: no hook of Claude Code confirmed it.", s.file(never.session, ".stale"))
	eventually(t, "its file has its last name", func() bool { return exists(s.file(never.session, ".stale")) })
	s.wantNoQueue(never.session)
	s.wantQueue(never.session, ".stale", "failed pending")
	never.hook("notification.idle-prompt", fields{"prompt_id": "p0"})
	never.wantBytes(pasted("/gsd:a") + "\r\r")
}

// Nothing is typed into a dialog, beside a person's text, or where there is no client.
// After the hook that says that it may be typed it is tried once more, and has failed.
func TestRuling39WhereNothingIsTyped(t *testing.T) {
	s := newStage(t, nil)
	places := []struct {
		session string
		looks   looks
		why     string
		pane    *pane
	}{
		{session: "warden-dialog", looks: looks{Screen: standin.DialogScreen}, why: "a dialog is open"},
		{session: "warden-box", looks: looks{Box: "half a thought"}, why: "text in the input box"},
		{session: "warden-shell", looks: looks{Screen: standin.GlyphScreen}, why: "no prompt"}, // which looks like the box
	}
	var all sync.WaitGroup
	for i := range places {
		place := &places[i]
		place.pane = s.open(place.session)
		place.pane.Show(place.looks)
		create := s.command(stopgate, "queue", "create", "--session", place.session, `["rm -rf everything"]`)
		all.Go(func() {
			if out, err := create.CombinedOutput(); err != nil || !strings.Contains(string(out), place.why+"; it is typed as soon as the input box is free") {
				t.Errorf("%s: %v: %s", place.session, err, out)
			}
		})
	}
	all.Wait()
	s.wantLetters()
	for _, place := range places {
		s.wantQueue(place.session, "", "active")
		place.pane.hook("notification.idle-prompt", fields{"prompt_id": "p0"})
	}
	told := s.letters(len(places))
	for _, place := range places {
		want := "Queue failed: command 1 failed: it could not be typed: " + place.why
		if !slices.ContainsFunc(told, func(l letter) bool {
			return l.kind == "queue_failed" && strings.Contains(l.text, "- Session: "+place.session) && strings.Contains(l.text, want)
		}) {
			t.Errorf("nobody is told of %s: %s", place.session, want)
		}
		place.pane.wantTyped()
	}
}

// A hook does not wait for the gateway: while that hangs, hooks end and letters wait.
// They arrive in order, each under one key, also when a try failed.
func TestRuling311TheGatewayIsNobodysBusinessInAHook(t *testing.T) {
	s := newStage(t, nil)
	p := s.open(wardenMain)
	down := filepath.Join(s.mailbox(), "down")
	spill(t, down, "")
	spill(t, filepath.Join(s.mailbox(), "broken"), "")
	for n := range 3 {
		p.stop(fmt.Sprint("p", n), fmt.Sprint("message ", n))
		p.stop(fmt.Sprint("p", n), fmt.Sprint("message ", n)) // another hook tells the same
	}
	waiting, err := filepath.Glob(s.state("outbox", "*", "0*.json"))
	if err != nil || len(waiting) != 3 || !exists(down) {
		t.Fatalf("%d letters wait, %v", len(waiting), err)
	}
	contains(t, s.call(stopgate, "status").stdout, "3 messages for warden")
	check(t, os.Remove(down))
	var keys []string
	for n, l := range s.letters(3) {
		contains(t, l.text, fmt.Sprint("message ", n), "- Message id: "+l.key)
		keys = append(keys, l.key)
	}
	want := append([]string{keys[0]}, keys...) // the first try failed
	if diff := cmp.Diff(want, strings.Fields(slurp(t, filepath.Join(s.mailbox(), "tries")))); diff != "" {
		t.Errorf("the tries (-want +got):\n%s", diff)
	}
	if len(slices.Compact(slices.Sorted(slices.Values(keys)))) != 3 {
		t.Errorf("keys %q", keys)
	}
}

// The session is that of tmux, whatever the client calls its own.
func TestRuling312TheSessionIsThatOfTmux(t *testing.T) {
	s := newStage(t, nil)
	p := s.open(wardenMain)
	p.stop("p0", "Done.")
	contains(t, s.wantLetters("stop").text, "- Session: "+wardenMain+"\n")
	s.create(wardenMain, "/gsd:a", "/gsd:b")
	p.id = "of another conversation"
	p.work(1)
	s.wantQueue(wardenMain, "", "done active")
	other := s.open("elsewhere")
	other.id = p.id
	other.stop("prompt-2", "Done.")
	other.prompt("p9", "something else")
	s.wantQueue(wardenMain, "", "done active")
	s.wantLetters("stop")
}

func TestRuling313OtherSourcesLeaveTheQueue(t *testing.T) {
	s := newStage(t, nil)
	p := s.open(wardenMain)
	s.create(wardenMain, "/gsd:a", "/gsd:b")
	p.prompt("prompt-1", p.sent(1))
	for _, source := range []string{"resume", "compact", "clear"} {
		p.start(source)
		s.wantQueue(wardenMain, "", "active pending")
	}
	s.wantLetters()
	p.stop("prompt-1", "Done.")
	s.wantQueue(wardenMain, "", "done active")
}

// At every stage of a queue the file has the seed's fields and ours in one object.
func TestRuling314OursIsInOneObject(t *testing.T) {
	s := newStage(t, nil)
	p := s.open(wardenMain)
	wantFields := func(path, more string) {
		t.Helper()
		var doc map[string]any
		decode(t, slurp(t, path), &doc)
		if got := names(doc); got != strings.TrimSpace("commands "+more)+" stopgate" {
			t.Errorf("%s has %s", path, got)
		}
		for _, c := range doc["commands"].([]any) {
			command := c.(map[string]any)
			delete(command, "stopgate")
			if got := names(command); got != "awaits command completed_at id result status trigger" {
				t.Errorf("%s: a command has %s", path, got)
			}
		}
	}
	s.create(wardenMain, "/clear", "/gsd:a")
	wantFields(s.file(wardenMain, ""), "")
	p.work(1)
	p.prompt("prompt-2", p.sent(2))
	wantFields(s.file(wardenMain, ""), "")
	p.stop("prompt-2", "Done.")
	wantFields(s.file(wardenMain, ".done"), "")
	s.create(wardenMain, "/gsd:b")
	p.sent(3)
	p.prompt("p9", "something else")
	wantFields(s.file(wardenMain, ".stale"), "status")
}

func names(doc map[string]any) string {
	var all []string
	for name := range doc {
		all = append(all, name)
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

// Section 4 of the issue: a damaged file is set aside and named, and the session goes on.
func TestADamagedQueueIsSetAside(t *testing.T) {
	s := newStage(t, nil)
	p := s.open(wardenMain)
	s.create(wardenMain, "/gsd:a")
	p.prompt("prompt-1", p.sent(1))
	half := slurp(t, s.file(wardenMain, ""))[:100]
	spill(t, s.file(wardenMain, ""), half)
	r := p.event("stop.first", fields{"prompt_id": "prompt-1"})
	aside := s.file(wardenMain, ".corrupt")
	if r.code != 0 || !strings.Contains(r.stdout, "systemMessage") || !strings.Contains(r.stdout, aside) || strings.Contains(r.stdout, "block") {
		t.Errorf("the person hears %+v", r)
	}
	contains(t, s.wantLetters("queue_failed").text, aside)
	if got := slurp(t, aside); got != half {
		t.Errorf("set aside: %q", got)
	}
	p.stop("p2", "More.")
	s.wantLetters("queue_failed", "stop")
	s.create(wardenMain, "/gsd:b")
	p.work(2)
	s.wantLetters("queue_failed", "stop", "queue_complete")
}

// What a person leaves in the input box, or in a dialog, keeps a command back as long as it is
// there. No hook tells when it is gone.
func TestP3AQueueGoesOnWithoutAHook(t *testing.T) {
	for name, seen := range map[string]looks{
		"text, then Ctrl-C":  {Box: "half a thought"},
		"a dialog, then Esc": {Screen: standin.DialogScreen},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, nil)
			p := s.open(wardenMain)
			p.Show(seen)
			s.create(wardenMain, "/gsd:a")
			p.wantTyped()
			p.Show(looks{})
			p.work(1)
			s.wantLetters("queue_complete")
			p.wantTyped("/gsd:a")
		})
	}
}

// The agent was told of the stop. That the client waits after it is no news.
func TestP5IdlenessAfterAStop(t *testing.T) {
	s := newStage(t, nil)
	p := s.open(wardenMain)
	p.stop("p1", "Done.")
	p.hook("notification.idle-prompt", fields{"prompt_id": "p1"})
	s.wantLetters("stop")
	p.prompt("p2", "go on")
	p.hook("notification.idle-prompt", fields{"prompt_id": "p2"}) // interrupted
	s.wantLetters("stop", "idle")
}
