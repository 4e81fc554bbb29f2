package journal

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"iter"
	"slices"

	"github.com/stopgate/stopgate/internal/sys/regular"
)

// backwardChunk is how many records are decoded at once: who reads backwards mostly wants few.
const backwardChunk = 64

// backwardPart is how much of a segment is looked at at once, in bytes. Tests shorten it.
var backwardPart int64 = 256 << 10

// Backward returns the records that end before a position, or with the zero Position all of them, the
// newest first, as far as their JSON is wanted. Damaged lines are passed over and counted: Read tells of them.
// After the records of a segment comes an entry without one, whose position is the segment's
// beginning: a reader may go on from there another time.
func (j *Journal) Backward(before Position, wanted func(json []byte) bool) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		numbers, err := j.segments()
		if err != nil {
			yield(Entry{}, err)
			return
		}
		for _, number := range slices.Backward(numbers) {
			if before != (Position{}) && (number > before.Segment || before.Offset == 0 && number == before.Segment) {
				continue
			}
			if !j.segmentBackward(number, before, wanted, yield) {
				return
			}
		}
	}
}

// segmentBackward is Backward for one segment. It reports whether more is wanted. The segment is read part
// by part: who wants a few of the newest records does not wait for all of it.
func (j *Journal) segmentBackward(number uint64, before Position, wanted func(json []byte) bool, yield func(Entry, error) bool) (more bool) {
	lost := 0
	for {
		start, err := j.partBefore(number, before)
		if err == nil {
			more, err = j.partBackward(start, before, &lost, wanted, yield)
		}
		switch {
		case err != nil:
			yield(Entry{}, err)
			return false
		case !more:
			return false
		case start.Offset == 0:
			return yield(Entry{Position: start, Lost: lost}, nil)
		}
		before = Position{Segment: number, Offset: start.Offset + 1} // a line that ends at start is wanted
	}
}

// partBackward is Backward for the lines from a start on.
func (j *Journal) partBackward(start, before Position, lost *int, wanted func(json []byte) bool, yield func(Entry, error) bool) (more bool, err error) {
	starts, bad, err := j.startsOf(start, before, wanted)
	if err != nil {
		return false, err
	}
	*lost += bad
	for len(starts) > 0 {
		chunk := starts[max(0, len(starts)-backwardChunk):]
		starts = starts[:len(starts)-len(chunk)]
		records, err := j.recordsFrom(chunk[0], len(chunk), wanted)
		if err != nil {
			return false, err
		}
		for _, entry := range slices.Backward(records) {
			entry.Lost = *lost
			if !yield(entry, nil) {
				return false, nil
			}
		}
	}
	return true, nil
}

// partBefore is where the part of a segment begins that ends before a position, or with its last line:
// the beginning of a line.
func (j *Journal) partBefore(number uint64, before Position) (Position, error) {
	start := Position{Segment: number}
	f, err := regular.Open(j.path(segmentName(number)))
	if errors.Is(err, fs.ErrNotExist) {
		return start, nil // deleted just now
	}
	if err != nil {
		return start, err
	}
	defer f.Close()

	info, err := f.Stat()
	if err != nil {
		return start, err
	}
	end := info.Size()
	if before.Segment == number {
		end = min(end, before.Offset-1)
	}

	part := make([]byte, backwardPart)
	for at := end - backwardPart; at > 0; at -= backwardPart { // a line may be longer than a part
		n, err := f.ReadAt(part[:min(backwardPart, end-at)], at)
		if err != nil && !errors.Is(err, io.EOF) {
			return start, err
		}
		if i := bytes.IndexByte(part[:n], '\n'); i >= 0 && at+int64(i)+1 < end {
			start.Offset = at + int64(i) + 1
			return start, nil
		}
	}
	return start, nil
}

// startsOf are where the lines of a segment begin that are wanted, from a start on, and end before a
// position, and how many of these lines cannot be used. None of them is decoded.
func (j *Journal) startsOf(start, before Position, wanted func(json []byte) bool) (starts []Position, lost int, err error) {
	number, hit := start.Segment, false
	note := func(json []byte) bool {
		hit = wanted == nil || wanted(json)
		return false
	}
	for entry, err := range j.Select(start, note) {
		if err != nil {
			return starts, lost, unlessDeleted(err)
		}
		if entry.Position.Segment != number || before != (Position{}) && entry.Position.Compare(before) >= 0 {
			break
		}
		if hit {
			starts = append(starts, start)
		}
		if entry.Damage != nil || entry.Newer > 0 {
			lost++
		}
		start, hit = entry.Position, false
	}
	return starts, lost, nil
}

// recordsFrom are so many records that are wanted, from a position on.
func (j *Journal) recordsFrom(start Position, most int, wanted func(json []byte) bool) (records []Entry, err error) {
	for entry, err := range j.Select(start, wanted) {
		if err != nil {
			return records, unlessDeleted(err)
		}
		if entry.Record != nil {
			records = append(records, entry)
		}
		if len(records) == most {
			break
		}
	}
	return records, nil
}

// unlessDeleted is an error of reading, but for that of a segment that was deleted just now.
func unlessDeleted(err error) error {
	if errors.Is(err, ErrPosition) {
		return nil
	}
	return err
}
