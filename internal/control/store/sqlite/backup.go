package sqlite

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/stopgate/stopgate/internal/control/store"
	"github.com/stopgate/stopgate/internal/sys/atomicfile"
)

// Backup copies the store to path, where nothing may be, while it goes on. What has that
// name is whole and was verified. To go back to it, it takes the database's place when no
// process has that open, and the files with -wal and -shm behind its name go.
func (s *Store) Backup(ctx context.Context, path string) error {
	path, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("backup %s: %w", path, cmp.Or(err, fs.ErrExist))
	}
	if err := s.usable("all"); err != nil {
		return err
	}

	tmp := filepath.Join(filepath.Dir(path), ".stopgate-"+rand.Text()+".db")
	defer os.Remove(tmp)
	if err := s.copyTo(ctx, tmp); err != nil {
		return fmt.Errorf("backup %s: %w", path, explain(s.path, err))
	}

	report, err := Verify(ctx, tmp)
	if err == nil && !report.Sound() {
		err = fmt.Errorf("%w: %s", store.ErrDamaged, report.Findings[0])
	}
	if err != nil {
		return fmt.Errorf("backup %s: %w", path, err)
	}

	if err := publish(tmp, path); err != nil {
		return fmt.Errorf("backup %s: %w", path, err)
	}
	return nil
}

// copyTo writes all that was committed into a file of its own.
func (s *Store) copyTo(ctx context.Context, path string) error {
	// SQLite takes an empty file as it is, with its mode.
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	db, err := connect(s.path, "rw")
	if err != nil {
		return err
	}
	defer db.Close()
	if _, err := db.ExecContext(ctx, "VACUUM INTO ?", path); err != nil {
		return err
	}
	return f.Sync()
}

// publish gives the file its name, unless somebody else has taken it meanwhile.
func publish(tmp, path string) error {
	err := os.Link(tmp, path)
	if errors.Is(err, fs.ErrExist) {
		return err
	}
	if err != nil { // a file system without links
		if err := os.Rename(tmp, path); err != nil {
			return err
		}
	}
	return atomicfile.SyncDir(filepath.Dir(path))
}
