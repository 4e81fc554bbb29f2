package errand

import (
	"errors"
	"os"
	"os/exec"
	"time"

	"golang.org/x/sys/windows"

	"github.com/stopgate/stopgate/internal/sys/process"
)

func tryLock(f *os.File) error { return try(f, windows.LOCKFILE_EXCLUSIVE_LOCK) }

// tryShare succeeds beside those that wait.
func tryShare(f *os.File) error { return try(f, 0) }

func try(f *os.File, flags uint32) error {
	err := lockFile(f, flags|windows.LOCKFILE_FAIL_IMMEDIATELY)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return errBusy
	}
	return err
}

func lockFile(f *os.File, flags uint32) error {
	return os.NewSyscallError("LockFileEx", windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, new(windows.Overlapped)))
}

// handOver frees the lock, for the runner to take: here it belongs to a process.
func handOver(cmd *exec.Cmd, lock *os.File) {
	process.Outlive(cmd)
	_ = lock.Close()
}

// hold takes the lock, which those that wait for it hold for a moment.
func (d directory) hold(*os.File) (*os.File, error) { return d.takeSoon(5 * time.Second) }
