package journal

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/stopgate/stopgate/internal/record/event"
)

func TestReadOfNothing(t *testing.T) {
	j := tempJournal(t, Limits{})
	wantCalls(t, readAll(t, j, Position{}))
	if _, err := os.Stat(j.dir); err == nil {
		t.Error("reading made the directory")
	}
	plant(t, j, 1, nil)
	wantCalls(t, readAll(t, j, Position{}))
}

func TestReadStopsWhenAsked(t *testing.T) {
	j := tempJournal(t, Limits{SegmentSize: 1})
	for i := range 3 {
		mustAppend(t, j, event.Record{Call: fmt.Sprint(i)})
	}
	for e := range j.Read(Position{}) {
		if e.Record.Call != "0" {
			t.Fatalf("read %s after the consumer stopped", e.Record.Call)
		}
		break
	}
}

func TestDamageIsNamed(t *testing.T) {
	first, last := line(t, "first"), line(t, "last")
	flipped := bytes.Replace(line(t, "x"), []byte("received"), []byte("Received"), 1)
	noRecord := frame(1, []byte(`{"v":"one"}`))
	tests := []struct{ name, text, why string }{
		{"garbage", "garbage\n", "does not start like a record"},
		{"flipped byte", string(flipped), "its checksum does not match"},
		{"cut off", string(line(t, "x")[:40]) + "\n", "is cut off"},
		{"zeros", strings.Repeat("\x00", 100) + "\n", "was not yet on the disk when the machine lost power"},
		{"zeros at the end", string(line(t, "x")[:40]) + strings.Repeat("\x00", 100) + "\n", "was not yet on the disk when the machine lost power"},
		{"no record", string(noRecord), "is not a record"},
		{"two versions", string(frame(1, []byte(`{"v":2}`))), "two versions"},
		{"flipped version", string(frame(3, []byte(`{"v":1}`))), "two versions"},
		{"version 0", string(frame(0, []byte(`{"v":0}`))), "does not start like a record"},
		{"too long", strings.Repeat("x", maxLine+100) + "\n", "is too long"},
		{"too long to be newer", string(frame(2, []byte(`{"v":2,"x":"`+strings.Repeat("x", maxLine)+`"}`))), "is too long"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			j := tempJournal(t, Limits{})
			plant(t, j, 1, slices.Concat(first, []byte(test.text), last))
			entries := readAll(t, j, Position{})
			wantCalls(t, entries, "first", "damage", "last")
			d := entries[1].Damage
			if d.Start != (Position{1, int64(len(first))}) || d.Length != int64(len(test.text)) {
				t.Errorf("damage at %v of %d bytes, want 1:%d of %d", d.Start, d.Length, len(first), len(test.text))
			}
			wantError(t, errors.New(d.String()), "00000001.log: the line at byte", test.why)
		})
	}
}

func TestGarbageWithoutEndIsNotKeptInMemory(t *testing.T) {
	j := tempJournal(t, Limits{})
	plant(t, j, 1, nil)
	const size = 256 << 20
	check(t, os.Truncate(j.path(segmentName(1)), size))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	entries := readAll(t, j, Position{})
	runtime.ReadMemStats(&after)
	wantCalls(t, entries, "damage")
	if got := entries[0].Damage.Length; got != size {
		t.Errorf("damage of %d bytes, want %d", got, size)
	}
	// A slice that grows to 16 MiB takes several times as much on the way.
	if got := after.TotalAlloc - before.TotalAlloc; got > size {
		t.Errorf("reading allocated %d bytes", got)
	}
}

func TestNewerVersionIsNotDamage(t *testing.T) {
	j := tempJournal(t, Limits{})
	long := `{"x":"` + strings.Repeat("x", 2*maxRecord) + `","v":12}`
	plant(t, j, 1, slices.Concat(line(t, "first"), frame(12, []byte(long)), line(t, "last")))
	entries := readAll(t, j, Position{})
	wantCalls(t, entries, "first", "newer", "last")
	if entries[1].Newer != 12 {
		t.Errorf("version %d, want 12", entries[1].Newer)
	}
}

func TestUnfinishedLastLine(t *testing.T) {
	j := tempJournal(t, Limits{})
	whole := line(t, "last")
	plant(t, j, 1, append(line(t, "first"), whole[:50]...))
	entries := readAll(t, j, Position{}) // no lock file: nobody is at work
	wantCalls(t, entries, "first", "damage")
	wantError(t, errors.New(entries[1].Damage.Why), "is cut off")

	mustAppend(t, j, event.Record{Call: "next"})
	wantCalls(t, readAll(t, j, entries[0].Position), "damage", "next")
	wantCalls(t, readAll(t, j, entries[1].Position), "next")

	unlock, err := j.lock()
	check(t, err)
	plant(t, j, 1, append(line(t, "first"), whole[:50]...))
	wantCalls(t, readAll(t, j, Position{}), "first") // somebody is
	unlock()
	wantCalls(t, readAll(t, j, Position{}), "first", "damage")
}

