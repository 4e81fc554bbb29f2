//go:build unix

package daemon

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/stopgate/stopgate/internal/agents/agentdir"
	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/control/engine"
	"github.com/stopgate/stopgate/internal/gate/gauntlet/ledger"
	"github.com/stopgate/stopgate/internal/record/event"
)

// Whoever decides sees what the agent said last, what it changed, which gates are red and
// what it has cost.
func TestWhatADecisionShows(t *testing.T) {
	root, git := repository(t)
	write := func(name, text string) {
		path := filepath.Join(root, name)
		check(t, os.MkdirAll(filepath.Dir(path), 0o755))
		check(t, os.WriteFile(path, []byte(text), 0o644))
	}
	write(".gauntlet/config.yml", "")
	write("main.go", "package main\n")
	git("add", ".")
	git("commit", "-qm", "x")
	write("main.go", "package main\n\nfunc main() {}\n")
	write("notes.txt", "x")

	w, s := newWorld(), newMemory(t)
	c := testCore(s)
	do(t, c, anID, create(anID, clientPlan()))
	id := done(t, c, anID).Agent.ID
	do(t, c, anID, engine.Input{ID: "ready", What: engine.AgentReady{AgentID: id}})
	do(t, c, anID, engine.Input{ID: "spent", What: engine.AgentSpent{AgentID: id, USD: 0.42, Tokens: 1200}})
	w.start(id, "claude")
	o := options(t, w, s)
	o.Environ = os.Environ()
	check(t, ledger.Open(o.StateDir, root).Update(t.Context(), func(s *ledger.State) error {
		s.Open = []ledger.Failure{{Job: "check:.:test", Kind: "check", Name: "test", Message: "exit status 1", Since: noon, Last: noon}}
		return nil
	}))
	dir, err := agentdir.At(o.StateDir, id)
	check(t, err)
	check(t, dir.SetLast(agentdir.Last{Message: "I am stuck.", Cwd: root}))
	a := attended{begin(t, w, o), id}
	emit(t, o.journalDir(), event.AgentStop, event.Word{Agent: id, Prompt: "p"})

	want := &daemonapi.Details{
		LastMessage: "I am stuck.", Changes: []string{"main.go | +2 -0", "notes.txt | new"},
		Gates: []string{"check:.:test: exit status 1"}, USD: 0.42, Tokens: 1200,
	}
	got := a.open(t).Details
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(daemonapi.Details{}, "Running")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
