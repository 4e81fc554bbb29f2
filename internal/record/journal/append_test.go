package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/oklog/ulid/v2"

	"github.com/stopgate/stopgate/internal/record/event"
)

func TestRoundTrip(t *testing.T) {
	j := tempJournal(t, Limits{})
	active := true
	full := event.Record{
		Call: "c", Kind: event.Answered, Event: "Stop",
		Enums:   event.Enums{Source: "startup", StopHookActive: &active},
		Session: "s", Prompt: "p", Agent: event.SubagentRef{ID: "a", Type: "coder"}, Pane: "%1",
		Project: "/tmp/p\n\u2028<&>", PromptHash: "00", Decision: "block",
		Verdicts:   []event.Verdict{{Keeper: "gates", Outcome: "failed", Blocked: true, Message: "two\nlines"}},
		DurationMS: 12, Payload: []byte(`{"a":1}`),
	}
	written := []event.Record{full, sample("s", 0), sample("s", 1)}
	var ends []Position
	for i := range written {
		end, err := j.Append(&written[i])
		check(t, err)
		ends = append(ends, end)
	}
	entries := readAll(t, j, Position{})
	if len(entries) != len(written) {
		t.Fatalf("read %d entries, want %d", len(entries), len(written))
	}
	for i, e := range entries {
		if diff := cmp.Diff(&written[i], e.Record); diff != "" {
			t.Errorf("record %d (-written +read):\n%s", i, diff)
		}
		if e.Position != ends[i] {
			t.Errorf("record %d ends at %v, Append said %v", i, e.Position, ends[i])
		}
		wantCalls(t, readAll(t, j, ends[i]), calls(entries)[i+1:]...)
	}
}

// The format in the package comment is a promise to other programs.
func TestFormatOnDisk(t *testing.T) {
	r := event.Record{
		Version: 1, ID: "01K", Call: "01K", Kind: event.Received,
		Time: time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC), PID: 7, Event: "Stop",
	}
	got, err := encode(&r)
	check(t, err)
	want := `j1 1c5c5e57 {"v":1,"id":"01K","call":"01K","kind":"received",` +
		`"time":"2026-01-02T03:04:05.000000006Z","pid":7,"event":"Stop"}` + "\n"
	if string(got) != want {
		t.Errorf("line\n got %q\nwant %q", got, want)
	}
	// The check value of CRC-32.
	if got := checksum([]byte("123456789")); string(got) != "cbf43926" {
		t.Errorf("checksum of 123456789 is %s, want cbf43926", got)
	}
	for _, n := range []int{0, 1, 7, 600, 4 << 10, 4<<10 + 1, 1 << 16} {
		body := bytes.Repeat([]byte("a\xff"), n)[:n]
		if own, sum := ownChecksum(body), checksum(body); !bytes.Equal(own, sum) {
			t.Errorf("%d bytes are written with %s and read with %s", n, own, sum)
		}
	}
}

func TestAppendFillsTheRecord(t *testing.T) {
	j := tempJournal(t, Limits{})
	r := event.Record{Version: 9, ID: "old", Host: "old", PID: -1, Event: "Stop"}
	before := time.Now()
	mustAppend(t, j, r)
	got := *readAll(t, j, Position{})[0].Record
	name, _ := os.Hostname()
	if got.Version != event.Version || got.PID != os.Getpid() || got.Host != name {
		t.Errorf("version %d, pid %d, host %q", got.Version, got.PID, got.Host)
	}
	if runtime.GOOS == "linux" && len(got.Boot) != 36 {
		t.Errorf("boot id %q is no UUID", got.Boot)
	}
	if _, err := ulid.ParseStrict(got.ID); err != nil {
		t.Errorf("id %q: %v", got.ID, err)
	}
	if got.Time.Before(before.Add(-time.Second)) || got.Time.After(time.Now()) {
		t.Errorf("time %v", got.Time)
	}
	r.Time = time.Unix(5, 0).UTC()
	mustAppend(t, j, r)
	entries := readAll(t, j, Position{})
	if again := entries[1].Record; again.ID <= got.ID || !again.Time.Equal(r.Time) {
		t.Errorf("second record has id %s after %s, time %v", again.ID, got.ID, again.Time)
	}
}

