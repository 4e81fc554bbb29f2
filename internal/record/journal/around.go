package journal

import (
	"slices"
	"strings"
	"time"
)

// Around is the beginning of the segment that has the records of a time, going by the time of the first
// record in each. A clock that was set back can make it a wrong one: who does not find something from
// there on looks at all.
func (j *Journal) Around(t time.Time) (Position, error) {
	numbers, err := j.segments()
	if err != nil {
		return Position{}, err
	}
	for _, number := range slices.Backward(numbers) {
		start := Position{Segment: number}
		first, err := j.recordsFrom(start, 1, nil)
		if err != nil {
			return Position{}, err
		}
		if len(first) > 0 && !first[0].Record.Time.After(t) {
			return start, nil
		}
	}
	return Position{}, nil
}

// TimeOf is when an id was made.
func TimeOf(id string) (t time.Time, ok bool) {
	const length, ofTime = 26, 10
	if len(id) != length {
		return t, false
	}
	var ms uint64
	for _, c := range []byte(id[:ofTime]) {
		digit := strings.IndexByte(digits, c)
		if digit < 0 {
			return t, false
		}
		ms = ms<<5 | uint64(digit)
	}
	return time.UnixMilli(int64(ms & (1<<48 - 1))), true
}
