//go:build unix

package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	events "github.com/stopgate/stopgate/internal/record/event"
	"github.com/stopgate/stopgate/test/claudeapi"
)

// agentFile reads one of an agent's files.
func (m *managed) agentFile(agent, name string) string {
	m.t.Helper()
	text, err := os.ReadFile(filepath.Join(m.State, "agents", agent, name))
	check(m.t, err)
	return string(text)
}

// hookCommands are the commands of a settings file for an event.
func hookCommands(t testing.TB, settings, event string) (all []string) {
	t.Helper()
	var file struct {
		Hooks map[string][]struct {
			Hooks []struct {
				Command string
				Args    []string
			}
		}
	}
	check(t, json.Unmarshal([]byte(settings), &file))
	for _, group := range file.Hooks[event] {
		for _, h := range group.Hooks {
			all = append(all, strings.Join(append([]string{filepath.Base(h.Command)}, h.Args...), " "))
		}
	}
	return all
}

// An agent is held to its signal wherever its hooks come from, and no hook runs twice.
func TestAgentsSettingsFile(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		install func(*managed)
		stop    func(agent string) []string // the entries in the agent's file
	}{
		{"nothing is installed", func(m *managed) {}, func(string) []string { return []string{"stopgate hook Stop --timeout 20m"} }},
		{"the project has our hooks", func(m *managed) {
			m.Stopgate("hooks", "install", "--project", "--yes").mustPass(m.t)
		}, func(string) []string { return nil }},
		{"the project has the gates' hook", func(m *managed) {
			m.Write(".gauntlet/config.yml", oneCheck(m.runs().counted("true"), verifying))
			m.ProjectHook("Stop", "stopgate stop-hook")
			m.Stopgate("trust", "--yes").mustPass(m.t)
			m.Commit()
		}, func(string) []string { return []string{"stopgate hook Stop --timeout 20m"} }}, // the gates' hook leaves them to it
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			m := newManaged(t, pipeline(""))
			m.Allow("Bash")
			test.install(m)
			m.API.Script(bash("echo changed > README.md"), claudeapi.Text("I am finished."), obey)
			o := m.Go()
			m.done(o.ID)
			if got := m.agentFile(o.Agent.ID, "config.json"); got != `{"on_stop":"signal"}` {
				t.Errorf("config.json holds %s", got)
			}
			if got, want := hookCommands(t, m.agentFile(o.Agent.ID, "settings.json"), "Stop"), test.stop(o.Agent.ID); !slices.Equal(got, want) {
				t.Errorf("entries for Stop %q, want %q", got, want)
			}
			for _, name := range []string{"SessionStart", "UserPromptSubmit"} {
				if got := len(m.all(received(name))); got != 1 {
					t.Errorf("%d calls for %s, want 1", got, name)
				}
			}
			m.heard(1, verdict("lifecycle", "not_signaled"))
			if got := len(m.all(verdict("lifecycle", "not_signaled"))); got != 1 {
				t.Errorf("the agent was held %d times, want once", got)
			}
			if strings.Contains(test.name, "gates") {
				m.runs().want(t, 1)
			}
		})
	}
}

// The gates come first. An agent that has satisfied them is held to its signal all the same, in
// the same prompt.
func TestGatesBlockBeforeTheSignalIsAskedFor(t *testing.T) {
	t.Parallel()
	m := newManaged(t, pipeline(""))
	m.Allow("Bash")
	m.Write(".gauntlet/config.yml", oneCheck(m.runs().counted("test -e fixed"), verifying))
	m.Stopgate("trust", "--yes").mustPass(t)
	m.Commit()
	m.API.Script(bash("echo changed > README.md"), claudeapi.Text("I am finished."), bash("touch fixed"), claudeapi.Text("Fixed."), obey)
	o := m.Go()
	m.done(o.ID)
	m.wantStops("block", "block not_signaled")
	m.runs().want(t, 2)
	if got := m.feedback(); len(got) != 2 || !strings.HasPrefix(got[0], "stopgate: ") || !pasteable.MatchString(got[1]) {
		t.Errorf("the agent was told %q", got)
	}
	m.wantDecisions(o.ID)
}

