package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/stopgate/stopgate/internal/control/store"
)

// entry is an event as it is in the file: it also says where the one before it is.
type entry struct {
	store.Event
	prior store.Position // of the subject's event before this one; zero for its first
}

// linked reports whether an entry says both where the one before it is and what its hash is,
// or neither. The entry's own hash does not cover the place.
func (e *entry) linked() bool { return (e.prior == 0) == (e.Previous == store.Hash{}) }

// follows reports whether an entry comes right behind another in a subject.
func (e *entry) follows(before store.Head) bool {
	return e.prior == before.Position && e.Previous == before.Hash
}

func (e *entry) head() store.Head { return store.Head{Position: e.Position, Hash: e.Hash} }

const entryColumns = "e.position, e.subject, e.id, e.prior, e.previous, e.hash, e.data"

// scanEntry reads a row of entryColumns, and of more. A value of the wrong type is taken for none: then
// the entry is not sound.
func scanEntry(row interface{ Scan(into ...any) error }, more ...any) (entry, error) {
	var v [7]any
	if err := row.Scan(append([]any{&v[0], &v[1], &v[2], &v[3], &v[4], &v[5], &v[6]}, more...)...); err != nil {
		return entry{}, err
	}
	var e entry
	e.Position, e.prior = position(v[0]), position(v[3])
	e.Subject, _ = v[1].(string)
	e.ID, _ = v[2].(string)
	e.Previous, e.Hash = hash(v[4]), hash(v[5])
	e.Data, _ = v[6].([]byte)
	if e.Data == nil {
		e.Data = []byte{}
	}
	return e, nil
}

func position(value any) store.Position {
	n, _ := value.(int64)
	return store.Position(max(n, 0))
}

// hash turns a blob into a hash, the zero one if it is none.
func hash(value any) (h store.Hash) {
	if b, ok := value.([]byte); ok && len(b) == len(h) {
		copy(h[:], b)
	}
	return h
}

// entryAt returns the entry at a position, the zero entry when it is not there.
func entryAt(ctx context.Context, db asker, at store.Position) (entry, error) {
	e, err := scanEntry(db.QueryRowContext(ctx, "SELECT "+entryColumns+" FROM events e WHERE position = ?", int64(at)))
	if errors.Is(err, sql.ErrNoRows) {
		return entry{}, nil
	}
	return e, err
}

// headOf returns the last entry of a subject, the zero entry when there is none. It checks
// that it is the one in the table of heads, and sound.
func headOf(ctx context.Context, db asker, subject string) (entry, error) {
	var at any
	e, err := scanEntry(db.QueryRowContext(ctx, headQuery, subject), &at)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return entry{}, nil
	case err == nil && (e.Subject != subject || !e.Sound()):
		err = fmt.Errorf("%w: event %d, the last of %s, is missing or was changed", store.ErrDamaged, position(at), subject)
	}
	return e, err
}

const headQuery = "SELECT " + entryColumns + `, h.position FROM heads h
	LEFT JOIN events e ON e.position = h.position AND e.subject = h.subject AND e.hash = h.hash
	WHERE h.subject = ?`
