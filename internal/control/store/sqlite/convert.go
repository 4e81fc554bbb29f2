package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/binary"
	"fmt"

	sqlite3 "modernc.org/sqlite/lib"

	"github.com/stopgate/stopgate/internal/control/store"
)

// Format 1 had rows of many events, those that were committed together, and heads and ids
// as of the last record of heads. A database of that format is converted when it is opened,
// in one transaction: a process that is killed leaves the old one or the new one, whole.

const convertBegin = `
ALTER TABLE heads RENAME TO old_heads;
ALTER TABLE snapshots RENAME TO old_snapshots;`

const convertTables = `
INSERT INTO heads SELECT subject, max(position), hash FROM events GROUP BY subject;
INSERT INTO snapshots SELECT position, CAST(hash AS BLOB), CAST(data AS BLOB) FROM old_snapshots;`

const convertEnd = `
DROP TABLE batches;
DROP TABLE ids;
DROP TABLE old_heads;
DROP TABLE old_snapshots;`

// convert makes a database of format 1 one of ours. One that is damaged is left as it is:
// the new heads would say that what is missing never was.
func (w *writer) convert() error {
	run := func(statements string) func() error {
		return func() error {
			_, err := w.conn.ExecContext(context.Background(), statements)
			return err
		}
	}
	for _, step := range []func() error{
		run(convertBegin + tables), w.convertBatches, run(convertTables), w.checkConverted, run(convertEnd + indexes + marks),
	} {
		err := step()
		if code(err)&0xff == sqlite3.SQLITE_CONSTRAINT {
			err = fmt.Errorf("%w: duplicate event: %w", store.ErrDamaged, err)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// convertBatches takes the events out of their rows.
func (w *writer) convertBatches() error {
	return each(context.Background(), w.conn, func(row *sql.Rows) error {
		var body []byte
		if err := row.Scan(&body); err != nil {
			return err
		}
		entries, err := decodeAll(body)
		for _, e := range entries {
			err = cmp.Or(err, w.insertEntry(&e))
		}
		return err
	}, "SELECT body FROM batches ORDER BY last")
}

// checkConverted checks what was converted: the events as Verify does, and that the heads of
// the old table are among them.
func (w *writer) checkConverted() error {
	ctx := context.Background()
	v := newVerifier(w.s.path)
	v.conn = w.conn
	for _, check := range []func(context.Context) error{v.readTrim, v.readHeads, v.events} {
		if err := check(ctx); err != nil {
			return err
		}
	}
	v.ends()
	err := each(ctx, w.conn, func(row *sql.Rows) error {
		var subject string
		var at any
		err := row.Scan(&subject, &at)
		v.report.Add(position(at), subject, "it was the last event of its subject, and is missing")
		return err
	}, "SELECT h.subject, h.position FROM old_heads h LEFT JOIN events e USING (position) WHERE e.hash IS NOT h.hash OR e.subject IS NOT h.subject")
	if err != nil {
		return err
	}
	if !v.report.Sound() {
		return fmt.Errorf("%w: it has the format of an older stopgate, and cannot be converted: %s", store.ErrDamaged, v.report.Findings[0])
	}
	return nil
}

// decodeAll returns the entries of a row of format 1.
func decodeAll(body []byte) (entries []entry, err error) {
	d := decoder{rest: body}
	for len(d.rest) > 0 {
		var e entry
		e.Position = store.Position(d.number())
		e.prior = store.Position(d.number())
		copy(e.Previous[:], d.bytes(uint64(len(e.Previous))))
		copy(e.Hash[:], d.bytes(uint64(len(e.Hash))))
		e.Subject = string(d.bytes(d.number()))
		e.ID = string(d.bytes(d.number()))
		e.Data = append([]byte{}, d.bytes(d.number())...)
		if d.failed || e.Position == 0 || e.prior >= e.Position {
			return entries, fmt.Errorf("%w: a row of the database was changed", store.ErrDamaged)
		}
		entries = append(entries, e)
	}
	return entries, nil
}

// decoder takes a body apart. Numbers are unsigned LEB128.
type decoder struct {
	rest   []byte
	failed bool
}

func (d *decoder) number() uint64 {
	n, size := binary.Uvarint(d.rest)
	if size <= 0 || n > 1<<63-1 { // no position is larger than SQLite's integers
		d.failed = true
		return 0
	}
	d.rest = d.rest[size:]
	return n
}

func (d *decoder) bytes(n uint64) []byte {
	if n > uint64(len(d.rest)) {
		d.failed = true
		return nil
	}
	b := d.rest[:n]
	d.rest = d.rest[n:]
	return b
}
