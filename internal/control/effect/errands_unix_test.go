//go:build unix

package effect

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/agents/errand"
	"github.com/stopgate/stopgate/internal/control/engine"
	"github.com/stopgate/stopgate/internal/control/runbook"
	"github.com/stopgate/stopgate/internal/sys/checktest"
)

func init() {
	children["errand"] = func(args []string) error { return errand.Run(args[1]) }
}

// newErrands are errands that the test binary runs.
func newErrands(t testing.TB, state string) Errands {
	t.Helper()
	self, err := os.Executable()
	check(t, err)
	return errandsOf(self, state)
}

// errandsOf has runners that do not linger, which the race detector would have them do.
func errandsOf(self, state string) Errands {
	return Errands{
		StateDir: state, Program: self, Environ: append(os.Environ(), "STOPGATE_TEST_CHILD=errand", "GORACE=atexit_sleep_ms=0"),
		Log: func(owner string) string { return filepath.Join(state, "logs", owner+".log") },
	}
}

var owner = &engine.Owner{ID: "0123456789abcdef"}

var content = checktest.Read

func TestShellErrand(t *testing.T) {
	e := newErrands(t, t.TempDir())
	e.Environ = append(e.Environ, "GREETING=hello", "STOPGATE_STATE_DIR=elsewhere")
	cwd := t.TempDir()
	s := e.Shells()
	start := engine.ShellStart{
		Script: `echo x >> ran; echo "$GREETING $STOPGATE_STATE_DIR $OJ_STATE_DIR ${PATH%%:*}"; exit 3`,
		Cwd:    cwd, Step: "build",
	}
	for range 2 {
		check(t, s.Start(t.Context(), owner, "0123456789abcdef-1", start))
	}
	r, err := s.Wait(t.Context(), "0123456789abcdef-1")
	check(t, err)
	want := "hello " + e.StateDir + " " + e.StateDir + " " + filepath.Dir(e.Program)
	if r.Code != 3 || r.Tail != want {
		t.Errorf("it ended with %+v, want %q", r, want)
	}
	if log := content(t, e.Log(owner.ID)); !strings.HasSuffix(log, " [build] "+want+"\n") {
		t.Errorf("the log is %q", log)
	}
	if got := content(t, filepath.Join(cwd, "ran")); got != "x\n" {
		t.Errorf("it ran: %q", got)
	}
	check(t, s.Kill(t.Context(), "0123456789abcdef-1"))
	check(t, s.Kill(t.Context(), "0123456789abcdef-2"))
	if r, err := s.Wait(t.Context(), "0123456789abcdef-3"); !r.Lost || err != nil {
		t.Error(r, err)
	}
}

// What an owner runs is found on disk, also where nothing else is known of it.
func TestErrandsOfAnOwner(t *testing.T) {
	e := newErrands(t, t.TempDir())
	other := &engine.Owner{ID: "fedcba9876543210"}
	check(t, e.Shells().Start(t.Context(), owner, owner.ID+"-1", engine.ShellStart{Script: "true", Cwd: t.TempDir()}))
	check(t, e.Shells().Start(t.Context(), other, other.ID+"-1", engine.ShellStart{Script: "true", Cwd: t.TempDir()}))
	for _, key := range []string{owner.ID + "-1", other.ID + "-1"} {
		_, err := e.Wait(t.Context(), key)
		check(t, err)
	}
	names, err := e.Of(owner.ID)
	if err != nil || !slices.Equal(names, []string{owner.ID + "-1"}) {
		t.Errorf("%q, %v", names, err)
	}
}

func TestAgentErrand(t *testing.T) {
	e := newErrands(t, t.TempDir())
	cwd := t.TempDir()
	a := e.Agents()
	const id = "0b5e7b5c-5a0d-5f3a-9b1e-2f6d1c8e4a77"
	check(t, a.Start(t.Context(), owner, engine.AgentStart{
		ID: id, Name: "worker", OnStop: runbook.StopSignal, Cwd: cwd, Step: "work",
		Prompt: "do it\n\"now\"", Resume: "old", Env: map[string]string{"OJ_AGENT_ID": "another"},
		Run: `printf '%s\n' "$STOPGATE_AGENT_ID" "$OJ_AGENT_ID" "$STOPGATE_PROMPT" "$STOPGATE_RESUME" "$(cat "$OJ_STATE_DIR/agents/$OJ_AGENT_ID/config.json")" > said.tmp
mv said.tmp said; sleep 1000`,
	}))
	waitFor(t, filepath.Join(cwd, "said"))
	want := id + "\n" + id + "\ndo it\n\"now\"\nold\n" + `{"on_stop":"signal"}` + "\n"
	if diff := cmp.Diff(want, content(t, filepath.Join(cwd, "said"))); diff != "" {
		t.Error(diff)
	}

	check(t, a.Send(t.Context(), id, "k-1", "go on"))
	check(t, a.Send(t.Context(), id, "k-1", "go on twice"))
	if got := content(t, filepath.Join(e.StateDir, "agents", id, "inbox", "k-1")); got != "go on" {
		t.Errorf("the message is %q", got)
	}

	check(t, a.Kill(t.Context(), id))
	if r, err := a.Wait(t.Context(), id); r.Code != 128+15 || err != nil {
		t.Error(r, err)
	}
	var failure *errand.Failure
	if err := a.Send(t.Context(), id, "k-2", "go on"); !errors.As(err, &failure) {
		t.Errorf("it says %v", err)
	}
	check(t, a.Send(t.Context(), id, "k-1", "go on")) // it has that one
}

