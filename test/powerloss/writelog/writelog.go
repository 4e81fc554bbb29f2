// Package writelog reads what QEMU's blklogwrites recorded of a disk, and makes the disks that a
// loss of power could have left.
package writelog

import (
	"encoding/binary"
	"fmt"
	"io"
)

// The format, of dm-log-writes: a sector with the header, then for each request a sector that
// describes it and the sectors of its data. All numbers are little-endian.
const (
	magic       = 0x6a736677736872
	version     = 1
	headerBytes = 28
	entryBytes  = 32
	// A sector has at least what a header takes, and at most what disks have.
	minSector, maxSector = 512, 1 << 16
)

// Flags say what kind of request an entry is.
type Flags uint64

// The flags.
const (
	Flush   Flags = 1 << iota // what was completed before is durable; the entry's own data is written after that
	FUA                       // durable when it is completed
	Discard                   // the sectors are not needed any more; there is no data
	Mark                      // text for whoever reads the log
)

// Entry is one request.
type Entry struct {
	Sector  int64
	Sectors int64
	Flags   Flags
	data    int64 // where it is in the log
}

// Log is what was recorded, in the order in which the requests reached the disk.
type Log struct {
	SectorSize int64
	Entries    []Entry
	file       io.ReaderAt
}

// Read reads the descriptions of all requests in a log of that many bytes. The data stays where it
// is.
func Read(file io.ReaderAt, size int64) (*Log, error) {
	header := make([]byte, headerBytes)
	if err := readAt(file, header, 0, size); err != nil {
		return nil, fmt.Errorf("header: %w", err)
	}
	order := binary.LittleEndian
	if got := order.Uint64(header); got != magic {
		return nil, fmt.Errorf("not a log of writes: it begins with %#x", got)
	}
	if got := order.Uint64(header[8:]); got != version {
		return nil, fmt.Errorf("unknown version %d", got)
	}
	l := &Log{file: file, SectorSize: int64(order.Uint32(header[24:]))}
	if s := l.SectorSize; s < minSector || s > maxSector || s&(s-1) != 0 {
		return nil, fmt.Errorf("invalid sector size %d", s)
	}

	count, at := order.Uint64(header[16:]), l.SectorSize
	for n := range count {
		next, err := l.readEntry(at, size)
		if err != nil {
			return nil, fmt.Errorf("entry %d of %d: %w", n, count, err)
		}
		at = next
	}
	return l, nil
}

// readEntry adds the entry at an offset and returns where the next one begins.
func (l *Log) readEntry(at, size int64) (next int64, err error) {
	text := make([]byte, entryBytes)
	if err := readAt(l.file, text, at, size); err != nil {
		return 0, err
	}
	order := binary.LittleEndian
	sector, sectors := order.Uint64(text), order.Uint64(text[8:])
	e := Entry{Flags: Flags(order.Uint64(text[16:])), data: at + l.SectorSize}
	most := uint64(1<<62) / uint64(l.SectorSize) // so that no offset overflows
	if sector > most || sectors > most-sector {
		return 0, fmt.Errorf("%d sectors at %d are on no disk", sectors, sector)
	}
	e.Sector, e.Sectors = int64(sector), int64(sectors)

	next = e.data
	switch {
	case e.Flags&Mark != 0:
		if length := order.Uint64(text[24:]); length > uint64(l.SectorSize)-entryBytes {
			return 0, fmt.Errorf("a mark of %d bytes does not fit into its sector", length)
		}
	case e.Flags&Discard == 0:
		if e.Sectors > (size-min(size, e.data))/l.SectorSize {
			return 0, fmt.Errorf("its data of %d sectors is beyond the end of the log", e.Sectors)
		}
		next += e.Sectors * l.SectorSize
	}
	l.Entries = append(l.Entries, e)
	return next, nil
}

func readAt(file io.ReaderAt, to []byte, at, size int64) error {
	if at < 0 || at+int64(len(to)) > size {
		return fmt.Errorf("offset %d is beyond the end of the log at %d", at, size)
	}
	_, err := file.ReadAt(to, at)
	return err
}

// Data is what an entry wrote.
func (l *Log) Data(e Entry) ([]byte, error) {
	if !e.writes() {
		return nil, nil
	}
	data := make([]byte, e.Sectors*l.SectorSize)
	_, err := l.file.ReadAt(data, e.data)
	return data, err
}

// writes reports whether the entry has data for the disk.
func (e Entry) writes() bool { return e.Flags&(Discard|Mark) == 0 && e.Sectors > 0 }
