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
	// MaxPayload bounds what is read from the client. A payload carries at most
	// one message or one tool response; 8 MiB is far above any seen.
	MaxPayload = 8 << 20
	// ReadPatience bounds the wait for the end of the payload. The client writes
	// it at once and closes; a caller that does not still gets an answer.
	ReadPatience = 5 * time.Second
)

// Read reads one payload. A stream that stays open is no fault when a whole
// JSON document has arrived by the end of patience.
func Read(r io.Reader, patience time.Duration) ([]byte, error) {
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
		if err != nil {
			return nil, fmt.Errorf("read the payload: %w", err)
		}
	case <-timer.C:
		if !json.Valid(in.bytes()) {
			return nil, fmt.Errorf("read the payload: standard input is still open after %s and holds no whole JSON document", patience)
		}
	}
	data := in.bytes()
	if len(data) > MaxPayload {
		return nil, fmt.Errorf("the payload is larger than %d MiB", MaxPayload>>20)
	}
	return data, nil
}

// intake collects what the reading goroutine got so far. That goroutine may
// outlive Read on a stream that never ends, hence the lock.
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
