package journal

import (
	"crypto/rand"
	"os"
	"sync"
	"time"

	"github.com/oklog/ulid/v2"
)

// entropy comes from the kernel: two processes that start in the same
// millisecond must not make the same ids. It is made at first use.
var entropy = sync.OnceValue(func() ulid.MonotonicReader {
	return &ulid.LockedMonotonicReader{MonotonicReader: ulid.Monotonic(rand.Reader, 0)}
})

// NewID returns a new ULID. Those of one process sort in the order they were made
// in, while the clock does not go back.
func NewID() string {
	// A clock outside of what a ULID can hold is no reason to lose a fact. With
	// that, only an overflow of 80 random bits could make MustNew panic.
	ms := min(uint64(max(0, time.Now().UnixMilli())), ulid.MaxTime())
	return ulid.MustNew(ms, entropy()).String()
}

// host is empty when the system has no name for itself.
var host = sync.OnceValue(func() string {
	name, _ := os.Hostname()
	return name
})

// boot tells the pids of different boots apart. It is empty where the system has
// no such id.
var boot = sync.OnceValue(bootID)
