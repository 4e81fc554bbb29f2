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
