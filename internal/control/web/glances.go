package web

import (
	"sync"
	"time"

	"github.com/stopgate/stopgate/internal/gate/doctor"
)

const (
	// glanceFresh is for how long what was seen of a project counts as it is.
	glanceFresh = 4 * time.Second
	// glancePatience is how long a page waits: a project may lie on a disk that does not answer.
	glancePatience = 150 * time.Millisecond
	// glancesAtOnce is how many projects are looked at at once.
	glancesAtOnce = 4
)

// glances are what was seen of projects a moment ago.
type glances struct {
	patience time.Duration // glancePatience
	slots    chan struct{}

	mu    sync.Mutex
	known map[string]*glanced
}

type glanced struct {
	doctor.Glance
	at   time.Time     // zero until it was seen
	done chan struct{} // closed when it was; nil while it is not looked at
}

func newGlances() *glances {
	return &glances{patience: glancePatience, slots: make(chan struct{}, glancesAtOnce), known: map[string]*glanced{}}
}

// of is what is known of some projects: of those that do not answer in time, what was seen before, or
// nothing.
func (g *glances) of(plane Plane, roots []string, now time.Time) map[string]doctor.Glance {
	patience := time.NewTimer(g.patience)
	defer patience.Stop()
	over := false
	for _, done := range g.look(plane, roots, now) {
		if over {
			break
		}
		select {
		case <-done:
		case <-patience.C:
			over = true
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	seen := map[string]doctor.Glance{}
	for _, root := range roots {
		if one := g.known[root]; one != nil && !one.at.IsZero() {
			seen[root] = one.Glance
		}
	}
	return seen
}

// look begins to look at the projects that were not looked at for a while, and forgets others.
func (g *glances) look(plane Plane, roots []string, now time.Time) (waiting []<-chan struct{}) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for root, one := range g.known {
		if one.done == nil && now.Sub(one.at) > time.Minute {
			delete(g.known, root)
		}
	}
	for _, root := range roots {
		one := g.known[root]
		if one == nil {
			one = &glanced{}
			g.known[root] = one
		}
		if one.done == nil && (one.at.IsZero() || now.Sub(one.at) > glanceFresh || now.Before(one.at)) {
			one.done = make(chan struct{})
			go g.see(plane, root, one, now)
		}
		if one.done != nil {
			waiting = append(waiting, one.done)
		}
	}
	return waiting
}

func (g *glances) see(plane Plane, root string, one *glanced, now time.Time) {
	g.slots <- struct{}{}
	defer func() { <-g.slots }()
	seen := plane.Glance(root, now)
	g.mu.Lock()
	defer g.mu.Unlock()
	one.Glance, one.at = seen, now
	close(one.done)
	one.done = nil
}
