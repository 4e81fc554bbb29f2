package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/stopgate/stopgate/internal/sys/atomicfile"
)

// segment is the active one, open for appending.
type segment struct {
	number uint64
	file   *os.File
	size   int64
}

func segmentName(number uint64) string { return fmt.Sprintf("%08d.log", number) }

func segmentNumber(name string) (uint64, bool) {
	digits, ok := strings.CutSuffix(name, ".log")
	if !ok {
		return 0, false
	}
	number, err := strconv.ParseUint(digits, 10, 64)
	return number, err == nil && number > 0 && name == segmentName(number)
}

// segments lists the numbers of all segments, ascending. A journal that does not
// exist yet has none.
func (j *Journal) segments() ([]uint64, error) {
	// Names alone: os.ReadDir costs a stat per file on some file systems.
	dir, err := os.Open(j.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	var numbers []uint64
	for _, name := range names {
		if number, ok := segmentNumber(name); ok {
			numbers = append(numbers, number)
		}
	}
	slices.Sort(numbers)
	return numbers, nil
}

// active opens the segment to append to, a new one when the last is full. The
// caller holds the lock.
func (j *Journal) active() (*segment, error) {
	numbers, err := j.segments()
	if err != nil {
		return nil, err
	}
	if len(numbers) == 0 {
		return j.createFirst()
	}
	last, err := j.open(numbers[len(numbers)-1])
	if err != nil || last.size < j.limits.SegmentSize {
		return last, err
	}
	// What a loss of power cuts off is at the end of the journal, and not in the middle. Records that
	// are durable are synced already, so that nothing is lost where this fails.
	_ = j.sync(last.file)
	last.file.Close()
	next, err := j.create(last.number + 1)
	if err == nil {
		j.retain(numbers)
	}
	return next, err
}

func (j *Journal) open(number uint64) (*segment, error) {
	f, err := os.OpenFile(j.path(segmentName(number)), os.O_RDWR|os.O_APPEND, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, err
	}
	return &segment{number: number, file: f, size: info.Size()}, nil
}

// createFirst also makes the directory's own name durable.
func (j *Journal) createFirst() (*segment, error) {
	if err := atomicfile.SyncDir(filepath.Dir(j.dir)); err != nil {
		return nil, err
	}
	return j.create(1)
}

// create makes an empty segment whose name is durable, so that a durable record
// in it is.
func (j *Journal) create(number uint64) (*segment, error) {
	f, err := os.OpenFile(j.path(segmentName(number)), os.O_RDWR|os.O_APPEND|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	if err := atomicfile.SyncDir(j.dir); err != nil {
		f.Close()
		return nil, err
	}
	return &segment{number: number, file: f}, nil
}
