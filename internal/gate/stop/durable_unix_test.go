//go:build unix

package stop

import (
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/sys/atomicfile/atomicfiletest"
)

// A block counts only when it is written down, and a recess ends when it says so, also after
// a loss of power.
func TestCountsAndRecessesAreDurable(t *testing.T) {
	s := newScene(t, failing)
	counter := NewCounter(s.state)
	steps := atomicfiletest.Watch(t)
	for range 2 {
		steps.Forget()
		check(t, counter.Add(Turn{Session: "s", Prompt: "p"}, "guard", time.Now()))
		steps.WantReplaced(t, counter.path("s"))
	}
	check(t, Recess{Root: s.root, Since: time.Now(), Until: time.Now().Add(time.Hour)}.Begin(s.state))
	steps.WantReplaced(t, recessPath(s.state, s.root))
}
