// Package storetest checks that a backend keeps the contract of package store.
package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/control/store"
	"github.com/stopgate/stopgate/internal/sys/checktest"
)

// Backend is an implementation, on a place of its own.
type Backend struct {
	// Open opens the store: first an empty one, later what the one before left. That
	// one was closed.
	Open func(t testing.TB) store.Store
	// Lose calls do, which appends an event with the context that it gets. The event
	// is appended, the answer is lost.
	Lose func(t testing.TB, s store.Store, do func(context.Context))
	// Damage changes the data of an event behind the store's back. The store is closed. It may be nil.
	Damage func(t testing.TB, at store.Position)
	// DamageSnapshot does the same to a snapshot. It may be nil.
	DamageSnapshot func(t testing.TB, at store.Position)
	// Unique means that an ID is found also where it is under another subject, or was appended before.
	Unique bool
	// Second opens the store once more, while it is open: what one handle appends the other one reads. It
	// may be nil: then only one process can have it open.
	Second func(t testing.TB) store.Store
}

// Run checks a backend. Each call of backend makes one with nothing in it.
func Run(t *testing.T, backend func(t *testing.T) Backend) {
	for name, test := range map[string]func(*testing.T, Backend){
		"append returns the subject's new version":       versions,
		"expected version guards the subject":            conflict,
		"one of many with the same version wins":         race,
		"concurrent writers lose nothing":                crowd,
		"order is one for all readers":                   order,
		"a read sees what was acknowledged":              readYourWrites,
		"a read is as of its beginning":                  asOfBeginning,
		"the chain is linked":                            linked,
		"heads are those of all subjects":                heads,
		"ids are unique in the store":                    duplicates,
		"subjects and ids are tokens":                    invalid,
		"data up to 256 KiB":                             sizes,
		"what was appended outlives the store":           reopened,
		"an unknown outcome is found by reading":         unknown,
		"a context that has ended appends nothing":       ended,
		"watch goes on":                                  watch,
		"watch across a restart misses and repeats none": watchRestart,
		"watch ends with the store":                      watchClosed,
		"watch broken off as the store closes":           watchBrokenOff,
		"watch by prefix":                                watchPrefix,
		"a closed store says so":                         closed,
		"damage is never data":                           damaged,
		"snapshots: the newest is loaded":                snapshots,
		"snapshots: none is beyond the events":           snapshotBeyond,
		"snapshots: a damaged one is passed over":        snapshotDamaged,
		"trim keeps the last of each subject":            trim,
		"trim needs two sound snapshots":                 trimRefused,
		"trim: chains go on":                             trimContinues,
		"trim: no read skips the hole":                   trimHole,
		"the store's own subjects are hidden":            hidden,
		"callers may change their data":                  aliasing,
		"a second handle sees what was acknowledged":     second,
	} {
		t.Run(name, func(t *testing.T) { test(t, backend(t)) })
	}
}

func open(t *testing.T, b Backend) store.Store {
	t.Helper()
	s := b.Open(t)
	t.Cleanup(func() { s.Close() })
	return s
}

func reopen(t *testing.T, b Backend, s store.Store) store.Store {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatalf("close: %v", err)
	}
	return open(t, b)
}

// log appends events and knows what must be read.
type log struct {
	t        testing.TB
	s        store.Store
	versions map[string]store.Position
	want     []store.Event
}

func newLog(t testing.TB, s store.Store) *log {
	return &log{t: t, s: s, versions: map[string]store.Position{}}
}

// append appends an event whose data says which it is.
func (l *log) append(subject string) store.Position {
	l.t.Helper()
	id := fmt.Sprintf("%s-%d", strings.ReplaceAll(subject, ".", "_"), len(l.want))
	e := store.NewEvent{Subject: subject, ID: id, Expected: l.versions[subject], Data: []byte("data of " + id)}
	position, err := l.s.Append(l.t.Context(), e)
	if err != nil {
		l.t.Fatalf("append to %s: %v", subject, err)
	}
	l.versions[subject] = position
	l.want = append(l.want, store.Event{Position: position, Subject: subject, ID: id, Data: e.Data})
	return position
}

func (l *log) fill(n int, subjects ...string) {
	l.t.Helper()
	for i := range n {
		l.append(subjects[i%len(subjects)])
	}
}

