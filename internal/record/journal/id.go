package journal

import (
	"encoding/binary"
	"math/rand/v2"
	"sync"
	"time"
)

// NewID returns a new ULID: 48 bits of milliseconds, then 79 random ones, in
// Crockford's base 32. Those of one process sort in the order they were made in,
// while the clock does not go back.
//
// The random bits need not be secret, only different in every process; the
// runtime seeds math/rand/v2 from the kernel at start. crypto/rand costs 60 µs at
// its first use, and the ULID package 40 µs of start-up.
func NewID() string {
	ids.Lock()
	defer ids.Unlock()
	now := uint64(max(0, time.Now().UnixMilli())) & (1<<48 - 1)
	if now == ids.ms {
		ids.low++
	} else {
		// The top bit is clear, so that counting up cannot wrap.
		ids.ms, ids.high, ids.low = now, uint16(rand.Uint32()), rand.Uint64()>>1
	}
	var id [16]byte
	binary.BigEndian.PutUint64(id[:8], ids.ms<<16|uint64(ids.high))
	binary.BigEndian.PutUint64(id[8:], ids.low)
	return crockford(id)
}

// ids holds the last id of this process.
var ids struct {
	sync.Mutex
	ms   uint64
	high uint16
	low  uint64
}

// crockford writes 128 bits as 26 digits of five bits each, the first two bits
// being zero.
func crockford(id [16]byte) string {
	high, low := binary.BigEndian.Uint64(id[:8]), binary.BigEndian.Uint64(id[8:])
	var out [26]byte
	for i := len(out) - 1; i >= 0; i-- {
		out[i] = digits[low&31]
		low = low>>5 | high<<59
		high >>= 5
	}
	return string(out[:])
}

const digits = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
