package daemon

import (
	"context"
	"path/filepath"
	"testing"
	"testing/synctest"

	"github.com/stopgate/stopgate/internal/sys/lockfile"
)

// A daemon that was killed while it started something leaves its lock to the child for a
// moment: the next daemon waits for that.
func TestALockThatIsLeftForAMoment(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		left, err := lockfile.Acquire(t.Context(), filepath.Join(dir, "daemon.lock"), 0)
		check(t, err)
		held := make(chan error)
		go func() {
			p, err := hold(context.Background(), dir)
			if err == nil {
				p.release()
			}
			held <- err
		}()
		synctest.Wait()
		left()
		check(t, <-held)
	})
}
