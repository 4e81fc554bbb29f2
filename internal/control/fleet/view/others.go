package view

import (
	"cmp"
	"iter"
	"slices"
	"strings"
	"sync"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/control/fleet/link"
)

// How much of other members is kept, whatever they send: a view has 1 to 2 KiB as a rule.
const (
	mostOf    = 2000     // views of one member
	mostAll   = 20_000   // of all
	mostBytes = 64 << 20 // of all, as they came
)

// Others are the views of other members. Their zero value is not ready: see NewOthers.
type Others struct {
	// changed is called when something has changed. It must not block.
	changed func()

	mu      sync.RWMutex
	members map[string]map[string]*seen // by member and owner
	count   int
	bytes   int
	// reading is the number of the reading from the beginning that is under way: what it does not find again is
	// gone.
	reading int
}

type seen struct {
	owner   daemonapi.Owner
	size    int
	reading int
}

// NewOthers has no views yet.
func NewOthers(changed func()) *Others {
	return &Others{changed: changed, members: map[string]map[string]*seen{}}
}

// Begin is called before everything is read from the beginning. What is known stays until then.
func (v *Others) Begin() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.reading++
}

// Caught is called when everything was read: what was not among it was removed.
func (v *Others) Caught() {
	v.mu.Lock()
	for member, owners := range v.members {
		for id, one := range owners {
			if one.reading != v.reading {
				v.remove(member, id)
			}
		}
	}
	v.mu.Unlock()
	v.changed()
}

// Take takes what a member says of one of its owners: an empty text removes it. What is no view, or that of a
// newer version, is passed over.
func (v *Others) Take(member, id string, text []byte) {
	v.mu.Lock()
	defer v.changed()
	defer v.mu.Unlock()
	if len(text) == 0 {
		v.remove(member, id)
		return
	}
	o, err := Decode(id, text)
	if err != nil {
		return
	}
	v.remove(member, id)
	if v.members[member] == nil {
		v.members[member] = map[string]*seen{}
	}
	v.members[member][id] = &seen{owner: o, size: len(text), reading: v.reading}
	v.count++
	v.bytes += len(text)
	v.shrink(member)
}

// Put shows an owner as its member has just told us. What the member publishes takes its place.
func (v *Others) Put(member string, o daemonapi.Owner) {
	if text, err := Encode(o, true); err == nil {
		v.Take(member, o.ID, text)
	}
}

func (v *Others) remove(member, id string) {
	one := v.members[member][id]
	if one == nil {
		return
	}
	delete(v.members[member], id)
	if len(v.members[member]) == 0 {
		delete(v.members, member)
	}
	v.count--
	v.bytes -= one.size
}

// shrink drops views until there is room again: those of the member that has too many, or of the one that has
// most. Some more go at once, so that not each view that comes has to look for one that goes.
func (v *Others) shrink(member string) {
	if len(v.members[member]) > mostOf {
		v.drop(member, mostOf/20)
	}
	for v.count > mostAll || v.bytes > mostBytes {
		largest := member
		for other, owners := range v.members {
			if len(owners) > len(v.members[largest]) {
				largest = other
			}
		}
		v.drop(largest, 1+len(v.members[largest])/20)
	}
}

// drop drops the oldest views of a member, those that have ended first.
func (v *Others) drop(member string, n int) {
	var all []*daemonapi.Owner
	for _, one := range v.members[member] {
		all = append(all, &one.owner)
	}
	slices.SortFunc(all, byAge)
	for _, o := range all[:min(n, len(all))] {
		v.remove(member, o.ID)
	}
}

// byAge sorts views by which is to be dropped first.
func byAge(a, b *daemonapi.Owner) int {
	if (a.Ended != nil) != (b.Ended != nil) {
		if a.Ended != nil {
			return -1
		}
		return 1
	}
	return cmp.Or(a.Created.Compare(b.Created), strings.Compare(a.ID, b.ID))
}

// Keep drops all views of members that are not among these.
func (v *Others) Keep(members map[string]bool) {
	v.mu.Lock()
	defer v.changed()
	defer v.mu.Unlock()
	for member, owners := range v.members {
		if members[member] {
			continue
		}
		for id := range owners {
			v.remove(member, id)
		}
	}
}

// Empty reports whether there is nothing of any other member.
func (v *Others) Empty() bool {
	v.mu.RLock()
	defer v.mu.RUnlock()
	return v.count == 0
}

// All are the views, with the members that they are of, in any order. They never change: another view takes the
// place of one. The loop must be short, since those that come meanwhile wait.
func (v *Others) All() iter.Seq2[string, *daemonapi.Owner] {
	return func(yield func(string, *daemonapi.Owner) bool) {
		v.mu.RLock()
		defer v.mu.RUnlock()
		for member, owners := range v.members {
			for _, one := range owners {
				if !yield(member, &one.owner) {
					return
				}
			}
		}
	}
}

// Split takes the subject of a view apart.
func Split(names link.Names, subject string) (member, owner string, ok bool) {
	rest, ok := strings.CutPrefix(subject, strings.TrimSuffix(names.AllViews(), ">"))
	parts := strings.Split(rest, ".")
	if !ok || len(parts) != 2 || slices.Contains(parts, "") {
		return "", "", false
	}
	return parts[0], parts[1], true
}
