package daemon

import "sync"

// bell tells everyone who waits that something has changed. The zero value is ready.
type bell struct {
	mu   sync.Mutex
	next chan struct{}
}

// rung returns a channel that is closed when the bell is rung next. To miss nothing, take it
// before looking.
func (b *bell) rung() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.next == nil {
		b.next = make(chan struct{})
	}
	return b.next
}

func (b *bell) ring() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.next != nil {
		close(b.next)
	}
	b.next = nil
}
