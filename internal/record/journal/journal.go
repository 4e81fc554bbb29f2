// Package journal keeps the facts that hook processes write: append-only files
// that many short-lived processes share and that any crash leaves readable.
//
// # Format
//
// The directory, mode 0700, holds segments named by number (00000001.log,
// 00000002.log, …), the file "lock" that writers hold while they append, and
// the file "key" with 32 random bytes. Every file has mode 0600. The segment
// with the highest number is the active one: only it is written to. Segments are
// never renamed and a number is never used twice.
//
// A segment is a sequence of lines. One line is one record:
//
//	j1 9ae0daaf {"v":1,"id":"01K…","call":"01K…","kind":"received",…}⏎
//
//	j1        "j" and the version of the record, in decimal
//	9ae0daaf  CRC-32 (IEEE 802.3) of the JSON bytes, 8 lower-case hex digits
//	{…}       event.Record as a JSON object; it holds no newline
//	⏎         one newline (0x0a); the parts before are separated by one space
//
// Every version keeps this frame and has its own number once more in the
// object's "v". So a reader can tell a line of a newer stopgate (sound, but its
// version is unknown) from a damaged one. A line that is neither empty, nor
// sound, nor newer is damage; the next line is read as if nothing had happened.
//
// A crash or a full disk may leave the last line without its newline. The next
// writer ends it with one, so that only this line is lost. When all that is
// missing is the newline, the line is a record.
//
// Lines have at most 1 MiB. A reader accepts 16 MiB, so that a newer stopgate
// may write longer ones.
package journal

import (
	"cmp"
	"os"
	"path/filepath"
	"time"
)

// Limits bound the journal's size. A zero field stands for its default.
type Limits struct {
	SegmentSize int64         // a segment that has reached it is closed; 16 MiB, or a quarter of MaxSize
	MaxAge      time.Duration // closed segments last written to before that are deleted; 30 days
	MaxSize     int64         // of all segments together; 256 MiB
}

// Journal appends to and reads the journal in one directory. It holds no open
// file between two calls, so it needs no closing and may be used by several
// goroutines. (Keeping them open would save 10 µs of a process's second append.)
type Journal struct {
	dir    string
	limits Limits

	// Tests set these.
	lockWait time.Duration // how long a writer waits for the lock
	poll     time.Duration // how often Follow looks for growth
	sync     func(*os.File) error
}

// New returns the journal in dir. It does no I/O: the first Append makes the
// directory.
func New(dir string, limits Limits) *Journal {
	maxSize := cmp.Or(limits.MaxSize, 256<<20)
	return &Journal{
		dir: dir,
		limits: Limits{
			// Only whole segments are deleted, so that a small journal has small ones.
			SegmentSize: cmp.Or(limits.SegmentSize, min(16<<20, maxSize/4)),
			MaxAge:      cmp.Or(limits.MaxAge, 30*24*time.Hour),
			MaxSize:     maxSize,
		},
		// A writer holds the lock for tens of microseconds, and for some
		// milliseconds when it makes a segment. Whoever cannot get it for seconds
		// waits for a process that was stopped, and still has a hook to answer.
		lockWait: 5 * time.Second,
		poll:     200 * time.Millisecond,
		sync:     datasync,
	}
}

func (j *Journal) path(name string) string { return filepath.Join(j.dir, name) }
