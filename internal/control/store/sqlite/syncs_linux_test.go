package sqlite

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"golang.org/x/sys/unix"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/stopgate/stopgate/internal/control/store"
	"github.com/stopgate/stopgate/internal/sys/atomicfile/atomicfiletest"
)

func init() {
	children["commit"] = childCommit
	children["append"] = childAppend
	children["directory"] = childDirectory
	children["side"] = childSide
	children["checkpoint"] = childCheckpoint
}

// What is said to be durable was synced: where the kernel refuses to sync, it fails. A
// process of its own has the kernel do so.
func TestSyncsThatTheKernelRefuses(t *testing.T) {
	for _, name := range []string{"commit", "append", "directory", "side", "checkpoint"} {
		t.Run(name, func(t *testing.T) {
			path, _ := filled(t, 3)
			out, err := child(t, name, path).Output()
			if err != nil {
				t.Fatal(err)
			}
			if len(out) > 0 {
				t.Skipf("no system call can be refused here: %s", out)
			}
		})
	}
}

// refused opens the store, appends so many events, and calls do once the system calls are
// refused.
func refused(path string, events int, calls []uint32, do func(ctx context.Context, s *Store) error) error {
	ctx := context.Background()
	s, err := Open(ctx, path)
	if err != nil {
		return err
	}
	for range events {
		if err := once(ctx, s); err != nil {
			return err
		}
	}
	if err := atomicfiletest.Refuse(calls...); err != nil {
		fmt.Println(err)
		return nil
	}
	return do(ctx, s)
}

// wantUnknown checks the error of an append whose sync failed, in SQLite or in the store.
func wantUnknown(err error, inSQLite bool) error {
	if !errors.Is(err, store.ErrUnknown) {
		return fmt.Errorf("error %w, want ErrUnknown", err)
	}
	if found := code(err) == sqlite3.SQLITE_IOERR_FSYNC; found != inSQLite {
		return fmt.Errorf("failed in SQLite: %v: %w", found, err)
	}
	return nil
}

// childCommit has COMMIT itself fail: SQLite syncs the header of a new log.
func childCommit(path string) error {
	return refused(path, 0, []uint32{unix.SYS_FSYNC, unix.SYS_FDATASYNC}, func(ctx context.Context, s *Store) error {
		return wantUnknown(once(ctx, s), true)
	})
}

// childAppend has the sync of the log fail, after COMMIT.
func childAppend(path string) error {
	return refused(path, 1, []uint32{unix.SYS_FDATASYNC}, func(ctx context.Context, s *Store) error {
		return wantUnknown(once(ctx, s), false)
	})
}

// childDirectory has the sync of the directory fail that the log is in. SQLite calls fsync
// too, for the header of the log: that is done before, and then the store knows nothing of
// the log any more.
func childDirectory(path string) error {
	return refused(path, 1, []uint32{unix.SYS_FSYNC}, func(ctx context.Context, s *Store) error {
		_, err := s.ask(ctx, request{task: func(*writer) error {
			s.log.close()
			s.log.file = nil
			return nil
		}})
		if err != nil {
			return err
		}
		return wantUnknown(once(ctx, s), false)
	})
}

// childSide has the sync of the file beside the database fail, on which a trim relies.
func childSide(path string) error {
	return refused(path, 1, []uint32{unix.SYS_FSYNC}, func(ctx context.Context, s *Store) error {
		if err := s.RecordHeads(ctx); err != nil {
			return err
		}
		if err := s.side.flush(); !errors.Is(err, unix.EIO) {
			return fmt.Errorf("error %w, want EIO", err)
		}
		return nil
	})
}

// childCheckpoint has the syncs fail that keep the order of the log and the database.
func childCheckpoint(path string) error {
	return refused(path, 1, []uint32{unix.SYS_FSYNC, unix.SYS_FDATASYNC}, func(ctx context.Context, s *Store) error {
		_, err := s.ask(ctx, request{task: func(w *writer) error { return w.exec("PRAGMA wal_checkpoint") }})
		if code(err) != sqlite3.SQLITE_IOERR_FSYNC {
			return fmt.Errorf("error %w, want one of a sync", err)
		}
		return nil
	})
}
