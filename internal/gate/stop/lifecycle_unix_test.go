//go:build unix

package stop

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/agents/agentdir"
	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/gate/keeper"
	"github.com/stopgate/stopgate/internal/gate/lifecycle"
	"github.com/stopgate/stopgate/internal/harness/hook"
	"github.com/stopgate/stopgate/internal/record/event"
	"github.com/stopgate/stopgate/internal/record/journal"
)

const agentID = "0190-agent"

// fakeDaemon stands in for the daemon.
type fakeDaemon struct {
	t      *testing.T
	socket string
	stop   func() // nobody listens any more when it returns

	mu       sync.Mutex
	signaled map[string]string    // agent: kind; "" for an agent that nobody owns
	hangs    bool                 // takes a question and never answers it
	through  []journal.Position   // that signals were asked for
	replies  chan daemonapi.Reply // for those that wait
	waiting  chan string          // the refs that somebody has asked for
	failure  *daemonapi.Failure   // in place of a reply
}

func newFakeDaemon(t *testing.T, state string) *fakeDaemon {
	p := &fakeDaemon{
		t: t, socket: filepath.Join(state, "daemon.sock"), signaled: map[string]string{},
		replies: make(chan daemonapi.Reply), waiting: make(chan string, 100),
	}
	p.start()
	t.Cleanup(func() { p.stop() })
	return p
}

func (p *fakeDaemon) start() {
	p.t.Helper()
	check(p.t, os.MkdirAll(filepath.Dir(p.socket), 0o700))
	listener, err := net.Listen("unix", p.socket)
	check(p.t, err)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/agents/{id}/signal", p.signal)
	mux.HandleFunc("GET /v1/agents/{id}/answer", p.answer)
	server := &http.Server{Handler: mux}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = server.Serve(listener)
	}()
	p.stop = func() {
		_ = server.Close() // knows the listener only once Serve has begun
		_ = listener.Close()
		<-served
	}
}

func (p *fakeDaemon) signal(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.hangs {
		p.mu.Unlock()
		<-r.Context().Done()
		p.mu.Lock()
		return
	}
	at, err := journal.ParsePosition(r.FormValue("journal"))
	if err != nil {
		p.t.Error(err)
	}
	p.through = append(p.through, at)
	kind, signaled := p.signaled[r.PathValue("id")]
	_ = json.NewEncoder(w).Encode(daemonapi.Signal{Signaled: signaled, Kind: kind})
}

func (p *fakeDaemon) says(kind string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.signaled[agentID] = kind
}

func (p *fakeDaemon) answer(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	failure := p.failure
	p.mu.Unlock()
	if failure != nil {
		w.WriteHeader(http.StatusNotFound)
		_ = json.NewEncoder(w).Encode(failure)
		return
	}
	p.waiting <- r.FormValue("ref")
	select {
	case reply := <-p.replies:
		_ = json.NewEncoder(w).Encode(reply)
	case <-r.Context().Done():
	}
}

// managed is a scene in the session s1 of an agent, whose state directory has a short path.
func managed(t *testing.T, onStop, hooks string) (*scene, *fakeDaemon) {
	t.Helper()
	s := newScene(t, hooks)
	state, err := os.MkdirTemp("", "sg")
	check(t, err)
	t.Cleanup(func() { os.RemoveAll(state) })
	s.state = state
	s.env = append(s.env, agentdir.Variable+"="+agentID)
	s.keepers = append(s.keepers, s.lifecycle())
	dir := s.agent()
	check(t, dir.WriteConfig(onStop))
	check(t, dir.SetSession(agentdir.Session{ID: "s1"}))
	return s, newFakeDaemon(t, state)
}

func (s *scene) agent() agentdir.Dir {
	dir, err := agentdir.At(s.state, agentID)
	check(s.t, err)
	return dir
}

func (s *scene) lifecycle() *lifecycle.Keeper {
	return &lifecycle.Keeper{
		StateDir: s.state, Now: s.now, Stderr: &s.stderr, Parent: os.Getppid,
		Program: func() string { return "/opt/some where/oj" },
		Daemon:  func() *daemonapi.Client { return daemonapi.New(filepath.Join(s.state, "daemon.sock"), "test") },
	}
}

// emitted are the words in the journal: event, kind or type, ref.
func (s *scene) emitted() (out []string) {
	s.t.Helper()
	for _, r := range s.records() {
		if r.Kind == event.Emitted {
			if r.Word.Agent != agentID {
				s.t.Errorf("said of %q", r.Word.Agent)
			}
			out = append(out, strings.TrimSpace(r.Event+" "+r.Word.Kind+r.Word.Type+" "+r.Word.Prompt))
		}
	}
	return out
}

func (s *scene) wantEmitted(want ...string) {
	s.t.Helper()
	if diff := cmp.Diff(want, s.emitted()); diff != "" {
		s.t.Errorf("emitted (-want +got):\n%s", diff)
	}
}

func (s *scene) wantStatus(status string) {
	s.t.Helper()
	rec := s.answered()
	if i := slices.IndexFunc(rec.Verdicts, func(v event.Verdict) bool { return v.Keeper == "lifecycle" }); i < 0 || rec.Verdicts[i].Status != status {
		s.t.Errorf("the verdicts are %+v, want lifecycle's to be %s", rec.Verdicts, status)
	}
}

const signalCommand = "You must explicitly signal completion before stopping. Run: '/opt/some where/oj' emit agent:signal --agent " + agentID + " complete"

