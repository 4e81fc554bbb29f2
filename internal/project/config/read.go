package config

import (
	"errors"
	"io/fs"
	"os"

	"github.com/stopgate/stopgate/internal/project/document"
	"github.com/stopgate/stopgate/internal/sys/regular"
)

// maxFileSize is far above any configuration that a person writes. It bounds
// what a hook call reads before it has answered.
const maxFileSize = 1 << 20

// read returns the content of a configuration file. Errors show name in place
// of path.
func read(path, name string) ([]byte, error) {
	info, err := stat(path)
	if err != nil {
		return nil, document.Unreadable(name, err)
	}
	if info.IsDir() {
		return nil, document.Unreadable(name, errors.New("is a directory, wanted a file"))
	}
	// One byte more than the limit, so that the parser can see the excess.
	data, err := regular.Head(path, maxFileSize+1)
	if err != nil {
		return nil, document.Unreadable(name, err)
	}
	return data, nil
}

// stat follows links, and tells a link into nowhere from a file that is
// missing: where a file may be missing, the link must not pass for that.
func stat(path string) (fs.FileInfo, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		if _, linkErr := os.Lstat(path); linkErr == nil {
			return nil, errors.New("is a link to a file that does not exist")
		}
	}
	return info, err
}
