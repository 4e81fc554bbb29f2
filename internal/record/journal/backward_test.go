package journal

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/record/event"
)

func TestBackward(t *testing.T) {
	whole := backwardPart
	t.Cleanup(func() { backwardPart = whole })
	for _, part := range []int64{1, 100, 333, whole} {
		backwardPart = part
		t.Run(fmt.Sprint(part), testBackward)
	}
}

// Who wants the newest records does not look at the others.
func TestBackwardLooksAtTheEndFirst(t *testing.T) {
	j := tempJournal(t, Limits{})
	var last Position
	for last.Offset < 3*backwardPart {
		last = mustAppend(t, j, event.Record{Call: "call", Project: strings.Repeat("x", 4000)})
	}
	looked := int64(0)
	for entry, err := range j.Backward(Position{}, func(json []byte) bool { looked += int64(len(json)); return true }) {
		check(t, err)
		if entry.Position != last {
			t.Errorf("%v, not %v", entry.Position, last)
		}
		break
	}
	if looked > 2*backwardPart { // the lines, and those that are decoded once more
		t.Errorf("%d bytes of %d", looked, last.Offset)
	}
}

func testBackward(t *testing.T) {
	j := tempJournal(t, Limits{SegmentSize: 700}) // a few records each
	var want []string
	var ends []Position
	for i := range 30 {
		at := mustAppend(t, j, event.Record{Call: fmt.Sprint("call", i)})
		ends = append(ends, at)
		want = append([]string{fmt.Sprint("call", i)}, want...)
	}
	read := func(before Position, wanted func([]byte) bool) (calls []string) {
		t.Helper()
		for entry, err := range j.Backward(before, wanted) {
			check(t, err)
			if entry.Record != nil {
				calls = append(calls, entry.Record.Call)
			}
		}
		return calls
	}
	if got := read(Position{}, nil); !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
	for i, end := range ends {
		if got := read(end, nil); !slices.Equal(got, want[30-i:]) {
			t.Errorf("before record %d: %v", i, got)
		}
	}
	if got := read(Position{}, func(json []byte) bool { return bytes.Contains(json, []byte(`"call7"`)) }); !slices.Equal(got, []string{"call7"}) {
		t.Errorf("%v", got)
	}

	// A reader may go on at the beginning of a segment.
	var halves []string
	for at := (Position{}); ; {
		begin, some := Position{}, len(halves)
		for entry, err := range j.Backward(at, nil) {
			check(t, err)
			if entry.Record == nil {
				begin = entry.Position
				break
			}
			halves = append(halves, entry.Record.Call)
		}
		if len(halves) == some {
			break
		}
		at = begin
	}
	if !slices.Equal(halves, want) {
		t.Errorf("segment by segment: %v", halves)
	}
	if got := read(Position{Segment: 99}, nil); len(got) != 30 {
		t.Errorf("before what is not there yet: %v", got)
	}

	// More than are decoded at once.
	many := tempJournal(t, Limits{})
	for i := range 3*backwardChunk + 7 {
		mustAppend(t, many, event.Record{Call: fmt.Sprint(i)})
	}
	left := 3*backwardChunk + 7
	for entry, err := range many.Backward(Position{}, nil) {
		check(t, err)
		if left--; entry.Record != nil && entry.Record.Call != fmt.Sprint(left) {
			t.Fatalf("%s in the place of %d", entry.Record.Call, left)
		}
	}

	// What is damaged or gone is passed over.
	numbers, err := j.segments()
	check(t, err)
	path := j.path(segmentName(numbers[1]))
	check(t, os.WriteFile(path, []byte("garbage\n"), 0o600))
	check(t, os.Remove(j.path(segmentName(numbers[2]))))
	if got := read(Position{}, nil); len(got) == 30 || got[0] != "call29" || got[len(got)-1] != "call0" {
		t.Errorf("%v", got)
	}
}

// Who reads backward hears how many lines cannot be used: those that are damaged, and those of a newer stopgate.
func TestBackwardCountsWhatCannotBeUsed(t *testing.T) {
	j := tempJournal(t, Limits{})
	plant(t, j, 1, slices.Concat(line(t, "first"), frame(12, []byte(`{"v":12}`)), []byte("garbage\n"), line(t, "last")))
	lost := 0
	for entry, err := range j.Backward(Position{}, nil) {
		check(t, err)
		lost = entry.Lost
	}
	if lost != 2 {
		t.Errorf("%d lines, want 2", lost)
	}
}
