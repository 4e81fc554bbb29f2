package web

import "sync"

// memo keeps some of what took a while to read. It forgets all of it when it is full: what is looked at
// now is read again.
type memo[K comparable, V any] struct {
	most int

	mu  sync.Mutex
	all map[K]V
}

func (m *memo[K, V]) get(key K) (value V, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	value, ok = m.all[key]
	return value, ok
}

func (m *memo[K, V]) put(key K, value V) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.all == nil || len(m.all) >= m.most {
		m.all = map[K]V{}
	}
	m.all[key] = value
}
