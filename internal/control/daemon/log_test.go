package daemon

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/control/engine"
	"github.com/stopgate/stopgate/internal/control/runbook"
)

// story is the log of what happens to an owner.
func story(t *testing.T, plan runbook.Plan, then func(c *core)) string {
	t.Helper()
	c := testCore(newMemory(t))
	l := &logs{stateDir: t.TempDir()}
	c.note = func(before, after *engine.Owner, facts []engine.Fact) { check(t, l.changed(before, after, facts)) }
	c.now = func() time.Time { return noon }
	do(t, c, anID, create(anID, plan))
	then(c)
	text, err := os.ReadFile(logPath(l.stateDir, anID))
	check(t, err)
	out := string(text)
	if a := c.owner(anID).History[0].AgentID; a != "" {
		out = strings.ReplaceAll(out, a, "AGENT")
	}
	for _, d := range c.owner(anID).Decisions() {
		out = strings.ReplaceAll(out, d.ID, "DECISION")
	}
	return out
}

func TestLogOfAPipeline(t *testing.T) {
	got := story(t, shellPlan("one", "two"), func(c *core) {
		done(t, c, anID)
		do(t, c, anID, engine.Input{ID: "1", What: engine.ShellExited{Key: c.owner(anID).Shell.Key}})
		done(t, c, anID)
		do(t, c, anID, engine.Input{ID: "2", What: engine.ShellExited{Key: c.owner(anID).Shell.Key, Code: 3, Tail: "no\nsuch thing"}})
	})
	want := `2026-11-15T12:00:00Z [one] step started
2026-11-15T12:00:00Z [one] step completed
2026-11-15T12:00:00Z [two] step started
2026-11-15T12:00:00Z [two] step failed: exit status 3: such thing
2026-11-15T12:00:00Z [failed] pipeline failed: exit status 3: such thing
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestLogOfADecision(t *testing.T) {
	got := story(t, agentPlan(runbook.Action{Kind: runbook.Escalate, Attempts: 1}), func(c *core) {
		agent := done(t, c, anID).Agent.ID
		do(t, c, anID, engine.Input{ID: "stop", What: engine.AgentStop{AgentID: agent}})
		do(t, c, anID, engine.Input{ID: "answer", What: engine.Answer{Decision: c.owner(anID).Decision.ID, Option: "done", Message: "good\nenough"}})
	})
	want := `2026-11-15T12:00:00Z [do] step started
2026-11-15T12:00:00Z [do] agent AGENT
2026-11-15T12:00:00Z [do] waiting for a decision: Agent tried to stop without signaling completion (decision DECISION)
2026-11-15T12:00:00Z [do] answered: done "good\nenough"
2026-11-15T12:00:00Z [do] step completed
2026-11-15T12:00:00Z [done] pipeline done
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestLogOfAClient(t *testing.T) {
	plan := clientPlan()
	coder := plan.Agents["coder"]
	coder.OnError = []runbook.ErrorAction{{Action: runbook.Action{Kind: runbook.Resume, Attempts: 2}}}
	plan.Agents["coder"] = coder
	got := story(t, plan, func(c *core) {
		agent := done(t, c, anID).Agent.ID
		do(t, c, anID, engine.Input{ID: "blocked", What: engine.AgentBlocked{AgentID: agent, Screen: "trust", Text: "a\nb"}})
		do(t, c, anID, engine.Input{ID: "ready", What: engine.AgentReady{AgentID: agent}})
		do(t, c, anID, engine.Input{ID: "session", What: engine.AgentSession{AgentID: agent, Session: "second"}})
		do(t, c, anID, engine.Input{ID: "ask", What: engine.AgentPrompt{AgentID: agent, Type: "question", Ref: "r", Ask: engine.Ask{Questions: []engine.Question{{Question: "Which?"}}}}})
		do(t, c, anID, engine.Input{ID: "answer", What: engine.Answer{Decision: c.owner(anID).Decision.ID, Message: "that\none"}})
		do(t, c, anID, engine.Input{ID: "error", What: engine.AgentError{AgentID: agent, Kind: runbook.RateLimited, Text: "429\nmore", Reset: noon.Add(time.Hour)}})
	})
	want := `2026-11-15T12:00:00Z [do] step started
2026-11-15T12:00:00Z [do] agent AGENT
2026-11-15T12:00:00Z [do] waiting for a decision: Claude Code asks whether to trust the directory… (decision DECISION)
2026-11-15T12:00:00Z [do] no longer waiting: Claude Code has started
2026-11-15T12:00:00Z [do] Claude Code has started
2026-11-15T12:00:00Z [do] the agent continues in session second
2026-11-15T12:00:00Z [do] waiting for a decision: The agent asks: Which? (decision DECISION)
2026-11-15T12:00:00Z [do] answered: ["that\none"]
2026-11-15T12:00:00Z [do] the model's API failed (rate_limited): 429…
2026-11-15T12:00:00Z [do] the agent is parked until 2026-11-15T13:00:00Z
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// What was heard and done is told, a line each.
func TestLogOfAnAgent(t *testing.T) {
	plan := agentPlan(runbook.Action{Kind: runbook.Nudge, Attempts: 1, Message: "go on\nplease"})
	coder := plan.Agents["coder"]
	coder.OnDead = runbook.Action{Kind: runbook.Gate, Run: "make", Attempts: 1}
	plan.Agents["coder"] = coder
	got := story(t, plan, func(c *core) {
		agent := done(t, c, anID).Agent.ID
		do(t, c, anID, engine.Input{ID: "idle", What: engine.AgentIdle{AgentID: agent, Prompt: "p"}})
		done(t, c, anID)
		do(t, c, anID, engine.Input{ID: "continue", What: engine.AgentSignal{AgentID: agent, Signal: engine.Signal{Kind: engine.SignalContinue, Message: "not yet"}}})
		do(t, c, anID, engine.Input{ID: "exit", What: engine.AgentExited{AgentID: agent, Code: 1}})
		done(t, c, anID)
		do(t, c, anID, engine.Input{ID: "gate", What: engine.ShellExited{Key: c.owner(anID).Shell.Key, Code: 3, Tail: "no"}})
	})
	for _, want := range []string{
		"[do] sending the agent: go on…\n", "[do] the agent signalled continue: not yet\n", "[do] the agent exited with status 1\n",
		"[do] gate of dead started\n", "[do] gate of dead: exit 3\n",
	} {
		if !strings.Contains(got, "2026-11-15T12:00:00Z "+want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
}

// Lines that a log does not take are there as soon as it does.
func TestLogThatCannotBeWritten(t *testing.T) {
	l := &logs{stateDir: t.TempDir()}
	inTheWay := filepath.Join(l.stateDir, "logs")
	check(t, os.WriteFile(inTheWay, nil, 0o600))
	if err := l.add(anID, []string{"one\n"}); err == nil {
		t.Error("no error")
	}
	check(t, os.Remove(inTheWay))
	check(t, l.retry())
	check(t, l.add(anID, []string{"two\n"}))
	text, err := os.ReadFile(logPath(l.stateDir, anID))
	check(t, err)
	if string(text) != "one\ntwo\n" {
		t.Errorf("%q", text)
	}
}

func TestLogOfACancel(t *testing.T) {
	got := story(t, agentPlan(runbook.Action{Kind: runbook.Escalate, Attempts: 1}), func(c *core) {
		agent := done(t, c, anID).Agent.ID
		do(t, c, anID, engine.Input{ID: "stop", What: engine.AgentStop{AgentID: agent}})
		do(t, c, anID, engine.Input{ID: "cancel", What: engine.Cancel{Why: "requested by the user"}})
	})
	for _, line := range []string{"[do] cancel requested", "no longer waiting: ", "[cancelled] pipeline cancelled"} {
		if !strings.Contains(got, line) {
			t.Errorf("no %q in\n%s", line, got)
		}
	}
}

// writer tells when it holds so many lines.
type writer struct {
	mu    sync.Mutex
	text  strings.Builder
	lines chan struct{}
}

func (w *writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for range strings.Count(string(p), "\n") {
		w.lines <- struct{}{}
	}
	return w.text.Write(p)
}

// growing tells when a directory's logs grow, until the test ends.
func growing(t *testing.T, dir string) *growth {
	t.Helper()
	g := &growth{dir: dir, tell: func(err error) { check(t, err) }}
	t.Cleanup(g.follow())
	return g
}

func TestFollowingALogMissesNoLine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	var mu sync.Mutex
	over, news := false, make(chan struct{})
	var f *os.File
	out := &writer{lines: make(chan struct{}, 100)}
	ended := make(chan error, 1)
	g := growing(t, filepath.Dir(path))
	go func() { // it is not there yet
		ended <- copyLog(t.Context(), &logReader{path: path}, true,
			func() bool {
				mu.Lock()
				defer mu.Unlock()
				if over { // what is written up to here is still to be seen
					_, err := f.WriteString("the last\n")
					check(t, err)
				}
				return over
			},
			func() <-chan struct{} { mu.Lock(); defer mu.Unlock(); return news }, g.news.Rung, out)
	}()
	f, err := os.Create(path)
	check(t, err)
	defer f.Close()
	for _, line := range []string{"one\n", "two\n", "three\n"} {
		_, err := f.WriteString(line)
		check(t, err)
		<-out.lines
	}
	mu.Lock()
	over = true
	close(news)
	mu.Unlock()
	check(t, <-ended)
	if got := out.text.String(); got != "one\ntwo\nthree\nthe last\n" {
		t.Errorf("%q", got)
	}
}

func TestALogThatIsNotThere(t *testing.T) {
	var out strings.Builder
	check(t, copyLog(t.Context(), &logReader{path: filepath.Join(t.TempDir(), "none")}, false, nil, nil, nil, &out))
}

func TestFollowingALogThatIsNotThereYet(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	looks := 0
	var out strings.Builder
	over := func() bool {
		if looks++; looks == 2 {
			check(t, os.WriteFile(path, []byte("one\n"), 0o600))
		}
		return looks == 2
	}
	now := make(chan struct{})
	close(now)
	at := func() <-chan struct{} { return now }
	check(t, copyLog(t.Context(), &logReader{path: path}, true, over, at, at, &out))
	if out.String() != "one\n" {
		t.Errorf("%q", out.String())
	}
}

func TestFollowingALogEndsWithItsContext(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	check(t, os.WriteFile(path, []byte("one\n"), 0o600))
	ctx, cancel := context.WithCancel(t.Context())
	out := &writer{lines: make(chan struct{}, 100)}
	ended := make(chan error, 1)
	never := func() <-chan struct{} { return nil }
	go func() {
		ended <- copyLog(ctx, &logReader{path: path}, true, func() bool { return false }, never, never, out)
	}()
	<-out.lines
	cancel()
	check(t, <-ended)
}

// However many follow a log, its directory is watched once, and only while they do.
func TestLogsAreWatchedOnce(t *testing.T) {
	before := runtime.NumGoroutine()
	g := &growth{dir: t.TempDir(), tell: func(err error) { check(t, err) }}
	var leave []func()
	for range 100 {
		leave = append(leave, g.follow())
	}
	if n := runtime.NumGoroutine(); n > before+10 {
		t.Errorf("%d goroutines, before %d", n, before)
	}
	for _, f := range leave[1:] {
		f()
	}
	grown := g.news.Rung()
	check(t, os.WriteFile(filepath.Join(g.dir, "log"), nil, 0o600))
	<-grown
	leave[0]()
	g.follow()() // once more
}

// A history keeps the latest visits: what is said of them does not depend on how many
// came before.
func TestLogOfALongHistory(t *testing.T) {
	visit := func(n int) engine.Visit {
		return engine.Visit{Step: "s", Started: noon.Add(time.Duration(n) * time.Second), Outcome: "completed"}
	}
	var before, after engine.Owner
	for n := range 100 {
		before.History = append(before.History, visit(n))
		after.History = append(after.History, visit(n+1))
	}
	before.History[99].Outcome = ""
	after.History[99].Outcome = ""
	after.Updated = noon
	want := []string{"2026-11-15T12:00:00Z [s] step completed\n", "2026-11-15T12:00:00Z [s] step started\n"}
	if diff := cmp.Diff(want, logLines(&before, &after, nil)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// What agents and commands say does not steer the terminal of whoever reads the log.
func TestLogWithoutControlCharacters(t *testing.T) {
	o := engine.Owner{Kind: engine.Pipeline, Step: runbook.EndFailed, Status: engine.Ended, Error: "\x1b[31mred\x1b[0m\x07 and\nmore", Updated: noon}
	want := []string{"2026-11-15T12:00:00Z [failed] pipeline failed: red and more\n"}
	if diff := cmp.Diff(want, logLines(nil, &o, nil)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
