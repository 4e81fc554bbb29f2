package workload

import (
	"bytes"
	"fmt"
	"hash/crc32"
)

// AckBytes is the size of an acknowledgement: a sector, which a disk writes whole.
const AckBytes = 512

// Ack says that an operation of a part was acknowledged. The guest writes it to the end of the same
// disk, behind the file system: so it has its place in the order of all writes, and whatever was
// flushed before it was on the disk when the operation was acknowledged.
type Ack struct {
	Part string
	N    int
}

// Encode fills a sector.
func (a Ack) Encode() []byte {
	body := fmt.Sprintf("%s %d", a.Part, a.N)
	sector := make([]byte, AckBytes)
	copy(sector, fmt.Sprintf("ack %08x %s\n", crc32.ChecksumIEEE([]byte(body)), body))
	return sector
}

// DecodeAck reads a sector.
func DecodeAck(sector []byte) (a Ack, err error) {
	line, _, _ := bytes.Cut(sector, []byte("\n"))
	var sum uint32
	if _, err := fmt.Sscanf(string(line), "ack %x %s %d", &sum, &a.Part, &a.N); err != nil || !bytes.Equal(a.Encode(), sector) {
		return Ack{}, fmt.Errorf("invalid acknowledgement %.60q", line)
	}
	return a, nil
}
