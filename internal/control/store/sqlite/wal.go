package sqlite

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/stopgate/stopgate/internal/control/store"
)

// SQLite's write-ahead log: a header, then frames of one page each. A frame's checksum
// goes on from that of the frame before. After a crash SQLite takes what comes before the
// first frame that does not fit for all there is. That is right for a transaction that
// was being written, and nobody was told of. It is wrong when a byte has changed in the
// middle: then it drops what was acknowledged, and says nothing. So we look first.
const (
	logHeader   = 32
	frameHeader = 24
)

// logDamage is what is wrong with a write-ahead log.
type logDamage struct {
	offset       int64 // of what does not fit
	transactions int   // that come behind it
}

func (d *logDamage) String() string {
	if d.offset == 0 {
		return "the write-ahead log's header is damaged: nothing in it can be read"
	}
	return fmt.Sprintf("the write-ahead log is damaged at byte %d: %d transactions from there on cannot be read", d.offset, d.transactions)
}

// refusal says why the store is not opened: SQLite would write over what is left.
func (d *logDamage) refusal(path string) error {
	return fmt.Errorf("%w: %s; to go on without them, keep a copy and run: truncate -s %d '%s'", store.ErrDamaged, d, d.offset, path)
}

// checkLog looks for damage in a write-ahead log. None is what a crash leaves: a last
// transaction that is not whole.
func checkLog(path string) (*logDamage, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	// Another process may be writing to it: what comes later is not looked at.
	return scanLog(bufio.NewReaderSize(io.LimitReader(f, info.Size()), 1<<20))
}

func scanLog(r io.Reader) (*logDamage, error) {
	header := make([]byte, logHeader)
	if _, err := io.ReadFull(r, header); err != nil {
		return nil, ignoreEnd(err)
	}
	var order binary.ByteOrder
	switch magic := binary.BigEndian.Uint32(header); magic {
	case 0x377f0682:
		order = binary.LittleEndian
	case 0x377f0683:
		order = binary.BigEndian
	}
	size := binary.BigEndian.Uint32(header[8:])
	if order == nil || size < 512 || size > 65536 || size&(size-1) != 0 || !fits(header[24:], checksum(order, [2]uint32{}, header[:24])) {
		if _, err := io.ReadFull(r, header[:1]); err != nil {
			return nil, ignoreEnd(err)
		}
		return &logDamage{}, nil
	}
	return scanFrames(r, order, header, int(size))
}

func scanFrames(r io.Reader, order binary.ByteOrder, header []byte, size int) (*logDamage, error) {
	sum := checksum(order, [2]uint32{}, header[:24])
	salts := string(header[16:24])
	frame := make([]byte, frameHeader+size)
	var damage *logDamage
	commits, open := 0, false // behind the damage; open is a transaction without its commit
	for offset := int64(logHeader); ; offset += int64(len(frame)) {
		if _, err := io.ReadFull(r, frame); err != nil {
			if open {
				commits++
			}
			// One alone may never have been acknowledged.
			if damage == nil || commits < 2 {
				return nil, ignoreEnd(err)
			}
			damage.transactions = commits
			return damage, ignoreEnd(err)
		}
		current := string(frame[8:16]) == salts // not of an earlier round
		if damage == nil {
			next := checksum(order, checksum(order, sum, frame[:8]), frame[frameHeader:])
			if current && fits(frame[16:], next) {
				sum = next
				continue
			}
			damage = &logDamage{offset: offset}
		}
		if current {
			open = binary.BigEndian.Uint32(frame[4:]) == 0
			if !open {
				commits++
			}
		}
	}
}

func fits(stored []byte, sum [2]uint32) bool {
	return binary.BigEndian.Uint32(stored) == sum[0] && binary.BigEndian.Uint32(stored[4:]) == sum[1]
}

// checksum goes on with SQLite's checksum. The data has a multiple of eight bytes.
func checksum(order binary.ByteOrder, sum [2]uint32, data []byte) [2]uint32 {
	for ; len(data) >= 8; data = data[8:] {
		sum[0] += order.Uint32(data) + sum[1]
		sum[1] += order.Uint32(data[4:]) + sum[0]
	}
	return sum
}