func TestOnStopSignal(t *testing.T) {
	s, daemon := managed(t, agentdir.Signal, "")
	wantBlock(t, s.stop(nil), signalCommand)
	s.wantStatus("not_signaled")
	wantAllow(t, s.stop(fields{"stop_hook_active": true}))
	s.wantStatus("blocked_before")
	wantBlock(t, s.stop(fields{"prompt_id": "p2"}), signalCommand)
	daemon.says("complete")
	wantAllow(t, s.stop(fields{"prompt_id": "p3"}))
	s.wantStatus("signaled")
	s.wantEmitted()
}

// The daemon is asked for what it knows when it has read the very stop.
func TestTheDaemonHasReadTheStop(t *testing.T) {
	s, daemon := managed(t, agentdir.Signal, "")
	s.stop(nil)
	var received journal.Position
	for entry, err := range journal.New(filepath.Join(s.state, "journal"), journal.Limits{}).Read(journal.Position{}) {
		check(t, err)
		if entry.Record.Kind == event.Received {
			received = entry.Position
		}
	}
	if len(daemon.through) != 1 || daemon.through[0] != received {
		t.Errorf("asked at %v, the stop ends at %v", daemon.through, received)
	}
}

func TestOnStopIdle(t *testing.T) {
	s, daemon := managed(t, agentdir.Idle, "")
	wantBlock(t, s.stop(nil), "Stop hook: on_idle handler invoked. Continue working or signal completion.")
	s.wantStatus("idle")
	wantAllow(t, s.stop(fields{"stop_hook_active": true}))
	wantBlock(t, s.stop(fields{"prompt_id": "p2"}), "on_idle")
	s.wantEmitted("agent:idle  p1", "agent:idle  p2")
	daemon.says("") // the pipeline has gone on
	wantAllow(t, s.stop(fields{"prompt_id": "p3"}))
	s.wantEmitted("agent:idle  p1", "agent:idle  p2")
}

func TestOnStopEscalate(t *testing.T) {
	s, _ := managed(t, agentdir.Escalate, "")
	for _, prompt := range []string{"p1", "p2"} {
		wantBlock(t, s.stop(fields{"prompt_id": prompt}), "A human has been notified. Wait for instructions or signal completion.")
		s.wantStatus("escalated")
		wantAllow(t, s.stop(fields{"prompt_id": prompt, "stop_hook_active": true}))
	}
	s.wantEmitted("agent:stop  p1", "agent:stop  p2")
}

func TestSignalWinsOverEveryOnStop(t *testing.T) {
	for _, onStop := range []string{agentdir.Signal, agentdir.Idle, agentdir.Escalate, "nonsense"} {
		s, daemon := managed(t, onStop, "")
		daemon.says("escalate")
		wantAllow(t, s.stop(nil))
		s.wantEmitted()
	}
}

func TestWithoutAConfigItMustSignal(t *testing.T) {
	for _, text := range []string{"", "{", `{"on_stop":"nudge"}`} {
		s, _ := managed(t, agentdir.Idle, "")
		check(t, os.WriteFile(s.agent().Path("config.json"), []byte(text), 0o600))
		wantBlock(t, s.stop(nil), signalCommand)
		check(t, os.Remove(s.agent().Path("config.json")))
		wantBlock(t, s.stop(fields{"prompt_id": "p2"}), signalCommand)
	}
}

func TestRuling25DaemonDown(t *testing.T) {
	for _, onStop := range []string{agentdir.Signal, agentdir.Idle, agentdir.Escalate} {
		t.Run(onStop, func(t *testing.T) {
			t.Parallel() // each waits two seconds for the daemon, twice
			s, daemon := managed(t, onStop, "")
			daemon.stop()
			wantAllow(t, s.stop(nil), "allowed to stop", "the daemon is not running")
			s.wantStatus("daemon_down")
			if !strings.Contains(s.stderr.String(), "allowed to stop") {
				t.Errorf("stderr has %q", s.stderr.String())
			}
			write(t, s.global, "lifecycle: {when_daemon_down: block}\n")
			r := s.stop(fields{"prompt_id": "p2"})
			wantBlock(t, r, signalCommand)
			if !strings.Contains(r.Message, "the daemon is not running") {
				t.Errorf("told %q", r.Message)
			}
			wantAllow(t, s.stop(fields{"prompt_id": "p2", "stop_hook_active": true}))
			s.wantEmitted()
		})
	}
}

// A daemon that is being restarted lets nobody slip away.
func TestRuling25DaemonIsRestarted(t *testing.T) {
	s, daemon := managed(t, agentdir.Signal, "")
	daemon.stop()
	back := make(chan struct{})
	time.AfterFunc(200*time.Millisecond, func() {
		defer close(back)
		daemon.start()
	})
	wantBlock(t, s.stop(nil), signalCommand)
	<-back
}

func TestRuling25DaemonHangs(t *testing.T) {
	s, daemon := managed(t, agentdir.Escalate, "")
	daemon.hangs = true
	wantAllow(t, s.stop(nil), "did not answer in time")
	s.wantEmitted()
}

