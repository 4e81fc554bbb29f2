//go:build unix

package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	events "github.com/stopgate/stopgate/internal/record/event"
	"github.com/stopgate/stopgate/internal/record/journal"
	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
)

// managed is a bench with a daemon, which starts clients as agents in tmux. What the tests wait
// for they learn from the daemon's events, from the journal of the agents' hooks, and from the
// model's side.
type managed struct {
	*bench
	Daemon *daemonapi.Client // asks the daemon
	State  string

	daemon *exec.Cmd
}

// newManaged sets one up with a runbook. The user's settings file is the client's own, without a
// hook of ours: what the agents have they have from the daemon.
func newManaged(t testing.TB, runbook string) *managed {
	t.Helper()
	environtest.Need(t, "tmux")
	b := newBench(t)
	m := &managed{bench: b, State: filepath.Join(b.root, "state")}
	m.Daemon = daemonapi.New(filepath.Join(m.State, "daemon.sock"), "test")
	if err := os.Mkdir(m.State, 0o700); err != nil {
		t.Fatal(err)
	}
	b.Env = append(b.Env, "STOPGATE_STATE_DIR="+m.State)
	m.Allow()
	m.Global("")
	b.Write(".gauntlet/config.yml", "hooks: {}\n")
	b.Write(".gauntlet/runbooks/work.toml", runbook)
	t.Cleanup(m.end)
	t.Cleanup(m.explainAgents)
	m.wake()
	return m
}

// Allow makes these the tools that no person is asked about.
func (m *managed) Allow(tools ...string) {
	m.t.Helper()
	m.writeJSON(filepath.Join(m.Home, ".claude", "settings.json"), map[string]any{
		"permissions": map[string]any{"allow": append([]string{}, tools...)},
	})
}

// Global makes this the global configuration. People are told in the file "told".
func (m *managed) Global(more string) {
	m.t.Helper()
	m.Write(filepath.Join(m.Home, ".config", "agent-gauntlet", "config.yml"),
		"notify:\n  command: printf '%s\\f' >> \"$HOME/told\"\n"+more)
}

// pipeline is a runbook with one command, which runs one agent and then writes the file "next".
func pipeline(agent string) string {
	return `
[command.go]
run = { pipeline = "go" }

[pipeline.go]

[[pipeline.go.step]]
name = "work"
run = { agent = "worker" }
on_done = "next"

[[pipeline.go.step]]
name = "next"
run = "echo here > next"

[agent.worker]
run = "claude --permission-mode default"
prompt = "Do it."
` + agent
}

// alone is a runbook with one command, which runs one agent.
func alone(agent string) string {
	return `
[command.go]
run = { agent = "worker" }

[agent.worker]
run = "claude --permission-mode default"
prompt = "Do it."
` + agent
}

// wake starts the daemon, and waits until it is ready.
func (m *managed) wake() {
	m.t.Helper()
	ear, mouth, err := os.Pipe()
	check(m.t, err)
	defer ear.Close()
	m.daemon = exec.Command(filepath.Join(bin, "stopgated"), "daemon")
	m.daemon.Env = append(slices.Clone(m.Env), "STOPGATED_READY_FD=3")
	m.daemon.ExtraFiles = []*os.File{mouth}
	err = m.daemon.Start()
	mouth.Close()
	check(m.t, err)
	if line, err := bufio.NewReader(ear).ReadString('\n'); err != nil || !strings.Contains(line, `"ready":true`) {
		m.t.Fatalf("the daemon says %q, %v", line, err)
	}
}

// kill ends the daemon as kill -9 does.
func (m *managed) kill() {
	m.t.Helper()
	check(m.t, m.daemon.Process.Kill())
	_ = m.daemon.Wait()
	m.daemon = nil
}

// restart ends the daemon so, and starts it again, with the environment as it is now.
func (m *managed) restart() {
	m.t.Helper()
	m.kill()
	m.wake()
}