func TestDurableRecordsAreSynced(t *testing.T) {
	j := tempJournal(t, Limits{})
	var synced []string
	j.sync = func(f *os.File) error {
		synced = append(synced, f.Name())
		return datasync(f)
	}
	for _, name := range []string{"Stop", "PostToolUse", "SubagentStop", "SessionStart"} {
		mustAppend(t, j, event.Record{Event: name, Project: "/p"})
	}
	want := []string{j.path(segmentName(1)), j.path(segmentName(1))}
	if diff := cmp.Diff(want, synced); diff != "" {
		t.Errorf("synced (-want +got):\n%s", diff)
	}
	j.sync = func(*os.File) error { return syscall.EIO }
	_, err := j.Append(&event.Record{Event: "Stop", Project: "/p"})
	wantError(t, err, "sync", j.path(segmentName(1)), syscall.EIO.Error())
	if !errors.Is(err, syscall.EIO) {
		t.Errorf("error %v does not wrap its cause", err)
	}
}

func TestModes(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no mode bits on Windows")
	}
	j := tempJournal(t, Limits{})
	mustAppend(t, j, sample("s", 0))
	if _, err := j.Key(); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]fs.FileMode{
		"": 0o700, lockName: 0o600, keyName: 0o600, segmentName(1): 0o600,
	} {
		info, err := os.Stat(j.path(name))
		check(t, err)
		if info.Mode().Perm() != want {
			t.Errorf("%s has mode %v, want %v", j.path(name), info.Mode().Perm(), want)
		}
	}
}

func TestPayloadThatIsTooLargeIsDropped(t *testing.T) {
	j := tempJournal(t, Limits{})
	for _, payload := range []string{
		`"` + strings.Repeat("x", maxRecord) + `"`,
		`{"not": "json`,
	} {
		r := event.Record{Call: "c", Event: "Stop", Payload: []byte(payload)}
		mustAppend(t, j, r)
	}
	for _, e := range readAll(t, j, Position{}) {
		if e.Record == nil || e.Record.Call != "c" || e.Record.Payload != nil {
			t.Errorf("entry %+v, want the record without its payload", e)
		}
	}
	r := event.Record{Project: strings.Repeat("x", maxRecord)}
	if _, err := j.Append(&r); err == nil || !strings.Contains(err.Error(), "larger than the limit") {
		t.Errorf("record too large without payload: error %v", err)
	}
	if n := len(readAll(t, j, Position{})); n != 2 {
		t.Errorf("%d entries, want 2", n)
	}
}

func TestTornTailIsIsolated(t *testing.T) {
	whole := line(t, "torn")
	for cut := range len(whole) {
		j := tempJournal(t, Limits{})
		plant(t, j, 1, append(line(t, "first"), whole[:cut]...))
		end := mustAppend(t, j, event.Record{Call: "last"})
		entries := readAll(t, j, Position{})
		switch cut {
		case 0:
			wantCalls(t, entries, "first", "last")
		case len(whole) - 1: // all but the newline: nothing is lost
			wantCalls(t, entries, "first", "torn", "last")
		default:
			wantCalls(t, entries, "first", "damage", "last")
		}
		if got := entries[len(entries)-1].Position; got != end {
			t.Fatalf("cut at %d: last record ends at %v, Append said %v", cut, got, end)
		}
	}
}

func TestDeletedDirectoryIsMadeAgain(t *testing.T) {
	j := tempJournal(t, Limits{})
	mustAppend(t, j, event.Record{Call: "one"})
	check(t, os.RemoveAll(filepath.Dir(j.dir)))
	mustAppend(t, j, event.Record{Call: "two"})
	wantCalls(t, readAll(t, j, Position{}), "two")
}

// While one process locks, another deletes the directory and a third makes it
// again: the first must not believe that it holds the new lock.
func TestLockOfADeletedDirectoryIsNotTheLock(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("an open file cannot be deleted on Windows")
	}
	j := tempJournal(t, Limits{})
	stale, err := j.lock()
	check(t, err)
	defer stale()
	check(t, os.RemoveAll(j.dir))
	fresh, err := j.lock()
	if err != nil {
		t.Fatal("the deleted lock counts as the lock:", err)
	}
	defer fresh()
	j.lockWait = 0
	if _, err := j.lock(); !errors.Is(err, errLocked) {
		t.Errorf("two hold the lock: %v", err)
	}
}

