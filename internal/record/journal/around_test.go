package journal

import (
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/record/event"
)

func TestTimeOfAnID(t *testing.T) {
	before := time.Now().Truncate(time.Millisecond)
	made, ok := TimeOf(NewID())
	if !ok || made.Before(before) || made.After(time.Now()) {
		t.Error(made, ok)
	}
	for _, bad := range []string{"", "01K8", "01K8ZQ01K8ZQ01K8ZQ01K8ZQ01U", "!!!!!!!!!!!!!!!!!!!!!!!!!!"} {
		if _, ok := TimeOf(bad); ok {
			t.Error(bad)
		}
	}
}

func TestAround(t *testing.T) {
	j := tempJournal(t, Limits{SegmentSize: 600})
	if at, err := j.Around(time.Now()); at != (Position{}) || err != nil {
		t.Error(at, err)
	}
	begin := time.Unix(1_700_000_000, 0)
	for i := range 40 {
		mustAppend(t, j, event.Record{Kind: event.Received, Event: "Stop", Session: "s", Time: begin.Add(time.Duration(i) * time.Minute)})
	}
	for i := range 40 {
		when := begin.Add(time.Duration(i) * time.Minute)
		at, err := j.Around(when)
		check(t, err)
		found := false
		for entry, err := range j.Read(at) {
			check(t, err)
			found = entry.Record.Time.Equal(when)
			if found || entry.Position.Segment > at.Segment+1 {
				break
			}
		}
		if !found {
			t.Errorf("record %d is not behind %v", i, at)
		}
	}
	if at, err := j.Around(begin.Add(-time.Hour)); at != (Position{}) || err != nil {
		t.Error(at, err)
	}
}
