package launch

import (
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/record/journal"
	"github.com/stopgate/stopgate/internal/sys/process"
)

func TestRecordIsReadAsItIsWritten(t *testing.T) {
	r := NewRegistry(t.TempDir())
	must(t, os.Mkdir(r.dir, 0o700))
	for _, want := range []record{
		{},
		{Claude: process.Identity{PID: 7}, Since: time.Date(2026, 11, 15, 9, 0, 0, 123, time.UTC)},
		{
			Claude: process.Self(), Host: "h", Settings: "/a \"home\"/\\ \n<&>ä\u2028/settings.json",
			Since: time.Now().UTC().Round(0), claim: claim{Session: "s\t", Confirmed: true},
		},
	} {
		for name, write := range map[string]func(string, record) error{"create": r.create, "store": r.store} {
			id := journal.NewID()
			must(t, write(id, want))
			got, err := r.load(id)
			if diff := cmp.Diff(want, got, cmp.AllowUnexported(record{}, claim{})); diff != "" || err != nil {
				t.Errorf("%s: %v\n%s", name, err, diff)
			}
			if info, err := os.Stat(r.path(id)); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
				t.Errorf("%s: %v, %v", name, info, err)
			}
		}
	}
}

func TestARecordThatCannotBeWrittenLeavesNothing(t *testing.T) {
	r := NewRegistry(t.TempDir())
	if err := r.create(journal.NewID(), record{}); err == nil {
		t.Error("created in a directory that is not there")
	}
}

// Records of clients that are gone do not pile up.
func TestTidySweepsAtLast(t *testing.T) {
	r := NewRegistry(t.TempDir())
	id := journal.NewID()
	must(t, r.store(id, record{Claude: process.Identity{PID: 1, Boot: "another"}}))
	for range 10_000 {
		r.tidy()
		if _, err := os.Lstat(r.path(id)); err != nil {
			return
		}
	}
	t.Error("never swept")
}
