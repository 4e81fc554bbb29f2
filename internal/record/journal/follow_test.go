package journal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stopgate/stopgate/internal/record/event"
)

func TestFollowSeesRecordsAcrossRotation(t *testing.T) {
	dir := tempJournal(t, Limits{}).dir
	synctest.Test(t, func(t *testing.T) {
		j := New(dir, Limits{SegmentSize: 600, MaxSize: 1 << 30})
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			defer cancel()
			for i := range 20 {
				time.Sleep(170 * time.Millisecond)
				mustAppend(t, j, event.Record{Call: fmt.Sprint(i)})
			}
			time.Sleep(j.poll + 1)
		}()
		var got []Entry
		for e, err := range j.Follow(ctx, Position{}) {
			check(t, err)
			got = append(got, e)
		}
		wantCalls(t, got, calls(readAll(t, j, Position{}))...)
		if len(got) != 20 || got[19].Position.Segment < 5 {
			t.Errorf("%d records, the last at %v", len(got), got[len(got)-1].Position)
		}
	})
}

func TestFollowWaitsForTheEndOfALine(t *testing.T) {
	j := tempJournal(t, Limits{})
	whole := line(t, "second")
	plant(t, j, 1, append(line(t, "first"), whole[:20]...))
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		go func() {
			time.Sleep(time.Second)
			f, err := os.OpenFile(j.path(segmentName(1)), os.O_WRONLY|os.O_APPEND, 0)
			if err != nil {
				t.Error(err)
				return
			}
			defer f.Close()
			if _, err := f.Write(whole[20:]); err != nil {
				t.Error(err)
			}
		}()
		var got []Entry
		for e, err := range j.Follow(ctx, Position{}) {
			check(t, err)
			got = append(got, e)
		}
		wantCalls(t, got, "first", "second")
	})
}

func TestFollowStopsInTheMiddleOfABacklog(t *testing.T) {
	j := tempJournal(t, Limits{})
	for range 3 {
		mustAppend(t, j, event.Record{Call: "c"})
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	n := 0
	for range j.Follow(ctx, Position{}) {
		cancel()
		n++
	}
	if n != 1 {
		t.Errorf("%d entries, want the one before the end of the context", n)
	}
}

func TestFollowEndsWithTheJournal(t *testing.T) {
	j := tempJournal(t, Limits{})
	j.poll = time.Millisecond
	mustAppend(t, j, event.Record{Call: "c"})
	var failure error
	for _, err := range j.Follow(t.Context(), Position{}) {
		if failure = err; err == nil {
			check(t, os.RemoveAll(j.dir))
		}
	}
	if !errors.Is(failure, ErrPosition) {
		t.Errorf("error %v, want ErrPosition", failure)
	}
}
