package logdir

import (
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/stopgate/stopgate/internal/sys/disk"
)

// Exists reports whether there is a log directory with something of ours in it.
func (d Dir) Exists() bool {
	names, _ := ownFiles(d.path)
	return len(names) > 0 || disk.Exists(d.file(archiveName)) || disk.Exists(d.file(debugName))
}

// Remove removes every log, and the directory when nothing else is in it. Only files that
// carry one of our names go: log_dir may lead anywhere in the project.
func (d Dir) Remove(now time.Time) error {
	lock, err := d.Acquire(now)
	if err != nil {
		return err
	}
	err = d.removeLogs()
	if err := errors.Join(err, lock.Release()); err != nil {
		return err
	}
	if text, err := readSmall(d.file(".gitignore")); err == nil && string(text) == "*\n" {
		if left, err := os.ReadDir(d.path); err == nil && len(left) == 1 {
			_ = os.Remove(d.file(".gitignore"))
		}
	}
	_ = os.Remove(d.path) // fails if it holds other files
	return nil
}

func (d Dir) removeLogs() error {
	archive := d.file(archiveName)
	var failed error
	for _, dir := range []string{
		filepath.Join(archive, nextName), filepath.Join(archive, lastName), filepath.Join(archive, readyName),
		filepath.Join(archive, spareName),
		filepath.Join(archive, secondName), filepath.Join(archive, thirdName), archive, d.path,
	} {
		names, err := ownFiles(dir)
		failed = errors.Join(failed, err)
		if dir == d.path {
			names = append(names, debugName, debugName+".1")
		}
		for _, name := range names {
			failed = errors.Join(failed, disk.Remove(filepath.Join(dir, name)))
		}
		if dir != d.path {
			_ = os.Remove(dir) // fails if it holds other files
		}
	}
	return failed
}