// end stops the daemon with everything that it started, of which nothing may be left. By now the
// test's own context is over.
func (m *managed) end() {
	if m.daemon == nil {
		m.wake()
	}
	stop := exec.Command(filepath.Join(bin, "stopgate"), "daemon", "stop", "--kill")
	stop.Env, stop.Dir = m.Env, m.Project
	if out, err := stop.CombinedOutput(); err != nil {
		m.t.Errorf("daemon stop --kill: %v\n%s", err, out)
		_ = m.daemon.Process.Kill()
	}
	_ = m.daemon.Wait()
	if poll(patience, func() bool { return len(m.left()) == 0 }) {
		return
	}
	for _, pid := range m.left() {
		line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		m.t.Errorf("still running: %d %.300q", pid, line)
		syscall.Kill(pid, syscall.SIGKILL)
	}
}

func (m *managed) left() []int { return processesAt(m.Home) }

// explainAgents tells of a failed test what became of its agents.
func (m *managed) explainAgents() {
	if !m.t.Failed() {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	owners, _ := m.Daemon.Pipelines(ctx, daemonapi.Filter{})
	runs, _ := m.Daemon.Runs(ctx, daemonapi.Filter{})
	for _, o := range append(owners, runs...) {
		m.t.Logf("%s %s %s %s %q", o.Kind, o.ID, o.Step, o.Status, o.Error)
		if o.Decision != nil {
			m.t.Logf("  decision %s %s: %s", o.Decision.ID, o.Decision.Source, o.Decision.Context)
		}
		if o.Agent != nil {
			m.t.Logf("  agent %+v", *o.Agent)
		}
		for line := range m.Daemon.Log(ctx, o.ID, false) {
			m.t.Logf("  log: %s", line)
		}
	}
	for _, session := range m.sessions() {
		out, _ := m.tmux("capture-pane", "-p", "-t", "="+session+":")
		m.t.Logf("screen of %s:\n%s", session, strings.TrimRight(out, "\n"))
	}
	for _, e := range m.records() {
		if e.Kind == events.Answered && e.Decision == "allow" && len(e.Verdicts) == 0 {
			continue
		}
		var verdicts []string
		for _, v := range e.Verdicts {
			verdicts = append(verdicts, fmt.Sprintf("%s:%s (%s)", v.Keeper, v.Status, v.Message))
		}
		word := ""
		if e.Word != nil {
			word = fmt.Sprintf("%+v", *e.Word)
		}
		m.t.Logf("%s %s %s %.8s prompt %.8s %s%s %s %s %s", e.Time.Format("05.000"), e.Kind, e.Event, e.Session, e.Prompt,
			e.Enums.Source, e.Enums.NotificationType, e.Decision, verdicts, word)
	}
	for _, name := range []string{"daemon.log", "driver.log"} {
		if text, err := os.ReadFile(filepath.Join(m.State, name)); err == nil {
			m.t.Logf("%s:\n%s", name, text)
		}
	}
}

// sessions are those on the daemon's tmux server.
func (m *managed) sessions() []string {
	out, err := m.tmux("list-sessions", "-F", "#{session_name}")
	if err != nil {
		return nil
	}
	return strings.Fields(out)
}

func (m *managed) tmux(args ...string) (string, error) {
	cmd := exec.Command("tmux", append([]string{"-u", "-S", filepath.Join(m.State, "tmux.sock"), "-f", "/dev/null"}, args...)...)
	cmd.Dir, cmd.Env = m.Project, m.Env
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// Attach is a person who goes to an agent's terminal from one of their own.
func (m *managed) Attach(agent string) *tui {
	m.t.Helper()
	m.terminals++
	s := m.terminal(filepath.Join(m.Tmp, fmt.Sprintf("person-%d", m.terminals)), "person", []string{filepath.Join(bin, "stopgate"), "agent", "attach", agent})
	s.launch()
	if !poll(patience, func() bool { return promptGlyph.MatchString(s.Screen()) }) {
		m.t.Fatal("the agent's terminal is not to be seen")
	}
	return s
}

// Go starts the runbook's command, and gives what was started. It waits for nothing.
func (m *managed) Go(args ...string) (o daemonapi.Owner) {
	m.t.Helper()
	if o = m.begin(append([]string{"go"}, args...)...); o.Agent == nil {
		m.t.Fatalf("%+v has no agent", o)
	}
	return o
}

// begin starts a command of a runbook.
func (m *managed) begin(args ...string) (o daemonapi.Owner) {
	m.t.Helper()
	out := m.Stopgate(append([]string{"start", "--json"}, args...)...).mustPass(m.t)
	check(m.t, json.Unmarshal([]byte(out.Stdout), &o))
	return o
}

// until gives an owner as soon as it is as wanted, and ends the test when that takes too long.
func (m *managed) until(id, what string, wanted func(daemonapi.Owner) bool) daemonapi.Owner {
	m.t.Helper()
	ctx, cancel := context.WithTimeout(m.t.Context(), 2*patience) // it may take two starts of a client
	defer cancel()
	var last daemonapi.Owner
	for ctx.Err() == nil { // a daemon that ends, ends the stream
		for e, err := range m.Daemon.Events(ctx, id, 0) {
			if err != nil {
				break
			}
			if e.Now == nil {
				continue // there is a newer event
			}
			if last = *e.Now; wanted(last) {
				return last
			}
		}
		time.Sleep(10 * time.Millisecond)
	}
	m.t.Fatalf("not in %v: %s; it is %s, %s", 2*patience, what, last.Step, last.Status)
	return daemonapi.Owner{}
}

// reaches waits until an owner is at a step in a status.
func (m *managed) reaches(id, step, status string) daemonapi.Owner {
	m.t.Helper()
	return m.until(id, step+" "+status, func(o daemonapi.Owner) bool { return o.Step == step && o.Status == status })
}

// done waits for the end of a pipeline or a run that went well.
func (m *managed) done(id string) daemonapi.Owner {
	m.t.Helper()
	return m.reaches(id, "done", "done")
}

// asks waits for a decision from a source.
func (m *managed) asks(id, source string) daemonapi.Decision {
	m.t.Helper()
	o := m.until(id, "a decision from "+source, func(o daemonapi.Owner) bool { return o.Decision != nil && o.Decision.Source == source })
	return *o.Decision
}

// settled waits until a decision is settled, and gives it.
func (m *managed) settled(d daemonapi.Decision) daemonapi.Decision {
	m.t.Helper()
	m.until(d.Owner, "the decision is settled", func(o daemonapi.Owner) bool { return o.Decision == nil || o.Decision.ID != d.ID })
	d, err := m.Daemon.Decision(m.t.Context(), d.ID)
	check(m.t, err)
	return d
}

// answers answers a decision from the shell.
func (m *managed) answers(d daemonapi.Decision, args ...string) {
	m.t.Helper()
	m.Stopgate(append([]string{"decision", "answer", d.ID}, args...)...).mustPass(m.t)
}

// wantOptions compares what a person can choose.
func (m *managed) wantOptions(d daemonapi.Decision, want ...string) {
	m.t.Helper()
	var got []string
	for _, o := range d.Options {
		got = append(got, o.Name)
	}
	if !slices.Equal(got, want) {
		m.t.Errorf("options %q, want %q", got, want)
	}
}

// wantDecisions compares the sources of all decisions of an owner so far, the oldest first.
func (m *managed) wantDecisions(id string, want ...string) {
	m.t.Helper()
	if got := m.decisionsOf(id); !slices.Equal(got, want) {
		m.t.Errorf("decisions from %q, want %q", got, want)
	}
}

// decisionsOf are the sources of an owner's decisions, the oldest first.
func (m *managed) decisionsOf(id string) (got []string) {
	m.t.Helper()
	var all []daemonapi.Decision
	for _, settled := range []bool{true, false} {
		some, err := m.Daemon.Decisions(m.t.Context(), settled)
		check(m.t, err)
		all = append(all, some...)
	}
	slices.SortFunc(all, func(a, b daemonapi.Decision) int { return a.Created.Compare(b.Created) })
	var seen []string
	for _, d := range all {
		if d.Owner == id && !slices.Contains(seen, d.ID) {
			got, seen = append(got, d.Source), append(seen, d.ID)
		}
	}
	return got
}

// records are those of the journal.
func (m *managed) records() (all []events.Record) {
	for e, err := range journal.New(filepath.Join(m.State, "journal"), journal.Limits{}).Read(journal.Position{}) {
		if err != nil {
			m.t.Errorf("journal: %v", err)
			return all
		}
		all = append(all, *e.Record)
	}
	return all
}

// heard waits for a number of records that match, and gives the last of them.
func (m *managed) heard(count int, matches ...func(events.Record) bool) events.Record {
	m.t.Helper()
	var found []events.Record
	if !poll(patience, func() bool { found = m.all(matches...); return len(found) >= count }) {
		m.t.Fatalf("%d such records, want %d", len(found), count)
	}
	return found[count-1]
}

// all are the records so far that match.
func (m *managed) all(matches ...func(events.Record) bool) []events.Record {
	return slices.DeleteFunc(m.records(), func(r events.Record) bool {
		return slices.ContainsFunc(matches, func(match func(events.Record) bool) bool { return !match(r) })
	})
}

// received matches the calls of a hook.
func received(name string) func(events.Record) bool {
	return func(r events.Record) bool { return r.Kind == events.Received && r.Event == name }
}

// verdict matches answers to a stop in which a keeper said that.
func verdict(keeper, status string) func(events.Record) bool {
	return func(r events.Record) bool {
		return r.Kind == events.Answered && slices.ContainsFunc(r.Verdicts, func(v events.Verdict) bool { return v.Keeper == keeper && v.Status == status })
	}
}

// wantStops compares what the lifecycle said to the stops so far. An agent that has signalled is
// ended, and may or may not come to a last stop before: that one is left out.
func (m *managed) wantStops(want ...string) {
	m.t.Helper()
	var got []string
	stops := func() bool {
		got = nil
		for _, r := range m.all(func(r events.Record) bool { return r.Kind == events.Answered && r.Event == "Stop" }) {
			text := r.Decision
			for _, v := range r.Verdicts {
				if v.Keeper == "lifecycle" {
					text += " " + v.Status
				}
			}
			if text != "allow signaled" {
				got = append(got, text)
			}
		}
		last := len(got) - 1 // of an agent that was held back, and has signalled: the turn ends
		return slices.Equal(got, want) || last == len(want) && got[last] == "allow blocked_before" && slices.Equal(got[:last], want)
	}
	if !poll(patience, stops) {
		m.t.Errorf("stops were answered %q, want %q", got, want)
	}
}

// wantPrompted compares the prompts that the model was given in its newest request. What hooks say
// and what the client adds by itself is left out.
func (m *managed) wantPrompted(want ...string) {
	m.t.Helper()
	requests := m.API.Requests()
	var got []string
	for _, text := range requests[len(requests)-1].Texts() {
		added := slices.ContainsFunc([]string{"Stop hook feedback:", "<", "Continue from where you left off."}, func(prefix string) bool {
			return strings.HasPrefix(text, prefix)
		})
		if !added {
			got = append(got, strings.TrimSpace(text))
		}
	}
	if !slices.Equal(got, want) {
		m.t.Errorf("the agent was given %q, want %q", got, want)
	}
}

// told is what people were told.
func (m *managed) told() []string {
	m.t.Helper()
	text, err := os.ReadFile(filepath.Join(m.Home, "told"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		m.t.Fatal(err)
	}
	messages := strings.Split(string(text), "\f")
	return messages[:len(messages)-1]
}

// wantTold waits until people were told so often, and compares the count.
func (m *managed) wantTold(want int) {
	m.t.Helper()
	if poll(patience, func() bool { return len(m.told()) >= want }); len(m.told()) != want {
		m.t.Errorf("people were told %q, want %d", m.told(), want)
	}
}

// file reads a file of the project; empty when it is not there.
func (m *managed) file(name string) string {
	m.t.Helper()
	text, err := os.ReadFile(filepath.Join(m.Project, name))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		m.t.Fatal(err)
	}
	return string(text)
}