// of returns what was appended to the subjects with a prefix after a position.
func (l *log) of(prefix string, after store.Position) []store.Event {
	var events []store.Event
	for _, e := range l.want {
		if strings.HasPrefix(e.Subject, prefix) && e.Position > after {
			events = append(events, e)
		}
	}
	return events
}

// collect returns the events without their links.
func collect(t testing.TB, seq func(func(store.Event, error) bool)) []store.Event {
	t.Helper()
	events, err := gather(seq)
	if err != nil {
		t.Fatalf("read: %v", err)
	}
	return events
}

func gather(seq func(func(store.Event, error) bool)) (events []store.Event, failure error) {
	for e, err := range seq {
		if err != nil {
			failure = err
			continue
		}
		e.Previous, e.Hash = store.Hash{}, store.Hash{}
		events = append(events, e)
	}
	return events, failure
}

func same(t testing.TB, what string, got, want []store.Event) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func wantError(t testing.TB, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s: error %v, want %v", what, err, want)
	}
}

func versions(t *testing.T, b Backend) {
	s := open(t, b)
	head, err := s.Head(t.Context(), "run.a")
	if err != nil || head != (store.Head{}) {
		t.Fatalf("head of a subject without events: %v, %v", head, err)
	}
	l := newLog(t, s)
	var before store.Position
	for range 5 {
		position := l.append("run.a")
		if position <= before {
			t.Fatalf("position %d after %d", position, before)
		}
		before = position
		if head, err := s.Head(t.Context(), "run.a"); err != nil || head.Position != position {
			t.Fatalf("head %v, %v; want position %d", head, err, position)
		}
		l.append("run.b")
	}
}

func conflict(t *testing.T, b Backend) {
	s := open(t, b)
	l := newLog(t, s)
	first := l.append("run.a")
	second := l.append("run.a")
	other := l.append("run.b")
	for _, expected := range []store.Position{0, first, other, other + 100} {
		_, err := s.Append(t.Context(), store.NewEvent{Subject: "run.a", ID: fmt.Sprintf("no-%d", expected), Expected: expected})
		wantError(t, fmt.Sprintf("expected %d, is %d", expected, second), err, store.ErrConflict)
	}
	_, err := s.Append(t.Context(), store.NewEvent{Subject: "run.new", ID: "no", Expected: first})
	wantError(t, "a version of a subject without events", err, store.ErrConflict)
	same(t, "events", collect(t, s.ReadAll(t.Context(), 0)), l.want)
}

func race(t *testing.T, b Backend) {
	s := open(t, b)
	var version store.Position
	for round := range 20 {
		var wg sync.WaitGroup
		results := make([]error, 8)
		positions := make([]store.Position, 8)
		for i := range results {
			wg.Go(func() {
				positions[i], results[i] = s.Append(t.Context(), store.NewEvent{Subject: "run.a", ID: fmt.Sprintf("%d-%d", round, i), Expected: version})
			})
		}
		wg.Wait()

		won := 0
		for i, err := range results {
			if err == nil {
				won++
				version = positions[i]
			} else if !errors.Is(err, store.ErrConflict) {
				t.Fatalf("round %d: %v", round, err)
			}
		}
		if won != 1 {
			t.Fatalf("round %d: %d have won", round, won)
		}
	}

	if got := collect(t, s.Read(t.Context(), "run.a", 0)); len(got) != 20 {
		t.Errorf("%d events, want 20", len(got))
	}
}

func crowd(t *testing.T, b Backend) {
	s := open(t, b)
	const writers, each = 16, 40
	var wg sync.WaitGroup
	acknowledged := make([]map[string]store.Position, writers)
	for i := range writers {
		acknowledged[i] = map[string]store.Position{}
		wg.Go(func() {
			subject := fmt.Sprintf("run.%d", i)
			var version store.Position
			for n := range each {
				id := fmt.Sprintf("%d-%d", i, n)
				position, err := s.Append(t.Context(), store.NewEvent{Subject: subject, ID: id, Expected: version, Data: []byte(id)})
				if err != nil {
					t.Errorf("append %s: %v", id, err)
					return
				}
				acknowledged[i][id], version = position, position
			}
		})
	}
	wg.Wait()

	s = reopen(t, b, s)
	seen := 0
	for _, e := range collect(t, s.ReadAll(t.Context(), 0)) {
		var writer int
		fmt.Sscanf(e.ID, "%d-", &writer)
		if acknowledged[writer][e.ID] != e.Position || string(e.Data) != e.ID {
			t.Fatalf("event %+v; acknowledged at %d", e, acknowledged[writer][e.ID])
		}
		seen++
	}
	if seen != writers*each {
		t.Errorf("%d events, want %d", seen, writers*each)
	}
}

