package sqlite

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/stopgate/stopgate/internal/control/store"
	"github.com/stopgate/stopgate/internal/sys/atomicfile/atomicfiletest"
	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
	"github.com/stopgate/stopgate/internal/sys/process/processtest"
)

func init() {
	children["commit"] = childCommit
	children["append"] = childAppend
	children["directory"] = childDirectory
	children["side"] = childSide
	children["checkpoint"] = childCheckpoint
	children["unseen"] = childUnseen
	children["nothing"] = childNothing
}

// What is said to be durable was synced: where the kernel refuses to sync, it fails. A
// process of its own has the kernel do so.
func TestSyncsThatTheKernelRefuses(t *testing.T) {
	for _, name := range []string{"commit", "directory", "side", "checkpoint", "unseen"} {
		t.Run(name, func(t *testing.T) { withoutSyncs(t, name) })
	}
}

// Every append is synced before it is acknowledged.
func TestAppendIsSynced(t *testing.T) { withoutSyncs(t, "append") }

// What wrote nothing needs no sync.
func TestNothingToSync(t *testing.T) { withoutSyncs(t, "nothing") }

// A backup has its name for good.
func TestTheNameOfABackupIsDurable(t *testing.T) {
	path, _ := filled(t, 3)
	s, dir := mustOpen(t, path), t.TempDir()
	steps := atomicfiletest.Watch(t)
	check(t, s.Backup(t.Context(), filepath.Join(dir, "copy")))
	steps.WantSyncedDir(t, dir)
}

func withoutSyncs(t *testing.T, name string) {
	path, _ := filled(t, 3)
	out, err := processtest.Child(t, name, path).Output()
	check(t, err)
	if len(out) > 0 {
		environtest.Missing(t, "way to have the kernel refuse a system call", errors.New(string(out)))
	}
}

var syncs = []uint32{unix.SYS_FSYNC, unix.SYS_FDATASYNC}

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
	if len(calls) > 0 {
		if err := atomicfiletest.Refuse(calls...); err != nil {
			fmt.Println(err)
			return nil
		}
	}
	return do(ctx, s)
}

// wantUnknown checks the error of an append whose sync failed.
func wantUnknown(err error) error {
	if !errors.Is(err, store.ErrUnknown) || code(err) != sqlite3.SQLITE_IOERR_FSYNC {
		return fmt.Errorf("error %w, want ErrUnknown and one of a sync", err)
	}
	return nil
}

// childCommit has the sync of the header of a new log fail.
func childCommit(args []string) error {
	return refused(args[0], 0, syncs, func(ctx context.Context, s *Store) error { return wantUnknown(once(ctx, s)) })
}

// childAppend has the sync of a transaction fail.
func childAppend(args []string) error {
	return refused(args[0], 1, syncs, func(ctx context.Context, s *Store) error { return wantUnknown(once(ctx, s)) })
}

// childUnseen has it fail, too: what was to be committed is not to be seen.
func childUnseen(args []string) error {
	return refused(args[0], 1, syncs, func(ctx context.Context, s *Store) (err error) {
		if _, err := s.Append(ctx, store.NewEvent{Subject: "run.new", ID: "new"}); wantUnknown(err) != nil {
			return wantUnknown(err)
		}
		checkUnseen(ctx, s, store.Head{}, func(what ...any) { err = errors.New(fmt.Sprintln(what...)) })
		return err
	})
}

// childNothing has a conflict, and records again what is on record.
func childNothing(args []string) error {
	return refused(args[0], 1, nil, func(ctx context.Context, s *Store) error {
		if err := s.RecordHeads(ctx); err != nil {
			return err
		}
		if err := atomicfiletest.Refuse(syncs...); err != nil {
			fmt.Println(err)
			return nil
		}
		if _, err := s.Append(ctx, store.NewEvent{Subject: "run.a", ID: "x"}); !errors.Is(err, store.ErrConflict) {
			return fmt.Errorf("error %w, want ErrConflict", err)
		}
		return s.RecordHeads(ctx)
	})
}

// childDirectory has the sync of the directory fail that the log is in: SQLite ignores that.
func childDirectory(args []string) error {
	return refused(args[0], 1, nil, func(ctx context.Context, s *Store) error {
		if err := s.Close(); err != nil {
			return err
		}
		if err := atomicfiletest.Refuse(unix.SYS_FSYNC); err != nil {
			fmt.Println(err)
			return nil
		}
		if _, err := Open(ctx, args[0]); !errors.Is(err, unix.EIO) {
			return fmt.Errorf("error %w, want EIO", err)
		}
		return nil
	})
}

// childSide has the sync of the file beside the database fail, on which a trim relies.
func childSide(args []string) error {
	return refused(args[0], 1, nil, func(ctx context.Context, s *Store) error {
		_, err := s.ask(ctx, request{task: func(w *writer) error { return w.appendRecord(headsRecord{V: 1}) }})
		if err != nil {
			return err
		}
		if err := atomicfiletest.Refuse(unix.SYS_FSYNC); err != nil {
			fmt.Println(err)
			return nil
		}
		if err := s.RecordHeads(ctx); !errors.Is(err, unix.EIO) {
			return fmt.Errorf("error %w, want EIO", err)
		}
		return nil
	})
}

// childCheckpoint has the syncs fail that keep the order of the log and the database.
func childCheckpoint(args []string) error {
	return refused(args[0], 1, syncs, func(ctx context.Context, s *Store) error {
		_, err := s.ask(ctx, request{task: func(w *writer) error { return w.exec("PRAGMA wal_checkpoint") }})
		if code(err) != sqlite3.SQLITE_IOERR_FSYNC {
			return fmt.Errorf("error %w, want one of a sync", err)
		}
		return nil
	})
}
