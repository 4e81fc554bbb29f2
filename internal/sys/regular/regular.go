// Package regular opens and reads regular files, and nothing else. An agent can put a pipe, a
// device or a huge file in the place of any file that a hook reads: a pipe would make the hook
// wait until its deadline, the others would take its memory.
package regular

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

var (
	// ErrNotRegular means that a path leads to something else than a regular file.
	ErrNotRegular = errors.New("not a regular file")
	// ErrTooLarge means that a file is larger than the caller reads.
	ErrTooLarge = errors.New("file is too large")
)

// Open opens a regular file for reading, also through links. It never waits.
func Open(path string) (*os.File, error) {
	return open(path, os.Stat, os.OpenFile, os.O_RDONLY, 0)
}

// OpenNoFollow is Open, but refuses a link. Links on the way to the file are followed.
func OpenNoFollow(path string) (*os.File, error) { return OpenFile(path, os.O_RDONLY, 0) }

// OpenFile opens a regular file, or makes one, as os.OpenFile does. It refuses a link and never
// waits.
func OpenFile(path string, flags int, mode fs.FileMode) (*os.File, error) {
	return open(path, os.Lstat, os.OpenFile, flags|NoFollow, mode)
}

// Read reads a regular file of at most that many bytes, also through links. Of a larger one
// the error is ErrTooLarge.
func Read(path string, most int64) ([]byte, error) {
	file, err := Open(path)
	return readAll(file, err, most)
}

// ReadNoFollow is Read, but refuses a link.
func ReadNoFollow(path string, most int64) ([]byte, error) {
	file, err := OpenNoFollow(path)
	return readAll(file, err, most)
}

// Head reads the beginning of a regular file, at most that many bytes, also through links.
func Head(path string, most int64) ([]byte, error) {
	file, err := Open(path)
	return head(file, err, most)
}

// HeadNoFollow is Head, but refuses a link.
func HeadNoFollow(path string, most int64) ([]byte, error) {
	file, err := OpenNoFollow(path)
	return head(file, err, most)
}

// Tail reads the end of a regular file, at most that many bytes, also through links, and gives how many
// bytes are before it.
func Tail(path string, most int64) (text []byte, before int64, err error) {
	file, err := Open(path)
	return tail(file, err, most)
}

// TailNoFollow is Tail, but refuses a link.
func TailNoFollow(path string, most int64) (text []byte, before int64, err error) {
	file, err := OpenNoFollow(path)
	return tail(file, err, most)
}

// HeadIn is Head for a name below root, which no link leads out of.
func HeadIn(root *os.Root, name string, most int64) ([]byte, error) {
	file, err := open(name, root.Stat, root.OpenFile, os.O_RDONLY, 0)
	return head(file, err, most)
}

// HeadInNoFollow is HeadIn, but refuses a link.
func HeadInNoFollow(root *os.Root, name string, most int64) ([]byte, error) {
	file, err := open(name, root.Lstat, root.OpenFile, os.O_RDONLY|NoFollow, 0)
	return head(file, err, most)
}

// open looks at the path before it opens it: opening some devices does something. What has
// become a pipe since then is opened without waiting, and refused.
func open(
	path string,
	stat func(string) (fs.FileInfo, error),
	openFile func(string, int, fs.FileMode) (*os.File, error),
	flags int, mode fs.FileMode,
) (*os.File, error) {
	refused := fmt.Errorf("%s is %w", path, ErrNotRegular)
	info, err := stat(path)
	if err != nil && !(errors.Is(err, fs.ErrNotExist) && flags&os.O_CREATE != 0) {
		return nil, err
	}
	if err == nil && !info.Mode().IsRegular() {
		return nil, refused
	}
	file, err := whenFree(func() (*os.File, error) { return openFile(path, flags|NonBlocking, mode) })
	if err != nil {
		return nil, err
	}
	info, err = file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = refused
	}
	if err != nil {
		_ = file.Close()
		return nil, err
	}
	return file, nil
}

// readAll reads and closes a file of at most that many bytes, if it could be opened.
func readAll(file *os.File, err error, most int64) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	if info, err := file.Stat(); err == nil && info.Size() > most {
		_ = file.Close()
		return nil, &sizeError{file.Name(), most}
	}
	text, err := head(file, nil, most+1) // it may be growing
	if err == nil && int64(len(text)) > most {
		return nil, &sizeError{file.Name(), most}
	}
	return text, err
}

// sizeError is an ErrTooLarge that knows which file and how much is read.
type sizeError struct {
	path string
	most int64
}

func (e *sizeError) Error() string { return fmt.Sprintf("%s is larger than %d bytes", e.path, e.most) }

func (e *sizeError) Unwrap() error { return ErrTooLarge }

func tail(file *os.File, err error, most int64) (text []byte, before int64, _ error) {
	if err != nil {
		return nil, 0, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, 0, err
	}
	before = max(0, info.Size()-most)
	text, err = io.ReadAll(io.NewSectionReader(file, before, most))
	return text, before, err
}

// head reads the beginning of a file and closes it, if it could be opened.
func head(file *os.File, err error, most int64) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	text := bytes.NewBuffer(make([]byte, 0, min(info.Size(), most)+bytes.MinRead))
	_, err = text.ReadFrom(io.LimitReader(file, most))
	return text.Bytes(), err
}
