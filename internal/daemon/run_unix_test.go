//go:build unix

package daemon

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/client"
	"github.com/stopgate/stopgate/internal/event"
	"github.com/stopgate/stopgate/internal/runbook"
	"github.com/stopgate/stopgate/internal/store"
)

// reach waits until an owner is as it should be, and returns it.
func (r *running) reach(t *testing.T, id, what string, so func(client.Owner) bool) client.Owner {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for e, err := range r.Events(ctx, id, 0) {
		check(t, err)
		if e.Now != nil && so(*e.Now) {
			return *e.Now
		}
		if o, err := r.Owner(ctx, id); err == nil && so(o) {
			return o
		}
	}
	o, err := r.Owner(t.Context(), id)
	t.Fatalf("%s: waited for %s; it is %+v, %v", id, what, o, err)
	return client.Owner{}
}

func at(step string) (string, func(client.Owner) bool) {
	return "step " + step, func(o client.Owner) bool { return o.Step == step }
}

func (r *running) start(t *testing.T, id, root string) {
	t.Helper()
	_, err := r.Client.Start(t.Context(), client.Start{ID: id, Project: root, Cwd: root, Command: "build", Args: []string{"you"}})
	check(t, err)
}

// runs waits until a script runs, and returns its key.
func (w *world) runs(t *testing.T, script string) {
	t.Helper()
	w.until(t, "the script "+script, func() bool { return slices.Contains(w.started, script) })
}

// endAll ends everything that runs.
func (w *world) endAll(code int) {
	for _, key := range w.keys() {
		w.end(key, code)
	}
}

func TestAPipelineRuns(t *testing.T) {
	w := newWorld()
	r := begin(t, w, options(t, w, newMemory(t)))
	r.start(t, anID, project(t, twoSteps))
	w.runs(t, "echo one you")
	w.endAll(0)
	w.runs(t, "echo two")
	w.endAll(0)
	what, so := at("done")
	o := r.reach(t, anID, what, so)
	if o.Status != "done" || len(o.Steps) != 2 || o.Steps[1].Outcome != "completed" {
		t.Errorf("%+v", o)
	}
	status, err := r.Status(t.Context())
	check(t, err)
	if status.Pipelines != (client.Counts{Done: 1}) || status.Events == 0 || status.Version.Version != "v1" || status.PID != os.Getpid() || len(status.Trouble) != 0 {
		t.Errorf("%+v", status)
	}
	var log []string
	for line, err := range r.Log(t.Context(), anID, true) {
		check(t, err)
		log = append(log, line)
	}
	if got := strings.Join(log, "\n"); !strings.HasSuffix(strings.TrimSpace(got), "[done] pipeline done") {
		t.Errorf("%s", got)
	}
}

func TestADaemonGoesOnWhereTheLastOneEnded(t *testing.T) {
	w, s := newWorld(), newMemory(t)
	o := options(t, w, s)
	r := begin(t, w, o)
	root := project(t, twoSteps)
	r.start(t, anID, root)
	w.runs(t, "echo one you")
	r.stop(t)
	if _, err := os.Stat(o.socket()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the socket is still there: %v", err)
	}
	w.endAll(0) // while nobody looks
	r = begin(t, w, o)
	w.runs(t, "echo two")
	if !slices.Equal(w.started, []string{"echo one you", "echo two"}) {
		t.Errorf("%q", w.started)
	}
	w.endAll(3)
	what, so := at("failed")
	if got := r.reach(t, anID, what, so); got.Error == "" {
		t.Errorf("%+v", got)
	}
}

func TestStopEndsOnlyTheDaemonAndKillEverything(t *testing.T) {
	for _, kill := range []bool{false, true} {
		t.Run(fmt.Sprint(kill), func(t *testing.T) {
			w := newWorld()
			r := begin(t, w, options(t, w, newMemory(t)))
			r.start(t, anID, project(t, twoSteps))
			w.runs(t, "echo one you")
			check(t, r.Client.Stop(t.Context(), kill))
			check(t, <-r.ended)
			r.ended = nil
			key := w.keys()[0]
			if ended := len(w.running[key]) > 0; ended != kill {
				t.Errorf("ended: %t", ended)
			}
		})
	}
}

