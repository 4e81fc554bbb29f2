package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	sqlite3 "modernc.org/sqlite/lib"

	"github.com/stopgate/stopgate/internal/control/store"
)

// Verify checks the whole store as it is now.
func (s *Store) Verify(ctx context.Context) (store.Report, error) { return Verify(ctx, s.path) }

// Verify checks the database at path: every event, every chain, where the chains once
// ended, the snapshots, and SQLite's own structures. It changes nothing, and another
// process may have the store open. An error means that it could not be checked; what is
// damaged, also beyond opening, is in the report.
func Verify(ctx context.Context, path string) (store.Report, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return store.Report{}, err
	}
	v := newVerifier(path)
	// Before anything is read from the database, which may go on meanwhile.
	err = v.readSide()
	if err == nil {
		err = v.run(ctx)
	}
	if err != nil {
		return v.report, fmt.Errorf("store %s: %w", path, err)
	}
	return v.report, nil
}

func newVerifier(path string) *verifier {
	return &verifier{
		path: path, trim: &trim{},
		chains: map[string]chain{}, heads: map[string]store.Head{}, kept: map[store.Position]bool{},
	}
}

type verifier struct {
	path   string
	report store.Report
	conn   *sql.Conn

	known   store.Head  // from the file beside
	witness store.Event // the event at that position
	trim    *trim
	kept    map[store.Position]bool // the events up to the trim that are still there
	chains  map[string]chain        // as far as they were followed
	heads   map[string]store.Head   // as the table has them
	last    store.Position
}

// chain is how far a subject's chain was followed.
type chain struct {
	head   store.Head
	broken bool // the last one was damaged: the next is not blamed for it
}

func (v *verifier) run(ctx context.Context) error {
	if _, err := os.Stat(v.path); err != nil {
		if errors.Is(err, fs.ErrNotExist) && v.gone("it does not exist") {
			return nil
		}
		return err
	}

	if err := v.checkLog(); err != nil {
		return err
	}
	if err := v.checkHeader(); err != nil {
		return err
	}

	db, err := connect(v.path, "ro")
	if err != nil {
		return err
	}
	defer db.Close()
	if v.conn, err = db.Conn(ctx); err != nil {
		return v.damage(err, "cannot open the database")
	}
	defer v.conn.Close()

	// One transaction: all is seen as of one moment.
	if _, err := v.conn.ExecContext(ctx, "BEGIN"); err != nil {
		return v.damage(err, "cannot read the database")
	}
	defer v.conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK")

	version, err := format(ctx, v.conn)
	switch {
	case code(err) == sqlite3.SQLITE_READONLY_ROLLBACK:
		// Only the first transaction of all, before SQLite has its log, is undone by another file.
		v.report.Notes = append(v.report.Notes, fmt.Sprintf("%s was being made when the machine lost power: the daemon makes it again when it starts", v.path))
		v.gone("it is empty")
		return nil
	case err != nil:
		return v.damage(err, "cannot read the database")
	case version == 0:
		v.gone("it is empty")
		return nil
	case version < formatVersion:
		v.report.Found(store.Finding{
			Text:   fmt.Sprintf("it has format %d of an older stopgate, and was not checked", version),
			Remedy: "start the daemon once: it checks every event and converts it",
		})
		return nil
	}
	return v.check(ctx)
}

// check checks a database of our format.
func (v *verifier) check(ctx context.Context) error {
	for _, check := range []func(context.Context) error{v.integrity, v.readTrim, v.readHeads, v.events, v.snapshots} {
		if err := check(ctx); err != nil {
			return err
		}
	}
	v.ends()
	return v.whichCopy(ctx)
}

// gone reports, and tells, that there were once events where there is nothing.
func (v *verifier) gone(what string) bool {
	if v.known.Position > 0 {
		v.report.Add(0, "", "%s: events up to %d were recorded", what, v.known.Position)
	}
	return v.known.Position > 0
}