// Nor does a signal lead past the gates: the step is completed when they let the agent stop.
func TestASignalDoesNotLeadPastTheGates(t *testing.T) {
	t.Parallel()
	signals := bash("echo changed > README.md; stopgate emit agent:signal --agent $STOPGATE_AGENT_ID complete")
	gated := func(t *testing.T) *managed {
		t.Parallel()
		m := newManaged(t, pipeline(""))
		m.Allow("Bash")
		m.Write(".gauntlet/config.yml", oneCheck(m.runs().counted("test -e fixed"), verifying))
		return m
	}
	begin := func(m *managed) daemonapi.Owner {
		m.Stopgate("trust", "--yes").mustPass(m.t)
		m.Commit()
		return m.Go()
	}
	for _, own := range []bool{false, true} { // the gates have a hook of their own, in the project
		t.Run(fmt.Sprint(own), func(t *testing.T) {
			m := gated(t)
			if own {
				m.ProjectHook("Stop", "stopgate stop-hook")
			}
			m.API.Script(signals, claudeapi.Text("I am finished."), bash("touch fixed"), claudeapi.Text("Fixed."))
			m.done(begin(m).ID)
			m.wantStops("block")
			m.runs().want(t, 2)
		})
	}
	// Where the gates have given up, a person decides.
	t.Run("never fixed", func(t *testing.T) {
		m := gated(t)
		m.API.Script(signals, claudeapi.Always(claudeapi.Text("I am finished.")))
		o := begin(m)
		d := m.asks(o.ID, "signal")
		if !strings.Contains(d.Context, "retry limit") {
			t.Errorf("asked: %s", d.Context)
		}
		m.wantStops("block", "block", "block")
		m.answers(d, "done")
		m.done(o.ID)
	})
	// A turn that ends otherwise than by a stop was seen by nobody.
	t.Run("without a stop", func(t *testing.T) {
		m := gated(t)
		m.API.Script(signals, claudeapi.Always(claudeapi.Error(400, "the model is not well")))
		m.asks(begin(m).ID, "error")
		m.runs().want(t, 0)
	})
}

// What the agent starts itself, a client or a subagent, is held to nothing.
func TestOnlyTheAgentItselfIsHeld(t *testing.T) {
	t.Parallel()
	m := newManaged(t, pipeline(""))
	m.Allow("Bash")
	m.Stopgate("hooks", "install", "--project", "--yes").mustPass(t) // also for the client that it starts
	m.API.On(claudeapi.Prompt("A question of the agent's own."), claudeapi.Text("An answer."))
	m.API.On(claudeapi.Prompt("Count the files."), claudeapi.Text("3"))
	counted := make(chan struct{}) // newer clients do not wait for it
	m.API.On(claudeapi.Last("You must explicitly signal"), claudeapi.Hold(counted, obey))
	m.API.Script(
		bash("claude -p 'A question of the agent'\\''s own.' < /dev/null"),
		claudeapi.Agent("Count", "Count the files."),
		claudeapi.Text("I am finished."),
	)
	o := m.Go()
	subagent := m.heard(1, func(r events.Record) bool { return r.Kind == events.Answered && r.Event == "SubagentStop" })
	if subagent.Decision != "allow" || subagent.Session != o.Agent.ID {
		t.Errorf("the subagent's stop: %+v", subagent)
	}
	close(counted)
	m.done(o.ID)
	m.wantStops("allow", "block not_signaled")
	nested := m.all(func(r events.Record) bool { return r.Kind == events.Answered && r.Event == "Stop" })[0]
	if nested.Session == o.Agent.ID {
		t.Error("the first stop was not the nested client's")
	}
	for _, prompt := range []string{"A question of the agent's own.", "Count the files."} {
		if got := len(slices.DeleteFunc(m.API.Requests(), func(r claudeapi.Request) bool { return !claudeapi.Prompt(prompt)(r) })); got != 1 {
			t.Errorf("%d requests for %q, want 1", got, prompt)
		}
	}
	m.wantDecisions(o.ID)
}

