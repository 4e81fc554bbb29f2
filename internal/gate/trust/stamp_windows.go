package trust

import (
	"os"
	"syscall"
)

// stamp is what the system says of a file. Windows has no time of change and no cheap number
// for a file: a program that sets a file's time back goes unseen.
type stamp struct {
	mode           os.FileMode
	size           int64
	mtime, changed int64
}

// stampOf looks at a path, and at what it leads to where it is a link.
func stampOf(path string) (at, to stamp, err error) {
	if at, err = look(os.Lstat(path)); err != nil || at.mode&os.ModeSymlink == 0 {
		return at, at, err
	}
	to, err = look(os.Stat(path))
	return at, to, err
}

func look(info os.FileInfo, err error) (stamp, error) {
	if err != nil {
		return stamp{}, err
	}
	s := stamp{mode: info.Mode(), size: info.Size(), mtime: info.ModTime().UnixNano()}
	if data, ok := info.Sys().(*syscall.Win32FileAttributeData); ok {
		s.changed = data.CreationTime.Nanoseconds()
	}
	return s, nil
}

func (s stamp) isDir() bool { return s.mode.IsDir() }

// sameDir reports whether a directory is still the same.
func (s stamp) sameDir(now stamp) bool { return now.isDir() && s.changed == now.changed }
