package sqlite

import (
	"errors"
	"fmt"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/stopgate/stopgate/internal/control/store"
)

// code is SQLite's extended result code, zero for an error that is not SQLite's.
func code(err error) int {
	var e *sqlite.Error
	if errors.As(err, &e) {
		return e.Code()
	}
	return 0
}

// explain says which database failed and, where there is something to do, what.
func explain(path string, err error) error {
	if err == nil {
		return nil
	}
	if malformed(err) {
		err = fmt.Errorf("%w: %w", store.ErrDamaged, err)
	}
	return fmt.Errorf("store %s: %w%s", path, err, hint(err))
}

func hint(err error) string {
	if errors.Is(err, store.ErrDamaged) {
		return `: "stopgate log verify" names what is damaged; restore a backup, or move it away to start with an empty store`
	}
	switch code(err) & 0xff {
	case sqlite3.SQLITE_FULL:
		return ": free some disk space"
	case sqlite3.SQLITE_IOERR:
		return ": the disk is full or failing"
	case sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM:
		return ": make it and its directory writable"
	case sqlite3.SQLITE_BUSY:
		return ": another program has it open; stop that program"
	}
	return ""
}

// malformed reports whether SQLite found that the file is not what it wrote.
func malformed(err error) bool {
	switch code(err) & 0xff {
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return true
	}
	return false
}

// settled reports whether a commit that failed with this error has left nothing. A write that
// failed left a torn frame, which SQLite does not take for a commit. After a sync that failed the
// frames may be on disk, whole.
func settled(err error) bool {
	switch c := code(err); c & 0xff {
	case sqlite3.SQLITE_FULL, sqlite3.SQLITE_BUSY:
		return true
	default:
		return c == sqlite3.SQLITE_IOERR_WRITE
	}
}
