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
func (s *State) relive(before, after *Owner) {
	if before != nil {
		s.leave(before)
	}
	switch {
	case after.Deleted:
	case !after.Terminal():
		s.live.add(&entry{owner: after})
	case after.Parent == nil:
		s.ended[AtEnd{after.Kind, after.Step}]++
	}
}

func (s *State) leave(o *Owner) {
	switch {
	case !o.Terminal():
		s.live.remove(&entry{owner: o})
	case o.Parent == nil:
		key := AtEnd{o.Kind, o.Step}
		if s.ended[key]--; s.ended[key] == 0 {
			delete(s.ended, key)
		}
	}
}

// LiveAfter is After for those that are not at their end.
func (s *State) LiveAfter(at Place) iter.Seq[*Owner] { return s.live.after(at) }

// Live are all that are not at their end, the newest first.
func (s *State) Live() []*Owner { return slices.Collect(s.LiveAfter(Place{})) }

// Ends are how many owners are at which end, without those that another one runs.
func (s *State) Ends() map[AtEnd]int { return maps.Clone(s.ended) }
