package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/record/event"
	"github.com/stopgate/stopgate/internal/sys/checktest"
	"github.com/stopgate/stopgate/internal/sys/process/processtest"
)

var check = checktest.OK

var children = map[string]func(args []string) error{"write": childWrite}

func TestMain(m *testing.M) { processtest.Main(m, children) }

// childWrite appends COUNT samples to the journal in DIR and says after each what
// Append returned: "seq id position".
func childWrite(args []string) error {
	j := New(args[0], Limits{SegmentSize: number(args[3]), MaxSize: number(args[4])})
	session := args[1]
	for seq := range int(number(args[2])) {
		r := sample(session, seq)
		end, err := j.Append(&r)
		if err != nil {
			return err
		}
		fmt.Println(seq, r.ID, end)
	}
	return nil
}

func number(s string) int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		panic(err)
	}
	return n
}

func writer(t *testing.T, dir, session string, count int, limits Limits) *exec.Cmd {
	t.Helper()
	return processtest.Child(t, "write", dir, session, strconv.Itoa(count),
		strconv.FormatInt(limits.SegmentSize, 10), strconv.FormatInt(limits.MaxSize, 10))
}

// sample is the record that a session writes as its seq-th: known without having
// seen it, so that what is read can be compared with what must have been written.
// Sizes go up to 50 KiB, and in a session whose name starts with "big" to 800
// KiB: a write over many pages takes long enough to be killed in.
func sample(session string, seq int) event.Record {
	r := event.Record{
		Call:    session + "-" + strconv.Itoa(seq),
		Kind:    event.Received,
		Event:   "PostToolUse",
		Session: session,
		Project: "/home/me/<project> & \"\n\x00é" + strings.Repeat("x", seq*7919%300),
	}
	if seq%5 == 0 {
		r.Event = "Stop"
	}
	if seq%9 == 1 {
		r.Payload = []byte(`{"text":"` + strings.Repeat("payload ", 10+seq*104729%6000) + `"}`)
	}
	if strings.HasPrefix(session, "big") && seq%8 == 1 {
		r.Payload = []byte(`"` + strings.Repeat("payload ", 100_000) + `"`)
	}
	return r
}

// checkSample fails when r is not what its session wrote, and returns which it is.
func checkSample(t *testing.T, r *event.Record) (session string, seq int) {
	t.Helper()
	session, digits, _ := strings.Cut(r.Call, "-")
	seq, err := strconv.Atoi(digits)
	if err != nil {
		t.Fatalf("accepted a record that nobody wrote: %+v", r)
	}
	want := sample(session, seq)
	want.Version, want.ID, want.Time = r.Version, r.ID, r.Time
	want.Host, want.Boot, want.PID = r.Host, r.Boot, r.PID
	if !reflect.DeepEqual(&want, r) {
		t.Fatalf("accepted a record that nobody wrote (-written +read):\n%s", cmp.Diff(&want, r))
	}
	return session, seq
}

func readAll(t testing.TB, j *Journal, from Position) []Entry {
	t.Helper()
	var entries []Entry
	for e, err := range j.Read(from) {
		check(t, err)
		entries = append(entries, e)
	}
	return entries
}

func mustAppend(t testing.TB, j *Journal, r event.Record) Position {
	t.Helper()
	end, err := j.Append(&r)
	check(t, err)
	return end
}

// calls lists the entries' calls, "damage" and "newer" for those without one.
func calls(entries []Entry) []string {
	var list []string
	for _, e := range entries {
		switch {
		case e.Damage != nil:
			list = append(list, "damage")
		case e.Newer > 0:
			list = append(list, "newer")
		default:
			list = append(list, e.Record.Call)
		}
	}
	return list
}

func wantCalls(t *testing.T, entries []Entry, want ...string) {
	t.Helper()
	if got := calls(entries); !slices.Equal(got, want) {
		t.Fatalf("read %q, want %q", got, want)
	}
}

func tempJournal(t testing.TB, limits Limits) *Journal {
	t.Helper()
	return New(filepath.Join(t.TempDir(), "journal"), limits)
}

// plant writes the bytes of a segment.
func plant(t testing.TB, j *Journal, number uint64, data []byte) {
	t.Helper()
	check(t, os.MkdirAll(j.dir, 0o700))
	// A new file: ext4 syncs one that is truncated and written again.
	path := j.path(segmentName(number))
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	check(t, os.WriteFile(path, data, 0o600))
}

func segmentBytes(t testing.TB, j *Journal, number uint64) []byte {
	t.Helper()
	data, err := os.ReadFile(j.path(segmentName(number)))
	check(t, err)
	return data
}

// line is the record "call" as it stands on disk.
func line(t testing.TB, call string) []byte {
	t.Helper()
	r := event.Record{Call: call, Kind: event.Received, Event: "PostToolUse", Time: time.Unix(1, 0).UTC()}
	fill(&r)
	data, err := encode(&r)
	check(t, err)
	return data
}
