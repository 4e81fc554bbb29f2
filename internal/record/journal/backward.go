package journal

import (
	"errors"
	"iter"
	"slices"
)

// backwardChunk is how many records are decoded at once: who reads backwards mostly wants few.
const backwardChunk = 64

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

// segmentBackward is Backward for one segment. It reports whether more is wanted.
func (j *Journal) segmentBackward(number uint64, before Position, wanted func(json []byte) bool, yield func(Entry, error) bool) (more bool) {
	starts, lost, err := j.startsOf(number, before, wanted)
	if err != nil {
		yield(Entry{}, err)
		return false
	}
	for len(starts) > 0 {
		chunk := starts[max(0, len(starts)-backwardChunk):]
		starts = starts[:len(starts)-len(chunk)]
		records, err := j.recordsFrom(chunk[0], len(chunk), wanted)
		if err != nil {
			yield(Entry{}, err)
			return false
		}
		for _, entry := range slices.Backward(records) {
			entry.Lost = lost
			if !yield(entry, nil) {
				return false
			}
		}
	}
	return yield(Entry{Position: Position{Segment: number}, Lost: lost}, nil)
}

// startsOf are where the lines of a segment begin that are wanted and end before a position, and how
// many of its lines cannot be used. None of them is decoded.
func (j *Journal) startsOf(number uint64, before Position, wanted func(json []byte) bool) (starts []Position, lost int, err error) {
	start, hit := Position{Segment: number}, false
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
