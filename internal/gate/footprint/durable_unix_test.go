//go:build unix

package footprint

import (
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/sys/atomicfile/atomicfiletest"
)

func TestSessionsAreDurable(t *testing.T) {
	s := NewStore(t.TempDir())
	steps := atomicfiletest.Watch(t)
	check(t, s.Update("a", Beginning{}, time.Now(), func(*Session) {}))
	steps.WantReplaced(t, s.path("a"))
}