func order(t *testing.T, b Backend) {
	s := open(t, b)
	l := newLog(t, s)
	l.fill(30, "run.a", "run.b", "pipeline.c")
	same(t, "all", collect(t, s.ReadAll(t.Context(), 0)), l.want)
	for _, after := range []store.Position{l.want[0].Position, l.want[17].Position, l.want[29].Position, l.want[29].Position + 1000} {
		same(t, fmt.Sprintf("all after %d", after), collect(t, s.ReadAll(t.Context(), after)), l.of("", after))
		same(t, fmt.Sprintf("run.b after %d", after), collect(t, s.Read(t.Context(), "run.b", after)), l.of("run.b", after))
	}
	same(t, "a subject without events", collect(t, s.Read(t.Context(), "run", 0)), nil)
}

func readYourWrites(t *testing.T, b Backend) {
	s := open(t, b)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			subject := fmt.Sprintf("run.%d", i)
			var version store.Position
			for n := range 20 {
				position, err := s.Append(t.Context(), store.NewEvent{Subject: subject, ID: fmt.Sprintf("%d-%d", i, n), Expected: version})
				if err != nil {
					t.Error(err)
					return
				}

				events, err := gather(s.Read(t.Context(), subject, version))
				if err != nil || len(events) != 1 || events[0].Position != position {
					t.Errorf("after an append at %d: %v, %v", position, events, err)
					return
				}

				all, err := gather(s.ReadAll(t.Context(), position-1))
				if err != nil || len(all) == 0 || all[0].Position != position {
					t.Errorf("after an append at %d: all: %v, %v", position, all, err)
					return
				}
				version = position
			}
		})
	}
	wg.Wait()
}

func asOfBeginning(t *testing.T, b Backend) {
	s := open(t, b)
	l := newLog(t, s)
	l.fill(3, "run.a")
	want := l.of("", 0)
	for _, read := range []func() func(func(store.Event, error) bool){
		func() func(func(store.Event, error) bool) { return s.ReadAll(t.Context(), 0) },
		func() func(func(store.Event, error) bool) { return s.Read(t.Context(), "run.a", 0) },
	} {
		var got []store.Event
		for e, err := range read() {
			checktest.OK(t, err)
			l.append("run.a")
			e.Previous, e.Hash = store.Hash{}, store.Hash{}
			got = append(got, e)
		}
		same(t, "a read during which events were appended", got, want)
		want = l.of("", 0)
	}
}

func linked(t *testing.T, b Backend) {
	s := open(t, b)
	l := newLog(t, s)
	l.fill(9, "run.a", "run.b")
	links := map[string]store.Hash{}
	for e, err := range s.ReadAll(t.Context(), 0) {
		checktest.OK(t, err)
		if e.Previous != links[e.Subject] || !e.Sound() {
			t.Errorf("event %d of %s is not linked to the one before it", e.Position, e.Subject)
		}
		links[e.Subject] = e.Hash
	}
	for subject, want := range links {
		if head, err := s.Head(t.Context(), subject); err != nil || head.Hash != want {
			t.Errorf("head of %s: %v, %v; want %v", subject, head, err, want)
		}
	}
}

func duplicates(t *testing.T, b Backend) {
	if !b.Unique {
		t.Skip("the backend does not look for IDs")
	}
	s := open(t, b)
	l := newLog(t, s)
	first := l.append("run.a")
	id := l.want[0].ID
	_, err := s.Append(t.Context(), store.NewEvent{Subject: "run.b", ID: id})
	wantError(t, "the ID under another subject", err, store.ErrDuplicate)
	_, err = s.Append(t.Context(), store.NewEvent{Subject: "run.a", ID: id, Expected: first})
	wantError(t, "the ID under its subject", err, store.ErrDuplicate)
	_, err = s.Append(t.Context(), store.NewEvent{Subject: "run.a", ID: id})
	wantError(t, "the same append once more", err, store.ErrConflict)
	s = reopen(t, b, s)
	_, err = s.Append(t.Context(), store.NewEvent{Subject: "run.b", ID: id})
	wantError(t, "the ID after a restart", err, store.ErrDuplicate)
	same(t, "events", collect(t, s.ReadAll(t.Context(), 0)), l.want)
}