// damage takes an error for a finding if it says that the file is damaged.
func (v *verifier) damage(err error, what string) error {
	if err == nil || !malformed(err) && !errors.Is(err, store.ErrDamaged) {
		return err
	}
	v.report.Add(0, "", "%s: %v", what, err)
	return nil
}

func (v *verifier) readSide() error {
	var err error
	v.known, err = readSide(v.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		v.report.Notes = append(v.report.Notes, fmt.Sprintf("%s is missing: cannot tell whether the database is an older copy", sidePath(v.path)))
		return nil
	case errors.Is(err, store.ErrDamaged):
		v.report.Found(store.Finding{
			Text:   fmt.Sprintf("%s was changed: cannot tell whether the database is an older copy", sidePath(v.path)),
			Remedy: "the daemon writes it again when it starts",
		})
		return nil
	}
	return err
}

// checkLog looks twice: a log that is being written to may look damaged once.
func (v *verifier) checkLog() error {
	first, err := checkLog(v.path)
	if err != nil || first == nil {
		return err
	}
	second, err := checkLog(v.path)
	if err == nil && second != nil && second.offset == first.offset {
		v.report.Add(0, "", "%s", second)
	}
	return err
}

// checkHeader finds what SQLite takes for a file that a newer SQLite has written: one that
// can be read, and not be written to.
func (v *verifier) checkHeader() error {
	f, err := os.Open(v.path)
	if err != nil {
		return err
	}
	defer f.Close()
	var version [1]byte
	if _, err := f.ReadAt(version[:], 18); err == nil && version[0] > 2 {
		v.report.Add(0, "", "the database's header: write version %d is above 2, so SQLite cannot write to the file", version[0])
	}
	return nil // of one that is too short SQLite says what it thinks
}

// integrity has SQLite check its own structures, the index of ids and the types of values.
func (v *verifier) integrity(ctx context.Context) error {
	err := each(ctx, v.conn, func(row *sql.Rows) error {
		var text string
		err := row.Scan(&text)
		if err == nil && text != "ok" {
			v.report.Add(0, "", "the database's structure: %s", text)
		}
		return err
	}, "PRAGMA integrity_check")
	return v.damage(err, "the database's structure")
}

func (v *verifier) readTrim(ctx context.Context) (err error) {
	v.trim, err = loadTrim(ctx, v.conn)
	if v.trim.to > 0 {
		v.report.Trimmed = &v.trim.said
	}
	return v.damage(err, "cannot read what was trimmed")
}

func (v *verifier) readHeads(ctx context.Context) error {
	err := each(ctx, v.conn, func(row *sql.Rows) error {
		subject, head, err := scanHead(row)
		v.heads[subject] = head
		return err
	}, headsQuery)
	return v.damage(err, "cannot read the table of heads")
}

// whichCopy finds out whether the database is an older copy of itself. The record that the
// side file named may have been trimmed since we read that: then it names another one.
func (v *verifier) whichCopy(ctx context.Context) error {
	text := staleCopy(v.known, v.witness, v.last)
	if text == "" {
		return nil
	}
	if again, err := readSide(v.path); err == nil && again != v.known {
		if again.Position > v.last {
			return nil // the store goes on, and we look at what it was
		}
		at, err := entryAt(ctx, v.conn, again.Position)
		if err != nil {
			return v.damage(err, fmt.Sprintf("cannot read event %d", again.Position))
		}
		text = staleCopy(again, at.Event, v.last)
	}
	if text != "" {
		v.report.Found(store.Finding{Text: text, Remedy: "if you have restored a backup, start the daemon once: it continues from there"})
	}
	return nil
}

func (v *verifier) snapshots(ctx context.Context) error {
	snaps, err := snapshots(ctx, v.conn)
	if err != nil {
		return v.damage(err, "cannot read the snapshots")
	}
	standing := v.trim.to == 0
	for _, k := range snaps {
		if !k.sound {
			v.report.Add(0, "", "the snapshot at %d was changed", k.Position)
			continue
		}
		standing = standing || k.Position >= v.trim.to
	}
	if !standing {
		v.report.Add(0, "", "no valid snapshot covers the trimmed events up to %d", v.trim.to)
	}
	return nil
}
