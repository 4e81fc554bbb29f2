package anchor

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/control/fleet/link/linktest"
	"github.com/stopgate/stopgate/internal/control/store"
	"github.com/stopgate/stopgate/internal/control/store/sqlite"
	"github.com/stopgate/stopgate/internal/sys/checktest"
	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
)

var check = checktest.OK

func TestMain(m *testing.M) {
	environtest.Clean()
	m.Run()
}

// host is a member with a store of its own.
type host struct {
	t    *testing.T
	path string
	log  Log
	*Keeper
}

func newHost(t *testing.T) *host {
	t.Helper()
	h := &host{t: t, path: filepath.Join(t.TempDir(), "stopgate.db"), log: linktest.New(t).Member("a").Log}
	h.Keeper = &Keeper{Log: slog.New(slog.DiscardHandler), Now: time.Now, fleet: h.log, member: "a"}
	return h
}

// lives has a daemon append so many events, and look for whether to anchor after each.
func (h *host) lives(events int, at time.Time) {
	h.t.Helper()
	s, err := sqlite.Open(h.t.Context(), h.path)
	check(h.t, err)
	var last store.Position
	h.Store, h.Last, h.read, h.since = s, func() store.Position { return last }, false, time.Time{}
	head, err := s.Head(h.t.Context(), "run.a")
	check(h.t, err)
	last = head.Position
	check(h.t, h.Look(h.t.Context(), at))
	for range events {
		at = at.Add(time.Second)
		last, err = s.Append(h.t.Context(), store.NewEvent{Subject: "run.a", ID: fmt.Sprintf("e-%d-%d", last, time.Now().UnixNano()), Expected: head.Position})
		check(h.t, err)
		head.Position = last
		check(h.t, h.Look(h.t.Context(), at))
	}
	check(h.t, s.Close())
}

func (h *host) verify() (text string, sound bool) {
	h.t.Helper()
	report, err := sqlite.Verify(h.t.Context(), h.path)
	check(h.t, err)
	check(h.t, Check(h.t.Context(), h.log, "a", h.path, &report))
	for _, f := range report.Findings {
		text += f.Text + "\n"
	}
	return text + strings.Join(report.Notes, "\n"), report.Sound()
}

func (h *host) anchors() int {
	h.t.Helper()
	records, _, err := read(h.t.Context(), h.log, "a")
	check(h.t, err)
	return len(records)
}

// There is an anchor when a daemon is linked, then after 1,000 events, or after an hour where there were any.
func TestWhenThereAreAnchors(t *testing.T) {
	h := newHost(t)
	if text, sound := newHost(t).verifyNothing(); !sound || !strings.Contains(text, "no anchor") {
		t.Errorf("before the first: %s", text)
	}
	start := time.Now()
	h.lives(10, start)
	if n := h.anchors(); n != 1 {
		t.Errorf("%d anchors after 10 events", n)
	}
	h.lives(Each+5, start)
	if n := h.anchors(); n < 2 || n > 4 {
		t.Errorf("%d anchors after %d events", n, Each+15)
	}
	before := h.anchors()
	s, err := sqlite.Open(t.Context(), h.path)
	check(t, err)
	defer s.Close()
	now := h.last.Position
	h.Store, h.Last = s, func() store.Position { return now }
	check(t, h.Look(t.Context(), h.since.Add(2*every)))
	if h.anchors() != before {
		t.Error("an anchor although nothing happened")
	}
	now++
	check(t, h.Look(t.Context(), h.since.Add(2*every)))
	if h.anchors() != before+1 {
		t.Error("no anchor after an hour")
	}
	check(t, h.Look(t.Context(), h.since))
	if h.anchors() != before+1 {
		t.Error("an anchor at once")
	}
	h.connected(1) // it was cut off
	check(t, h.Look(t.Context(), time.Now()))
	h.connected(1)
	check(t, h.Look(t.Context(), h.since))
	if h.anchors() != before+2 {
		t.Errorf("%d anchors after it was connected again, not one", h.anchors()-before-1)
	}
}

func (h *host) verifyNothing() (string, bool) {
	s, err := sqlite.Open(h.t.Context(), h.path)
	check(h.t, err)
	check(h.t, s.Close())
	return h.verify()
}

