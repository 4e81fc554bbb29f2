//go:build unix

package journal

import (
	"path/filepath"
	"testing"

	"github.com/stopgate/stopgate/internal/record/event"
	"github.com/stopgate/stopgate/internal/sys/atomicfile/atomicfiletest"
)

// A record that is durable is in a segment whose name is durable, in a directory whose name
// is.
func TestNamesOfSegmentsAreDurable(t *testing.T) {
	j := tempJournal(t, Limits{SegmentSize: 1})
	steps := atomicfiletest.Watch(t)
	mustAppend(t, j, event.Record{Event: "Stop", Project: "/p"})
	steps.WantSyncedDir(t, filepath.Dir(j.dir))
	steps.WantSyncedDir(t, j.dir)
	steps.Forget()
	mustAppend(t, j, event.Record{Event: "Stop", Project: "/p"}) // a new segment
	steps.WantSyncedDir(t, j.dir)
}

func TestTheKeyIsDurable(t *testing.T) {
	j := tempJournal(t, Limits{})
	steps := atomicfiletest.Watch(t)
	if _, err := j.Key(); err != nil {
		t.Fatal(err)
	}
	steps.WantReplaced(t, j.path(keyName))
}
