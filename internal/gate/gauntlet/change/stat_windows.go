package change

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// folder is the directory in which names are looked up.
type folder struct{ path string }

func openFolder(path string) (folder, error) {
	_, err := os.Stat(path)
	return folder{path}, err
}

func (folder) close() {}

// lstat looks at a name without following it. What is not there has no mode.
// Windows has no time of change and no cheap number for a file: the time of
// creation takes their place, and a program that sets a file's time back goes
// unseen, as it does in git.
func (f folder) lstat(name string) (stat, error) {
	info, err := os.Lstat(f.abs(name))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return stat{}, nil
	case err != nil:
		return stat{}, err
	}
	s := stat{size: info.Size(), mtime: info.ModTime().UnixNano(), mode: typeOther}
	if data, ok := info.Sys().(*syscall.Win32FileAttributeData); ok {
		s.ctime = data.CreationTime.Nanoseconds()
	}
	switch {
	case info.Mode().IsRegular():
		s.mode = typeRegular
	case info.IsDir():
		s.mode = typeDirectory
	case info.Mode()&fs.ModeSymlink != 0:
		s.mode = typeLink
	}
	return s, nil
}