func TestGatesBlockFirstAndTheAgentIsStillHeld(t *testing.T) {
	s, daemon := managed(t, agentdir.Signal, "  Stop:\n    - {run: test -e fixed, message: fix it}\n")
	wantBlock(t, s.stop(nil), "fix it")
	if len(daemon.through) > 0 {
		t.Error("the daemon was asked")
	}
	write(t, s.path("fixed"), "")
	wantBlock(t, s.stop(fields{"stop_hook_active": true}), signalCommand)
	wantAllow(t, s.stop(fields{"stop_hook_active": true}))
	check(t, os.Remove(s.path("fixed"))) // the guard has blocked once, and still may
	wantBlock(t, s.stop(fields{"stop_hook_active": true}), "fix it")
}

func TestRulingC2OthersAreNotHeld(t *testing.T) {
	s, daemon := managed(t, agentdir.Escalate, "")
	wantAllow(t, s.stop(fields{"session_id": "of-the-agents-own-client"}))
	wantAllow(t, s.stop(fields{"agent_id": "sub", "agent_type": "coder"}))
	wantAllow(t, s.call(hook.SubagentStop, nil))
	check(t, os.Remove(s.agent().Path("session.json")))
	wantAllow(t, s.stop(nil))
	s.env = s.env[:len(s.env)-1]
	wantAllow(t, s.stop(nil))
	s.wantEmitted()
	if len(daemon.through) > 0 {
		t.Error("the daemon was asked")
	}
}

func TestTheSessionFollowsItsClient(t *testing.T) {
	s, _ := managed(t, agentdir.Signal, "")
	start := func(session, source, entrypoint string) {
		env := s.env
		s.env = append(slices.Clone(env), "CLAUDE_CODE_ENTRYPOINT="+entrypoint)
		wantAllow(t, s.call(hook.SessionStart, fields{"session_id": session, "source": source}))
		s.env = env
	}
	start("other", "clear", "cli") // nobody has left
	wantAllow(t, s.stop(fields{"session_id": "other"}))
	wantAllow(t, s.call(hook.SessionEnd, fields{"session_id": "other", "reason": "clear"}))
	wantAllow(t, s.call(hook.SessionEnd, fields{"reason": "other"}))
	start("other", "resume", "cli")
	wantAllow(t, s.stop(fields{"session_id": "other"}))
	s.wantEmitted()

	wantAllow(t, s.call(hook.SessionEnd, fields{"reason": "clear"}))
	start("nested", "startup", "cli")
	start("nested", "resume", "sdk-cli")
	start("s2", "clear", "cli")
	s.wantEmitted("agent:session")
	if ref := s.lastEmitted().Word.Ref; ref != "s2" {
		t.Errorf("it goes on in %q", ref)
	}
	wantBlock(t, s.stop(fields{"session_id": "s2"}), signalCommand)
	wantAllow(t, s.stop(fields{"session_id": "s1"}))
	start("s3", "clear", "cli")
	wantAllow(t, s.stop(fields{"session_id": "s3", "prompt_id": "p3"}))

	wantAllow(t, s.call(hook.SessionEnd, fields{"session_id": "s2", "reason": "resume"}))
	start("s2", "resume", "cli") // it came back
	wantBlock(t, s.stop(fields{"session_id": "s2", "prompt_id": "p4"}), signalCommand)
	s.wantEmitted("agent:session")
}

func (s *scene) lastEmitted() event.Record {
	s.t.Helper()
	all := s.records()
	for i := range all {
		if r := all[len(all)-1-i]; r.Kind == event.Emitted {
			return r
		}
	}
	s.t.Fatal("nothing was emitted")
	return event.Record{}
}

func TestWhatTheAgentSaidLastIsKept(t *testing.T) {
	s, _ := managed(t, agentdir.Signal, "")
	s.stop(fields{"last_assistant_message": "done", "transcript_path": "/t/x.jsonl"})
	s.stop(fields{"last_assistant_message": "of another", "session_id": "other"})
	got, err := s.agent().Last()
	check(t, err)
	got.Time = time.Time{}
	if want := (agentdir.Last{Message: "done", Transcript: "/t/x.jsonl", Cwd: s.root, Prompt: "p1"}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	s.call(hook.StopFailure, fields{"error": "rate_limit", "last_assistant_message": "API Error: 429"})
	if got, _ = s.agent().Last(); got.Error != "rate_limit" || got.Message != "API Error: 429" {
		t.Errorf("%+v", got)
	}
}

func TestRuling26APIErrors(t *testing.T) {
	const fault = `{"type":"assistant","isSidechain":false,"isApiErrorMessage":true,"error":"rate_limit","message":{"role":"assistant","content":[{"type":"text","text":"You've hit your limit · resets in 2h"}]}}` + "\n"
	const said = `{"type":"assistant","isApiErrorMessage":false,"message":{"content":[{"type":"text","text":"done"}]}}` + "\n"
	const asked = `{"type":"user","message":{"content":"go on"}}` + "\n"
	const noise = `{"type":"system","subtype":"turn_duration"}` + "\n" + `{"type":"assistant","isSidechain":true,"message":{}}` + "\n"
	for _, tt := range []struct {
		name, transcript, last string
		parked                 bool
	}{
		{"at the end", said + asked + fault, "", true},
		{"with noise behind it", fault + noise, "You've hit your limit · resets in 2h", true},
		{"before a line that is half written", fault + `{"type":"user`, "", true},
		{"in a long one", strings.Repeat(said, 3000) + fault, "", true},
		{"an older turn's", fault, "the newer turn's last words", false},
		{"before another prompt", fault + asked, "", false},
		{"before another answer", fault + said, "", false},
		{"quoted", strings.ReplaceAll(fault, "true", "false"), "", false},
		{"a person's", strings.ReplaceAll(fault, "assistant", "user"), "", false},
		{"none", said, "", false},
		{"empty", "", "", false},
		{"no JSON", "\n\nisApiErrorMessage\n", "", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, _ := managed(t, agentdir.Escalate, "")
			path := filepath.Join(s.state, "t.jsonl")
			write(t, path, tt.transcript)
			r := s.stop(fields{"transcript_path": path, "last_assistant_message": tt.last})
			if !tt.parked {
				wantBlock(t, r, "A human")
				return
			}
			wantAllow(t, r)
			s.wantEmitted("agent:error rate_limit p1")
			rec := s.lastEmitted()
			if reset, err := time.Parse(time.RFC3339, rec.Enums.Reset); err != nil || time.Until(reset) < 119*time.Minute || rec.Word.Message != "You've hit your limit · resets in 2h" {
				t.Errorf("the journal has %+v, %+v", rec.Enums, rec.Word)
			}
		})
	}
	held, _ := managed(t, agentdir.Escalate, "") // and then it comes back to this
	path := filepath.Join(held.state, "t.jsonl")
	write(t, path, said)
	wantBlock(t, held.stop(fields{"transcript_path": path}), "A human")
	write(t, path, said+asked+fault)
	wantAllow(t, held.stop(fields{"transcript_path": path, "stop_hook_active": true}))
	held.wantEmitted("agent:stop  p1", "agent:error rate_limit p1")
	s, _ := managed(t, agentdir.Escalate, "")
	wantAllow(t, s.call(hook.StopFailure, fields{"error": "rate_limit", "last_assistant_message": "limit reached|1893456000"}))
	if rec := s.records()[0]; rec.Enums != (event.Enums{Error: "rate_limit", Reset: "2030-01-01T00:00:00Z"}) {
		t.Errorf("the journal has %+v", rec.Enums)
	}
}

