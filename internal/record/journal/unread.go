package journal

import (
	"errors"
	"io/fs"
	"os"
)

// Unread is how many bytes the journal has after a position.
func (j *Journal) Unread(from Position) (bytes int64, err error) {
	numbers, err := j.segments()
	if err != nil {
		return 0, err
	}
	for _, number := range numbers {
		if number < from.Segment {
			continue
		}
		info, err := os.Stat(j.path(segmentName(number)))
		switch {
		case errors.Is(err, fs.ErrNotExist): // it was removed just now
		case err != nil:
			return 0, err
		case number == from.Segment:
			bytes += max(info.Size()-from.Offset, 0)
		default:
			bytes += info.Size()
		}
	}
	return bytes, nil
}
