package store

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"strings"
)

// Seal is the hash of an event: it covers the event and, through the link before it,
// everything that was ever appended to the subject. The position is not in it, because
// some backends give it only afterwards.
func Seal(previous Hash, subject, id string, data []byte) Hash {
	return Link(previous, Digest(subject, id, data))
}

// Digest is the part of an event's hash that can be computed before its place is known.
func Digest(subject, id string, data []byte) Hash {
	var buf [512]byte
	b := binary.BigEndian.AppendUint64(buf[:0], uint64(len(subject)))
	b = append(b, subject...)
	b = binary.BigEndian.AppendUint64(b, uint64(len(id)))
	b = append(b, id...)
	b = binary.BigEndian.AppendUint64(b, uint64(len(data)))
	h := sha256.New()
	h.Write(b)
	h.Write(data)
	var sum Hash
	h.Sum(sum[:0])
	return sum
}

// Link makes the hash of an event from its digest and the hash before it.
func Link(previous, digest Hash) Hash {
	var both [2 * sha256.Size]byte
	copy(both[:], previous[:])
	copy(both[sha256.Size:], digest[:])
	return sha256.Sum256(both[:])
}

// Check reports what is wrong with an event that is to be appended.
func (e NewEvent) Check() error {
	switch {
	case !ValidSubject(e.Subject):
		return fmt.Errorf("%w: subject %q", ErrInvalid, e.Subject)
	case Own(e.Subject):
		return fmt.Errorf("%w: subject %q is the store's own", ErrInvalid, e.Subject)
	case !validToken(e.ID) || len(e.ID) > 128:
		return fmt.Errorf("%w: id %q", ErrInvalid, e.ID)
	case len(e.Data) > MaxData:
		return fmt.Errorf("%w: %d bytes of data; at most %d", ErrInvalid, len(e.Data), MaxData)
	}
	return nil
}

// Sound reports whether the event is what was appended.
func (e Event) Sound() bool { return Seal(e.Previous, e.Subject, e.ID, e.Data) == e.Hash }

// Own reports whether a subject is one that stores keep for themselves.
func Own(subject string) bool {
	return subject == "store" || strings.HasPrefix(subject, "store.")
}

// ValidSubject reports whether a subject consists of tokens.
func ValidSubject(subject string) bool {
	if len(subject) > 255 {
		return false
	}
	for token := range strings.SplitSeq(subject, ".") {
		if !validToken(token) {
			return false
		}
	}
	return true
}

func validToken(token string) bool {
	for _, c := range []byte(token) {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '_', c == '-':
		default:
			return false
		}
	}
	return token != ""
}
