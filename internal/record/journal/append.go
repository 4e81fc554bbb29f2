package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/stopgate/stopgate/internal/record/event"
	"github.com/stopgate/stopgate/internal/sys/lines"
)

// Append writes r as the journal's last record and returns the position after
// it. It sets r's Version, ID, Host, Boot and PID, and Time when that is zero; it
// drops a payload that makes the record too large.
//
// When Append returns nil, the record survives the death of this process and, if
// r is Durable, of the machine. After an error the record is not there, with one
// exception: when syncing failed it may be.
func (j *Journal) Append(r *event.Record) (Position, error) {
	fill(r)
	line, err := encode(r)
	if err != nil {
		return Position{}, err
	}
	file, end, err := j.write(line)
	if err != nil {
		return Position{}, j.explain(err)
	}
	defer file.Close()
	// The lock is free again: a sync takes milliseconds, and the kernel does
	// those of several processes in one go.
	if r.Durable() {
		if err := j.sync(file); err != nil {
			return end, j.explain(fmt.Errorf("sync %s: %w", file.Name(), err))
		}
	}
	return end, nil
}

func fill(r *event.Record) {
	r.Version = event.Version
	r.ID = NewID()
	r.Host, r.Boot, r.PID = host(), boot(), os.Getpid()
	if r.Time.IsZero() {
		// Without the monotonic reading, which does not survive JSON.
		r.Time = time.Now().UTC().Round(0)
	}
}

// write tries again when somebody deletes the directory under its feet: what was
// listed is gone, or another process has made it anew.
func (j *Journal) write(line []byte) (file *os.File, end Position, err error) {
	for range 10 {
		file, end, err = j.writeOnce(line)
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	return file, end, err
}

func (j *Journal) writeOnce(line []byte) (*os.File, Position, error) {
	unlock, err := j.lock()
	if err != nil {
		return nil, Position{}, err
	}
	defer unlock()
	s, err := j.active()
	if err != nil {
		return nil, Position{}, err
	}
	end, err := s.append(line)
	if err != nil {
		s.file.Close()
		return nil, Position{}, err
	}
	return s.file, end, nil
}

// append writes the line with one write(2). The caller holds the lock.
func (s *segment) append(line []byte) (Position, error) {
	whole, err := lines.EndsAt(s.file, s.size)
	if err != nil {
		return Position{}, err
	}
	torn := !whole // the last line lacks its newline
	keep := s.size
	if torn {
		line = append([]byte("\n"), line...)
	}
	n, err := s.file.Write(line)
	if err == nil {
		return Position{s.number, s.size + int64(n)}, nil
	}
	// A reader may already stand behind the newline that ended the torn line,
	// so that one stays.
	if torn && n > 0 {
		keep++
	}
	// If this fails too, the part becomes a torn line, which the next writer ends.
	if cut := truncate(s.file, keep); cut != nil {
		err = fmt.Errorf("%w (the part written stays as a torn line: %v)", err, cut)
	}
	return Position{}, err
}
