package logdir

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/windows"
)

// shareAll lets others rename and remove a file that is open here, as they may
// everywhere else.
const shareAll = windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE

// createFile makes a file that was not there.
func createFile(path string) (*os.File, error) {
	return open(path, windows.GENERIC_READ|windows.GENERIC_WRITE, windows.CREATE_NEW)
}

// openFile opens a file for reading, and no link's target.
func openFile(path string, _ bool) (*os.File, error) {
	return open(path, windows.GENERIC_READ, windows.OPEN_EXISTING)
}

// appendFile opens a file to append to, likewise.
func appendFile(path string) (*os.File, error) {
	return open(path, windows.GENERIC_READ|windows.FILE_APPEND_DATA, windows.OPEN_ALWAYS)
}

func open(path string, access, disposition uint32) (*os.File, error) {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	const flags = windows.FILE_ATTRIBUTE_NORMAL | windows.FILE_FLAG_OPEN_REPARSE_POINT
	handle, err := windows.CreateFile(name, access, shareAll, nil, disposition, flags, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(handle), path), nil
}

// tryLock takes the lock on f unless another process has it. It covers a byte behind the
// content, because here a locked byte cannot be read.
func tryLock(f *os.File, exclusive bool) (bool, error) {
	flags := uint32(windows.LOCKFILE_FAIL_IMMEDIATELY)
	if exclusive {
		flags |= windows.LOCKFILE_EXCLUSIVE_LOCK
	}
	at := &windows.Overlapped{Offset: ownerSize}
	err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, at)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return false, nil
	}
	return err == nil, err
}

// takeOver puts the file aside into the place of an abandoned one. An open file cannot be replaced here,
// so the old one is removed under its lock, and another process may be first with a new one: then the
// error is fs.ErrExist. The old name may be in use until the last process has closed the file.
func takeOver(left *os.File, aside string) error {
	path := left.Name()
	err := os.Remove(path)
	_ = left.Close()
	if err != nil {
		return err
	}

	err = os.Link(aside, path)
	for waited := time.Duration(0); waited < childPatience && errors.Is(err, windows.ERROR_ACCESS_DENIED); waited += childPace {
		pause(childPace)
		err = os.Link(aside, path)
	}
	return err
}