func TestDirectoryDeletedWhileAppending(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("an open file cannot be deleted on Windows")
	}
	j := tempJournal(t, Limits{})
	var writers sync.WaitGroup
	var mu sync.Mutex
	moves := make([]int, 4) // since each writer began its record
	for w := range moves {
		writers.Go(func() {
			for range 500 {
				mu.Lock()
				moves[w] = 0
				mu.Unlock()
				if _, err := j.Append(&event.Record{Call: "c"}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	done := make(chan struct{})
	go func() { writers.Wait(); close(done) }()

	// It is moved away at once: RemoveAll would go on for as long as writers put files in. A
	// writer tries ten times, and two tries may meet one move.
	for n := 0; ; n++ {
		select {
		case <-done:
			return
		default:
		}
		mu.Lock()
		if slices.Max(moves) < 5 && os.Rename(j.dir, fmt.Sprint(j.dir, n)) == nil {
			for w := range moves {
				moves[w]++
			}
		}
		mu.Unlock()
		runtime.Gosched()
	}
}

func TestFileInTheWay(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "journal")
	check(t, os.WriteFile(dir, nil, 0o600))
	_, err := New(dir, Limits{}).Append(&event.Record{})
	wantError(t, err, dir, "a file exists where the directory should be", "STOPGATE_STATE_DIR")
	for _, err := range New(dir, Limits{}).Read(Position{}) {
		wantError(t, err, dir, "a file exists where the directory should be")
	}
}

func wantError(t *testing.T, err error, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("error %v does not say %q", err, part)
		}
	}
}

func TestRotation(t *testing.T) {
	j := tempJournal(t, Limits{SegmentSize: 1000})
	var want []string
	for i := range 30 {
		call := fmt.Sprint(i)
		want = append(want, call)
		mustAppend(t, j, event.Record{Call: call})
	}
	wantCalls(t, readAll(t, j, Position{}), want...)
	numbers, err := j.segments()
	if err != nil || len(numbers) < 5 {
		t.Fatalf("segments %v, %v", numbers, err)
	}
	for _, n := range numbers[:len(numbers)-1] {
		size := len(segmentBytes(t, j, n))
		if size < 1000 || size > 1000+len(line(t, "29")) {
			t.Errorf("segment %d was closed at %d bytes", n, size)
		}
	}
}

func TestTornTailOfAFullSegment(t *testing.T) {
	j := tempJournal(t, Limits{SegmentSize: 10})
	plant(t, j, 1, append(line(t, "first"), "j1 0123"...))
	mustAppend(t, j, event.Record{Call: "last"})
	entries := readAll(t, j, Position{})
	wantCalls(t, entries, "first", "damage", "last")
	wantCalls(t, readAll(t, j, entries[1].Position), "last")
}

func TestRetention(t *testing.T) {
	const size = 1000
	now := time.Now()
	old := now.Add(-25 * time.Hour)
	tests := []struct {
		name   string
		limits Limits
		times  []time.Time // of segments 1, 2, …, each of size bytes
		want   []uint64    // after the rotation to the next
	}{
		{"all young", Limits{}, []time.Time{now, now}, []uint64{1, 2, 3}},
		{"old ones go", Limits{}, []time.Time{old, old, now}, []uint64{3, 4}},
		{"numbers go on", Limits{}, []time.Time{old, old}, []uint64{3}},
		{"no holes", Limits{}, []time.Time{now, old, now}, []uint64{1, 2, 3, 4}},
		{"from the future", Limits{}, []time.Time{now.Add(99 * time.Hour), now}, []uint64{1, 2, 3}},
		{"too much", Limits{MaxSize: 3 * size}, []time.Time{now, now, now, now}, []uint64{3, 4, 5}},
		{"no room at all", Limits{MaxSize: 1}, []time.Time{now, now}, []uint64{3}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			test.limits.SegmentSize, test.limits.MaxAge = size, 24*time.Hour
			j := tempJournal(t, test.limits)
			for i, mtime := range test.times {
				n := uint64(i + 1)
				plant(t, j, n, bytes.Repeat([]byte("\n"), size))
				check(t, os.Chtimes(j.path(segmentName(n)), mtime, mtime))
			}
			mustAppend(t, j, event.Record{Call: "c"})
			got, err := j.segments()
			if diff := cmp.Diff(test.want, got); err != nil || diff != "" {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
}

// Somebody who deletes a segment costs no record.
func TestRetentionLeavesAllWhereOneIsGone(t *testing.T) {
	j := tempJournal(t, Limits{SegmentSize: 1, MaxSize: 1})
	plant(t, j, 2, []byte("\n"))
	j.retain([]uint64{1, 2})
	if got, err := j.segments(); err != nil || len(got) != 1 {
		t.Errorf("left are %d, %v", got, err)
	}
}

func TestSegmentNames(t *testing.T) {
	j := tempJournal(t, Limits{})
	for _, name := range []string{"1.log", "+0000002.log", "00000000.log", "00000003.txt", ".00000004.log", "x"} {
		plant(t, j, 1, nil)
		check(t, os.WriteFile(j.path(name), nil, 0o600))
	}
	plant(t, j, 123456789, nil)
	plant(t, j, 99999999, nil)
	got, err := j.segments()
	if diff := cmp.Diff([]uint64{1, 99999999, 123456789}, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}