func TestATaskNotificationIsNoPerson(t *testing.T) {
	s := newScene(t, "")
	s.call(hook.UserPromptSubmit, fields{"prompt": "<task-notification>\n<task-id>x</task-id>\n</task-notification>"})
	s.call(hook.UserPromptSubmit, fields{"prompt": "what is a <task-notification>?"})
	all := s.records()
	if all[0].Enums.Source != "task" || all[2].Enums.Source != "" {
		t.Errorf("%+v and %+v", all[0].Enums, all[2].Enums)
	}
}

func TestInARecessNobodyIsHeld(t *testing.T) {
	s, _ := managed(t, agentdir.Escalate, failing)
	check(t, Recess{Root: s.root, Since: time.Now().Add(-time.Minute), Until: time.Now().Add(time.Hour)}.Begin(s.state))
	wantAllow(t, s.stop(nil), "off in this project")
	s.wantEmitted()
}

// A full disk: that somebody was told would not be true.
func TestNobodyIsHeldWhenNobodyCanBeTold(t *testing.T) {
	s, _ := managed(t, agentdir.Escalate, "")
	check(t, os.WriteFile(filepath.Join(s.state, "journal"), nil, 0o600))
	wantAllow(t, s.stop(nil), "cannot record that the agent stops")
}

func (s *scene) alone(id, stdin string) reply {
	s.t.Helper()
	service := s.service()
	service.Lifecycle = s.lifecycle()
	r := reply{Reply: service.AgentStop(s.t.Context(), id, strings.NewReader(stdin))}
	if len(r.Stdout) > 0 {
		check(s.t, json.Unmarshal(r.Stdout, &r))
	}
	return r
}

func TestAgentHookStop(t *testing.T) {
	s, daemon := managed(t, agentdir.Idle, failing) // no gate is asked
	s.env = s.env[:1]                               // the command line names the agent
	for _, stdin := range []string{`{"stop_hook_active":false}`, `{}`, ``, `garbage`, `[]`, `{"stop_hook_active":"yes"}`, `{"session_id":"s1","prompt_id":"p1"}`} {
		wantBlock(t, s.alone(agentID, stdin), "on_idle handler invoked")
	}
	wantAllow(t, s.alone(agentID, `{"stop_hook_active":true}`))
	wantAllow(t, s.alone(agentID, `{"session_id":"other"}`))
	wantAllow(t, s.alone(agentID, `{"agent_id":"sub"}`))
	for _, unknown := range []string{"nobody", "../x", "", "a\nb", strings.Repeat("x", 300)} {
		wantAllow(t, s.alone(unknown, `{}`))
	}
	if got := s.emitted(); len(got) != 7 || got[6] != "agent:idle  p1" {
		t.Errorf("emitted %q", got)
	}
	wantBlock(t, s.alone(agentID, `{"session_id":"s1","last_assistant_message":"well"}`), "on_idle")
	if last, err := s.agent().Last(); err != nil || last.Message != "well" {
		t.Errorf("%+v, %v", last, err)
	}
	daemon.says("complete")
	wantAllow(t, s.alone(agentID, `{}`))
	daemon.stop()
	wantAllow(t, s.alone(agentID, `{}`), "allowed to stop")
}

// askFor is a permission request, as the client sends it.
func (s *scene) askFor(tool string, input any, extra fields) []byte {
	doc := fields{"tool_name": tool, "tool_input": input}
	for name, value := range extra {
		doc[name] = value
	}
	return s.payload(hook.PermissionRequest, doc)
}

