package sqlite

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/stopgate/stopgate/internal/control/store"
	"github.com/stopgate/stopgate/internal/sys/atomicfile"
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
	return fmt.Sprintf("the write-ahead log is damaged at byte %d: %d transactions after that cannot be read", d.offset, d.transactions)
}

// refusal says why the store is not opened: SQLite would write over what is left.
func (d *logDamage) refusal(path string) error {
	return fmt.Errorf("%w: %s; to continue without them, make a copy and run: truncate -s %d '%s'", store.ErrDamaged, d, d.offset, path)
}

// settleLog refuses a log that is damaged in its middle. Despite that, it is put aside, and what
// comes before the damage is kept.
func settleLog(database string, despite bool) ([]store.Finding, error) {
	damage, err := checkLog(database)
	if err != nil || damage == nil {
		return nil, err
	}
	log := database + "-wal"
	if !despite {
		return nil, damage.refusal(log)
	}
	aside := fmt.Sprintf("%s.damaged-%d", log, time.Now().UnixNano())
	whole, err := os.ReadFile(log)
	if err == nil {
		err = atomicfile.Write(aside, whole, 0o600)
	}
	if err == nil {
		err = os.Truncate(log, damage.offset)
	}
	if err != nil {
		return nil, err
	}
	return []store.Finding{{Text: fmt.Sprintf("%s; the log as it was is %s", damage, aside)}}, nil
}

// checkLog looks for damage in a database's log. None is what a crash leaves: a last
// transaction that is not whole.
func checkLog(database string) (*logDamage, error) {
	f, err := os.Open(database + "-wal")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return scanLog(bufio.NewReaderSize(f, 1<<20))
}

func scanLog(log *bufio.Reader) (*logDamage, error) {
	header := make([]byte, logHeader)
	if _, err := io.ReadFull(log, header); err != nil {
		return nil, ignoreEnd(err)
	}
	if _, err := log.Peek(1); err != nil {
		return nil, ignoreEnd(err)
	}
	order := binary.ByteOrder(binary.LittleEndian)
	if header[3]&1 == 1 {
		order = binary.BigEndian
	}
	sum, page := checksum(order, [2]uint32{}, header[:24]), binary.BigEndian.Uint32(header[8:])
	if binary.BigEndian.Uint32(header)&^1 != 0x377f0682 || page < 512 || page > 65536 || !fits(header[24:], sum) {
		return &logDamage{}, nil
	}
	return scanFrames(log, make([]byte, frameHeader+page), order, sum, string(header[16:24]))
}

// scanFrames counts the transactions of the log's current round from the first frame on that
// does not fit, also a last one without its end.
func scanFrames(log io.Reader, frame []byte, order binary.ByteOrder, sum [2]uint32, salts string) (*logDamage, error) {
	var damage *logDamage
	open := 0 // 1 in a transaction without its end
	for offset := logHeader; ; offset += len(frame) {
		if _, err := io.ReadFull(log, frame); err != nil {
			// One alone may never have been acknowledged.
			if damage == nil || damage.transactions+open < 2 {
				return nil, ignoreEnd(err)
			}
			damage.transactions += open
			return damage, ignoreEnd(err)
		}

		current := string(frame[8:16]) == salts // not of an earlier round
		if damage == nil {
			sum = checksum(order, checksum(order, sum, frame[:8]), frame[frameHeader:])
			if current && fits(frame[16:], sum) {
				continue
			}
			damage = &logDamage{offset: int64(offset)}
		}

		switch {
		case current && binary.BigEndian.Uint32(frame[4:]) == 0:
			open = 1
		case current:
			open = 0
			damage.transactions++
		}
	}
}

// ignoreEnd takes the end of a file for no error.
func ignoreEnd(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	return err
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
