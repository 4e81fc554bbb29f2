package stops

import (
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/record/journal"
)

// A whole id is found wherever its stop is, also where a clock was set back in between.
func TestIssue18FindOfAWholeID(t *testing.T) {
	j, _ := tempJournal(t, journal.Limits{SegmentSize: 700}) // a few records each
	var ids []string
	now := time.Now().Unix()
	for i := range 60 {
		at := now + int64(i)*60
		if i >= 30 {
			at -= 86_400
		}
		ids = append(ids, journal.NewID())
		write(t, j, ids[i], "s", "/p", at, i%7 != 3)
	}
	for i, id := range ids {
		found, err := Find(j, id, 1)
		check(t, err)
		want := Allowed
		if i%7 == 3 {
			want = Unanswered
		}
		if len(found) != 1 || found[0].ID != id || found[0].Decision != want {
			t.Errorf("%d: %+v", i, found)
		}
	}
	if found, err := Find(j, journal.NewID(), 1); len(found) != 0 || err != nil {
		t.Error(found, err)
	}
}