func TestMissingSegmentsAreNamed(t *testing.T) {
	j := tempJournal(t, Limits{})
	for _, n := range []uint64{3, 4, 7} {
		plant(t, j, n, line(t, fmt.Sprint(n)))
	}
	wantCalls(t, readAll(t, j, Position{}), "3", "4", "damage", "7")
	entries := readAll(t, j, Position{1, 50})
	wantCalls(t, entries, "damage", "3", "4", "damage", "7")
	wantError(t, errors.New(entries[0].Damage.String()), "00000001.log to 00000002.log are gone")
	wantError(t, errors.New(entries[3].Damage.String()), "00000005.log to 00000006.log are gone")
	for i, e := range entries {
		wantCalls(t, readAll(t, j, e.Position), calls(entries)[i+1:]...)
	}
}

func TestPositionOfAnotherJournal(t *testing.T) {
	j := tempJournal(t, Limits{})
	size := int64(len(line(t, "c")))
	for _, from := range []Position{{2, 0}, {1, size + 1}, {1, size / 2}} {
		if from.Segment == 1 {
			plant(t, j, 1, line(t, "c"))
		}
		var failure error
		for e, err := range j.Read(from) {
			if failure = err; err == nil {
				t.Fatalf("from %v: read %+v", from, e)
			}
		}
		if !errors.Is(failure, ErrPosition) {
			t.Errorf("from %v: error %v, want ErrPosition", from, failure)
		}
	}
}

func TestPositions(t *testing.T) {
	p := Position{12, 3456}
	if got, err := ParsePosition(p.String()); err != nil || got != p || p.String() != "12:3456" {
		t.Errorf("%s parses to %v, %v", p, got, err)
	}
	for _, bad := range []string{"", "1", "1:", ":1", "1:-1", "-1:1", "a:b", "1:2:3", "1: 2", "1:9223372036854775808"} {
		if got, err := ParsePosition(bad); err == nil {
			t.Errorf("%q parses to %v", bad, got)
		}
	}
	ordered := []Position{{}, {1, 0}, {1, 9}, {1, 10}, {2, 0}, {10, 0}}
	if !slices.IsSortedFunc(ordered, Position.Compare) || ordered[0].Compare(ordered[1]) != -1 {
		t.Error("positions are out of order")
	}
}

// written returns a segment with some records and the set of its lines.
func written(t testing.TB, records int) (segment []byte, lines map[string]bool) {
	lines = map[string]bool{}
	for i := range records {
		l := line(t, fmt.Sprint("call", i))
		lines[string(l)] = true
		segment = append(segment, l...)
	}
	return segment, lines
}

// acceptedIn returns how many records are read, all of which must be among lines.
func acceptedIn(t testing.TB, j *Journal, lines map[string]bool) int {
	accepted := 0
	for _, e := range readAll(t, j, Position{}) {
		if e.Record == nil {
			continue
		}
		l, err := encode(e.Record)
		if err != nil || !lines[string(l)] {
			t.Fatalf("accepted a record that nobody wrote: %v %q", err, l)
		}
		accepted++
	}
	return accepted
}

func TestEveryFlippedBitIsFound(t *testing.T) {
	j := tempJournal(t, Limits{})
	segment, lines := written(t, 3)
	plant(t, j, 1, segment)
	for bit := range 8 * len(segment) {
		damaged := slices.Clone(segment)
		damaged[bit/8] ^= 1 << (bit % 8)
		plant(t, j, 1, damaged)
		got := acceptedIn(t, j, lines)
		want := 2
		if segment[bit/8] == '\n' {
			want = 1 // two lines became one
			if bit/8 == len(segment)-1 {
				want = 2
			}
		}
		if got != want {
			t.Fatalf("bit %d of byte %d flipped: %d records accepted, want %d", bit%8, bit/8, got, want)
		}
	}
}

// Whatever happens to the bytes, what is accepted was written.
func TestDamageIsNeverAccepted(t *testing.T) {
	j := tempJournal(t, Limits{})
	segment, lines := written(t, 6)
	rapid.Check(t, func(rt *rapid.T) {
		data := slices.Clone(segment)
		for range rapid.IntRange(1, 6).Draw(rt, "damages") {
			data = damage(rt, data)
		}
		plant(t, j, 1, data)
		acceptedIn(t, j, lines)
	})
}

func damage(rt *rapid.T, data []byte) []byte {
	at := rapid.IntRange(0, len(data)).Draw(rt, "at")
	to := min(len(data), at+rapid.IntRange(1, 200).Draw(rt, "length"))
	switch rapid.SampledFrom([]string{"flip", "truncate", "insert", "delete", "zero", "repeat"}).Draw(rt, "damage") {
	case "flip":
		if at < len(data) {
			data[at] ^= rapid.ByteRange(1, 255).Draw(rt, "mask")
		}
	case "truncate":
		return data[:at]
	case "insert":
		return slices.Insert(data, at, rapid.SliceOfN(rapid.Byte(), 1, 50).Draw(rt, "bytes")...)
	case "delete":
		return slices.Delete(data, at, to)
	case "zero":
		clear(data[at:to])
	case "repeat":
		return slices.Insert(data, at, slices.Clone(data[at:to])...)
	}
	return data
}
