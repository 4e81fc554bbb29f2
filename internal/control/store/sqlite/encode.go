package sqlite

import (
	"encoding/binary"
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

// encode appends an entry to the body of a row.
func encode(body []byte, e *entry) []byte {
	body = binary.AppendUvarint(body, uint64(e.Position))
	body = binary.AppendUvarint(body, uint64(e.prior))
	body = append(body, e.Previous[:]...)
	body = append(body, e.Hash[:]...)
	body = binary.AppendUvarint(body, uint64(len(e.Subject)))
	body = append(body, e.Subject...)
	body = binary.AppendUvarint(body, uint64(len(e.ID)))
	body = append(body, e.ID...)
	body = binary.AppendUvarint(body, uint64(len(e.Data)))
	return append(body, e.Data...)
}

// errBody says that the body of a row is not what was written.
var errBody = errors.New("a row of the database is not what was written")

// decode takes the first entry off the body of a row. It shares no memory with it.
func decode(body []byte) (e entry, rest []byte, err error) {
	d := decoder{rest: body}
	e.Position = store.Position(d.number())
	e.prior = store.Position(d.number())
	copy(e.Previous[:], d.bytes(uint64(len(e.Previous))))
	copy(e.Hash[:], d.bytes(uint64(len(e.Hash))))
	e.Subject = string(d.bytes(d.number()))
	e.ID = string(d.bytes(d.number()))
	data := d.bytes(d.number())
	if d.failed || e.Position == 0 || e.prior >= e.Position {
		return entry{}, nil, fmt.Errorf("%w: %w", store.ErrDamaged, errBody)
	}
	e.Data = append(make([]byte, 0, len(data)), data...)
	return e, d.rest, nil
}

// decodeAll returns the entries of a row, and those before the first that is damaged.
func decodeAll(body []byte) (entries []entry, err error) {
	for len(body) > 0 {
		var e entry
		if e, body, err = decode(body); err != nil {
			return entries, err
		}
		entries = append(entries, e)
	}
	return entries, nil
}

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
