package daemon

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stopgate/stopgate/internal/control/api"
	"github.com/stopgate/stopgate/internal/control/engine"
	"github.com/stopgate/stopgate/internal/control/runbook"
	"github.com/stopgate/stopgate/internal/control/store"
	"github.com/stopgate/stopgate/internal/control/store/storetest/memory"
	"github.com/stopgate/stopgate/internal/record/event"
	"github.com/stopgate/stopgate/internal/record/journal"
)

// reader is an ingest over a journal.
func reader(t testing.TB, c *core, dir, boot string) *ingest {
	t.Helper()
	i := newIngest(c, journal.New(dir, journal.Limits{}), dir, boot, quiet())
	check(t, i.load(t.Context()))
	return i
}

// emit writes an agent's word into the journal.
func emit(t testing.TB, dir, name string, w event.Word) journal.Position {
	t.Helper()
	at, err := journal.New(dir, journal.Limits{}).Append(&event.Record{Call: journal.NewID(), Kind: event.Emitted, Event: name, Word: &w})
	check(t, err)
	return at
}

// working is an owner with an agent that runs.
func working(t *testing.T, c *core, id string) string {
	t.Helper()
	do(t, c, id, create(id, agentPlan(runbook.Action{Kind: runbook.Nudge, Message: "go on", Attempts: 3})))
	return done(t, c, id).Agent.ID
}

func TestWhatIsFoundLateIsActedOnOnceEverythingIsRead(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "journal")
	c := testCore(newMemory(t))
	agent := working(t, c, anID)
	emit(t, dir, event.AgentIdle, event.Word{Agent: agent, Prompt: "p"})
	i := reader(t, c, dir, "boot")
	check(t, i.catchUp(t.Context()))
	if o := c.owner(anID); len(o.Effects) != 0 || o.Agent.Pending == "" {
		t.Fatalf("it was acted on while it was late: %+v", o)
	}
	check(t, c.caughtUp(t.Context()))
	if got := sends(c, anID); !slices.Equal(got, []string{"go on"}) {
		t.Errorf("%q", got)
	}
}

// Of an agent that went idle and died while no daemon was there, its death counts.
func TestTheEndComesBeforeTheSilence(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "journal")
	c := testCore(newMemory(t))
	agent := working(t, c, anID)
	emit(t, dir, event.AgentIdle, event.Word{Agent: agent, Prompt: "p"})
	check(t, reader(t, c, dir, "boot").catchUp(t.Context()))
	w := newWorld()
	w.start(agent, "")
	w.end(agent, 137)
	d := &daemon{core: c, Options: options(t, w, nil)}
	d.spent = newSpending(c, d.StateDir, d.configDir, nil)
	d.Ended = func(id string) bool { return id == agent }
	check(t, d.exits(t.Context()))
	check(t, c.caughtUp(t.Context()))
	o := c.owner(anID)
	if o.Decision == nil || o.Decision.Source != engine.FromDead || len(sends(c, anID)) != 0 {
		t.Errorf("%+v", o.Decision)
	}
}

// A decision that was found late has as much time as others.
func TestALateDecisionExpires(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "journal")
	c := testCore(newMemory(t))
	plan := agentPlan(runbook.Action{Kind: runbook.Escalate, Attempts: 1})
	plan.Pipeline.Expire = runbook.Expire{After: time.Hour, Answer: runbook.DefaultCancel}
	do(t, c, anID, create(anID, plan))
	agent := done(t, c, anID).Agent.ID
	emit(t, dir, event.AgentSignal, event.Word{Agent: agent, Kind: "escalate", Message: "help"})
	check(t, reader(t, c, dir, "boot").catchUp(t.Context()))
	check(t, c.caughtUp(t.Context()))
	if d := c.owner(anID).Decision; d == nil || d.Expires.IsZero() || time.Until(d.Expires) > time.Hour {
		t.Errorf("%+v", d)
	}
}

func TestWhatTheAgentDidSinceIsNotActedOn(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "journal")
	c := testCore(newMemory(t))
	agent := working(t, c, anID)
	emit(t, dir, event.AgentIdle, event.Word{Agent: agent, Prompt: "p"})
	emit(t, dir, event.AgentSignal, event.Word{Agent: agent, Kind: "complete"})
	check(t, reader(t, c, dir, "boot").catchUp(t.Context()))
	check(t, c.caughtUp(t.Context()))
	if o := c.owner(anID); o.Step != runbook.EndDone || len(sends(c, anID)) != 0 {
		t.Errorf("%+v", o)
	}
}

func TestReadingTwiceChangesNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "journal")
	c := testCore(newMemory(t))
	agent := working(t, c, anID)
	for n := range 5 {
		emit(t, dir, event.AgentIdle, event.Word{Agent: agent, Prompt: fmt.Sprint(n)})
		emit(t, dir, event.AgentSignal, event.Word{Agent: agent, Kind: "continue"})
	}
	check(t, reader(t, c, dir, "boot").catchUp(t.Context()))
	version := c.owner(anID).Version
	check(t, reader(t, c, dir, "boot").catchUp(t.Context())) // nobody saved how far it was
	if c.owner(anID).Version != version {
		t.Error("what was read again became a step")
	}
}

