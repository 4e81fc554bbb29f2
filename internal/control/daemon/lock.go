package daemon

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/sys/atomicfile"
	"github.com/stopgate/stopgate/internal/sys/lockfile"
)

// lockPatience is for what a daemon that was killed has left behind: a child that it was
// just starting holds the lock too, until it is the program that it shall be.
const lockPatience = 2 * time.Second

// hold makes this process the state directory's daemon, until release. Its number is kept
// beside the lock, for whoever comes second.
func hold(ctx context.Context, stateDir string) (*place, error) {
	pidFile := filepath.Join(stateDir, "daemon.pid")
	lock := filepath.Join(stateDir, "daemon.lock")
	unlock, err := lockfile.Acquire(ctx, lock, lockPatience)
	if errors.Is(err, lockfile.ErrBusy) {
		return nil, fmt.Errorf("a daemon is already running for %s%s", stateDir, holder(pidFile))
	}
	if err != nil {
		return nil, fmt.Errorf("cannot use the state directory: %w", err)
	}
	p := &place{lock: lock, pidFile: pidFile, unlock: unlock}
	p.file, err = os.Stat(lock)
	if err == nil {
		err = private(stateDir)
	}
	if err == nil {
		err = atomicfile.Replace(pidFile, []byte(strconv.Itoa(os.Getpid())+"\n"), 0o600)
	}
	if err != nil {
		unlock()
		return nil, fmt.Errorf("cannot use the state directory: %w", err)
	}
	return p, nil
}

// place is a state directory that a daemon has.
type place struct {
	lock    string
	file    os.FileInfo // of the lock
	pidFile string
	unlock  func()
}

// ours reports whether the lock is still the one that others ask for. When somebody has
// removed it, with the directory or alone, another daemon can start there.
func (p *place) ours() bool {
	now, err := os.Stat(p.lock)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	return os.SameFile(p.file, now)
}

func (p *place) release() {
	if p.ours() {
		_ = os.Remove(p.pidFile) // it would name a process that is gone, which the lock shows
	}
	p.unlock()
}

func holder(pidFile string) string {
	text, err := os.ReadFile(pidFile)
	pid := strings.TrimSpace(string(text))
	if _, bad := strconv.Atoi(pid); err != nil || bad != nil {
		return ""
	}
	return ", process " + pid
}