// A turn that fails because of the API is never held up: the agent is parked, and on_error says
// what follows.
func TestAPIErrorParksTheAgent(t *testing.T) {
	t.Parallel()
	m := newManaged(t, pipeline(""))
	m.Env = slices.DeleteFunc(m.Env, func(entry string) bool { return strings.HasPrefix(entry, "ANTHROPIC_API_KEY=") })
	m.Env = append(m.Env, "CLAUDE_CODE_OAUTH_TOKEN=fake", "TZ=UTC")
	m.restart()
	reset := time.Now().Add(2 * time.Hour).Truncate(time.Hour).UTC()
	m.API.On(claudeapi.Last("Do it."), claudeapi.Always(claudeapi.Error(400, "the model is not well")))
	m.API.On(claudeapi.Last("Please continue"), claudeapi.Always(claudeapi.Limited(reset)))
	o := m.Go()
	d := m.asks(o.ID, "error")
	m.heard(1, received("Notification")) // it is idle, which counts for nothing
	if shown := m.Stopgate("decision", "show", d.ID).mustPass(t); !strings.Contains(shown.Stdout, "the model is not well") {
		t.Errorf("decision show:\n%s", shown.Stdout)
	}
	m.wantDecisions(o.ID, "error")

	// It is started again, in its session.
	m.answers(d, "retry")
	again := m.until(o.ID, "the next error", func(o daemonapi.Owner) bool { return o.Decision != nil && o.Decision.ID != d.ID })
	if !strings.Contains(again.Decision.Context, "rate_limited") || !strings.Contains(again.Decision.Context, reset.Format(time.RFC3339)) {
		t.Errorf("the decision says %q, want the reset at %s", again.Decision.Context, reset.Format(time.RFC3339))
	}
	if again.Agent.ID == o.Agent.ID || again.Agent.Session != o.Agent.ID {
		t.Errorf("the agent is %+v", again.Agent)
	}
	m.wantPrompted("Do it.", "Please continue with the task.")
	if stops := m.all(received("Stop")); len(stops) != 0 {
		t.Errorf("%d stops", len(stops))
	}
	m.answers(*again.Decision, "skip")
	m.done(o.ID)
}

// A person who types into the agent's terminal has answered by that. What is left by /clear goes
// on in another session, in which it is still the agent.
func TestPersonAttachesAndTypes(t *testing.T) {
	t.Parallel()
	m := newManaged(t, pipeline("on_stop = \"escalate\"\n"))
	m.API.Script(claudeapi.Always(echo))
	o := m.Go()
	d := m.asks(o.ID, "stop")
	m.wantStops("block escalated", "allow blocked_before")
	s := m.Attach(o.Agent.ID)
	s.waitStill()
	s.Type("Go on, please.")
	if d = m.settled(d); d.Closed == "" || d.Chosen != "" {
		t.Errorf("the decision: %+v", d)
	}
	d = m.asks(o.ID, "stop")
	m.wantStops("block escalated", "allow blocked_before", "block escalated", "allow blocked_before")
	m.wantPrompted("Do it.", "Go on, please.")

	s.waitStill()
	s.Type("/clear")
	cleared := m.heard(2, received("SessionStart"))
	if cleared.Enums.Source != "clear" || cleared.Session == o.Agent.ID {
		t.Errorf("SessionStart: %+v", cleared)
	}
	m.until(o.ID, "the new session", func(o daemonapi.Owner) bool { return o.Agent.Session == cleared.Session })
	s.waitStill()
	s.Type("What now?")
	m.settled(d)
	m.heard(3, verdict("lifecycle", "escalated"))
	d = m.asks(o.ID, "stop")
	m.wantPrompted("What now?")
	m.answers(d, "done")
	m.done(o.ID)
	s.WaitExit()
}
