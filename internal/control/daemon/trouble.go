package daemon

import (
	"fmt"
	"maps"
	"slices"
	"sync"
)

// trouble is what keeps the daemon from its work at the moment, for people to see.
type trouble struct {
	mu  sync.Mutex
	now map[string]string // by what is in trouble
}

// set says what is wrong with something; nil, that it is in order again.
func (t *trouble) set(what string, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err == nil {
		delete(t.now, what)
		return
	}
	if t.now == nil {
		t.now = map[string]string{}
	}
	t.now[what] = err.Error()
}

// count is how many things are in trouble.
func (t *trouble) count() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.now)
}

// list is all trouble in words. What many have, as when the disk is full, is said once.
func (t *trouble) list() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var reasons []string
	have := map[string][]string{}
	for _, what := range slices.Sorted(maps.Keys(t.now)) {
		why := t.now[what]
		if have[why] == nil {
			reasons = append(reasons, why)
		}
		have[why] = append(have[why], what)
	}
	for i, why := range reasons {
		who := have[why][0]
		if more := len(have[why]) - 1; more > 0 {
			who += fmt.Sprintf(" and %d more", more)
		}
		reasons[i] = who + ": " + why
	}
	return reasons
}
