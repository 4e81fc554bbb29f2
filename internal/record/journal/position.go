package journal

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
)

// Position is a place between two lines: the end of one and the start of the
// next. The zero Position is the journal's beginning, whatever its first segment
// is by now. Later records have greater positions.
type Position struct {
	Segment uint64
	Offset  int64
}

// String returns the form that ParsePosition reads: "1:2345".
func (p Position) String() string {
	return fmt.Sprintf("%d:%d", p.Segment, p.Offset)
}

// Compare returns -1 when p is before q, 1 when it is after, and 0 when they are
// the same.
func (p Position) Compare(q Position) int {
	return cmp.Or(cmp.Compare(p.Segment, q.Segment), cmp.Compare(p.Offset, q.Offset))
}

// ParsePosition reads what String wrote.
func ParsePosition(s string) (Position, error) {
	segment, offset, _ := strings.Cut(s, ":")
	n, err := strconv.ParseUint(segment, 10, 64)
	off, offErr := strconv.ParseUint(offset, 10, 63)
	if err != nil || offErr != nil {
		return Position{}, fmt.Errorf("journal position %q: want SEGMENT:OFFSET", s)
	}
	return Position{Segment: n, Offset: int64(off)}, nil
}
