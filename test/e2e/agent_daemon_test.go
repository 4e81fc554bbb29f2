//go:build unix

package e2e

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stopgate/stopgate/internal/client"
	events "github.com/stopgate/stopgate/internal/event"
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
	m.until(o.ID, "the message has arrived", func(o client.Owner) bool { return o.Status == "running" })
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

// processes are the runner of the only agent, and its client.
func (m *managed) processes() (runner, claude int) {
	m.t.Helper()
	out, err := m.tmux("display-message", "-p", "-t", "="+m.sessions()[0]+":", "#{pane_pid}")
	if err == nil {
		runner, err = strconv.Atoi(strings.TrimSpace(out))
	}
	if err != nil {
		m.t.Fatalf("%v: %s", err, out)
	}
	for _, pid := range m.left() {
		if parent(pid) == runner {
			return runner, pid
		}
	}
	m.t.Fatalf("the process %d has no children", runner)
	return 0, 0
}

// parent is the parent of a process; 0 where that cannot be told.
func parent(pid int) int {
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:])) // its name may hold anything
	if len(fields) < 2 {
		return 0
	}
	ppid, _ := strconv.Atoi(fields[1])
	return ppid
}

// An agent that works on while the daemon is killed is found again; one that dies meanwhile gets
// its on_dead, and goes on in its session.
func TestAgentsAreFoundAgainDeadOrAlive(t *testing.T) {
	t.Parallel()
	m := newManaged(t, pipeline("on_dead = { action = \"resume\", message = \"Go on.\", append = true }\n"))
	forever, then := make(chan struct{}), make(chan struct{})
	defer close(forever)
	m.API.On(claudeapi.Last("Go on."), claudeapi.Hold(then, claudeapi.Text("I am finished.")))
	m.API.On(claudeapi.Last("You must explicitly signal"), claudeapi.Hold(forever, claudeapi.Text("never")))
	m.Allow("Bash")
	m.API.Script(bash("true"), claudeapi.Hold(forever, claudeapi.Text("never")))
	o := m.Go()
	// A client that has done nothing yet leaves no conversation behind.
	m.API.WaitRequest(t, func(r claudeapi.Request) bool { return len(r.ToolResults()) == 1 })
	runner, claude := m.processes()
	m.kill()
	for _, pid := range []int{runner, claude} {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
	}
	m.wake()
	m.API.WaitRequest(t, claudeapi.Last("Go on."))
	resumed := m.until(o.ID, "the next agent", func(now client.Owner) bool { return now.Agent.ID != o.Agent.ID && now.Agent.Ready })
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
	_, claude = m.processes()
	if err := syscall.Kill(claude, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
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
	if !strings.Contains(out.Stdout, "as soon as it is free") {
		t.Errorf("send said %q", out.Stdout)
	}
	m.until(o.ID, "it is being sent", func(client.Owner) bool { return true })
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
