package hub

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/stopgate/stopgate/internal/control/fleet/member"
	"github.com/stopgate/stopgate/internal/sys/lockfile"
	"github.com/stopgate/stopgate/internal/sys/process"
	"github.com/stopgate/stopgate/internal/sys/statefile"
)

// lockPatience is for those who look whether the lock is held.
const lockPatience = 2 * time.Second

func lockPath(stateDir string) string { return filepath.Join(member.HubDir(stateDir), "hub.lock") }

func pidPath(stateDir string) string { return filepath.Join(member.HubDir(stateDir), "hub.pid") }

// hold makes this process the hub of the state directory: two servers on one directory would destroy it, and
// NATS has no lock of its own.
func hold(ctx context.Context, stateDir string) (release func(), err error) {
	release, err = lockfile.Acquire(ctx, lockPath(stateDir), lockPatience)
	if errors.Is(err, lockfile.ErrBusy) {
		return nil, fmt.Errorf("a hub is already running for %s%s", stateDir, holder(stateDir))
	}
	if err != nil {
		return nil, fmt.Errorf("cannot use the directory of the hub: %w", err)
	}
	if err := statefile.Write(pidPath(stateDir), process.Self()); err != nil {
		release()
		return nil, fmt.Errorf("cannot use the directory of the hub: %w", err)
	}
	return release, nil
}

func holder(stateDir string) string {
	if pid := PID(stateDir); pid > 0 {
		return fmt.Sprintf(", process %d", pid)
	}
	return ""
}

// PID is the process of this machine's hub; 0 where it does not run.
func PID(stateDir string) int {
	if !Runs(stateDir) {
		return 0
	}
	self, err := statefile.Read[process.Identity](pidPath(stateDir), 4<<10)
	if err != nil || !self.Lives() {
		return 0
	}
	return self.PID
}

// Runs reports whether this machine's hub runs.
func Runs(stateDir string) bool {
	held, err := lockfile.Held(lockPath(stateDir))
	return err == nil && held
}
