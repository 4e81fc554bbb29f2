package engine

import (
	"iter"
	"maps"
	"slices"
)

// AtEnd is a kind of owners that are at the same end.
type AtEnd struct {
	Kind Kind
	Step string // done, failed, cancelled
}

// relive keeps the owners that are not at their end, and the count of the others, when one changes. A
// state has many thousands that have ended, and people mostly ask for those that have not.
func (s *State) relive(before *entry, after entry) {
	if before != nil {
		s.leave(before)
	}
	if after.live {
		s.live.add(&entry{owner: after.owner})
	}
	if after.end != (AtEnd{}) {
		s.ended[after.end]++
	}
}

func (s *State) leave(e *entry) {
	if e.live {
		s.live.remove(e)
	}
	if e.end == (AtEnd{}) {
		return
	}
	if s.ended[e.end]--; s.ended[e.end] == 0 {
		delete(s.ended, e.end)
	}
}

// LiveAfter is After for those that are not at their end.
func (s *State) LiveAfter(at Place) iter.Seq[*Owner] { return s.live.after(at) }

// Live are all that are not at their end, the newest first.
func (s *State) Live() []*Owner { return slices.Collect(s.LiveAfter(Place{})) }

// Ends are how many owners are at which end, without those that another one runs.
func (s *State) Ends() map[AtEnd]int { return maps.Clone(s.ended) }
