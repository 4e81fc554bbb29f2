//go:build unix

package trust

import (
	"errors"
	"syscall"

	"golang.org/x/sys/unix"
)

// stamp is what the kernel says of a file. It changes with every change of the file, also of
// one that is undone: nothing but the clock sets the time of the last change.
type stamp struct {
	dev, inode     uint64
	mode           uint32
	size           int64
	mtime, changed int64
}

// stampOf looks at a path, and at what it leads to where it is a link.
func stampOf(path string) (at, to stamp, err error) {
	if at, err = look(path, unix.Lstat); err != nil || at.mode&unix.S_IFMT != unix.S_IFLNK {
		return at, at, err
	}
	to, err = look(path, unix.Stat)
	return at, to, err
}

func look(path string, stat func(string, *unix.Stat_t) error) (stamp, error) {
	var st unix.Stat_t
	err := stat(path, &st)
	for errors.Is(err, syscall.EINTR) {
		err = stat(path, &st)
	}
	return stamp{
		dev: uint64(st.Dev), inode: st.Ino, mode: uint32(st.Mode), // their types differ between systems
		size: st.Size, mtime: unix.TimespecToNsec(st.Mtim), changed: unix.TimespecToNsec(st.Ctim),
	}, err
}

func (s stamp) isDir() bool { return s.mode&unix.S_IFMT == unix.S_IFDIR }

// sameDir reports whether a directory is still where it was, whatever was put into it.
// Moving it away and back shows in the time of change alone.
func (s stamp) sameDir(now stamp) bool {
	return now.isDir() && s.dev == now.dev && s.inode == now.inode && (s.changed == now.changed || now.changed == now.mtime)
}
