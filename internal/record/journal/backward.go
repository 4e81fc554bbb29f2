package journal

import (
	"errors"
	"iter"
	"slices"
)

// Backward returns the records that end before a position, or with the zero Position all of them, the
// newest first, as far as their JSON is wanted. Damaged lines are passed over: Read tells of them. A
// whole segment is read before the first of its records is yielded.
func (j *Journal) Backward(before Position, wanted func(json []byte) bool) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		numbers, err := j.segments()
		if err != nil {
			yield(Entry{}, err)
			return
		}
		for _, number := range slices.Backward(numbers) {
			if before != (Position{}) && number > before.Segment {
				continue
			}
			records, err := j.recordsOf(number, before, wanted)
			if err != nil {
				yield(Entry{}, err)
				return
			}
			for _, entry := range slices.Backward(records) {
				if !yield(entry, nil) {
					return
				}
			}
		}
	}
}

// recordsOf are the records of a segment that end before a position.
func (j *Journal) recordsOf(number uint64, before Position, wanted func(json []byte) bool) (records []Entry, err error) {
	for entry, err := range j.Select(Position{Segment: number}, wanted) {
		if errors.Is(err, ErrPosition) { // it was deleted just now
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		if entry.Position.Segment != number || before != (Position{}) && entry.Position.Compare(before) >= 0 {
			break
		}
		if entry.Record != nil {
			records = append(records, entry)
		}
	}
	return records, nil
}
