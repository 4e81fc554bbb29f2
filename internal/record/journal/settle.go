package journal

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/stopgate/stopgate/internal/sys/lockfile"
	"github.com/stopgate/stopgate/internal/sys/regular"
)

// settleWait is far more than a writer needs. Who holds the lock for longer may
// still finish the line.
const settleWait = 100 * time.Millisecond

// settle reads the unfinished last line that pass found. What is in the segment
// while nobody holds the lock stays as it is: writers only ever add to it. So
// its size is taken under the lock and the lines are read without.
func (s *scan) settle() error {
	f, err := regular.Open(s.journal.path(segmentName(s.at.Segment)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil // deleted just now
	}
	if err != nil {
		return err
	}
	defer f.Close()
	size, ok, err := s.journal.settledSize(f)
	if err != nil || !ok {
		return err
	}
	return s.lines(io.NewSectionReader(f, s.at.Offset, size-s.at.Offset), true)
}

// settledSize returns the size of f at a moment without a writer. It is not ok
// when there was none. A reader makes no files, so without a lock file there is no
// writer either.
func (j *Journal) settledSize(f *os.File) (size int64, ok bool, err error) {
	unlock, err := lockfile.Share(context.Background(), j.path(lockName), settleWait)
	switch {
	case err == nil:
		defer unlock()
	case errors.Is(err, lockfile.ErrBusy):
		return 0, false, nil
	case !errors.Is(err, fs.ErrNotExist):
		return 0, false, err
	}
	info, err := f.Stat()
	if err != nil {
		return 0, false, err
	}
	return info.Size(), true, nil
}
