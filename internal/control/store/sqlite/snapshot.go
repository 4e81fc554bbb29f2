package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"

	"github.com/stopgate/stopgate/internal/control/store"
)

// SaveSnapshot keeps a snapshot and the one before it.
func (s *Store) SaveSnapshot(ctx context.Context, snap store.Snapshot) error {
	if snap.Position > s.end() {
		return fmt.Errorf("%w: a snapshot at %d, behind the last event at %d", store.ErrInvalid, snap.Position, s.end())
	}
	// Who is told ErrUnknown may use the slice for something else.
	data, hash := append([]byte{}, snap.Data...), snap.Hash()
	_, err := s.ask(ctx, request{task: func(w *writer) error {
		return w.transact(func() error {
			err := w.exec("INSERT OR REPLACE INTO snapshots (position, hash, data) VALUES (?, ?, ?)", int64(snap.Position), hash[:], data)
			if err != nil {
				return err
			}
			return w.exec("DELETE FROM snapshots WHERE position NOT IN (SELECT position FROM snapshots ORDER BY position DESC LIMIT 2)")
		})
	}})
	return err
}

// LoadSnapshot returns the newest sound snapshot.
func (s *Store) LoadSnapshot(ctx context.Context) (store.Snapshot, error) {
	if err := s.usable("all"); err != nil {
		return store.Snapshot{}, err
	}
	snaps, err := snapshots(ctx, s.readers)
	if err != nil && !malformed(err) && !errors.Is(err, store.ErrDamaged) {
		return store.Snapshot{}, explain(s.path, err)
	}
	trimmed, damaged := s.gone(), store.Position(0)
	for _, snap := range snaps {
		if snap.sound && snap.Position >= trimmed {
			snap.Damaged = damaged
			return snap.Snapshot, nil
		}
		damaged = max(damaged, snap.Position)
	}
	if trimmed > 0 {
		return store.Snapshot{}, explain(s.path, fmt.Errorf("%w: no valid snapshot covers the trimmed events up to %d", store.ErrDamaged, trimmed))
	}
	return store.Snapshot{Damaged: damaged}, nil
}

// kept is a snapshot as it is in the file.
type kept struct {
	store.Snapshot
	sound bool
}

// snapshots returns those that are there, the newest first. One by one: what cannot be read
// of one says nothing about the other.
func snapshots(ctx context.Context, db asker) (snaps []kept, err error) {
	for before := int64(math.MaxInt64); ; {
		var at sql.NullInt64
		err := db.QueryRowContext(ctx, "SELECT max(position) FROM snapshots WHERE position < ?", before).Scan(&at)
		if err != nil || !at.Valid {
			return snaps, err
		}
		if at.Int64 >= before {
			return snaps, fmt.Errorf("%w: the snapshots are not in order", store.ErrDamaged)
		}
		before = at.Int64
		k := kept{Snapshot: store.Snapshot{Position: store.Position(before)}}
		var sum any
		err = db.QueryRowContext(ctx, "SELECT hash, data FROM snapshots WHERE position = ?", before).Scan(&sum, &k.Data)
		if err != nil && !malformed(err) && !errors.Is(err, sql.ErrNoRows) {
			return snaps, err
		}
		k.sound = err == nil && hash(sum) == k.Snapshot.Hash()
		snaps = append(snaps, k)
	}
}