// attended runs a hook in the background.
func (s *scene) attended(ctx context.Context, payload []byte) <-chan string {
	out := make(chan string, 1)
	service := s.service()
	service.Lifecycle = s.lifecycle()
	go func() { out <- strings.TrimSpace(string(service.Handle(ctx, "", bytes.NewReader(payload)).Stdout)) }()
	return out
}

type list []any

var colors = fields{"questions": list{
	fields{"question": "Which color?", "header": "Color", "options": list{fields{"label": "Red"}, fields{"label": "Blue"}}},
}}

func permitted(decision string) string {
	return `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":` + decision + `}}`
}

func TestAPersonAnswers(t *testing.T) {
	two := fields{"questions": list{fields{"question": "A?"}, fields{"question": "B <&>?", "multiSelect": true}}}
	answered := func(input fields, answers string) string {
		text, err := json.Marshal(input["questions"])
		check(t, err)
		return permitted(`{"behavior":"allow","updatedInput":{"questions":` + string(text) + `,"answers":` + answers + `}}`)
	}
	for _, tt := range []struct {
		name   string
		tool   string
		input  any
		reply  daemonapi.Reply
		want   string
		status string
	}{
		{"a label", "AskUserQuestion", colors, daemonapi.Reply{Option: "Blue", Answers: []string{"Blue"}}, answered(colors, `{"Which color?":"Blue"}`), "answered"},
		{"an option alone", "AskUserQuestion", colors, daemonapi.Reply{Option: "Blue"}, answered(colors, `{"Which color?":"Blue"}`), "answered"},
		{"words", "AskUserQuestion", colors, daemonapi.Reply{Message: "a \"green\"\none"}, answered(colors, `{"Which color?":"a \"green\"\none"}`), "answered"},
		{"a label that is called cancel", "AskUserQuestion", colors, daemonapi.Reply{Option: "cancel", Answers: []string{"cancel"}}, answered(colors, `{"Which color?":"cancel"}`), "answered"},
		{"two questions", "AskUserQuestion", two, daemonapi.Reply{Answers: []string{"x", "y, z"}}, answered(two, `{"A?":"x","B \u003c\u0026\u003e?":"y, z"}`), "answered"},
		{"one for two", "AskUserQuestion", two, daemonapi.Reply{Answers: []string{"x"}}, answered(two, `{"A?":"x","B \u003c\u0026\u003e?":"x"}`), "answered"},
		{"words for two", "AskUserQuestion", two, daemonapi.Reply{Message: "decide"}, answered(two, `{"A?":"decide","B \u003c\u0026\u003e?":"decide"}`), "answered"},
		{"cancelled", "AskUserQuestion", colors, daemonapi.Reply{Option: "cancel"}, "", "settled"},
		{"no questions", "AskUserQuestion", fields{}, daemonapi.Reply{Message: "x"}, "", "settled"},
		{"plan accepted", "ExitPlanMode", fields{"plan": "1. do"}, daemonapi.Reply{Option: "accept"}, permitted(`{"behavior":"allow","updatedInput":{}}`), "answered"},
		{"plan to be revised", "ExitPlanMode", fields{}, daemonapi.Reply{Option: "revise", Message: "less"}, permitted(`{"behavior":"deny","message":"A person asks you to revise the plan, and says: less"}`), "answered"},
		{"plan cancelled", "ExitPlanMode", fields{}, daemonapi.Reply{Option: "cancel"}, "", "settled"},
		{"approved", "Bash", fields{"command": "make"}, daemonapi.Reply{Option: "approve"}, permitted(`{"behavior":"allow"}`), "answered"},
		{"denied", "Bash", fields{"command": "make"}, daemonapi.Reply{Option: "deny"}, permitted(`{"behavior":"deny","message":"A person denied this."}`), "answered"},
		{"done with it", "Bash", nil, daemonapi.Reply{Option: "done"}, "", "settled"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, daemon := managed(t, agentdir.Signal, "")
			out := s.attended(t.Context(), s.askFor(tt.tool, tt.input, nil))
			ref := <-daemon.waiting
			asked, err := s.agent().Asked(ref)
			check(t, err)
			types := map[string]string{"AskUserQuestion": "question", "ExitPlanMode": "plan", "Bash": "permission"}
			if asked.Type != types[tt.tool] || asked.Tool != tt.tool {
				t.Errorf("asked %+v", asked)
			}
			s.wantEmitted("agent:prompt " + asked.Type + " p1")
			if got := s.lastEmitted().Word.Ref; got != ref {
				t.Errorf("emitted %q, waits for %q", got, ref)
			}
			daemon.replies <- daemonapi.Reply{State: "open"}
			<-daemon.waiting
			tt.reply.State = "answered"
			daemon.replies <- tt.reply
			got := strings.NewReplacer(`<`, `\u003c`, `>`, `\u003e`, `&`, `\u0026`).Replace(<-out)
			if got != tt.want {
				t.Errorf("the client hears\n%s, want\n%s", got, tt.want)
			}
			s.wantStatus(tt.status)
			if rec := s.answered(); (rec.Decision == "block") != strings.Contains(tt.want, "deny") {
				t.Errorf("journaled as %s", rec.Decision)
			}
			s.wantNothingAsked()
			s.wantEmitted("agent:prompt " + asked.Type + " p1")
		})
	}
}

func (s *scene) wantNothingAsked() {
	s.t.Helper()
	if left, _ := os.ReadDir(s.agent().Path("asked")); len(left) > 0 {
		s.t.Errorf("left %v", left)
	}
}