func TestSettledHasEverythingThatWasSaidBefore(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "journal")
	c := testCore(newMemory(t))
	agent := working(t, c, anID)
	i := reader(t, c, dir, "boot")
	ctx, cancel := context.WithCancel(t.Context())
	followed := make(chan struct{})
	go func() {
		defer close(followed)
		i.follow(ctx)
	}()
	for n := range 20 {
		prompt := fmt.Sprint(n)
		emit(t, dir, event.AgentIdle, event.Word{Agent: agent, Prompt: "p" + prompt})
		emit(t, dir, event.AgentSignal, event.Word{Agent: agent, Kind: "escalate", Message: prompt})
		check(t, i.settled(ctx))
		if got := c.owner(anID).Agent.Signal; got == nil || got.Message != prompt {
			t.Fatalf("%d: %+v", n, got)
		}
	}
	cancel()
	<-followed
	if err := i.settled(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("nobody reads any more: %v", err)
	}
}

func TestTheCursor(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "journal")
	c := testCore(newMemory(t))
	i := reader(t, c, dir, "boot")
	if i.reached() != (journal.Position{}) {
		t.Errorf("it begins at %v", i.reached())
	}
	at := emit(t, dir, event.AgentIdle, event.Word{Agent: "nobody's"})
	check(t, i.catchUp(t.Context()))
	for range 2 {
		check(t, i.save(t.Context()))
	}
	for boot, want := range map[string]journal.Position{"boot": at, "another": {Segment: at.Segment}} {
		if got := reader(t, c, dir, boot).reached(); got != want {
			t.Errorf("boot %s: it begins at %v, not %v", boot, got, want)
		}
	}
	if _, last, err := load(t.Context(), c.store); err != nil || last != i.version {
		t.Errorf("the state is that of %d, %v", last, err)
	}
}

func TestTheCursorIsSavedFromTimeToTime(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "journal")
	c := testCore(newMemory(t))
	i := reader(t, c, dir, "boot")
	i.unsaved = saveEvery - 2
	emit(t, dir, event.AgentIdle, event.Word{Agent: "nobody's"})
	check(t, i.catchUp(t.Context()))
	if i.version != 0 {
		t.Error("saved early")
	}
	at := emit(t, dir, event.AgentIdle, event.Word{Agent: "nobody's"})
	check(t, i.catchUp(t.Context()))
	if got := reader(t, c, dir, "boot").reached(); got != at || i.unsaved != 0 {
		t.Errorf("it would begin at %v", got)
	}
}

// A store that cannot be written is no reason to lose the place, nor to stop reading.
func TestACursorThatIsNotSaved(t *testing.T) {
	s := &faulty{Store: newMemory(t)}
	i := reader(t, testCore(s), t.TempDir(), "boot")
	s.set(nil, func(store.NewEvent) error { return errors.New("the answer got lost") })
	if i.save(t.Context()) == nil {
		t.Error("no error")
	}
	s.set(nil, nil)
	check(t, i.save(t.Context()))
}

func TestAPlaceThatIsNotInTheJournal(t *testing.T) {
	for name, from := range map[string]journal.Position{
		"behind the segment's end": {Segment: 1, Offset: 1 << 30},
		"in the middle of a line":  {Segment: 1, Offset: 3},
		"behind the last segment":  {Segment: 9, Offset: 17},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "journal")
			c := testCore(newMemory(t))
			agent := working(t, c, anID)
			emit(t, dir, event.AgentSignal, event.Word{Agent: agent, Kind: "complete"})
			i := reader(t, c, dir, "boot")
			i.move(from)
			check(t, i.catchUp(t.Context()))
			if o := c.owner(anID); o.Step != runbook.EndDone {
				t.Errorf("%+v", o)
			}
		})
	}
}

func TestDamageIsPassedOver(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "journal")
	c := testCore(newMemory(t))
	agent := working(t, c, anID)
	emit(t, dir, event.AgentIdle, event.Word{Agent: agent})
	path := filepath.Join(dir, "00000001.log")
	text, err := os.ReadFile(path)
	check(t, err)
	check(t, os.WriteFile(path, []byte(strings.Replace(string(text), "idle", "ible", 1)), 0o600))
	emit(t, dir, event.AgentSignal, event.Word{Agent: agent, Kind: "complete"})
	check(t, reader(t, c, dir, "boot").catchUp(t.Context()))
	if o := c.owner(anID); o.Step != runbook.EndDone {
		t.Errorf("%+v", o)
	}
}

