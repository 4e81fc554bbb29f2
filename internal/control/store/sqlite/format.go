package sqlite

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"

	"github.com/stopgate/stopgate/internal/control/store"
)

// setUp looks whose file it is before it changes anything in it.
func (w *writer) setUp() error {
	version, err := format(w)
	if err != nil {
		return err
	}
	// With NORMAL the log is synced before it goes into the database, and not at each
	// commit: that the writer does itself, see logFile. The log is cut back to 16 MiB
	// after it grew, as by a long read.
	for _, pragma := range []string{
		"journal_mode = WAL", "synchronous = NORMAL", "wal_autocheckpoint = 4000",
		"journal_size_limit = 16777216", "trusted_schema = OFF", "cache_size = -16384",
	} {
		if err := w.exec("PRAGMA " + pragma); err != nil {
			return err
		}
	}
	if version == formatVersion {
		return nil
	}
	return w.transact(func() error {
		return w.change(fmt.Sprintf("%s PRAGMA application_id = %d; PRAGMA user_version = %d", schema, applicationID, formatVersion))
	})
}

// asker is a connection that can be asked for one row.
type asker interface {
	row(query string, args ...any) ([]driver.Value, error)
}

// format returns the file's format, zero for one that is empty.
func format(db asker) (int64, error) {
	var values [3]int64
	for i, query := range []string{"PRAGMA application_id", "PRAGMA user_version", "SELECT count(*) FROM sqlite_schema"} {
		row, err := db.row(query)
		if err != nil {
			return 0, err
		}
		values[i], _ = row[0].(int64)
	}
	id, version, tables := values[0], values[1], values[2]
	switch {
	case id == 0 && version == 0 && tables == 0:
		return 0, nil
	case id != applicationID:
		return 0, errors.New("it is the database of another program")
	case version > formatVersion:
		return 0, fmt.Errorf("%w: format %d; this one knows %d", store.ErrNewer, version, formatVersion)
	case version != formatVersion:
		return 0, fmt.Errorf("%w: format %d", store.ErrDamaged, version)
	}
	return version, checkSchema(db)
}

// checkSchema finds damage in what SQLite knows of the tables: it would say of a statement
// that it is wrong.
func checkSchema(db asker) error {
	row, err := db.row("SELECT group_concat(sql || ';', '\n') FROM (SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid)")
	if err != nil {
		return err
	}
	if text, _ := row[0].(string); text != strings.TrimSpace(schema) {
		return fmt.Errorf("%w: its tables are not what they were made", store.ErrDamaged)
	}
	return nil
}
