//go:build unix

package wake

import (
	"path/filepath"
	"testing"

	"github.com/stopgate/stopgate/internal/sys/atomicfile/atomicfiletest"
)

// A letter is there after a loss of power, with the folders above it.
func TestLettersAreDurable(t *testing.T) {
	o := newOutbox(t)
	b := o.Box("warden")
	steps := atomicfiletest.Watch(t)
	put(t, o, "warden", Key("1"))
	steps.WantReplaced(t, pathOf(t, b, next(t, b)))
	dir := b.dir
	for range 3 {
		dir = filepath.Dir(dir)
		steps.WantSyncedDir(t, dir)
	}
	steps.Forget()
	check(t, b.Sent(next(t, b)))
	steps.WantReplaced(t, b.path(sentFile))
}
