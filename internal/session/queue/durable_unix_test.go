//go:build unix

package queue

import (
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/sys/atomicfile/atomicfiletest"
)

// A queue is there after a loss of power before anything of it is typed.
func TestANewQueueIsDurable(t *testing.T) {
	s := newStore(t)
	steps := atomicfiletest.Watch(t)
	check(t, s.Create("a", New("a", "q", []string{"/clear"}, time.Now())))
	steps.WantReplaced(t, s.Path("a"))
}

// A queue that is under way is the old one or the new one after a loss of power: ext4 has a file that
// was renamed without a sync full of zeros.
func TestIssue20AChangedQueueIsOldOrNew(t *testing.T) {
	s := newStore(t)
	create(t, s, "a", "/clear", "go on")
	steps := atomicfiletest.Watch(t)
	change(t, s, "a", Begun{1})
	steps.WantExchanged(t, s.Path("a"))
}
