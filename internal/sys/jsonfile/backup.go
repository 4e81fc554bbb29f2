package jsonfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/stopgate/stopgate/internal/sys/atomicfile"
	"github.com/stopgate/stopgate/internal/sys/disk"
)

// BackupPath is where the backup of a file lies: the file as it was before us, next to it.
func BackupPath(path string) string { return path + ".stopgate-backup" }

func (f *File) backupPath() string { return BackupPath(f.Path) }

// Keep makes the backup of the file as it now is, unless there is one.
func (f *File) Keep() error {
	if _, err := os.Lstat(f.backupPath()); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := atomicfile.Write(f.backupPath(), f.Text, 0o600); err != nil {
		return fmt.Errorf("back up %s: %w", f.Path, err)
	}
	return nil
}

// Backup reads the backup: nil when there is none, not nil when it is empty.
func (f *File) Backup() ([]byte, error) {
	text, err := ReadText(f.backupPath())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return text, err
}

// Forget removes the backup, if there is one, and the note that we made the file: there is
// nothing of ours in it any more.
func (f *File) Forget() error {
	if err := disk.Remove(f.backupPath()); err != nil {
		return err
	}
	return f.forgetMade()
}
