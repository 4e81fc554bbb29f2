//go:build unix

package stop

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/stopgate/stopgate/internal/gate/guard"
	"github.com/stopgate/stopgate/internal/gate/keeper"
	"github.com/stopgate/stopgate/internal/gate/trust"
	"github.com/stopgate/stopgate/internal/harness/hook"
	"github.com/stopgate/stopgate/internal/record/event"
	"github.com/stopgate/stopgate/internal/record/journal"
	"github.com/stopgate/stopgate/internal/sys/checktest"
	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
	"github.com/stopgate/stopgate/internal/sys/process/processtest"
)

func TestMain(m *testing.M) {
	if processtest.Run(map[string]func([]string) error{"add": childAdd}) {
		return
	}
	if state := os.Getenv(hookerEnv); state != "" {
		childHook(state)
		return
	}
	environtest.Clean()
	// The project that the tests lie in plays no part either.
	home, err := os.MkdirTemp("", "stopgate-home-")
	if err == nil {
		err = os.Chdir(home)
	}
	if err == nil {
		err = beOnPath(filepath.Join(home, "bin"))
	}
	if err != nil {
		panic(err)
	}
	os.Setenv("HOME", home)
	os.Setenv("CLAUDE_CONFIG_DIR", filepath.Join(home, ".claude"))
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		os.RemoveAll(home)
		os.Exit(code)
	}))
}

// beOnPath makes this binary the stopgate that settings name: others do not count.
func beOnPath(dir string) error {
	self, err := os.Executable()
	if err == nil {
		err = os.Mkdir(dir, 0o755)
	}
	for _, name := range []string{"stopgate", "ccc", "agent-gauntlet"} {
		if err == nil {
			err = os.Symlink(self, filepath.Join(dir, name))
		}
	}
	if err == nil {
		err = os.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
	}
	return err
}

var (
	check      = checktest.OK
	write      = checktest.Write
	exists     = checktest.Exists
	eventually = checktest.Eventually
)

// buffer is a bytes.Buffer for several goroutines.
type buffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// scene is a project, a home and what the client does with them. Every call is
// answered by a new Service, as every hook is a new process.
type scene struct {
	t       *testing.T
	root    string
	state   string
	global  string
	env     []string
	keepers []keeper.Keeper
	now     func() time.Time
	timeout time.Duration // that the installed entry carries
	caller  string        // the entry that calls
	stderr  buffer
}

func newScene(t *testing.T, hooks string) *scene {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	check(t, err)
	s := &scene{
		t:       t,
		root:    filepath.Join(dir, "project"),
		state:   filepath.Join(dir, "state"),
		global:  filepath.Join(dir, "global.yml"),
		env:     []string{"PATH=" + os.Getenv("PATH")},
		keepers: []keeper.Keeper{guard.Guard{}},
		now:     time.Now,
	}
	check(t, os.MkdirAll(filepath.Join(s.root, ".git"), 0o755))
	if hooks != "" {
		s.config("hooks:\n" + hooks)
	}
	return s
}

const failing = "  Stop:\n    - {run: echo broken; exit 1, message: fix it}\n"

func (s *scene) path(name string) string { return filepath.Join(s.root, name) }

func (s *scene) config(text string) {
	s.t.Helper()
	write(s.t, s.path(".gauntlet/config.yml"), text)
}

func (s *scene) enforce() {
	s.t.Helper()
	write(s.t, s.global, "trust: enforce\n")
}

func (s *scene) approve() {
	s.t.Helper()
	check(s.t, trust.NewStore(s.state).Approve(s.root, time.Now()))
}

// notify makes notifications land in a file, one a line.
func (s *scene) notify() string {
	s.t.Helper()
	path := filepath.Join(s.state, "told")
	write(s.t, path, "")
	write(s.t, filepath.Join(s.state, "tell"), "#!/bin/sh\nprintf '%s|%s\\n' \"$#\" \"$1\" >>'"+path+"'\n")
	check(s.t, os.Chmod(filepath.Join(s.state, "tell"), 0o755))
	write(s.t, s.global, "notify:\n  command: "+filepath.Join(s.state, "tell")+"\n")
	return path
}

type fields map[string]any

// payload is the event's payload; fields are added, nil removes.
func (s *scene) payload(e hook.Event, extra fields) []byte {
	s.t.Helper()
	doc := fields{
		"session_id": "s1", "transcript_path": "/t/main.jsonl", "hook_event_name": string(e), "cwd": s.root,
		"prompt_id": "p1",
	}
	switch e {
	case hook.Stop:
		doc["stop_hook_active"] = false
	case hook.SubagentStop:
		maps.Copy(doc, fields{"stop_hook_active": false, "agent_id": "a1", "agent_type": "coder", "agent_transcript_path": "/t/a1.jsonl"})
	case hook.PreToolUse:
		maps.Copy(doc, fields{"tool_name": "Bash", "tool_input": fields{"command": "secret-word"}, "tool_use_id": "u1"})
	}
	for name, value := range extra {
		if doc[name] = value; value == nil {
			delete(doc, name)
		}
	}
	text, err := json.Marshal(doc)
	check(s.t, err)
	return text
}

