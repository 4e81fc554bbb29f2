package process

import (
	"io"
	"os"
	"sync"
	"time"
)

// followInterval is how soon we see what a command has written to a file.
const followInterval = 10 * time.Millisecond

// follow copies what is written to the spool. The function that it returns copies
// the rest, once the command has ended.
func follow(spool *os.File, stdout io.Writer) (copied func()) {
	if spool == nil {
		return func() {}
	}
	f := &follower{from: spool, to: &guarded{to: stdout}, buf: make([]byte, 64<<10)}
	over := make(chan struct{})
	var done sync.WaitGroup
	done.Go(func() {
		tick := time.NewTicker(followInterval)
		defer tick.Stop()
		for {
			select {
			case <-over:
				return
			case <-tick.C:
				f.copy()
			}
		}
	})
	return func() {
		close(over)
		done.Wait()
		f.copy()
	}
}

type follower struct {
	from *os.File
	to   io.Writer
	at   int64
	buf  []byte
}

// copy takes what is there now, and stops at a file that cannot be read.
func (f *follower) copy() {
	for {
		n, err := f.from.ReadAt(f.buf, f.at)
		_, _ = f.to.Write(f.buf[:n]) // never fails
		f.at += int64(n)
		if err != nil {
			return
		}
	}
}