func invalid(t *testing.T, b Backend) {
	s := open(t, b)
	long := strings.Repeat("x", 256)

	for _, subject := range []string{
		"", ".", "a.", ".a", "a..b", "a b", "a*", "a.>", "a/b", "a\nb", "a\x00b", "ä", "run.'; DROP TABLE events; --", long, "store", "store.heads",
	} {
		_, err := s.Append(t.Context(), store.NewEvent{Subject: subject, ID: "id"})
		wantError(t, fmt.Sprintf("subject %q", subject), err, store.ErrInvalid)
	}
	for _, id := range []string{"", "a.b", "a b", "a\n", "é", long[:129]} {
		_, err := s.Append(t.Context(), store.NewEvent{Subject: "run.a", ID: id})
		wantError(t, fmt.Sprintf("id %q", id), err, store.ErrInvalid)
	}
	for _, subject := range []string{"", "a b"} {
		_, err := s.Head(t.Context(), subject)
		wantError(t, fmt.Sprintf("head of %q", subject), err, store.ErrInvalid)
		_, err = gather(s.Read(t.Context(), subject, 0))
		wantError(t, fmt.Sprintf("read of %q", subject), err, store.ErrInvalid)
	}

	if got := collect(t, s.ReadAll(t.Context(), 0)); len(got) != 0 {
		t.Errorf("appended: %v", got)
	}
	if _, err := s.Append(t.Context(), store.NewEvent{Subject: long[:255], ID: long[:128]}); err != nil {
		t.Errorf("the longest subject and ID: %v", err)
	}
	if _, err := s.Append(t.Context(), store.NewEvent{Subject: "storeroom.a", ID: "AZaz09_-"}); err != nil {
		t.Errorf("all kinds of characters: %v", err)
	}
}