func (s *scene) service() *Service {
	return &Service{
		StateDir: s.state, GlobalConfig: s.global, Keepers: s.keepers,
		Environ: s.env, Now: s.now, Stderr: &s.stderr, HookTimeout: s.timeout, Caller: s.caller,
	}
}

// reply is what the client hears, read as the client reads it.
type reply struct {
	Reply
	Decision string `json:"decision"`
	Reason   string `json:"reason"`
	Message  string `json:"systemMessage"`
}

func (r reply) blocks() bool { return r.Decision == "block" }

func (s *scene) raw(ctx context.Context, want hook.Event, payload []byte) reply {
	s.t.Helper()
	r := reply{Reply: s.service().Handle(ctx, want, bytes.NewReader(payload))}
	if len(r.Stdout) > 0 {
		check(s.t, json.Unmarshal(r.Stdout, &r))
	}
	return r
}

func (s *scene) call(e hook.Event, extra fields) reply {
	s.t.Helper()
	return s.raw(s.t.Context(), e, s.payload(e, extra))
}

func (s *scene) stop(extra fields) reply {
	s.t.Helper()
	return s.call(hook.Stop, extra)
}

// wantBlock and wantAllow say which it must be, and what the person is told.
func wantBlock(t *testing.T, r reply, reason string) {
	t.Helper()
	if !r.blocks() || r.Code != 0 || !strings.Contains(r.Reason, reason) {
		t.Errorf("got %s (exit %d), want a block that says %q", r.Stdout, r.Code, reason)
	}
}

func wantAllow(t *testing.T, r reply, message ...string) {
	t.Helper()
	if r.blocks() || r.Code != 0 {
		t.Errorf("got %s (exit %d), want it allowed", r.Stdout, r.Code)
	}
	if len(message) == 0 && r.Message != "" {
		t.Errorf("told %q, want nothing told", r.Message)
	}
	for _, part := range message {
		if !strings.Contains(r.Message, part) {
			t.Errorf("told %q, want %q in it", r.Message, part)
		}
	}
}

// records are the journal's.
func (s *scene) records() []event.Record {
	s.t.Helper()
	var out []event.Record
	for entry, err := range journal.New(filepath.Join(s.state, "journal"), journal.Limits{}).Read(journal.Position{}) {
		check(s.t, err)
		if entry.Record == nil {
			s.t.Fatalf("damaged: %v", entry.Damage)
		}
		out = append(out, *entry.Record)
	}
	return out
}

// answered is the last record, which must be an answer.
func (s *scene) answered() event.Record {
	s.t.Helper()
	all := s.records()
	if len(all) == 0 || all[len(all)-1].Kind != event.Answered {
		s.t.Fatalf("the journal ends without an answer: %+v", all)
	}
	return all[len(all)-1]
}

func (s *scene) wantVerdict(keeper, outcome, status string) {
	s.t.Helper()
	for _, v := range s.answered().Verdicts {
		if v.Keeper == keeper && v.Outcome == outcome && v.Status == status {
			return
		}
	}
	s.t.Errorf("the journal has %+v, want %s %s %s", s.answered().Verdicts, keeper, outcome, status)
}

// stub is a keeper made of a function.
type stub struct {
	name  string
	judge func(ctx context.Context, call *keeper.Call) keeper.Verdict
}

func (k stub) Name() string              { return k.name }
func (k stub) MaxBlocks() int            { return 1000 }
func (k stub) Applies(*keeper.Call) bool { return true }
func (k stub) Judge(ctx context.Context, call *keeper.Call) keeper.Verdict {
	return k.judge(ctx, call)
}

// aside applies to nothing; asking it would panic.
type aside struct{ stub }

func (aside) Applies(*keeper.Call) bool { return false }

func always(name string, v keeper.Verdict) stub {
	return stub{name, func(context.Context, *keeper.Call) keeper.Verdict { return v }}
}

func blocker(name string) stub {
	return always(name, keeper.Verdict{Outcome: keeper.Failed, Status: "failed", Reason: name + " objects"})
}

func childAdd(args []string) error {
	for i := 0; ; i++ {
		if err := NewCounter(args[0]).Add(Turn{Session: "s", Prompt: "p"}, "guard", time.Now()); err != nil {
			return err
		}
		fmt.Println(i)
	}
}

// Add counts a block that nobody refuses.
func (c Counter) Add(turn Turn, keeper string, now time.Time) error {
	_, err := c.Claim(turn, false, keeper, now, func(map[string]int) string { return "" })
	return err
}
