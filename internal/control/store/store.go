// Package store keeps the control plane's events: what happened, in order, for good.
//
// One contract, written so that an embedded database and a replicated log can both
// keep it. Package storetest checks it; docs/adr/0012 says how each backend keeps each
// point.
package store

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"iter"
)

// Position is an event's place in the order of all events. Positions increase, gaps
// are legal, and nothing else may be read from the number. Zero is before the first.
type Position uint64

// Hash is a link of a subject's chain.
type Hash [sha256.Size]byte

func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// MarshalText and UnmarshalText have a hash be its digits in JSON.
func (h Hash) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

func (h *Hash) UnmarshalText(text []byte) error {
	if len(text) != 2*len(h) {
		return errors.New("a hash must have 64 digits")
	}
	_, err := hex.Decode(h[:], text)
	return err
}

// NewEvent is an event to be appended.
type NewEvent struct {
	// Subject is what the event is about: tokens of [A-Za-z0-9_-], separated by dots,
	// at most 255 bytes. Subjects whose first token is "store" are the store's own.
	Subject string
	// ID is unique in the store. Whoever appends sees to that: it is random, or a hash
	// of what caused the event. It has at most 128 bytes of [A-Za-z0-9_-].
	ID string
	// Expected is the subject's version as the appender knows it: the position of its
	// last event, zero when there is none.
	Expected Position
	// Data has at most MaxData bytes.
	Data []byte
}

// Event is an event that was appended.
type Event struct {
	Position Position
	Subject  string
	ID       string
	Data     []byte
	Previous Hash // of the subject's event before this one; zero for its first
	Hash     Hash // see Seal
}

// Head is the end of a subject's chain. The zero Head is that of a subject without
// events.
type Head struct {
	Position Position
	Hash     Hash
}

// Snapshot is what a fold over all events up to Position came to. It saves time and
// can be thrown away, unless events below it were trimmed.
type Snapshot struct {
	Position Position
	Data     []byte
	// Damaged is the position of a newer snapshot that is not sound: LoadSnapshot passed over it.
	// Zero is none.
	Damaged Position
}

// Hash is what a backend keeps beside a snapshot, to see that it is sound.
func (s Snapshot) Hash() Hash {
	h := sha256.New()
	h.Write(binary.BigEndian.AppendUint64([]byte("snapshot"), uint64(s.Position)))
	h.Write(s.Data)
	return Hash(h.Sum(nil))
}

// MaxData is how large an event's data may be.
const MaxData = 256 << 10

// What Append may come to besides success. Every other error means that nothing was
// appended, and that trying again may help (a full disk) or not (a subject that is none).
var (
	// ErrConflict says that the subject's version is not the expected one.
	ErrConflict = errors.New("the subject has changed")
	// ErrUnknown says that the event may have been appended or not. Whoever gets it
	// reads the subject past the expected version: the own ID there means success.
	ErrUnknown = errors.New("append with unknown outcome")
	// ErrDuplicate says that the ID is in the store already. Not every backend finds
	// out; who needs to know reads the subject.
	ErrDuplicate = errors.New("an event with this ID exists")
	// ErrInvalid says that the event breaks a rule of NewEvent, and would each time.
	ErrInvalid = errors.New("invalid event")
	// ErrNewer says that a newer stopgate wrote the store: it is not opened.
	ErrNewer = errors.New("written by a newer stopgate")
	// ErrDamaged says that what was read is not what was appended.
	ErrDamaged = errors.New("the store is damaged")
	// ErrTrimmed says that events after the given position may be gone, below a snapshot.
	ErrTrimmed = errors.New("the events were trimmed")
	// ErrClosed says that the store was closed. What was to be appended was not.
	ErrClosed = errors.New("the store is closed")
)

// Store keeps events. An implementation
//
//   - MUST have made an event durable when Append returns nil: it survives kill -9 and
//     the loss of power.
//   - MUST append at most one of several events with the same subject and expected
//     version. Events of one subject are totally ordered.
//   - MUST show one order of all events to all readers. Between subjects that order
//     means nothing: no reader may conclude that one caused the other.
//   - MUST let a read that begins after an Append returned see its event.
//   - MUST NOT drop events by age or size. Trim alone removes them.
//   - MUST find damage: no read returns data that its Hash does not belong to, and none
//     passes over an event of a subject.
//   - MUST append nothing when Append returns an error that is not ErrUnknown.
//   - SHOULD answer ErrDuplicate when the version is as expected and the ID is in the
//     store, under whichever subject. When both are wrong the answer is ErrConflict.
//
// What a store writes for its own use, under subjects whose first token is "store", is
// in no answer of ReadAll and Watch.
//
// All methods may be called at once.
type Store interface {
	// Append appends one event and returns its position, which is the subject's new
	// version. A context that ends while the event is under way leads to ErrUnknown.
	Append(ctx context.Context, e NewEvent) (Position, error)

	// Head returns the end of the subject's chain.
	Head(ctx context.Context, subject string) (Head, error)

	// Heads returns the ends of the chains of all subjects but the store's own. With ErrDamaged
	// come those that can be read.
	Heads(ctx context.Context) (map[string]Head, error)

	// Read returns the subject's events after a position, in order, as they are when
	// it begins. Where events after that position may have been trimmed, it returns
	// ErrTrimmed.
	Read(ctx context.Context, subject string, after Position) iter.Seq2[Event, error]

	// ReadAll returns the events of all subjects after a position, in order, as they
	// are when it begins. Where events after that position may have been trimmed, it
	// returns ErrTrimmed: after the position of a snapshot none have been.
	ReadAll(ctx context.Context, after Position) iter.Seq2[Event, error]

	// Watch returns the events of the subjects with a prefix ("" for all) after a
	// position, and goes on as events are appended until the context ends, which is no
	// error, or the store is closed, which is ErrClosed. It misses none and repeats
	// none, also when it begins where an earlier watch, of an earlier process, ended.
	Watch(ctx context.Context, prefix string, after Position) iter.Seq2[Event, error]

	// SaveSnapshot keeps a snapshot. The two newest are kept, older ones go.
	SaveSnapshot(ctx context.Context, s Snapshot) error

	// LoadSnapshot returns the newest sound snapshot, one without a position when there is
	// none. It returns ErrDamaged when the events below were trimmed and no snapshot
	// that stands for them is sound.
	LoadSnapshot(ctx context.Context) (Snapshot, error)

	// Trim removes the events up to the position of the older of the two snapshots,
	// except the last of each subject: chains go on, and each of the snapshots is
	// enough to begin with. It MUST read both back first, and removes nothing when one
	// of them is not sound, or when there is only one. Who trims is on record, with what is
	// removed and when; where nothing was, the answer is zero.
	Trim(ctx context.Context, by string) (Trimmed, error)

	// Close ends all watches. What was appended is there at the next opening.
	Close() error
}