func TestThroughWaitsForTheJournal(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "journal")
	c := testCore(newMemory(t))
	agent := working(t, c, anID)
	i := reader(t, c, dir, "boot")
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); i.follow(ctx) }()
	defer func() { cancel(); <-ended }()
	for range 20 {
		emit(t, dir, event.AgentIdle, event.Word{Agent: "nobody's"})
	}
	check(t, i.through(t.Context(), emit(t, dir, event.AgentSignal, event.Word{Agent: agent, Kind: "complete"})))
	if o := c.owner(anID); o.Step != runbook.EndDone {
		t.Errorf("%+v", o)
	}
	check(t, i.through(t.Context(), journal.Position{}))
}

func TestThroughGivesUpInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := testCore(newMemory(t))
		p := &plane{queued: func(string) bool { return false }, core: c, ingest: newIngest(c, nil, "", "", quiet())}
		start := time.Now()
		_, err := p.Signal(t.Context(), "a", journal.Position{Segment: 1})
		var failure *api.Error
		if !errors.As(err, &failure) || failure.Code != "unavailable" || time.Since(start) != throughPatience {
			t.Errorf("%v after %v", err, time.Since(start))
		}
	})
}

// A position that nobody wrote is no reason to wait, nor to look again and again.
func TestThroughAPlaceThatIsNotThere(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "journal")
	i := reader(t, testCore(newMemory(t)), dir, "boot")
	at := emit(t, dir, event.AgentIdle, event.Word{Agent: "nobody's"})
	following(t, i)
	check(t, i.through(t.Context(), at))
	i.mu.Lock()
	before := i.looks
	i.mu.Unlock()
	at.Offset++
	err := i.through(t.Context(), at)
	if failure := refusal(t, err); failure.Code != "unavailable" || strings.Contains(failure.Error, "yet") {
		t.Errorf("%+v", failure)
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if looks := i.looks - before; looks > 5 {
		t.Errorf("%d looks", looks)
	}
}

// following follows the journal until the test ends.
func following(t *testing.T, i *ingest) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { defer close(ended); i.follow(ctx) }()
	t.Cleanup(func() { cancel(); <-ended })
}

// Where the system watches no more files for us, the journal is read all the same.
func TestAJournalThatCannotBeWatched(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "journal")
	c := testCore(newMemory(t))
	agent := working(t, c, anID)
	i := reader(t, c, dir, "boot")
	i.dir = filepath.Join(t.TempDir(), "file", "journal")
	check(t, os.WriteFile(filepath.Dir(i.dir), nil, 0o600)) // in its way
	following(t, i)
	check(t, i.through(t.Context(), emit(t, dir, event.AgentIdle, event.Word{Agent: agent, Prompt: "p"}))) // who asks is served
	emit(t, dir, event.AgentSignal, event.Word{Agent: agent, Kind: "complete"})
	for late := time.After(watchdog); c.owner(anID).Step != runbook.EndDone; { // and all else comes in time
		select {
		case <-c.news.Rung():
		case <-late:
			t.Fatalf("%+v", c.owner(anID))
		}
	}
	if got := c.trouble.list(); len(got) != 1 || !strings.Contains(got[0], "watch of the journal") {
		t.Errorf("trouble: %q", got)
	}
}

func TestFollowingInVainLeavesNothingBehind(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "journal")
	i := reader(t, testCore(newMemory(t)), dir, "boot")
	check(t, os.MkdirAll(dir, 0o700))
	i.move(journal.Position{Segment: 9, Offset: 17})
	before := runtime.NumGoroutine()
	for range 200 {
		if err := i.followOn(t.Context()); !errors.Is(err, journal.ErrPosition) {
			t.Fatal(err)
		}
	}
	if after := runtime.NumGoroutine(); after > before+10 {
		t.Errorf("%d goroutines, before %d", after, before)
	}
}

// BenchmarkBacklog reads what hooks wrote while no daemon was there.
func BenchmarkBacklog(b *testing.B) {
	dir := filepath.Join(b.TempDir(), "journal")
	j := journal.New(dir, journal.Limits{MaxSize: 8 << 30})
	const records = 20_000
	for i := range records {
		r := &event.Record{
			Call: journal.NewID(), Kind: event.Received, Event: "PreToolUse", Enums: event.Enums{ToolName: "Bash"},
			Session: "6b0e5c1e-3f0a-4d5c-9a59-0a8c1f1b2a3c", Prompt: "0d0b8f5e-6a2c-4b0e-8f6a-1c2d3e4f5a6b", Project: "/home/someone/thing", Pane: "%3",
		}
		switch {
		case i%20 == 0:
			r.Event = "UserPromptSubmit"
		case i%2 == 1:
			r.Kind, r.Decision, r.Verdicts = event.Answered, "allow", []event.Verdict{{Keeper: "guard", Outcome: "passed", Status: "passed"}}
		}
		if _, err := j.Append(r); err != nil {
			b.Fatal(err)
		}
	}
	s := memory.New()
	defer s.Close()
	for b.Loop() {
		i := newIngest(testCore(s), j, dir, "boot", quiet())
		if err := i.catchUp(b.Context()); err != nil || i.reached() == (journal.Position{}) {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/records, "ns/record")
}
