package change

import "time"

// stat tells one state of a file from another without reading it.
type stat struct {
	size         int64
	mtime, ctime int64 // nanoseconds
	inode, dev   uint64
	mode         uint32 // type and permissions as POSIX has them; 0: no such file
}

// The types within a mode.
const (
	typeMask      = 0o170000
	typeRegular   = 0o100000
	typeDirectory = 0o040000
	typeLink      = 0o120000
	typeOther     = 0o010000
)

func (s stat) exists() bool { return s.mode != 0 }

func (s stat) isA(kind uint32) bool { return s.mode&typeMask == kind }

// settle is how long a file must have been left alone before its stat can vouch
// for its content: within one tick of the file system's clock a file can be
// written twice and look the same. The coarsest tick in use is FAT's.
const settle = 2 * time.Second

// settled reports whether a file that was read after at cannot be written again
// without looking different. A time in the future never vouches for anything.
func (s stat) settled(at time.Time) bool {
	return max(s.mtime, s.ctime) <= at.Add(-settle).UnixNano()
}
