//go:build unix

package supervisor

import (
	"testing"

	"github.com/stopgate/stopgate/internal/sys/atomicfile/atomicfiletest"
)

func TestStatesAreDurable(t *testing.T) {
	d := newDir(t)
	steps := atomicfiletest.Watch(t)
	for range 2 {
		steps.Forget()
		update(t, d, someSession, countOne)
		steps.WantReplaced(t, d.StateFile(someSession))
	}
	plant(t, d, someSession, "damaged")
	steps.Forget()
	update(t, d, someSession, countOne)
	steps.WantReplaced(t, d.StateFile(someSession))
}
