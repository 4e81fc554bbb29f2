package nudge

import "sync"

// Bell tells everyone who waits that something has changed. The zero value is ready.
type Bell struct {
	mu   sync.Mutex
	next chan struct{}
}

// Rung returns a channel that is closed when the bell is rung next. To miss nothing, take it
// before looking.
func (b *Bell) Rung() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.next == nil {
		b.next = make(chan struct{})
	}
	return b.next
}

// Ring tells everyone who waits.
func (b *Bell) Ring() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.next != nil {
		close(b.next)
	}
	b.next = nil
}
