package metrics

import (
	"sync"

	"github.com/stopgate/stopgate/internal/sys/plain"
)

const (
	// mostGates is how many gates count by name. Each has some 20 series.
	mostGates = 100
	// longestName is how many bytes of a name are kept.
	longestName = 64
	// mostKnown is how many durations of gates are kept, one for each job of each working tree.
	mostKnown = 10_000
)

// names are the values of a label that others choose. The first ones count by name, all later ones
// together, so that the number of series has a limit.
type names struct {
	most int

	mu    sync.Mutex
	known map[string]bool
}

func newNames(most int) *names { return &names{most: most, known: map[string]bool{}} }

// name is the label's value for a name.
func (n *names) name(raw string) string {
	value := plain.Short(raw, longestName)
	if value == "" {
		return other
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.known[value] && len(n.known) == n.most {
		return other
	}
	n.known[value] = true
	return value
}

// durations are how long gates took the last time. When there are too many it starts again: what was
// forgotten counts as nothing until it runs again.
type durations struct {
	most int

	mu    sync.Mutex
	known map[string]int64 // milliseconds
}

func newDurations(most int) *durations { return &durations{most: most, known: map[string]int64{}} }

func (d *durations) set(id string, ms int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, known := d.known[id]; !known && len(d.known) == d.most {
		clear(d.known)
	}
	d.known[id] = ms
}

func (d *durations) get(id string) int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.known[id]
}
