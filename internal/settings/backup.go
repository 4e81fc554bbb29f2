package settings

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/stopgate/stopgate/internal/atomicfile"
)

// The backup is the file as it was before us, next to it.

func (f *file) backupPath() string { return f.path + ".stopgate-backup" }

// keepOriginal writes the backup, once. A file that already has entries of ours
// and no backup is one that we made, or that came with the project: its bytes
// are no original, and uninstalling must not go back to them.
func (f *file) keepOriginal() error {
	if !f.exists {
		return nil
	}
	if _, err := os.Lstat(f.backupPath()); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	d, err := parse(f.path, f.text)
	if err != nil || len(d.entries()) > 0 {
		return err
	}
	if err := atomicfile.Write(f.backupPath(), f.text, 0o600); err != nil {
		return fmt.Errorf("back up %s: %w", f.path, err)
	}
	return nil
}

// backup reads the backup: nil when there is none, not nil when it is empty.
func (f *file) backup() ([]byte, error) {
	text, err := read(f.backupPath())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return text, err
}

func (f *file) dropBackup() error {
	err := os.Remove(f.backupPath())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
