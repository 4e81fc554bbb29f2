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
