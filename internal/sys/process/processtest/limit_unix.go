//go:build unix

package processtest

import (
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// LimitFiles lets no file of this process grow over a size: that fails like a full disk.
func LimitFiles(size uint64) error {
	signal.Ignore(syscall.SIGXFSZ) // the write fails, not the process
	return unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: size, Max: size})
}

// BecomeNobody makes this process one of a user who may write nothing, but can reach the directory:
// root may write everywhere.
func BecomeNobody(path string) error {
	if os.Getuid() != 0 {
		return nil
	}
	for dir := filepath.Dir(path); dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o555); err != nil {
			return err
		}
	}
	return syscall.Setuid(65534)
}