func TestASecondDaemonIsRefused(t *testing.T) {
	w := newWorld()
	o := options(t, w, newMemory(t))
	r := begin(t, w, o)
	var ready error
	o.Ready = func(err error) { ready = err }
	err := Run(t.Context(), o)
	if err == nil || !errors.Is(ready, err) || !strings.Contains(err.Error(), fmt.Sprintf("process %d", os.Getpid())) {
		t.Errorf("%v, %v", err, ready)
	}
	if _, err := r.Status(t.Context()); err != nil {
		t.Errorf("the first one: %v", err)
	}
}

func TestSignalSeesWhatWasSaidJustBefore(t *testing.T) {
	w := newWorld()
	s := newMemory(t)
	agent := working(t, testCore(s), anID)
	w.start(agent, "true")
	o := options(t, w, s)
	r := begin(t, w, o)
	signal, err := r.Signal(t.Context(), agent, emit(t, o.journalDir(), event.AgentIdle, event.Word{Agent: "nobody's"}))
	if err != nil || signal.Signaled {
		t.Errorf("%+v, %v", signal, err)
	}
	signal, err = r.Signal(t.Context(), agent, emit(t, o.journalDir(), event.AgentSignal, event.Word{Agent: agent, Kind: "escalate", Message: "help"}))
	if err != nil || signal != (client.Signal{Signaled: true, Kind: "escalate", Message: "help"}) {
		t.Errorf("%+v, %v", signal, err)
	}
	decisions, err := r.Decisions(t.Context(), false)
	check(t, err)
	if len(decisions) != 1 || decisions[0].Owner != anID || decisions[0].Options[0].Number != 1 {
		t.Fatalf("%+v", decisions)
	}
	answered, err := r.Answer(t.Context(), decisions[0].ID, client.Answer{Option: "2"})
	if err != nil || answered.Chosen != "done" || answered.Resolved == nil {
		t.Errorf("%+v, %v", answered, err)
	}
	signal, err = r.Signal(t.Context(), agent, emit(t, o.journalDir(), event.AgentIdle, event.Word{Agent: agent}))
	if err != nil || signal != (client.Signal{Signaled: true}) {
		t.Errorf("of an agent that nobody owns: %+v, %v", signal, err)
	}
	if _, err := r.Answer(t.Context(), decisions[0].ID, client.Answer{Option: "2"}); client.Code(err) != "conflict" {
		t.Errorf("answered twice: %v", err)
	}
}

func TestWhatHappenedWhileNoDaemonRan(t *testing.T) {
	w, s := newWorld(), newMemory(t)
	c := testCore(s)
	nudge := working(t, c, anID)
	do(t, c, anotherID, create(anotherID, agentPlan(runbook.Action{Kind: runbook.Escalate, Attempts: 1})))
	escalate := done(t, c, anotherID).Agent.ID
	w.start(nudge, "true")
	w.start(escalate, "true")
	o := options(t, w, s)
	emit(t, o.journalDir(), event.AgentIdle, event.Word{Agent: nudge, Prompt: "p"})
	emit(t, o.journalDir(), event.AgentStop, event.Word{Agent: escalate, Prompt: "p"})
	r := begin(t, w, o)
	w.until(t, "a nudge", func() bool { return len(w.sent) > 0 })
	got := r.reach(t, anotherID, "waiting", func(o client.Owner) bool { return o.Status == "waiting" })
	r.stop(t)
	if !slices.Equal(w.sent, []string{"go on"}) || len(w.notes) != 0 || got.Decision == nil {
		t.Errorf("sent %q, told %q, %+v", w.sent, w.notes, got)
	}
	r = begin(t, w, o) // which reads no more
	r.stop(t)
	if len(w.sent) != 1 {
		t.Errorf("sent %q", w.sent)
	}
}

func TestEventsEndWithTheDaemon(t *testing.T) {
	w := newWorld()
	r := begin(t, w, options(t, w, newMemory(t)))
	r.start(t, anID, project(t, twoSteps))
	var facts []string
	for e, err := range r.Events(t.Context(), anID, 0) {
		if err != nil {
			break
		}
		facts = append(facts, e.Facts...)
		if slices.Contains(e.Facts, "effect:done") {
			r.kill()
		}
	}
	if !slices.Contains(facts, "pipeline:created") {
		t.Errorf("%q", facts)
	}
}

