package journal

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/record/event"
)

func TestTheRecordThatEndsAtAPosition(t *testing.T) {
	j := tempJournal(t, Limits{SegmentSize: 100_000})
	var ends []Position
	for i := range 40 {
		ends = append(ends, mustAppend(t, j, event.Record{Call: fmt.Sprint("call", i), Project: strings.Repeat("x", i*i*20)}))
	}
	for i, end := range ends {
		r, err := j.EndingAt(end)
		if check(t, err); r.Call != fmt.Sprint("call", i) {
			t.Errorf("%v: %s, want call%d", end, r.Call, i)
		}
	}

	last := ends[len(ends)-1]
	for _, at := range []Position{
		{},
		{Segment: 1},
		{Segment: 1, Offset: -1},
		{Segment: 1, Offset: 5},
		{Segment: 1, Offset: ends[0].Offset - 1},
		{Segment: 1, Offset: ends[0].Offset + 1},
		{Segment: last.Segment, Offset: last.Offset + 100},
		{Segment: 99, Offset: 10},
	} {
		if r, err := j.EndingAt(at); !errors.Is(err, ErrPosition) {
			t.Errorf("%v: %+v, %v", at, r, err)
		}
	}

	// A line with a flipped bit is not a record, and a line that is too long is not read to its beginning.
	text := segmentBytes(t, j, 1)
	text[20] ^= 1
	plant(t, j, 1, text)
	if r, err := j.EndingAt(ends[0]); !errors.Is(err, ErrPosition) {
		t.Errorf("%+v, %v", r, err)
	}
	long := append(make([]byte, 3*maxLine), '\n')
	check(t, os.WriteFile(j.path(segmentName(1)), long, 0o600))
	if r, err := j.EndingAt(Position{Segment: 1, Offset: int64(len(long))}); !errors.Is(err, ErrPosition) {
		t.Errorf("%+v, %v", r, err)
	}
}
