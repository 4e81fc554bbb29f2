package sqlite

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/stopgate/stopgate/internal/control/store"
)

// An anchor says in a few bytes what a store was: the position of its last event, and a hash of the ends of all its
// chains, so of all its events. Kept elsewhere, it shows that a database was cut or rewritten also where the
// file beside it was as well.

// Standing is how a store relates to an anchor of it.
type Standing string

// The standings.
const (
	Anchored Standing = "anchored" // what the anchor says is still there
	Cut      Standing = "cut"      // the store ends before it
	Replaced Standing = "replaced" // other events are in the place of those that it says
	Forgot   Standing = "trimmed"  // events were trimmed since, so that it cannot be compared
)

// Anchor is where the store is now.
func (s *Store) Anchor(ctx context.Context) (anchor store.Head, err error) {
	err = s.beside(ctx, func(conn *sql.Conn) error {
		heads, err := allHeads(ctx, conn)
		anchor = anchorOf(heads)
		return err
	})
	return anchor, explain(s.path, err)
}

// Compare compares the store with an anchor of it.
func (s *Store) Compare(ctx context.Context, anchor store.Head) (standing Standing, err error) {
	err = s.beside(ctx, func(conn *sql.Conn) error {
		standing, err = compare(ctx, conn, anchor)
		return err
	})
	return standing, explain(s.path, err)
}

// beside reads as of one moment.
func (s *Store) beside(ctx context.Context, read func(*sql.Conn) error) error {
	if err := s.usable("all"); err != nil {
		return err
	}
	return moment(ctx, s.readers, read)
}

// CompareAt compares the database at path, which another process may have open.
func CompareAt(ctx context.Context, path string, anchors ...store.Head) (standings []Standing, err error) {
	path, err = filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	db, err := connect(path, "ro")
	if err != nil {
		return nil, explain(path, err)
	}
	defer db.Close()
	err = moment(ctx, db, func(conn *sql.Conn) error {
		for _, anchor := range anchors {
			standing, err := compare(ctx, conn, anchor)
			if err != nil {
				return err
			}
			standings = append(standings, standing)
		}
		return nil
	})
	return standings, explain(path, err)
}

// moment reads as of one moment.
func moment(ctx context.Context, db *sql.DB, read func(*sql.Conn) error) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, "BEGIN"); err != nil {
		return err
	}
	defer conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK")
	return read(conn)
}

func allHeads(ctx context.Context, db asker) (map[string]store.Head, error) {
	heads := map[string]store.Head{}
	err := each(ctx, db, func(row *sql.Rows) error {
		subject, head, err := scanHead(row)
		heads[subject] = head
		return err
	}, headsQuery)
	return heads, err
}

// anchorOf is the anchor of a store with these ends.
func anchorOf(heads map[string]store.Head) (anchor store.Head) {
	h := sha256.New()
	for _, subject := range slices.Sorted(maps.Keys(heads)) {
		head := heads[subject]
		anchor.Position = max(anchor.Position, head.Position)
		fmt.Fprintf(h, "%s %d %s\n", subject, head.Position, head.Hash)
	}
	if len(heads) > 0 {
		anchor.Hash = store.Hash(h.Sum(nil))
	}
	return anchor
}

// compare finds what the ends were at the anchor's position: the first event after it says what came before, and a
// chain without one ends where it did.
func compare(ctx context.Context, db asker, anchor store.Head) (Standing, error) {
	heads, err := allHeads(ctx, db)
	if err != nil {
		return "", err
	}
	if anchorOf(heads).Position < anchor.Position {
		return Cut, nil
	}

	trimmed, err := loadTrim(ctx, db)
	if err != nil {
		return "", err
	}
	if anchor.Position < trimmed.to {
		return Forgot, nil
	}

	err = each(ctx, db, func(row *sql.Rows) error {
		var subject string
		var at, prior, previous any
		if err := row.Scan(&subject, &at, &prior, &previous); err != nil {
			return err
		}
		if heads[subject] = (store.Head{Position: position(prior), Hash: hash(previous)}); position(prior) == 0 {
			delete(heads, subject)
		}
		return nil
	}, "SELECT subject, min(position), prior, previous FROM events WHERE position > ? GROUP BY subject", int64(anchor.Position))
	if err != nil {
		return "", err
	}

	if anchorOf(heads) != anchor {
		return Replaced, nil
	}
	return Anchored, nil
}
