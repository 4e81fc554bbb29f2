package hook

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"time"
)

const (
	// MaxPayload bounds what is read from Claude Code. A payload carries at most
	// one message or one tool response; 8 MiB is far above any seen.
	MaxPayload = 8 << 20
	// ReadPatience bounds the wait for the end of the payload. Claude Code writes
	// it at once and closes; a caller that does not still gets an answer.
	ReadPatience = 5 * time.Second
)

// Read reads one payload. A stream that stays open is no fault when a whole
// JSON document has arrived by the end of patience.
func Read(r io.Reader, patience time.Duration) ([]byte, error) {
	data, open, err := readAll(r, patience)
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the payload: %w", err)
	case len(data) > MaxPayload:
		return nil, fmt.Errorf("the payload is larger than %d MiB", MaxPayload>>20)
	case open && !json.Valid(data):
		return nil, fmt.Errorf("read the payload: standard input is still open after %s and has no complete JSON document", patience)
	}
	return data, nil
}

// readInBackground reads up to one byte more than a payload may have, and for no
// longer than patience; open says that the stream had not ended by then.
func readInBackground(r io.Reader, patience time.Duration) (data []byte, open bool, err error) {
	var in intake
	done := make(chan error, 1)
	go func() {
		_, err := io.Copy(&in, io.LimitReader(r, MaxPayload+1))
		done <- err
	}()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case err := <-done:
		return in.bytes(), false, err
	case <-timer.C:
		return in.bytes(), true, nil
	}
}

// intake collects what the reading goroutine got so far. That goroutine may
// outlive the call on a stream that never ends, hence the lock.
type intake struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (in *intake) Write(p []byte) (int, error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.buf.Write(p)
}

func (in *intake) bytes() []byte {
	in.mu.Lock()
	defer in.mu.Unlock()
	return bytes.Clone(in.buf.Bytes())
}