func sizes(t *testing.T, b Backend) {
	s := open(t, b)
	want := map[string][]byte{}
	for _, n := range []int{0, 1, 1000, store.MaxData - 1, store.MaxData} {
		id := fmt.Sprint(n)
		want[id] = bytes.Repeat([]byte{0, 0xff, '\n'}, n/3+1)[:n]
		if _, err := s.Append(t.Context(), store.NewEvent{Subject: "size." + id, ID: id, Data: want[id]}); err != nil {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
	for _, n := range []int{store.MaxData + 1, 10 << 20} {
		_, err := s.Append(t.Context(), store.NewEvent{Subject: "size.large", ID: fmt.Sprint(n), Data: make([]byte, n)})
		wantError(t, fmt.Sprintf("%d bytes", n), err, store.ErrInvalid)
	}
	events := collect(t, reopen(t, b, s).ReadAll(t.Context(), 0))
	if len(events) != len(want) {
		t.Errorf("%d events, want %d", len(events), len(want))
	}
	for _, e := range events {
		if !bytes.Equal(e.Data, want[e.ID]) {
			t.Errorf("%s bytes came back as %d other ones", e.ID, len(e.Data))
		}
	}
}

func reopened(t *testing.T, b Backend) {
	s := open(t, b)
	l := newLog(t, s)
	for range 3 {
		l.fill(10, "run.a", "run.b", "pipeline.c")
		s = reopen(t, b, s)
		l.s = s
		same(t, "after a restart", collect(t, s.ReadAll(t.Context(), 0)), l.want)
	}
}

func unknown(t *testing.T, b Backend) {
	s := open(t, b)
	l := newLog(t, s)
	version := l.append("run.a")
	e := store.NewEvent{Subject: "run.a", ID: "lost", Expected: version, Data: []byte("x")}
	var err error
	b.Lose(t, s, func(ctx context.Context) { _, err = s.Append(ctx, e) })
	wantError(t, "an append whose answer is lost", err, store.ErrUnknown)

	// What the contract tells one to do: watch for it from the expected version on.
	var found store.Event
	for found = range s.Watch(t.Context(), "run.a", version) {
		break
	}
	if found.ID != "lost" || string(found.Data) != "x" {
		t.Fatalf("behind the expected version: %+v", found)
	}
	_, err = s.Append(t.Context(), e)
	wantError(t, "the same once more", err, store.ErrConflict)
	if b.Unique {
		e.Expected = found.Position
		_, err = s.Append(t.Context(), e)
		wantError(t, "the same ID at the new version", err, store.ErrDuplicate)
	}
	if got := collect(t, reopen(t, b, s).Read(t.Context(), "run.a", version)); len(got) != 1 {
		t.Errorf("after retries: %v", got)
	}
}

func ended(t *testing.T, b Backend) {
	s := open(t, b)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := s.Append(ctx, store.NewEvent{Subject: "run.a", ID: "1"})
	wantError(t, "append", err, context.Canceled)
	if errors.Is(err, store.ErrUnknown) {
		t.Error("the outcome of what was not begun is known")
	}
	if got := collect(t, s.ReadAll(t.Context(), 0)); len(got) != 0 {
		t.Errorf("appended: %v", got)
	}
	if _, err := gather(s.ReadAll(ctx, 0)); err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("read: %v", err)
	}
	if got, err := gather(s.Watch(ctx, "", 0)); len(got) != 0 || err != nil {
		t.Errorf("watch: %v, %v", got, err)
	}
}

// take returns the first events of a sequence that may not end.
func take(t testing.TB, seq func(func(store.Event, error) bool), n int) []store.Event {
	t.Helper()
	var events []store.Event
	for e, err := range seq {
		if err != nil {
			t.Fatalf("watch: %v", err)
		}
		e.Previous, e.Hash = store.Hash{}, store.Hash{}
		if events = append(events, e); len(events) == n {
			break
		}
	}
	return events
}

func watch(t *testing.T, b Backend) {
	s := open(t, b)
	const writers, each = 4, 50

	results := make([][]store.Event, 3)
	var watching sync.WaitGroup
	for i := range results {
		watching.Go(func() { results[i] = take(t, s.Watch(t.Context(), "", 0), writers*each) })
	}

	var writing sync.WaitGroup
	for i := range writers {
		writing.Go(func() {
			var version store.Position
			for n := range each {
				var err error
				version, err = s.Append(t.Context(), store.NewEvent{Subject: fmt.Sprintf("run.%d", i), ID: fmt.Sprintf("%d-%d", i, n), Expected: version})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}

	writing.Wait()
	watching.Wait()
	want := collect(t, s.ReadAll(t.Context(), 0))
	for _, got := range results {
		same(t, "watched", got, want)
	}
}

func watchRestart(t *testing.T, b Backend) {
	s := open(t, b)
	l := newLog(t, s)
	var after store.Position
	var got []store.Event
	for round := range 4 {
		l.fill(7, "run.a", "run.b")
		events := take(t, s.Watch(t.Context(), "", after), 3+round)
		got = append(got, events...)
		after = got[len(got)-1].Position
		s = reopen(t, b, s)
		l.s = s
	}
	got = append(got, take(t, s.Watch(t.Context(), "", after), len(l.want)-len(got))...)
	same(t, "watched by turns", got, l.want)
}

func watchClosed(t *testing.T, b Backend) {
	s := open(t, b)
	newLog(t, s).append("run.a")
	begun, failure := make(chan struct{}), make(chan error)
	go func() {
		var last error
		for _, err := range s.Watch(t.Context(), "", 0) {
			if last = err; err == nil {
				close(begun)
			}
		}
		failure <- last
	}()
	<-begun
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	wantError(t, "the watch", <-failure, store.ErrClosed)
}

// A reader that wants no more is told nothing more, not even that the store was closed.
func watchBrokenOff(t *testing.T, b Backend) {
	s := open(t, b)
	newLog(t, s).append("run.a")
	for _, err := range s.Watch(t.Context(), "", 0) {
		checktest.OK(t, err)
		checktest.OK(t, s.Close())
		break
	}
}

func watchPrefix(t *testing.T, b Backend) {
	s := open(t, b)
	l := newLog(t, s)
	l.fill(12, "run.a", "run.ab", "runner.a", "pipeline.a")
	for _, prefix := range []string{"run.", "run.a", "pipeline.", "run"} {
		want := l.of(prefix, 0)
		same(t, prefix, take(t, s.Watch(t.Context(), prefix, 0), len(want)), want)
	}
}

func closed(t *testing.T, b Backend) {
	s := open(t, b)
	newLog(t, s).append("run.a")
	for range 2 {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	}
	_, err := s.Append(t.Context(), store.NewEvent{Subject: "run.a", ID: "2"})
	wantError(t, "append", err, store.ErrClosed)
	_, err = s.Head(t.Context(), "run.a")
	wantError(t, "head", err, store.ErrClosed)
	_, err = gather(s.Read(t.Context(), "run.a", 0))
	wantError(t, "read", err, store.ErrClosed)
	_, err = gather(s.ReadAll(t.Context(), 0))
	wantError(t, "read all", err, store.ErrClosed)
	_, err = gather(s.Watch(t.Context(), "", 1<<40))
	wantError(t, "watch", err, store.ErrClosed)
	_, err = s.LoadSnapshot(t.Context())
	wantError(t, "load", err, store.ErrClosed)
	wantError(t, "save", s.SaveSnapshot(t.Context(), store.Snapshot{}), store.ErrClosed)
	wantError(t, "trim", trimBy(t.Context(), s, "test"), store.ErrClosed)
	_, err = s.Heads(t.Context())
	wantError(t, "heads", err, store.ErrClosed)
}

func damaged(t *testing.T, b Backend) {
	if b.Damage == nil {
		t.Skip("the backend cannot damage events")
	}
	s := open(t, b)
	l := newLog(t, s)
	l.fill(10, "run.a", "run.b")
	checktest.OK(t, s.Close())
	b.Damage(t, l.want[4].Position)
	s = open(t, b)
	got, err := gather(s.ReadAll(t.Context(), 0))
	wantError(t, "all", err, store.ErrDamaged)
	same(t, "all before the damage", got, l.want[:4])
	got, err = gather(s.Read(t.Context(), "run.a", 0))
	wantError(t, "the subject", err, store.ErrDamaged)
	same(t, "the subject before the damage", got, l.of("run.a", 0)[:2])
	got, err = gather(s.Watch(t.Context(), "", 0))
	wantError(t, "watch", err, store.ErrDamaged)
	same(t, "watched before the damage", got, l.want[:4])
	same(t, "the other subject", collect(t, s.Read(t.Context(), "run.b", 0)), l.of("run.b", 0))
	same(t, "behind it", collect(t, s.ReadAll(t.Context(), l.want[4].Position)), l.want[5:])
}

func snapshots(t *testing.T, b Backend) {
	s := open(t, b)
	load := func(want store.Snapshot) {
		t.Helper()
		got, err := s.LoadSnapshot(t.Context())
		if err != nil || got.Position != want.Position || !bytes.Equal(got.Data, want.Data) {
			t.Errorf("loaded %d %q, %v; want %d %q", got.Position, got.Data, err, want.Position, want.Data)
		}
	}
	load(store.Snapshot{})
	l := newLog(t, s)
	l.fill(5, "run.a")
	for i, e := range l.want {
		snap := store.Snapshot{Position: e.Position, Data: bytes.Repeat([]byte{byte(i)}, i*100_000)}
		checktest.OK(t, s.SaveSnapshot(t.Context(), snap))
		load(snap)
		s = reopen(t, b, s)
		load(snap)
	}
	newest := store.Snapshot{Position: l.want[4].Position, Data: []byte("once more")}
	checktest.OK(t, s.SaveSnapshot(t.Context(), newest))
	load(newest)
	checktest.OK(t, s.SaveSnapshot(t.Context(), store.Snapshot{Position: l.want[1].Position}))
	load(newest)
}

func snapshotBeyond(t *testing.T, b Backend) {
	s := open(t, b)
	last := newLog(t, s).append("run.a")
	wantError(t, "save", s.SaveSnapshot(t.Context(), store.Snapshot{Position: last + 1000}), store.ErrInvalid)
}

func snapshotDamaged(t *testing.T, b Backend) {
	if b.DamageSnapshot == nil {
		t.Skip("the backend cannot damage snapshots")
	}
	s := open(t, b)
	l := newLog(t, s)
	l.fill(6, "run.a")
	for _, at := range []int{2, 4} {
		checktest.OK(t, s.SaveSnapshot(t.Context(), store.Snapshot{Position: l.want[at].Position, Data: []byte{byte(at)}}))
	}
	for _, want := range []store.Position{l.want[2].Position, 0} {
		newest, err := s.LoadSnapshot(t.Context())
		checktest.OK(t, err)
		checktest.OK(t, s.Close())
		b.DamageSnapshot(t, newest.Position)
		s = open(t, b)
		if got, err := s.LoadSnapshot(t.Context()); err != nil || got.Position != want || got.Damaged < newest.Position {
			t.Errorf("loaded the one at %d, behind a damaged one at %d, %v; want %d", got.Position, got.Damaged, err, want)
		}
		wantError(t, "trim", trimBy(t.Context(), s, "test"), store.ErrDamaged)
	}
	same(t, "events", collect(t, s.ReadAll(t.Context(), 0)), l.want)
}

func heads(t *testing.T, b Backend) {
	s, l := trimmed(t, b)
	for range 2 {
		l.fill(3, "run.a", "run.new")
		got, err := s.Heads(t.Context())
		checktest.OK(t, err)
		if len(got) != len(l.versions) {
			t.Errorf("%d heads of %d subjects", len(got), len(l.versions))
		}
		for subject, head := range got {
			if one, err := s.Head(t.Context(), subject); err != nil || one != head || head.Position != l.versions[subject] {
				t.Errorf("%s: %v, not %v at %d, %v", subject, head, one, l.versions[subject], err)
			}
		}
		s = reopen(t, b, s)
		l.s = s
	}
}

// trimmed is a store of 30 events on run.a, run.b and run.c, the last one on run.old at the
// seventh, trimmed up to the twentieth.
func trimmed(t *testing.T, b Backend) (store.Store, *log) {
	t.Helper()
	s := open(t, b)
	l := newLog(t, s)
	l.fill(6, "run.a", "run.b", "run.c")
	l.append("run.old")
	l.append("run.old")
	l.fill(22, "run.a", "run.b", "run.c")
	for _, at := range []int{19, 24} {
		checktest.OK(t, s.SaveSnapshot(t.Context(), store.Snapshot{Position: l.want[at].Position, Data: []byte("all")}))
	}
	checktest.OK(t, trimBy(t.Context(), s, "test"))
	return s, l
}

func trim(t *testing.T, b Backend) {
	s, l := trimmed(t, b)
	for range 2 {
		same(t, "all behind the snapshot", collect(t, s.ReadAll(t.Context(), l.want[19].Position)), l.want[20:])
		same(t, "an old subject behind its last", collect(t, s.Read(t.Context(), "run.old", l.want[7].Position)), nil)
		for subject, version := range l.versions {
			if head, err := s.Head(t.Context(), subject); err != nil || head.Position != version {
				t.Errorf("head of %s: %v, %v; want %d", subject, head, err, version)
			}
		}
		if snap, err := s.LoadSnapshot(t.Context()); err != nil || snap.Position != l.want[24].Position {
			t.Errorf("snapshot at %d, %v", snap.Position, err)
		}
		if err := trimBy(t.Context(), s, "test"); err != nil {
			t.Errorf("once more: %v", err)
		}
		s = reopen(t, b, s)
	}
}

func trimRefused(t *testing.T, b Backend) {
	s := open(t, b)
	l := newLog(t, s)
	l.fill(6, "run.a")
	for _, at := range []int{-1, 3} {
		if at >= 0 {
			checktest.OK(t, s.SaveSnapshot(t.Context(), store.Snapshot{Position: l.want[at].Position}))
		}
		if err := trimBy(t.Context(), s, "test"); err != nil {
			t.Errorf("trim: %v", err)
		}
		same(t, "events", collect(t, s.ReadAll(t.Context(), 0)), l.want)
	}
}

func trimContinues(t *testing.T, b Backend) {
	s, l := trimmed(t, b)
	for range 2 {
		l.fill(8, "run.a", "run.old", "run.b", "run.new"+fmt.Sprint(len(l.want)))
		s = reopen(t, b, s)
		l.s = s
	}
	after := l.want[19].Position
	same(t, "all", collect(t, s.ReadAll(t.Context(), after)), l.of("", after))
	for subject := range l.versions {
		same(t, subject, collect(t, s.Read(t.Context(), subject, after)), slices.DeleteFunc(l.of(subject, after), func(e store.Event) bool { return e.Subject != subject }))
	}
	// And trimmed again.
	for _, at := range []int{33, 40} {
		checktest.OK(t, s.SaveSnapshot(t.Context(), store.Snapshot{Position: l.want[at].Position}))
	}
	checktest.OK(t, trimBy(t.Context(), s, "test"))
	after = l.want[33].Position
	same(t, "all, trimmed again", collect(t, s.ReadAll(t.Context(), after)), l.of("", after))
}

func trimHole(t *testing.T, b Backend) {
	s, l := trimmed(t, b)
	for range 2 {
		for _, after := range []store.Position{0, l.want[3].Position, l.want[18].Position} {
			_, err := gather(s.ReadAll(t.Context(), after))
			wantError(t, fmt.Sprintf("all after %d", after), err, store.ErrTrimmed)
			_, err = gather(s.Watch(t.Context(), "", after))
			wantError(t, fmt.Sprintf("watch after %d", after), err, store.ErrTrimmed)
		}
		_, err := gather(s.Read(t.Context(), "run.a", 0))
		wantError(t, "run.a after 0", err, store.ErrTrimmed)
		_, err = gather(s.Read(t.Context(), "run.old", 0))
		wantError(t, "run.old after 0", err, store.ErrTrimmed)
		s = reopen(t, b, s)
	}
	// A subject that began later was not trimmed.
	l.s = s
	l.append("run.new")
	same(t, "a new subject", collect(t, s.Read(t.Context(), "run.new", 0)), l.of("run.new", 0))
}

func hidden(t *testing.T, b Backend) {
	s, l := trimmed(t, b)
	l.fill(1100, "run.a", "run.b")
	s = reopen(t, b, s)
	after := l.want[19].Position
	want := l.of("", after)
	same(t, "read", collect(t, s.ReadAll(t.Context(), after)), want)
	same(t, "watched", take(t, s.Watch(t.Context(), "", after), len(want)), want)
}

func aliasing(t *testing.T, b Backend) {
	s := open(t, b)
	data := []byte("mine")
	if _, err := s.Append(t.Context(), store.NewEvent{Subject: "run.a", ID: "1", Data: data}); err != nil {
		t.Fatal(err)
	}
	copy(data, "XXXX")
	for range 2 {
		for e, err := range s.ReadAll(t.Context(), 0) {
			if err != nil || string(e.Data) != "mine" {
				t.Fatalf("read %q, %v", e.Data, err)
			}
			copy(e.Data, "YYYY")
		}
	}
}

// barrier is what a store has where a handle sees what others have appended only after asking for it.
type barrier interface {
	Barrier(ctx context.Context) (store.Position, error)
}

func second(t *testing.T, b Backend) {
	if b.Second == nil {
		t.Skip("one process at a time has it open")
	}
	s := open(t, b)
	other := b.Second(t)
	t.Cleanup(func() { other.Close() })
	l := newLog(t, s)
	l.fill(10, "run.a", "run.b")
	if o, ok := other.(barrier); ok {
		at, err := o.Barrier(t.Context())
		checktest.OK(t, err)
		if last := l.want[len(l.want)-1].Position; at <= last {
			t.Errorf("the barrier is at %d, before the last event at %d", at, last)
		}
	}
	same(t, "all", collect(t, other.ReadAll(t.Context(), 0)), l.want)
	_, err := other.Append(t.Context(), store.NewEvent{Subject: "run.a", ID: "late", Expected: l.want[0].Position})
	wantError(t, "an append of the other handle at an old version", err, store.ErrConflict)
	if _, err := other.Append(t.Context(), store.NewEvent{Subject: "run.a", ID: "next", Expected: l.versions["run.a"]}); err != nil {
		t.Errorf("an append of the other handle: %v", err)
	}
	_, err = s.Append(t.Context(), store.NewEvent{Subject: "run.a", ID: "behind", Expected: l.versions["run.a"]})
	wantError(t, "an append at the version before it", err, store.ErrConflict)
}

func trimBy(ctx context.Context, s store.Store, by string) error {
	_, err := s.Trim(ctx, by)
	return err
}
