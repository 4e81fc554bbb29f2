package daemon

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/atomicfile"
	"github.com/stopgate/stopgate/internal/lockfile"
)

// lockPatience is for what a daemon that was killed has left behind: a child that it was
// just starting holds the lock too, until it is the program that it shall be.
const lockPatience = 2 * time.Second

// hold makes this process the state directory's daemon, until release. Its number is kept
// beside the lock, for whoever comes second.
func hold(ctx context.Context, stateDir string) (release func(), err error) {
	pidFile := filepath.Join(stateDir, "daemon.pid")
	unlock, err := lockfile.Acquire(ctx, filepath.Join(stateDir, "daemon.lock"), lockPatience)
	if errors.Is(err, lockfile.ErrBusy) {
		return nil, fmt.Errorf("a daemon runs already for %s%s", stateDir, holder(pidFile))
	}
	if err != nil {
		return nil, fmt.Errorf("the state directory cannot be used: %w", err)
	}
	if err := atomicfile.Replace(pidFile, []byte(strconv.Itoa(os.Getpid())+"\n"), 0o600); err != nil {
		unlock()
		return nil, fmt.Errorf("the state directory cannot be used: %w", err)
	}
	return func() {
		_ = os.Remove(pidFile) // it would name a process that is gone, which the lock shows
		unlock()
	}, nil
}

func holder(pidFile string) string {
	text, err := os.ReadFile(pidFile)
	pid := strings.TrimSpace(string(text))
	if _, bad := strconv.Atoi(pid); err != nil || bad != nil {
		return ""
	}
	return ", process " + pid
}
