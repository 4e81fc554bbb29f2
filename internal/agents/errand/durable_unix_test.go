//go:build unix

package errand

import (
	"path/filepath"
	"testing"

	"github.com/stopgate/stopgate/internal/sys/atomicfile/atomicfiletest"
	"github.com/stopgate/stopgate/internal/sys/process"
)

// That a command has begun is durable before it begins, or it would run twice.
func TestWhatIsOnRecordIsDurable(t *testing.T) {
	root := t.TempDir()
	d := directory(filepath.Join(root, "errands", "e"))
	steps := atomicfiletest.Watch(t)
	lock, err := d.prepare(t.Context(), Spec{Dir: root, Script: "true"})
	check(t, err)
	defer lock.Close()
	steps.WantReplaced(t, d.path("spec.json"))
	steps.WantSyncedDir(t, filepath.Join(root, "errands"))
	steps.WantSyncedDir(t, root)
	steps.Forget()
	check(t, d.begin(process.Self()))
	steps.WantMade(t, d.path("begun"))
	check(t, d.write("exit.json", Result{}))
	steps.WantReplaced(t, d.path("exit.json"))
}
