package change

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"

	"github.com/stopgate/stopgate/internal/sys/regular"
)

// errMoving means that a file was written to each time we read it.
var errMoving = errors.New("changes while it is read")

// sum is the hash of a content.
type sum = [sha256.Size]byte

// read looks at a file and hashes it: a regular file's bytes as they are, a
// link's target. A result without a mode means that there is no file. known may
// vouch for the content; buf is scratch space.
func (f folder) read(ctx context.Context, name string, known *entry, buf []byte) (entry, error) {
	const tries = 3
	for range tries {
		before, err := f.lstat(name)
		if err != nil {
			return entry{}, err
		}
		if !before.exists() {
			return entry{}, nil
		}
		if known != nil && known.stat == before {
			return *known, nil
		}
		if before.isA(typeDirectory) {
			return entry{}, f.wantEmpty(name)
		}

		content, err := f.hash(ctx, name, before, buf)
		if err != nil && !os.IsNotExist(err) {
			return entry{}, err
		}
		if after, lost := f.lstat(name); err == nil && lost == nil && after == before {
			return entry{path: name, stat: before, sum: content}, nil
		}
	}
	return entry{}, errMoving
}

// abs is the path of a name, which is one already for what is not in the folder.
func (f folder) abs(name string) string {
	if path := filepath.FromSlash(name); filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(f.path, filepath.FromSlash(name))
}

func (f folder) hash(ctx context.Context, name string, s stat, buf []byte) (content sum, err error) {
	path := f.abs(name)
	switch {
	case s.isA(typeLink):
		target, err := os.Readlink(path)
		return sha256.Sum256([]byte(target)), err
	case !s.isA(typeRegular):
		return content, errors.New("is neither a file nor a link")
	}
	file, err := regular.OpenNoFollow(path)
	if err != nil {
		return content, err
	}
	defer file.Close()
	h := sha256.New()
	if err := hashAll(ctx, h, file, buf); err != nil {
		return content, err
	}
	h.Sum(content[:0])
	return content, nil
}

// hashAll hashes what is left of a file. buf is scratch space.
func hashAll(ctx context.Context, h hash.Hash, file io.Reader, buf []byte) error {
	for {
		n, err := file.Read(buf)
		h.Write(buf[:n])
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = ctx.Err() // a gigabyte takes a while
		}
		if err != nil {
			return err
		}
	}
}

// wantEmpty refuses a directory in the place of a file, unless there is nothing in it: it was not there when
// folders were looked into.
func (f folder) wantEmpty(name string) error {
	dir, err := os.Open(f.abs(name))
	if err != nil {
		return err
	}
	defer dir.Close()
	if names, _ := dir.Readdirnames(1); len(names) > 0 {
		return errors.New("became a folder")
	}
	return nil
}

// reason says why a file makes a tree inexact.
func reason(name string, err error) string {
	if pathErr := (*os.PathError)(nil); errors.As(err, &pathErr) {
		err = pathErr.Err
	}
	return fmt.Sprintf("%q %v", name, err)
}
