package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/stopgate/stopgate/internal/record/event"
	"github.com/stopgate/stopgate/internal/sys/regular"
)

// EndingAt is the record whose line ends at a position, as Append returned it. It reads that line
// alone, however long the journal is. The error is ErrPosition where no sound record ends there:
// its segment was deleted, or the machine lost power before the bytes were on disk.
func (j *Journal) EndingAt(end Position) (*event.Record, error) {
	file, err := regular.Open(j.path(segmentName(end.Segment)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %v is in a segment that is gone", ErrPosition, end)
	}
	if err != nil {
		return nil, j.explain(err)
	}
	defer file.Close()

	line, err := lineEndingAt(file, end.Offset)
	if err != nil {
		return nil, j.explain(err)
	}
	d := decode(line, nil)
	if d.record == nil {
		return nil, fmt.Errorf("%w: no record that this stopgate can read ends at %v", ErrPosition, end)
	}
	return d.record, nil
}

// lineEndingAt is the line of a file that ends at an offset, without its newline; empty where none
// does. It is read from its end, in parts that double.
func lineEndingAt(file *os.File, end int64) ([]byte, error) {
	for size := int64(4 << 10); ; size *= 2 {
		start := max(0, end-size)
		text := make([]byte, max(0, end-start))
		n, err := file.ReadAt(text, start)
		if n < len(text) && errors.Is(err, io.EOF) {
			return nil, nil // the file is shorter
		}
		if n < len(text) {
			return nil, err
		}
		text, ended := bytes.CutSuffix(text, []byte("\n"))
		if !ended {
			return nil, nil
		}
		if at := bytes.LastIndexByte(text, '\n'); at >= 0 || start == 0 {
			return text[at+1:], nil
		}
		if size > maxLine {
			return nil, nil
		}
	}
}