func TestNobodyElsesQuestionsAreAttended(t *testing.T) {
	s, daemon := managed(t, agentdir.Signal, "")
	check := func(payload []byte, want string) {
		t.Helper()
		if got := <-s.attended(t.Context(), payload); !strings.Contains(got, want) || want == "" && got != "" {
			t.Errorf("the client hears %s", got)
		}
	}
	check(s.askFor("Bash", nil, fields{"session_id": "other"}), "")
	check(s.payload(hook.PreToolUse, fields{"tool_name": "AskUserQuestion"}), "")
	s.keepers = append(s.keepers, objector{})
	check(s.askFor("Bash", nil, nil), "never")
	s.wantEmitted()
	if len(daemon.waiting) > 0 {
		t.Error("the daemon was asked")
	}
}

// While a project is off, its agent asks in the client's own dialog.
func TestQuestionsOfAProjectThatIsOffAreNotAttended(t *testing.T) {
	s, daemon := managed(t, agentdir.Signal, "  Stop:\n    - run: exit 0\n")
	now := time.Now()
	check(t, Recess{Root: s.root, Since: now, Until: now.Add(time.Hour)}.Begin(s.state))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if got := <-s.attended(ctx, s.askFor("Bash", nil, nil)); got != "" {
		t.Errorf("the client hears %s", got)
	}
	s.wantNothingAsked()
	if len(daemon.waiting) > 0 {
		t.Error("the daemon was asked")
	}
}

// objector objects to everything.
type objector struct{}

func (objector) Name() string              { return "objector" }
func (objector) MaxBlocks() int            { return 3 }
func (objector) Applies(*keeper.Call) bool { return true }
func (objector) Judge(context.Context, *keeper.Call) keeper.Verdict {
	return keeper.Verdict{Outcome: keeper.Failed, Reason: "never"}
}

func TestADecisionThatIsClosed(t *testing.T) {
	s, daemon := managed(t, agentdir.Signal, "")
	out := s.attended(t.Context(), s.askFor("Bash", nil, nil))
	<-daemon.waiting
	daemon.replies <- daemonapi.Reply{State: "none", Over: true}
	if got := <-out; got != "" {
		t.Errorf("the client hears %s", got)
	}
	daemon.failure = &daemonapi.Failure{Code: "not_found", Error: "no such agent"}
	if got := <-s.attended(t.Context(), s.askFor("Bash", nil, nil)); got != "" {
		t.Errorf("the client hears %s", got)
	}
	s.wantNothingAsked()
	s.wantEmitted("agent:prompt permission p1", "agent:prompt permission p1")
}

// Where too much is asked at once, the dialog is told of: a person can answer it where it is.
func TestAQuestionThatTheDaemonDoesNotTake(t *testing.T) {
	s, daemon := managed(t, agentdir.Signal, "")
	out := s.attended(t.Context(), s.askFor("Bash", nil, nil))
	<-daemon.waiting
	daemon.replies <- daemonapi.Reply{State: "none"}
	if got := <-out; got != "" {
		t.Errorf("the client hears %s", got)
	}
	s.wantNothingAsked()
	s.wantEmitted("agent:prompt permission p1", "agent:prompt permission p1")
	if ref := s.lastEmitted().Word.Ref; ref != "" {
		t.Errorf("somebody seems to wait for %s", ref)
	}
	// Once it was taken, none means that it is over; and so it does when another hook says so.
	out = s.attended(t.Context(), s.askFor("Bash", nil, nil))
	<-daemon.waiting
	daemon.replies <- daemonapi.Reply{State: "open"}
	<-daemon.waiting
	daemon.replies <- daemonapi.Reply{State: "none"}
	<-out
	out = s.attended(t.Context(), s.askFor("Bash", nil, nil))
	check(t, os.Remove(s.agent().Path("asked", <-daemon.waiting+".json")))
	daemon.replies <- daemonapi.Reply{State: "none"}
	<-out
	s.wantEmitted("agent:prompt permission p1", "agent:prompt permission p1", "agent:prompt permission p1", "agent:prompt permission p1")
}

// A dialog that outlives its hook is told of again: a person can still answer it where it is.
func TestADialogThatOutlivesItsHook(t *testing.T) {
	s, _ := managed(t, agentdir.Signal, "")
	ctx, cancel := context.WithTimeout(t.Context(), 0)
	defer cancel()
	if got := <-s.attended(ctx, s.askFor("Bash", nil, nil)); got != "" {
		t.Errorf("the client hears %s", got)
	}
	s.wantEmitted("agent:prompt permission p1", "agent:prompt_over", "agent:prompt permission p1")
	if ref := s.lastEmitted().Word.Ref; ref != "" {
		t.Errorf("somebody seems to wait for %s", ref)
	}
	s.wantNothingAsked()
}

func TestTheDaemonIsStartedAnewWhileSomebodyWaits(t *testing.T) {
	s, daemon := managed(t, agentdir.Signal, "")
	out := s.attended(t.Context(), s.askFor("Bash", nil, nil))
	<-daemon.waiting
	daemon.replies <- daemonapi.Reply{State: "open"}
	<-daemon.waiting
	daemon.stop()
	daemon.start()
	<-daemon.waiting
	daemon.replies <- daemonapi.Reply{State: "answered", Option: "approve"}
	if got := <-out; got != permitted(`{"behavior":"allow"}`) {
		t.Errorf("the client hears %s", got)
	}
}

