//go:build unix

package logdir

import (
	"testing"

	"github.com/stopgate/stopgate/internal/sys/atomicfile/atomicfiletest"
)

// A lock that lost its content with the power would be held for ever, so the content is
// synced before the file has its name. That the name is lost frees the lock, which is right.
func TestLocksAreSynced(t *testing.T) {
	d := tempDir(t)
	steps := atomicfiletest.Watch(t)
	acquire(t, d)
	steps.WantSynced(t, d.file(asidePrefix+"*"))
}
