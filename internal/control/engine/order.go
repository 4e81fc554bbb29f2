package engine

import (
	"cmp"
	"iter"
	"slices"
	"time"
)

// Place is where something stands in a list that has the newest first.
type Place struct {
	Time time.Time
	ID   string // tells apart what has the same time
}

// Compare is negative where a place comes before another one: it is newer.
func (p Place) Compare(other Place) int {
	return cmp.Or(other.Time.Compare(p.Time), cmp.Compare(p.ID, other.ID))
}

// Place is the owner's place among all owners.
func (o *Owner) Place() Place { return Place{o.Created, o.ID} }

// order is all owners, the oldest first: a new one comes last, which costs nothing.
type order []*entry

// find is where an owner with that place is, or would be.
func (o order) find(at Place) (int, bool) {
	return slices.BinarySearchFunc(o, at, func(e *entry, at Place) int { return at.Compare(e.owner.Place()) })
}

func (o *order) add(e *entry) {
	at, _ := o.find(e.owner.Place())
	*o = slices.Insert(*o, at, e)
}

func (o *order) remove(e *entry) {
	if at, is := o.find(e.owner.Place()); is {
		*o = slices.Delete(*o, at, at+1)
	}
}

// after are those behind a place, the newest first.
func (o order) after(at Place) iter.Seq[*Owner] {
	end := len(o)
	if at != (Place{}) {
		end, _ = o.find(at)
	}
	return func(yield func(*Owner) bool) {
		for _, e := range slices.Backward(o[:end]) {
			if !yield(e.owner) {
				return
			}
		}
	}
}

// After are the owners behind a place, the newest first. The zero Place is before all of them. The
// state must not change meanwhile.
func (s *State) After(at Place) iter.Seq[*Owner] { return s.order.after(at) }

// Owners are all, the newest first.
func (s *State) Owners() []*Owner {
	owners := make([]*Owner, 0, len(s.order))
	for o := range s.After(Place{}) {
		owners = append(owners, o)
	}
	return owners
}
