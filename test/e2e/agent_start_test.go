//go:build unix

package e2e

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/test/claudeapi"
)

// A client that asks something before it begins is a person's affair: they are told what it is, and
// nothing is typed. When they have answered, the agent does what it was told.
func TestClientThatAsksBeforeItStarts(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, without, shown string }{
		{"whether the folder is trusted", "projects", "I trust this folder"},
		{"whether the key is to be used", "customApiKeyResponses", "API key"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			m := newManaged(t, pipeline(""))
			m.seed(test.without)
			m.API.Script(claudeapi.Text("I am finished."), obey)
			o := m.Go()
			d := m.asks(o.ID, "start")
			m.wantOptions(d, "retry", "cancel")
			if !strings.Contains(d.Context, test.shown) || !strings.Contains(d.Context, "stopgate agent attach "+o.Agent.ID) {
				t.Errorf("the decision says %q", d.Context)
			}
			m.wantTold(1)
			s := m.Attach(o.Agent.ID)
			if seen := s.waitStill(); !strings.Contains(seen, test.shown) || len(m.API.Requests()) > 0 {
				t.Errorf("somebody has answered:\n%s", seen)
			}
			chosen := regexp.MustCompile(`❯ (1\. )?Yes`) // newer clients give no numbers
			yes := func() bool { return chosen.MatchString(s.Screen()) }
			if !yes() {
				s.Keys("Up")
			}
			if !poll(patience, yes) {
				t.Fatalf("it cannot be answered:\n%s", s.Screen())
			}
			s.Keys("Enter")
			if d = m.settled(d); d.Closed == "" {
				t.Errorf("the decision: %+v", d)
			}
			m.done(o.ID)
			m.wantDecisions(o.ID, "start")
		})
	}
}

// seed makes the client forget an answer that a person gave it.
func (m *managed) seed(without string) {
	m.t.Helper()
	seed := map[string]any{
		"hasCompletedOnboarding":      true,
		"customApiKeyResponses":       map[string]any{"approved": []string{apiKey}, "rejected": []string{}},
		"messageIdleNotifThresholdMs": 3000,
		"projects":                    map[string]any{m.Project: map[string]any{"hasTrustDialogAccepted": true}},
	}
	delete(seed, without)
	m.writeJSON(filepath.Join(m.Home, ".claude.json"), seed)
}

func TestClientThatNobodyIsLoggedInTo(t *testing.T) {
	t.Parallel()
	m := newManaged(t, pipeline(""))
	m.Env = slices.DeleteFunc(m.Env, func(entry string) bool { return strings.HasPrefix(entry, "ANTHROPIC_API_KEY=") })
	m.restart()
	o := m.Go()
	d := m.asks(o.ID, "error")
	if !strings.Contains(d.Context, "unauthorized") {
		t.Errorf("the decision says %q", d.Context)
	}
	m.heard(1, received("Notification"))
	if shown := m.Stopgate("decision", "show", d.ID).mustPass(t); !strings.Contains(shown.Stdout, "/login") {
		t.Errorf("decision show:\n%s", shown.Stdout)
	}
	// Where the client takes long to start, its screen is asked about first, until it has started.
	if got := m.decisionsOf(o.ID); got[len(got)-1] != "error" || slices.ContainsFunc(got[:len(got)-1], func(source string) bool { return source != "start" }) {
		t.Errorf("decisions from %q", got)
	}
	if len(m.API.Requests()) > 0 {
		t.Error("the model was asked")
	}
	m.answers(d, "cancel")
	m.reaches(o.ID, "cancelled", "cancelled")
}

// The words with which a client died are what a person reads.
func TestClientThatDiesAtItsStart(t *testing.T) {
	t.Parallel()
	m := newManaged(t, strings.ReplaceAll(pipeline(""), "--permission-mode default", "--no-such-option"))
	o := m.Go()
	d := m.asks(o.ID, "dead")
	if want := "Claude Code ended before it had started: error: unknown option '--no-such-option'"; !strings.Contains(d.Context, want) {
		t.Errorf("the decision says %q, want %q", d.Context, want)
	}
	m.answers(d, "cancel")
	m.reaches(o.ID, "cancelled", "cancelled")

	// One that is not there cannot even be started.
	m.Write(".gauntlet/runbooks/work.toml", strings.ReplaceAll(pipeline(""), "claude --permission-mode default", "/nowhere/claude"))
	if o := m.reaches(m.Go().ID, "failed", "failed"); !strings.Contains(o.Error, "the program /nowhere/claude was not found") {
		t.Errorf("it failed with %q", o.Error)
	}
}
