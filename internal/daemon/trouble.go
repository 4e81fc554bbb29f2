package daemon

import (
	"maps"
	"slices"
	"sync"
)

// trouble is what keeps the daemon from its work at the moment, for people to see.
type trouble struct {
	mu  sync.Mutex
	now map[string]string // by what is in trouble
}

// is says what is wrong with something.
func (t *trouble) is(what, why string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.now == nil {
		t.now = map[string]string{}
	}
	t.now[what] = why
}

// over says that something is in order again.
func (t *trouble) over(what string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.now, what)
}

// list is all trouble in words.
func (t *trouble) list() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var out []string
	for _, what := range slices.Sorted(maps.Keys(t.now)) {
		out = append(out, what+": "+t.now[what])
	}
	return out
}
