//go:build unix

package e2e

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	events "github.com/stopgate/stopgate/internal/record/event"
	"github.com/stopgate/stopgate/test/claudeapi"
)

// While there is no daemon an agent may stop, and a person is told, unless they want it otherwise.
// What it says meanwhile is heard later.
func TestAgentStopsWhileTheDaemonIsDown(t *testing.T) {
	t.Parallel()
	m := newManaged(t, pipeline(""))
	first, second := make(chan struct{}), make(chan struct{})
	m.API.On(claudeapi.Last("Again."), claudeapi.Hold(second, claudeapi.Text("I am finished.")))
	m.API.On(claudeapi.Last("You must explicitly signal"), obey)
	m.API.Script(claudeapi.Hold(first, claudeapi.Text("I am finished.")))
	o := m.Go()
	m.API.WaitRequest(t, claudeapi.Last("Do it."))
	m.kill()
	close(first)
	if r := m.heard(1, verdict("lifecycle", "daemon_down")); r.Decision != "allow" {
		t.Errorf("the stop was answered %+v", r)
	}
	m.heard(1, received("Notification"))
	if screen := m.screen(); !strings.Contains(screen, "it was allowed to stop") {
		t.Errorf("nobody was told:\n%s", screen)
	}

	m.wake()
	d := m.asks(o.ID, "idle")
	if o := m.reaches(o.ID, "work", "waiting"); o.Agent.ID != d.Agent || len(m.sessions()) != 1 {
		t.Errorf("the agent was not found again: %+v, %v", o.Agent, m.sessions())
	}
	m.Global("lifecycle:\n  when_daemon_down: block\n")
	m.answers(d, "-m", "Again.")
	m.API.WaitRequest(t, claudeapi.Last("Again."))
	m.until(o.ID, "the message has arrived", func(o daemonapi.Owner) bool { return o.Status == "running" })
	m.kill()
	close(second)
	if r := m.heard(2, verdict("lifecycle", "daemon_down")); r.Decision != "block" {
		t.Errorf("the stop was answered %+v", r)
	}
	m.heard(1, func(r events.Record) bool { return r.Event == events.AgentSignal })
	m.wake()
	m.done(o.ID)
	m.wantDecisions(o.ID, "idle")
}

// screen is what the only agent's terminal shows.
func (m *managed) screen() string {
	m.t.Helper()
	out, err := m.tmux("capture-pane", "-p", "-J", "-t", "="+m.sessions()[0]+":")
	if err != nil {
		m.t.Fatalf("%v: %s", err, out)
	}
	return out
}

// pidFile is a program called claude that tells its process id in a file, and becomes the client.
const pidFile = `#!/bin/sh
echo $$ > "$TMPDIR/claude.part" && mv "$TMPDIR/claude.part" "$TMPDIR/claude.pid"
exec claude "$@"
`

// crash kills the only agent's client, and whatever else is given, as kill -9 does.
func (m *managed) crash(more ...int) {
	m.t.Helper()
	pids := append(waitPIDs(m.t, filepath.Join(m.Tmp, "claude.pid"), 1), more...)
	for _, pid := range pids {
		check(m.t, syscall.Kill(pid, syscall.SIGKILL))
	}
}

// runner is the process that waits for the only agent's client.
func (m *managed) runner() int {
	m.t.Helper()
	out, err := m.tmux("display-message", "-p", "-t", "="+m.sessions()[0]+":", "#{pane_pid}")
	if err != nil {
		m.t.Fatalf("%v: %s", err, out)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(out))
	check(m.t, err)
	return pid
}

// An agent that works on while the daemon is killed is found again; one that dies meanwhile gets
// its on_dead, and goes on in its session.
func TestAgentsAreFoundAgainDeadOrAlive(t *testing.T) {
	t.Parallel()
	m := newManaged(t, "")
	program := filepath.Join(m.root, "told", "claude")
	m.Write(program, pidFile)
	check(t, os.Chmod(program, 0o755))
	runbook := pipeline("on_dead = { action = \"resume\", message = \"Go on.\", append = true }\n")
	m.Write(".gauntlet/runbooks/work.toml", strings.ReplaceAll(runbook, `"claude `, `"`+program+" "))
	forever, then := make(chan struct{}), make(chan struct{})
	defer close(forever)
	m.API.On(claudeapi.Last("Go on."), claudeapi.Hold(then, claudeapi.Text("I am finished.")))
	m.API.On(claudeapi.Last("You must explicitly signal"), claudeapi.Hold(forever, claudeapi.Text("never")))
	m.Allow("Bash")
	m.API.Script(bash("true"), claudeapi.Hold(forever, claudeapi.Text("never")))
	o := m.Go()
	// A client that has done nothing yet leaves no conversation behind.
	m.API.WaitRequest(t, func(r claudeapi.Request) bool { return len(r.ToolResults()) == 1 })
	runner := m.runner()
	m.kill()
	m.crash(runner)
	m.wake()
	m.API.WaitRequest(t, claudeapi.Last("Go on."))
	resumed := m.until(o.ID, "the next agent", func(now daemonapi.Owner) bool { return now.Agent.ID != o.Agent.ID && now.Agent.Ready })
	if resumed.Agent.Session != o.Agent.ID {
		t.Errorf("the agent is %+v", resumed.Agent)
	}
	m.wantPrompted("Do it.", "Go on.")

	m.restart()
	close(then)
	m.API.WaitRequest(t, claudeapi.Last("You must explicitly signal")) // it is still held
	if now := m.reaches(o.ID, "work", "running"); now.Agent.ID != resumed.Agent.ID || len(m.sessions()) != 1 {
		t.Errorf("the agent is %+v, sessions %v", now.Agent, m.sessions())
	}
	m.crash()
	m.answers(m.asks(o.ID, "dead"), "skip") // once it was tried
	m.done(o.ID)
	m.wantDecisions(o.ID, "dead")
}

// What is sent to an agent that is busy arrives after its turn, once.
func TestMessageToABusyAgent(t *testing.T) {
	t.Parallel()
	m := newManaged(t, pipeline(""))
	busy := make(chan struct{})
	m.API.Script(claudeapi.Hold(busy, claudeapi.Text("I am finished.")), claudeapi.Always(claudeapi.Text("I am finished.")))
	o := m.Go()
	m.API.WaitRequest(t, claudeapi.Last("Do it."))
	out := m.Stopgate("agent", "send", o.Agent.ID, "Do", "that", "too.").mustPass(t)
	if !strings.Contains(out.Stdout, "when it is idle") {
		t.Errorf("send said %q", out.Stdout)
	}
	queued := func() bool {
		files, _ := filepath.Glob(filepath.Join(m.State, "logs", "queues", "*.json"))
		return len(files) > 0
	}
	if !poll(patience, queued) {
		t.Fatal("it is not in the agent's queue")
	}
	if screen := m.screen(); strings.Contains(screen, "that too") {
		t.Errorf("it was typed already:\n%s", screen)
	}
	close(busy)
	m.API.WaitRequest(t, claudeapi.Last("Do that too."))
	m.wantStops("block not_signaled", "allow blocked_before", "block not_signaled", "allow blocked_before")
	m.wantPrompted("Do it.", "Do that too.")

	m.Stopgate("agent", "kill", o.Agent.ID).mustPass(t)
	d := m.asks(o.ID, "dead")
	if !poll(patience, func() bool { return len(m.sessions()) == 0 }) {
		t.Errorf("the agent still runs: %v", m.sessions())
	}
	m.answers(d, "cancel")
	m.reaches(o.ID, "cancelled", "cancelled")
	m.wantDecisions(o.ID, "dead")
}
