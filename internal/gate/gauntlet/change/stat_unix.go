//go:build unix

package change

import (
	"errors"
	"syscall"

	"golang.org/x/sys/unix"
)

// folder is the directory in which names are looked up. It is open, so that the
// kernel need not walk down to it for each of them.
type folder struct {
	path string
	fd   int
}

func openFolder(path string) (folder, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	return folder{path, fd}, err
}

func (f folder) close() { _ = unix.Close(f.fd) }

// lstat looks at a name, or a path, without following it. What is not there has no mode.
func (f folder) lstat(name string) (stat, error) {
	var st unix.Stat_t
	err := unix.Fstatat(f.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW)
	for errors.Is(err, syscall.EINTR) {
		err = unix.Fstatat(f.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW)
	}
	switch {
	case errors.Is(err, syscall.ENOENT), errors.Is(err, syscall.ENOTDIR):
		return stat{}, nil
	case err != nil:
		return stat{}, err
	}
	return stat{
		size:  st.Size,
		mtime: unix.TimespecToNsec(st.Mtim),
		ctime: unix.TimespecToNsec(st.Ctim),
		inode: st.Ino,
		dev:   uint64(st.Dev), // its type differs between systems
		mode:  uint32(st.Mode),
	}, nil
}
