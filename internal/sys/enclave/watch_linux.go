package enclave

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// Watch sees whether a directory is moved or deleted, also one that is put back. A mount
// goes with its directory: a command in an enclave would see what takes its place. What
// happens inside the directory is not seen, since it does not matter.
type Watch struct{ events *os.File }

// NewWatch begins to watch directories, or links to them.
func NewWatch(paths ...string) (*Watch, error) {
	fd, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("inotify_init", err)
	}
	w := &Watch{os.NewFile(uintptr(fd), "inotify")}
	for _, path := range paths {
		if _, err := unix.InotifyAddWatch(fd, path, unix.IN_MOVE_SELF|unix.IN_DELETE_SELF|unix.IN_DONT_FOLLOW); err != nil {
			w.events.Close()
			return nil, &fs.PathError{Op: "watch", Path: path, Err: err}
		}
	}
	return w, nil
}

// Close ends the watch, and reports whether one of the directories was moved.
func (w *Watch) Close() (moved bool) {
	defer w.events.Close()
	raw, err := w.events.SyscallConn()
	if err != nil {
		return true
	}
	n := 0
	buf := make([]byte, 4096)
	if raw.Read(func(fd uintptr) bool { n, err = unix.Read(int(fd), buf); return true }) != nil {
		return true
	}
	return n > 0 || !errors.Is(err, unix.EAGAIN)
}
