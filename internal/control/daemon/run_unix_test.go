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
	"testing/synctest"
	"time"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/control/engine"
	"github.com/stopgate/stopgate/internal/control/runbook"
	"github.com/stopgate/stopgate/internal/control/store"
	"github.com/stopgate/stopgate/internal/record/event"
)

// reach waits until an owner is as it should be, and returns it.
func (r *running) reach(t *testing.T, id, what string, so func(daemonapi.Owner) bool) daemonapi.Owner {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), watchdog)
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
	return daemonapi.Owner{}
}

func at(step string) (string, func(daemonapi.Owner) bool) {
	return "step " + step, func(o daemonapi.Owner) bool { return o.Step == step }
}

func (r *running) start(t *testing.T, id, root string) {
	t.Helper()
	_, err := r.Client.Start(t.Context(), daemonapi.Start{ID: id, Project: root, Cwd: root, Command: "build", Args: []string{"you"}})
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
	w.runs(t, "echo one \"you\"")
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
	if status.Pipelines != (daemonapi.Counts{Done: 1}) || status.Events == 0 || status.Version.Version != "v1" || status.PID != os.Getpid() || len(status.Trouble) != 0 {
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
	w.runs(t, "echo one \"you\"")
	r.stop(t)
	if _, err := os.Stat(o.socket()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the socket is still there: %v", err)
	}
	w.endAll(0) // while nobody looks
	r = begin(t, w, o)
	w.runs(t, "echo two")
	if !slices.Equal(w.started, []string{"echo one \"you\"", "echo two"}) {
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
			w.runs(t, "echo one \"you\"")
			check(t, r.Client.Stop(t.Context(), kill))
			check(t, <-r.ended)
			r.ended = nil
			key := w.keys()[0]
			if ended := w.running[key].hasEnded(); ended != kill {
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
	if err != nil || signal != (daemonapi.Signal{Signaled: true, Kind: "escalate", Message: "help"}) {
		t.Errorf("%+v, %v", signal, err)
	}
	decisions, err := r.Decisions(t.Context(), false)
	check(t, err)
	if len(decisions) != 1 || decisions[0].Owner != anID || decisions[0].Options[0].Number != 1 {
		t.Fatalf("%+v", decisions)
	}
	answered, err := r.Answer(t.Context(), decisions[0].ID, daemonapi.Answer{Option: "2"})
	if err != nil || answered.Chosen != "done" || answered.Resolved == nil {
		t.Errorf("%+v, %v", answered, err)
	}
	signal, err = r.Signal(t.Context(), agent, emit(t, o.journalDir(), event.AgentIdle, event.Word{Agent: agent}))
	if err != nil || signal != (daemonapi.Signal{Signaled: true}) {
		t.Errorf("of an agent that nobody owns: %+v, %v", signal, err)
	}
	if _, err := r.Answer(t.Context(), decisions[0].ID, daemonapi.Answer{Option: "2"}); daemonapi.Code(err) != "conflict" {
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
	got := r.reach(t, anotherID, "waiting", func(o daemonapi.Owner) bool { return o.Status == "waiting" })
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

// A message that arrives while the daemon ends is not in doubt for the next one.
func TestAMessageArrivesWhileTheDaemonEnds(t *testing.T) {
	w, s := newWorld(), newMemory(t)
	c := testCore(s)
	agent := working(t, c, anID)
	w.start(agent, "true")
	o := options(t, w, s)
	var r *running
	began, taken := make(chan struct{}), make(chan struct{})
	w.taking = func(string) {
		<-began
		close(taken)
		r.kill()
		for _, err := r.Status(t.Context()); err == nil; _, err = r.Status(t.Context()) {
		}
	}
	emit(t, o.journalDir(), event.AgentIdle, event.Word{Agent: agent, Prompt: "p"})
	r = begin(t, w, o)
	close(began)
	<-taken
	r.stop(t)
	if toSend(t, s) || !slices.Equal(w.sent, []string{"go on"}) {
		t.Errorf("sent %q, and it is in doubt", w.sent)
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
	r.reach(t, anID, "running", func(o daemonapi.Owner) bool { return len(w.keys()) == 1 })
	tried := make(chan struct{}, 1000)
	s.set(func(store.NewEvent) error {
		select {
		case tried <- struct{}{}:
		default:
		}
		return errors.New("no space left on device")
	}, nil)
	_, err := r.Client.Start(t.Context(), daemonapi.Start{ID: anotherID, Project: root, Cwd: root, Command: "build", Args: []string{"you"}})
	if daemonapi.Code(err) != "unavailable" || !strings.Contains(err.Error(), "no space left") {
		t.Errorf("%v", err)
	}
	if status, err := r.Status(t.Context()); err != nil || !slices.Contains(status.Trouble, "store: no space left on device") {
		t.Errorf("%+v, %v", status, err)
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
		"the store is damaged": fmt.Errorf("it: %w", store.ErrDamaged),
		"use that version":     fmt.Errorf("it: %w", store.ErrNewer),
		"no such disk":         errors.New("no such disk"),
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

// reachable waits until the daemon answers.
func (r *running) reachable(t *testing.T) {
	t.Helper()
	for limit := time.Now().Add(watchdog); ; time.Sleep(10 * time.Millisecond) {
		_, err := r.Version(t.Context())
		if err == nil {
			return
		}
		if time.Now().After(limit) {
			t.Fatal(err)
		}
	}
}

func TestASocketThatIsRemovedIsMadeAgain(t *testing.T) {
	w := newWorld()
	o := options(t, w, newMemory(t))
	r := begin(t, w, o)
	for range 2 {
		check(t, os.Remove(o.socket()))
		r.reachable(t)
	}
	r.stop(t)
	if _, err := os.Lstat(o.socket()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the socket is still there: %v", err)
	}
}

// One whose directory is gone makes room for the next, and leaves that alone.
func TestAStateDirectoryThatIsRemoved(t *testing.T) {
	w := newWorld()
	o := options(t, w, newMemory(t))
	r := begin(t, w, o)
	for os.RemoveAll(o.StateDir) != nil { // the daemon may just be making a directory in it
	}
	check(t, os.Mkdir(o.StateDir, 0o700))
	mine := map[string]string{filepath.Join(o.StateDir, "daemon.lock"): "lock", o.socket(): "socket", filepath.Join(o.StateDir, "daemon.pid"): "pid"}
	for path, text := range mine {
		check(t, os.WriteFile(path, []byte(text), 0o600))
	}
	if err := <-r.ended; !errors.Is(err, errRemoved) {
		t.Errorf("it ended with %v", err)
	}
	r.ended = nil
	for path, text := range mine {
		if got, err := os.ReadFile(path); err != nil || string(got) != text {
			t.Errorf("%s: %q, %v", path, got, err)
		}
	}
}

func TestAStateDirectoryOfEverybody(t *testing.T) {
	o := options(t, newWorld(), newMemory(t))
	check(t, os.Chmod(o.StateDir, 0o777))
	o.Ready = func(error) {}
	if err := Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), "other users can write to "+o.StateDir) {
		t.Error(err)
	}
}

func TestAnAgentThatIsNoMore(t *testing.T) {
	w := newWorld()
	p := &plane{queued: func(string) bool { return false }, core: testCore(newMemory(t)), opts: options(t, w, nil)}
	do(t, p.core, anID, create(anID, agentPlan(runbook.Action{Kind: runbook.Escalate, Attempts: 1})))
	agent := done(t, p.core, anID).Agent.ID
	do(t, p.core, anID, engine.Input{ID: "1", What: engine.AgentSignal{AgentID: agent, Signal: engine.Signal{Kind: engine.SignalComplete}}})
	for _, id := range []string{agent, agent[:8]} {
		if a, err := p.Agent(t.Context(), id); err != nil || a.ID != agent || a.Owner != anID || a.Name != "coder" || a.Status != "exited" {
			t.Errorf("%+v, %v", a, err)
		}
	}
	if _, err := p.Agent(t.Context(), "ffffffff"); daemonapi.Code(err) != "not_found" {
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
	d := housekeeper(t, newMemory(t))
	now := noon
	d.Now = func() time.Time { return now }
	do(t, d.core, anID, create(anID, shellPlan("one")))
	do(t, d.core, anotherID, create(anotherID, shellPlan("one"))) // it runs
	do(t, d.core, anID, engine.Input{ID: "cancel", Time: noon, What: engine.Cancel{}})
	done(t, d.core, anID)
	for i, look := range []struct {
		days  int
		there bool
	}{{29, true}, {31, true}, {0, true}, {31, true}, {31, false}} { // the clock was wrong, and right again
		now = noon.Add(time.Duration(look.days) * 24 * time.Hour)
		check(t, d.tidyFinished(t.Context()))
		_, gone := os.Stat(logPath(d.StateDir, anID))
		if there := d.core.owner(anID) != nil; there != look.there || (gone == nil) != look.there {
			t.Errorf("look %d: there: %t, %v", i, there, gone)
		}
	}
	if d.core.owner(anotherID) == nil {
		t.Error("what runs was forgotten")
	}
	same(t, d.core)
}

// housekeeper is a daemon that does nothing else.
func housekeeper(t *testing.T, s store.Store) *daemon {
	t.Helper()
	o := options(t, newWorld(), s)
	d := &daemon{Options: o, config: &globalConfig{path: o.Config, log: quiet()}, store: s, core: newCore(s, engine.NewState(), 0, quiet(), func() time.Time { return noon }), logs: &logs{stateDir: o.StateDir}, full: make(chan struct{}, 1)}
	d.core.note = d.write
	return d
}

// One that cannot be forgotten keeps none of the others.
func TestWhatCannotBeForgotten(t *testing.T) {
	s := &faulty{Store: newMemory(t)}
	d := housekeeper(t, s)
	for _, id := range []string{anID, anotherID} {
		do(t, d.core, id, create(id, shellPlan("one")))
		do(t, d.core, id, engine.Input{ID: "cancel", Time: noon, What: engine.Cancel{}})
		done(t, d.core, id)
	}
	first := d.core.owners()[0].ID
	d.Now = func() time.Time { return noon.Add(31 * 24 * time.Hour) }
	s.set(func(e store.NewEvent) error {
		if strings.HasSuffix(e.Subject, first) {
			return errors.New("no")
		}
		return nil
	}, nil)
	check(t, d.tidyFinished(t.Context()))
	if err := d.tidyFinished(t.Context()); err == nil || !strings.Contains(err.Error(), first) {
		t.Error(err)
	}
	if left := d.core.owners(); len(left) != 1 || left[0].ID != first {
		t.Errorf("%d are left", len(left))
	}
}

func TestLogsOfNobodyAreRemoved(t *testing.T) {
	d := housekeeper(t, newMemory(t))
	check(t, d.sweepLogs()) // there are none
	do(t, d.core, anID, create(anID, shellPlan("one")))
	check(t, os.WriteFile(logPath(d.StateDir, anotherID), nil, 0o600))
	for _, look := range []struct {
		after time.Duration
		there bool
	}{{0, true}, {2 * time.Hour, false}} {
		d.Now = func() time.Time { return time.Now().Add(look.after) }
		check(t, d.sweepLogs())
		_, err := os.Stat(logPath(d.StateDir, anotherID))
		if _, known := os.Stat(logPath(d.StateDir, anID)); (err == nil) != look.there || known != nil {
			t.Errorf("after %v: %v, %v", look.after, err, known)
		}
	}
}

// unsaved is a store that takes no snapshots.
type unsaved struct {
	store.Store
	tries chan struct{}
}

func (s unsaved) SaveSnapshot(context.Context, store.Snapshot) error {
	s.tries <- struct{}{}
	return errors.New("no space left on device")
}

// A snapshot that cannot be saved is not tried at each event.
func TestSnapshotsThatCannotBeSaved(t *testing.T) {
	s := unsaved{newMemory(t), make(chan struct{}, 1000)}
	d := housekeeper(t, s)
	do(t, d.core, anID, create(anID, shellPlan("one")))
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		d.full = make(chan struct{}, 1)
		ended := make(chan struct{})
		go func() { defer close(ended); d.keepHouse(ctx) }()
		for range 100 { // events, as many as there is no end of
			select {
			case d.full <- struct{}{}:
			default:
			}
			synctest.Wait()
		}
		if n := len(s.tries); n != 1 {
			t.Errorf("%d tries", n)
		}
		time.Sleep(snapshotPause) // of the bubble
		synctest.Wait()
		if n := len(s.tries); n != 2 {
			t.Errorf("%d tries, a pause later", n)
		}
		cancel()
		<-ended
	})
}

// stubborn shells do not end.
type stubborn struct{ worldShells }

func (stubborn) Kill(context.Context, string) error { return errors.New("it does not end") }

func TestStopTellsWhatGoesOn(t *testing.T) {
	w := newWorld()
	o := options(t, w, newMemory(t))
	o.Shells = stubborn{worldShells{w}}
	r := begin(t, w, o)
	r.start(t, anID, project(t, twoSteps))
	w.runs(t, "echo one \"you\"")
	err := r.Client.Stop(t.Context(), true)
	if daemonapi.Code(err) != "conflict" || !strings.Contains(err.Error(), w.keys()[0]+": it does not end") {
		t.Errorf("%v", err)
	}
	check(t, <-r.ended)
	r.ended = nil
}

func TestDecisionsThatAreSettled(t *testing.T) {
	p := asking(t)
	agent := working(t, p.core, anID)
	do(t, p.core, anID, engine.Input{ID: "1", What: engine.AgentSignal{AgentID: agent, Signal: engine.Signal{Kind: engine.SignalEscalate, Message: "help"}}})
	do(t, p.core, anID, engine.Input{ID: "2", What: engine.AgentSignal{AgentID: agent, Signal: engine.Signal{Kind: engine.SignalEscalate, Message: "more help"}}})
	open, settled := decisionsNow(t, p, false), decisionsNow(t, p, true)
	if len(open) != 1 || open[0].Resolved != nil || len(settled) != 1 || settled[0].Resolved == nil || settled[0].ID == open[0].ID {
		t.Errorf("open: %+v\nsettled: %+v", open, settled)
	}
}