func TestAFullDisk(t *testing.T) {
	w := newWorld()
	s := &faulty{Store: newMemory(t)}
	r := begin(t, w, options(t, w, s))
	root := project(t, twoSteps)
	r.start(t, anID, root)
	r.reach(t, anID, "running", func(o client.Owner) bool { return len(w.keys()) == 1 })
	tried := make(chan struct{}, 1000)
	s.set(func(store.NewEvent) error {
		select {
		case tried <- struct{}{}:
		default:
		}
		return errors.New("no space left on device")
	}, nil)
	_, err := r.Client.Start(t.Context(), client.Start{ID: anotherID, Project: root, Cwd: root, Command: "build", Args: []string{"you"}})
	if client.Code(err) != "unavailable" || !strings.Contains(err.Error(), "no space left") {
		t.Errorf("%v", err)
	}
	w.endAll(0)
	for range 3 {
		<-tried
	}
	status, err := r.Status(t.Context())
	if err != nil || len(status.Trouble) == 0 || !strings.Contains(status.Trouble[0], "no space left") {
		t.Errorf("%+v, %v", status, err)
	}
	s.set(nil, nil)
	w.runs(t, "echo two")
	r.start(t, anotherID, root)
	w.until(t, "both", func() bool { return len(w.started) == 3 })
	if status, err := r.Status(t.Context()); err != nil || len(status.Trouble) != 0 {
		t.Errorf("%+v, %v", status, err)
	}
}

func TestAStoreThatCannotBeUsed(t *testing.T) {
	for want, fault := range map[string]error{
		"put a backup in the place of": fmt.Errorf("it: %w", store.ErrDamaged),
		"use that version":             fmt.Errorf("it: %w", store.ErrNewer),
		"no such disk":                 errors.New("no such disk"),
	} {
		o := options(t, newWorld(), nil)
		o.OpenStore = func(context.Context, string) (store.Store, error) { return nil, fault }
		var ready error
		o.Ready = func(err error) { ready = err }
		err := Run(t.Context(), o)
		if ready == nil || !errors.Is(err, fault) || !strings.Contains(ready.Error(), want) {
			t.Errorf("%v, %v", err, ready)
		}
	}
}

func TestAStateDirectoryThatIsNone(t *testing.T) {
	o := options(t, newWorld(), nil)
	o.StateDir = filepath.Join(o.StateDir, "file")
	check(t, os.WriteFile(o.StateDir, nil, 0o600))
	o.Ready = func(error) {}
	if err := Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), o.StateDir) {
		t.Error(err)
	}
}

func TestASocketThatWasLeftBehind(t *testing.T) {
	w := newWorld()
	o := options(t, w, newMemory(t))
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: o.socket(), Net: "unix"})
	check(t, err)
	l.SetUnlinkOnClose(false)
	check(t, l.Close())
	r := begin(t, w, o)
	if _, err := r.Version(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestWhatIsInTheWayOfTheSocket(t *testing.T) {
	o := options(t, newWorld(), newMemory(t))
	check(t, os.WriteFile(o.socket(), []byte("mine"), 0o600))
	o.Ready = func(error) {}
	if err := Run(t.Context(), o); err == nil {
		t.Error("no error")
	}
	if text, err := os.ReadFile(o.socket()); err != nil || string(text) != "mine" {
		t.Errorf("%q, %v", text, err)
	}
}

func TestWhatEndedLongAgoIsForgotten(t *testing.T) {
	w, s := newWorld(), newMemory(t)
	o := options(t, w, s)
	r := begin(t, w, o)
	root := project(t, twoSteps)
	r.start(t, anID, root)
	r.start(t, anotherID, root)
	_, err := r.Cancel(t.Context(), anID, client.Cancel{})
	check(t, err)
	r.reach(t, anID, "its end", func(o client.Owner) bool { return o.Status == "cancelled" })
	r.stop(t)
	for _, test := range []struct {
		after time.Duration
		there bool
	}{{29 * 24 * time.Hour, true}, {31 * 24 * time.Hour, false}} {
		o.Now = func() time.Time { return time.Now().Add(test.after) }
		tidied := make(chan struct{})
		o.Log = tells(tidied)
		r = begin(t, w, o)
		if !test.there {
			<-tidied
		}
		_, err := r.Owner(t.Context(), anID)
		_, gone := os.Stat(logPath(o.StateDir, anID))
		if (err == nil) != test.there || (gone == nil) != test.there {
			t.Errorf("after %v: %v, %v", test.after, err, gone)
		}
		if _, err := r.Owner(t.Context(), anotherID); err != nil {
			t.Errorf("what runs was forgotten: %v", err)
		}
		r.stop(t)
	}
	r = begin(t, w, o)
	if _, err := r.Owner(t.Context(), anID); client.Code(err) != "not_found" {
		t.Error(err)
	}
}
