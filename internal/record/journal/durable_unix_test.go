//go:build unix

package journal

import (
	"os"
	"path/filepath"
	"syscall"
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

// A segment that is full is synced before the next one is begun, or a loss of power could take a
// record out of the middle of the journal.
func TestIssue20AFullSegmentIsSynced(t *testing.T) {
	j := tempJournal(t, Limits{SegmentSize: 1})
	var synced []string
	j.sync = func(f *os.File) error {
		synced = append(synced, filepath.Base(f.Name()))
		return syscall.EIO // which is no reason to write nothing any more
	}
	mustAppend(t, j, event.Record{Event: "PreToolUse", Project: "/p"})
	if len(synced) > 0 {
		t.Errorf("synced %q", synced)
	}
	mustAppend(t, j, event.Record{Event: "PreToolUse", Project: "/p"})
	if len(synced) != 1 || synced[0] != segmentName(1) {
		t.Errorf("synced %q", synced)
	}
}

func TestTheKeyIsDurable(t *testing.T) {
	j := tempJournal(t, Limits{})
	steps := atomicfiletest.Watch(t)
	if _, err := j.Key(); err != nil {
		t.Fatal(err)
	}
	steps.WantReplaced(t, j.path(keyName))
}
