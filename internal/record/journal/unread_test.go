package journal

import (
	"os"
	"testing"

	"github.com/stopgate/stopgate/internal/record/event"
)

func TestUnread(t *testing.T) {
	j := New(t.TempDir(), Limits{SegmentSize: 1})
	unread := func(from Position) int64 {
		t.Helper()
		n, err := j.Unread(from)
		check(t, err)
		return n
	}
	if got := unread(Position{}); got != 0 {
		t.Errorf("of an empty journal: %d", got)
	}
	var ends []Position
	for range 3 { // each is a segment of its own
		at, err := j.Append(&event.Record{Kind: event.Emitted, Event: event.AgentIdle})
		check(t, err)
		ends = append(ends, at)
	}
	second, third := ends[1].Offset, ends[2].Offset
	if got := unread(ends[0]); got != second+third {
		t.Errorf("after the first: %d, want %d", got, second+third)
	}
	if got := unread(ends[2]); got != 0 {
		t.Errorf("at the end: %d", got)
	}
	if got := unread(Position{Segment: ends[2].Segment, Offset: 1 << 40}); got != 0 {
		t.Errorf("after the end: %d", got)
	}
	check(t, os.Remove(j.path(segmentName(ends[1].Segment))))
	if got := unread(ends[0]); got != third {
		t.Errorf("of what is left: %d, want %d", got, third)
	}
}
