//go:build unix

package errand

import (
	"os"
	"os/exec"

	"github.com/stopgate/stopgate/internal/sys/lockfile"
	"github.com/stopgate/stopgate/internal/sys/process"
)

func tryLock(f *os.File) error { return try(f, true) }

// tryShare succeeds beside those that wait.
func tryShare(f *os.File) error { return try(f, false) }

func try(f *os.File, alone bool) error {
	taken, err := lockfile.Try(f, alone)
	if err == nil && !taken {
		return errBusy
	}
	return err
}

// handOver gives the lock that we hold to the runner, as its standard error: there is no
// moment at which nobody holds it. What the runner says when it breaks is then found in
// the lock's file.
func handOver(cmd *exec.Cmd, lock *os.File) {
	cmd.Stderr = lock
	process.Outlive(cmd)
}

// hold is the lock that was handed over, or else taken now.
func (d directory) hold(stderr *os.File) (*os.File, error) {
	ours, err := stderr.Stat()
	if err == nil {
		if theirs, err := os.Stat(d.path("lock")); err == nil && os.SameFile(ours, theirs) {
			return stderr, tryLock(stderr)
		}
	}
	return d.take()
}