// flies lets a minute pass at every look at the clock.
func (s *scene) flies() {
	var mu sync.Mutex
	now := time.Now()
	s.now = func() time.Time { mu.Lock(); defer mu.Unlock(); now = now.Add(time.Minute); return now }
}

// The agent's own dialog is on the screen while the daemon is awaited.
func TestADaemonThatComesLate(t *testing.T) {
	s, daemon := managed(t, agentdir.Signal, "")
	daemon.stop()
	s.flies()
	out := s.attended(t.Context(), s.askFor("Bash", nil, nil))
	eventually(t, "the question is asked", func() bool { return len(s.emitted()) == 1 })
	daemon.start()
	select {
	case <-daemon.waiting:
		daemon.replies <- daemonapi.Reply{State: "answered", Option: "approve"}
	case got := <-out:
		t.Fatalf("the client hears %s", got)
	}
	if got := <-out; got != permitted(`{"behavior":"allow"}`) {
		t.Errorf("the client hears %s", got)
	}
	s.wantEmitted("agent:prompt permission p1")
}

func TestADaemonThatIsNotThereIsNotWaitedFor(t *testing.T) {
	s, daemon := managed(t, agentdir.Signal, "")
	daemon.stop()
	s.flies()
	got := <-s.attended(t.Context(), s.askFor("Bash", nil, fields{"agent_id": "a1", "agent_type": "coder"}))
	if !strings.Contains(got, "systemMessage") || !strings.Contains(got, "the daemon is not running") || strings.Contains(got, "decision") {
		t.Errorf("the client hears %s", got)
	}
	// The dialog stays: the daemon hears of it when it is back.
	s.wantEmitted("agent:prompt subagentpermission p1", "agent:prompt_over", "agent:prompt permission p1")
	if ref := s.lastEmitted().Word.Ref; ref != "" {
		t.Errorf("somebody seems to wait for %s", ref)
	}
	s.wantNothingAsked()
}

func TestAnAnswerInTheTerminal(t *testing.T) {
	use := `{"type":"assistant","message":{"content":[{"type":"text","text":"x"},{"type":"tool_use","id":"%s","name":"Bash","input":{"command":"make","n":1}}]}}` + "\n"
	result := `{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"%s","content":"ok"}]}}` + "\n"
	for _, late := range []bool{false, true} {
		s, daemon := managed(t, agentdir.Signal, "")
		path := filepath.Join(s.state, "t.jsonl")
		before := strings.Repeat("{}\n", 30_000) + fmt.Sprintf(use+result, "old", "old")
		after := fmt.Sprintf(use, "new")
		if !late {
			before, after = before+after, ""
		}
		write(t, path, before)
		out := s.attended(t.Context(), s.askFor("Bash", fields{"n": 1, "command": "make"}, fields{"transcript_path": path}))
		ref := <-daemon.waiting
		grow := func(text string) {
			file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
			check(t, err)
			defer file.Close()
			_, err = file.WriteString(text)
			check(t, err)
		}
		grow(after + fmt.Sprintf(result, "another"))
		line := fmt.Sprintf(result, "new")
		grow(line[:40])
		grow(line[40:])
		if got := <-out; got != "" {
			t.Errorf("the client hears %s", got)
		}
		s.wantEmitted("agent:prompt permission p1", "agent:prompt_over")
		if got := s.lastEmitted().Word.Ref; got != ref {
			t.Errorf("%q is over, asked was %q", got, ref)
		}
		s.wantNothingAsked()
	}
}

// The client was killed: its hooks live on, with another parent.
func TestAClientThatIsGone(t *testing.T) {
	s, daemon := managed(t, agentdir.Signal, "")
	var mu sync.Mutex
	parent := 100
	service := s.service()
	service.Lifecycle = s.lifecycle()
	service.Lifecycle.Parent = func() int { mu.Lock(); defer mu.Unlock(); return parent }
	out := make(chan Reply, 1)
	go func() { out <- service.Handle(t.Context(), "", bytes.NewReader(s.askFor("Bash", nil, nil))) }()
	<-daemon.waiting
	mu.Lock()
	parent = 1
	mu.Unlock()
	if r := <-out; len(r.Stdout) > 0 {
		t.Errorf("says %s", r.Stdout)
	}
	s.wantEmitted("agent:prompt permission p1", "agent:prompt_over")
}

// hookerEnv makes the test binary a hook of the agent with that state directory.
const hookerEnv = "STOPGATE_STOP_HOOKER"

func childHook(state string) {
	k := &lifecycle.Keeper{
		StateDir: state, Now: time.Now, Stderr: os.Stderr, Parent: os.Getppid, Program: func() string { return "oj" },
		Daemon: func() *daemonapi.Client { return daemonapi.New(filepath.Join(state, "daemon.sock"), "test") },
	}
	service := &Service{
		StateDir: state, Keepers: []keeper.Keeper{k}, Lifecycle: k,
		Environ: os.Environ(), Now: time.Now, Stderr: os.Stderr,
	}
	reply := service.Handle(context.Background(), "", os.Stdin)
	_, _ = os.Stdout.Write(reply.Stdout)
	os.Exit(reply.Code)
}