func waitFor(t testing.TB, path string) {
	t.Helper()
	checktest.Eventually(t, path, func() bool { return checktest.Exists(path) })
}

// No name leads out of the state directory.
func TestNamesThatAreNone(t *testing.T) {
	state := t.TempDir()
	e := newErrands(t, state)
	for _, name := range []string{"", "..", "../x", "a/b", "a\nb", "a.b", "é", "a\x00", strings.Repeat("n", 300)} {
		var failure *errand.Failure
		for what, err := range map[string]error{
			"shell": e.Shells().Start(t.Context(), owner, name, engine.ShellStart{Script: "true", Cwd: state}),
			"kill":  e.Shells().Kill(t.Context(), name),
			"agent": e.Agents().Start(t.Context(), owner, engine.AgentStart{ID: name, Run: "true", Cwd: state}),
			"to":    e.Agents().Send(t.Context(), name, "k", "text"),
			"under": e.Agents().Send(t.Context(), "a", name, "text"),
		} {
			if !errors.As(err, &failure) {
				t.Errorf("%s %q: %v", what, name, err)
			}
		}
	}
	entries, err := os.ReadDir(state)
	check(t, err)
	if len(entries) != 0 {
		t.Errorf("made %v", entries)
	}
}

func TestSweep(t *testing.T) {
	e := newErrands(t, t.TempDir())
	nobody := func(string) *engine.Owner { return nil }
	check(t, e.Sweep(time.Now(), nobody))
	cwd := t.TempDir()
	start := func(owner, name, script string) {
		t.Helper()
		check(t, e.Agents().Start(t.Context(), &engine.Owner{ID: owner}, engine.AgentStart{ID: name, Run: script, Cwd: cwd}))
	}
	for owner, names := range map[string][]string{
		"unknown": {"f0-forgotten"},
		"known":   {"a1-now", "a2-replaced", "a3-yet-to-be-killed", "a4-starting"},
		"ended":   {"e1-was-its-last"},
	} {
		for _, name := range names {
			start(owner, id(name), "true")
			_, err := e.Agents().Wait(t.Context(), id(name))
			check(t, err)
		}
	}
	start("unknown", id("f1-runs"), "sleep 1000")
	for _, dir := range []string{"errands/f2-", "agents/f3-", "errands/not-ours", "errands/ab12", "agents/notes"} { // the first two without spec and errand
		check(t, os.MkdirAll(filepath.Join(e.StateDir, dir), 0o700))
	}
	check(t, os.WriteFile(filepath.Join(e.StateDir, "errands", "f4-0"), []byte("a file"), 0o600))
	elsewhere := t.TempDir()
	check(t, os.Symlink(elsewhere, filepath.Join(e.StateDir, "errands", "f5-0")))
	owners := map[string]*engine.Owner{
		"known": {ID: "known", Agent: &engine.Agent{ID: id("a1-now")}, Effects: []engine.OpenEffect{
			fresh(aim("1", engine.KillAgent, id("a3-yet-to-be-killed"))), fresh(agent("2", id("a4-starting"), 0)),
		}},
		"ended": {ID: "ended", Step: runbook.EndDone, Status: engine.Ended, Agent: &engine.Agent{ID: id("e1-was-its-last")}},
	}
	left := func() []string {
		names := map[string]bool{}
		for _, kind := range []string{"errands", "agents"} {
			entries, err := os.ReadDir(filepath.Join(e.StateDir, kind))
			check(t, err)
			for _, entry := range entries {
				names[entry.Name()] = true
			}
		}
		return slices.Sorted(maps.Keys(names))
	}
	for _, round := range []struct {
		after time.Duration
		want  string
	}{
		{0, "a1- a2- a3- a4- ab12 e1- f1- f2- f3- f4-0 f5-0 not-ours notes"},
		{25 * time.Hour, "a1- a2- a3- a4- ab12 f1- f4-0 f5-0 not-ours notes"}, // of what has not ended nothing goes
	} {
		check(t, e.Sweep(time.Now().Add(round.after), func(id string) *engine.Owner { return owners[id] }))
		if diff := cmp.Diff(round.want, strings.Join(left(), " ")); diff != "" {
			t.Errorf("after %v: %s", round.after, diff)
		}
	}
	check(t, e.Agents().Kill(t.Context(), id("f1-runs")))
}

// id is the part of a name that can be one of ours.
func id(name string) string {
	first, _, _ := strings.Cut(name, "-")
	return first + "-"
}
