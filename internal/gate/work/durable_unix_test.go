//go:build unix

package work

import (
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/sys/atomicfile/atomicfiletest"
)

func TestSessionsAreDurable(t *testing.T) {
	s := NewStore(t.TempDir())
	steps := atomicfiletest.Watch(t)
	if err := s.Update("a", Beginning{}, time.Now(), func(*Session) {}); err != nil {
		t.Fatal(err)
	}
	steps.WantReplaced(t, s.path("a"))
}