// hooker starts a hook as a process of its own.
func (s *scene) hooker(payload []byte) (*os.Process, func() (stdout string, state *os.ProcessState)) {
	s.t.Helper()
	self, err := os.Executable()
	check(s.t, err)
	in, out := filepath.Join(s.state, "in"), filepath.Join(s.state, "out")
	write(s.t, in, string(payload))
	stdin, err := os.Open(in)
	check(s.t, err)
	defer stdin.Close()
	stdout, err := os.Create(out)
	check(s.t, err)
	defer stdout.Close()
	p, err := os.StartProcess(self, []string{self}, &os.ProcAttr{
		Env: append(slices.Clone(s.env), hookerEnv+"="+s.state), Files: []*os.File{stdin, stdout, os.Stderr},
	})
	check(s.t, err)
	return p, func() (string, *os.ProcessState) {
		state, err := p.Wait()
		check(s.t, err)
		text, err := os.ReadFile(out)
		check(s.t, err)
		return string(text), state
	}
}

func TestAHookThatIsTerminatedWhileItWaits(t *testing.T) {
	for _, sig := range []os.Signal{syscall.SIGTERM, syscall.SIGHUP, os.Interrupt} {
		s, daemon := managed(t, agentdir.Signal, "")
		process, wait := s.hooker(s.askFor("Bash", nil, nil))
		ref := <-daemon.waiting
		check(t, process.Signal(sig))
		if stdout, state := wait(); stdout != "" || state.ExitCode() != 0 {
			t.Errorf("%v: says %q and ends as %v", sig, stdout, state)
		}
		s.wantEmitted("agent:prompt permission p1", "agent:prompt_over")
		if got := s.lastEmitted().Word.Ref; got != ref {
			t.Errorf("%q is over, asked was %q", got, ref)
		}
		s.wantNothingAsked()
	}
}

// Who is killed cannot say anything. The next stop does: who stops does not wait.
func TestAHookThatIsKilledWhileItWaits(t *testing.T) {
	s, daemon := managed(t, agentdir.Signal, "")
	process, wait := s.hooker(s.askFor("Bash", nil, nil))
	ref := <-daemon.waiting
	check(t, process.Kill())
	wait()
	if _, err := s.agent().Asked(ref); err != nil {
		t.Error(err)
	}
	wantAllow(t, s.stop(fields{"session_id": "other"}))
	wantAllow(t, s.call(hook.SubagentStop, nil)) // a1's
	s.wantEmitted("agent:prompt permission p1")
	wantBlock(t, s.stop(nil), signalCommand)
	s.wantEmitted("agent:prompt permission p1", "agent:prompt_over")
	s.wantNothingAsked()
}

// What a subagent asks is over when it stops, not when the agent does: it may work in the
// background.
func TestWhatASubagentAsks(t *testing.T) {
	s, daemon := managed(t, agentdir.Signal, "")
	out := s.attended(t.Context(), s.askFor("Bash", nil, fields{"agent_id": "a/1 ö", "agent_type": "coder"}))
	ref := <-daemon.waiting
	wantBlock(t, s.stop(nil), signalCommand)
	wantAllow(t, s.call(hook.SubagentStop, nil))        // a1's
	s.wantEmitted("agent:prompt subagentpermission p1") // its kind and its type
	wantAllow(t, s.call(hook.SubagentStop, fields{"agent_id": "a/1 ö"}))
	s.wantEmitted("agent:prompt subagentpermission p1", "agent:prompt_over")
	if got := s.lastEmitted().Word.Ref; got != ref {
		t.Errorf("%q is over, asked was %q", got, ref)
	}
	daemon.replies <- daemonapi.Reply{State: "open"} // it has not heard of that yet
	if got := <-out; got != "" {
		t.Errorf("the client hears %s", got)
	}
}

func TestALargeInputIsCut(t *testing.T) {
	s, daemon := managed(t, agentdir.Signal, "")
	out := s.attended(t.Context(), s.askFor("Write", fields{"file_path": "/x", "content": strings.Repeat("ü", 1<<20)}, nil))
	asked, err := s.agent().Asked(<-daemon.waiting)
	check(t, err)
	var input struct {
		Path    string `json:"file_path"`
		Content string
	}
	check(t, json.Unmarshal(asked.Input, &input))
	if input.Path != "/x" || len(input.Content) > 5000 || !strings.HasPrefix(input.Content, "üüü") {
		t.Errorf("asked %.200s", asked.Input)
	}
	daemon.replies <- daemonapi.Reply{State: "answered", Option: "approve"}
	if got := <-out; got != permitted(`{"behavior":"allow"}`) {
		t.Errorf("the client hears %s", got)
	}
}

// The gates' own hook leaves the stop of an agent to the chain, which its client calls besides,
// and nobody else's.
func TestStopHookOfAnAgent(t *testing.T) {
	s, _ := managed(t, agentdir.Signal, "")
	answer := func(session string) string {
		t.Helper()
		got := s.service().StopHook(t.Context(), bytes.NewReader(s.payload(hook.Stop, fields{"session_id": session})))
		var out struct{ Decision, Status string }
		check(t, json.Unmarshal(got.Stdout, &out))
		return out.Decision + " " + out.Status
	}
	const chained = "approve stop_hook_disabled"
	if got := answer("s1"); got == chained {
		t.Errorf("without a chain: %s", got)
	}
	write(t, s.agent().Path("settings.json"), `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"stopgate","args":["hook","Stop"]}]}]}}`)
	if got := answer("s1"); got != chained {
		t.Error(got)
	}
	if got := answer("of a client that the agent has started"); got == chained {
		t.Error(got)
	}
}