// A store that is cut back to a backup, with the file beside it, is found out. When the daemon has gone on with it, that is on
// record.
func TestIssue20AHistoryThatWasCutIsNamed(t *testing.T) {
	h := newHost(t)
	h.lives(30, time.Now())
	if text, sound := h.verify(); !sound || !strings.Contains(text, "as the fleet knows it") {
		t.Fatalf("before: %s", text)
	}
	saved := map[string][]byte{}
	for _, name := range []string{h.path, strings.TrimSuffix(h.path, ".db") + ".heads"} {
		data, err := os.ReadFile(name)
		check(t, err)
		saved[name] = data
	}
	h.lives(Each+100, time.Now())

	files, err := filepath.Glob(filepath.Join(filepath.Dir(h.path), "*"))
	check(t, err)
	for _, name := range files {
		check(t, os.Remove(name))
	}
	for name, data := range saved {
		check(t, os.WriteFile(name, data, 0o600))
	}
	text, sound := h.verify()
	if sound || !strings.Contains(text, "the history was cut") || !strings.Contains(text, "as it was up to event") {
		t.Errorf("after the cut: %s", text)
	}

	h.lives(3, time.Now())
	text, sound = h.verify()
	if !sound || !strings.Contains(text, "was cut or replaced by an older copy") || !strings.Contains(text, "as the fleet knows it") {
		t.Errorf("after the daemon went on: %s", text)
	}
}

// The fleet trims old anchors. What is left is enough to go on, and to find out that a store was cut; that the others
// are gone is not damage.
func TestIssue20AnchorsThatWereTrimmed(t *testing.T) {
	f := linktest.New(t)
	h := newHost(t)
	h.log = f.Member("a").Log
	h.fleet = h.log
	hub := f.Member("hub").Log
	for day := range 3 {
		h.lives(3, time.Now().Add(time.Duration(day)*24*time.Hour))
		heads, err := hub.Heads(t.Context())
		check(t, err)
		check(t, hub.SaveSnapshot(t.Context(), store.Snapshot{Position: heads["anchor.a"].Position, Data: []byte("{}")}))
		_, err = hub.Trim(t.Context(), "hub-1")
		check(t, err)
	}
	if n := h.anchors(); n == 0 || n >= 3 {
		t.Fatalf("%d anchors are left", n)
	}
	if text, sound := h.verify(); !sound || !strings.Contains(text, "as the fleet knows it") {
		t.Errorf("%v: %s", sound, text)
	}
	h.lives(2, time.Now().Add(5*24*time.Hour))
	check(t, os.Remove(h.path))
	h2 := &host{t: t, path: h.path, log: h.log}
	s, err := sqlite.Open(t.Context(), h2.path)
	check(t, err)
	_, err = s.Append(t.Context(), store.NewEvent{Subject: "run.a", ID: "another"})
	check(t, err)
	check(t, s.Close())
	if text, sound := h2.verify(); sound {
		t.Errorf("a store that was replaced: %s", text)
	}
}

// There is an anchor at once after the connection was cut: what was done meanwhile is not anchored.
func TestIssue20AnAnchorAfterAReconnect(t *testing.T) {
	l := linktest.New(t).Member("a")
	h := &host{t: t, path: filepath.Join(t.TempDir(), "stopgate.db"), log: l.Log}
	h.Keeper = &Keeper{Log: slog.New(slog.DiscardHandler), Now: time.Now, fleet: h.log, member: "a"}
	h.lives(3, time.Now())
	s, err := sqlite.Open(t.Context(), h.path)
	check(t, err)
	defer s.Close()
	last, before := h.last.Position, h.anchors()
	h.Store, h.Last = s, func() store.Position { return last }

	check(t, l.Conn.ForceReconnect())
	patience := time.Now().Add(time.Minute)
	for l.Conn.Stats().Reconnects == 0 && time.Now().Before(patience) {
		time.Sleep(time.Millisecond)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { h.Run(ctx, l); close(ended) }()
	for h.anchors() == before && time.Now().Before(patience) {
		time.Sleep(time.Millisecond)
	}
	cancel()
	<-ended
	if n := h.anchors() - before; n != 1 {
		t.Errorf("%d anchors after it was connected again, not one", n)
	}
}
