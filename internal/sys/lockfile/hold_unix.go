//go:build unix

package lockfile

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/stopgate/stopgate/internal/sys/regular"
)

// Hold is Acquire for those who start processes that must not be overtaken: as long as one of them has
// the file open, it is locked, also when this process is killed. Package flock, which Acquire uses, hands out no file.
func Hold(ctx context.Context, path string, patience time.Duration) (file *os.File, release func(), err error) {
	h := &held{path: path}
	release, err = wait(ctx, h, patience, h.try)
	return h.file, release, err
}

type held struct {
	path string
	file *os.File
}

// Path implements handle.
func (h *held) Path() string { return h.path }

// Close implements handle.
func (h *held) Close() error {
	if h.file == nil {
		return nil
	}
	file := h.file
	h.file = nil
	return file.Close()
}

func (h *held) try() (bool, error) {
	err := h.open()
	if errors.Is(err, fs.ErrNotExist) {
		if err := os.MkdirAll(filepath.Dir(h.path), 0o700); err != nil {
			return false, err
		}
		err = h.open()
	}
	if err != nil {
		return false, err
	}
	taken, err := Try(h.file, true)
	if err == nil && !(taken && h.inPlace()) {
		return false, h.Close()
	}
	return taken, err
}

// Try takes the lock on an open file, alone or together with others that share it, unless that is taken. It belongs to
// the open file: it ends when the last process that has it closes it.
func Try(f *os.File, alone bool) (taken bool, err error) {
	how := syscall.LOCK_SH
	if alone {
		how = syscall.LOCK_EX
	}
	err = syscall.EINTR
	for errors.Is(err, syscall.EINTR) {
		err = syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB)
	}
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, os.NewSyscallError("flock", err)
}

func (h *held) open() (err error) {
	h.file, err = os.OpenFile(h.path, open|regular.NoFollow|os.O_CREATE, 0o600)
	return err
}

// inPlace reports whether the file that is locked is the one that others find.
func (h *held) inPlace() bool {
	locked, err := h.file.Stat()
	found, gone := os.Lstat(h.path)
	return err == nil && gone == nil && os.SameFile(locked, found)
}
