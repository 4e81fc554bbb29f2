package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/stopgate/stopgate/internal/control/store"
)

// What marks the file as ours, and which format it has.
const (
	applicationID = 0x73746761 // "stga"
	formatVersion = 2
)

// An event knows the position of the one before it in its subject, so that a subject is
// read from its head backwards. An index on subjects would have each append write one
// more page, at a random place.
const tables = `
CREATE TABLE events (
	position INTEGER PRIMARY KEY,
	subject TEXT NOT NULL,
	id TEXT NOT NULL,
	prior INTEGER NOT NULL,
	previous BLOB NOT NULL,
	hash BLOB NOT NULL,
	data BLOB NOT NULL
) STRICT;
CREATE TABLE heads (
	subject TEXT PRIMARY KEY,
	position INTEGER NOT NULL,
	hash BLOB NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE snapshots (
	position INTEGER PRIMARY KEY,
	hash BLOB NOT NULL,
	data BLOB NOT NULL
) STRICT;`

const indexes = `
CREATE UNIQUE INDEX ids ON events (id);`

var marks = fmt.Sprintf("\nPRAGMA application_id = %d; PRAGMA user_version = %d", applicationID, formatVersion)

// asker is a connection, or several.
type asker interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// each calls do with every row of a query.
func each(ctx context.Context, db asker, do func(*sql.Rows) error, query string, args ...any) error {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := do(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// setUp looks whose file it is before it changes anything in it.
func (w *writer) setUp(ctx context.Context) error {
	version, err := format(ctx, w.conn)
	if err != nil {
		return err
	}
	// The log is cut back to 16 MiB after it grew, as by a long read.
	for _, pragma := range []string{
		"journal_mode = WAL", "synchronous = FULL", "wal_autocheckpoint = 4000",
		"journal_size_limit = 16777216", "trusted_schema = OFF", "cache_size = -8192",
	} {
		if _, err := w.conn.ExecContext(ctx, "PRAGMA "+pragma); err != nil {
			return err
		}
	}
	switch version {
	case 0:
		return w.transact(func() error {
			_, err := w.conn.ExecContext(ctx, tables+indexes+marks)
			return err
		})
	case 1:
		return w.transact(w.convert)
	}
	return nil
}

// format returns the file's format, zero for one that is empty.
func format(ctx context.Context, db asker) (int, error) {
	var id, version, objects int
	for query, into := range map[string]*int{
		"PRAGMA application_id": &id, "PRAGMA user_version": &version, "SELECT count(*) FROM sqlite_schema": &objects,
	} {
		if err := db.QueryRowContext(ctx, query).Scan(into); err != nil {
			return 0, err
		}
	}
	switch {
	case id == 0 && version == 0 && objects == 0:
		return 0, nil
	case id != applicationID:
		return 0, errors.New("it is another program's database")
	case version > formatVersion:
		return 0, fmt.Errorf("%w: format %d; this one knows %d", store.ErrNewer, version, formatVersion)
	case version < 1:
		return 0, fmt.Errorf("%w: format %d", store.ErrDamaged, version)
	case version < formatVersion:
		return version, nil
	}
	return version, checkSchema(ctx, db)
}

// checkSchema finds damage in what SQLite knows of the tables: it would say of a statement
// that it is wrong.
func checkSchema(ctx context.Context, db asker) error {
	var text sql.NullString
	err := db.QueryRowContext(ctx, "SELECT group_concat(sql || ';', '\n') FROM (SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid)").Scan(&text)
	if err == nil && text.String != strings.TrimSpace(tables+indexes) {
		err = fmt.Errorf("%w: its tables were changed", store.ErrDamaged)
	}
	return err
}
