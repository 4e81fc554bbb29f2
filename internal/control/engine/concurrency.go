package engine

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/stopgate/stopgate/internal/control/runbook"
)

// Turn is an owner's place in a group of its project.
type Turn struct {
	Group  string `json:"group"`
	Limit  int    `json:"limit"`
	Cancel bool   `json:"cancel,omitempty"` // the oldest of the group make room for it

	// What it begins with once there is room.
	Step    string `json:"step"`
	Session string `json:"session,omitempty"`
	Message string `json:"message,omitempty"`
	Again   bool   `json:"again,omitempty"` // a person resumed it
}

// Facts about groups.
type (
	// PipelineQueued is a pipeline that begins when there is room in its group.
	PipelineQueued struct{ Turn }
	// PipelineAdmitted is a pipeline for which there is room now.
	PipelineAdmitted struct {
		Group string `json:"group"`
	}
)

func (PipelineQueued) EventType() string { return "pipeline:queued" }

func (f PipelineQueued) apply(o *Owner, s *Step) { o.Turn, o.Status, o.Step = &f.Turn, Queued, "" }

func (PipelineAdmitted) EventType() string { return "pipeline:admitted" }

func (f PipelineAdmitted) apply(o *Owner, s *Step) {
	turn := *o.Turn
	turn.Session, turn.Message = "", ""
	o.Turn, o.Status = &turn, Running
}

// queueOr begins with a step now, or when there is room in the owner's group: who is first, the
// daemon says, which sees all owners. A child of one that is in the group has its parent's room.
func (d *draft) queueOr(step string, how opening) {
	again := len(d.History) > 0
	c := d.Plan.Pipeline.Concurrency
	group := clip(d.expand(c.Group, ""), maxID)
	if c.Group == "" || d.Parent != nil && slices.Contains(d.Parent.Groups, group) {
		d.setOut(step, how, again)
		return
	}
	d.fact(PipelineQueued{Turn{
		Group: group, Limit: max(c.Limit, 1), Cancel: c.WhenFull == runbook.FullCancel,
		Step: step, Session: how.session, Message: how.message, Again: again,
	}})
}

// setOut begins with a step, for the first time or again.
func (d *draft) setOut(step string, how opening, again bool) {
	switch {
	case !again:
		d.report(d.expand(d.Plan.Pipeline.Notify.OnStart, ""))
	case step == d.Plan.Pipeline.Finally: // all else was done
		d.fact(PipelineEnding{runbook.EndDone})
	}
	d.enter(step, how)
}

// admit begins an owner that waits for room.
func (d *draft) admit() {
	if d.Status != Queued {
		return
	}
	turn := *d.Turn
	d.fact(PipelineAdmitted{turn.Group})
	d.setOut(turn.Step, opening{turn.Session, turn.Message}, turn.Again)
}

// leaveQueue ends an owner that waits for room: nothing has run that on_cancel or finally could
// clean up.
func (d *draft) leaveQueue(at string) {
	d.fact(PipelineEnding{at})
	d.end(at)
}

// group is a group of a project.
type group struct{ project, name string }

// crowd are the ids of those in a group: who takes room in it, and who waits for that.
type crowd struct{ inside, waiting map[string]bool }

// part is what an owner has to do with its group.
func (o *Owner) part() (inside, waiting bool) {
	if o == nil || o.Turn == nil || o.Deleted {
		return false, false
	}
	waiting = o.Status == Queued
	return o.Status != Queued && !o.Terminal() || o.winding(), waiting
}

// winding reports whether something of the owner may still run. People may be told of it later.
func (o *Owner) winding() bool {
	return slices.ContainsFunc(o.Effects, func(e OpenEffect) bool { return e.Kind != NotifyPerson })
}

// Moved reports whether an owner that has changed makes room in a group, or asks for it.
func Moved(before, after *Owner) bool {
	inside, waiting := after.part()
	wasInside, wasWaiting := before.part()
	return inside != wasInside || waiting != wasWaiting
}

// regroup keeps who is in which group.
func (s *State) regroup(before, after *Owner) {
	if before != nil && before.Turn != nil {
		g := group{before.Project, before.Turn.Group}
		if c, known := s.groups[g]; known {
			delete(c.inside, after.ID)
			delete(c.waiting, after.ID)
			if len(c.inside)+len(c.waiting) == 0 {
				delete(s.groups, g)
			}
		}
	}

	inside, waiting := after.part()
	if !inside && !waiting {
		return
	}

	g := group{after.Project, after.Turn.Group}
	c, known := s.groups[g]
	if !known {
		c = crowd{map[string]bool{}, map[string]bool{}}
		s.groups[g] = c
	}

	if inside {
		c.inside[after.ID] = true
	}
	if waiting {
		c.waiting[after.ID] = true
	}
}

// Admission is what is to be done in the groups: whom to admit, and whom to cancel.
type Admission struct {
	Admit  []*Owner
	Cancel []Superseded
}

// Superseded is an owner that makes room for a newer one of its group.
type Superseded struct {
	Owner, By string // ids
	Why       string
}

// Admission says who has room in its group now. They are admitted in the order of their creation;
// the limit is that of the one that asks. An owner that is held keeps the room that it has, and is
// not admitted.
func (s *State) Admission() (a Admission) {
	groups := slices.SortedFunc(maps.Keys(s.groups), func(a, b group) int {
		return cmp.Or(cmp.Compare(a.project, b.project), cmp.Compare(a.name, b.name))
	})
	for _, g := range groups {
		if c := s.groups[g]; len(c.waiting) > 0 {
			gone := s.supersede(&a, g.name, c)
			s.admitTo(&a, c, gone)
		}
	}
	return a
}

// supersede finds who is cancelled for a newer one of the group, so that only the newest are left,
// as many as that one's limit.
func (s *State) supersede(a *Admission, name string, c crowd) (gone map[string]bool) {
	gone = map[string]bool{}
	var all []*Owner
	for i, o := range s.byBirth(c.inside, c.waiting) {
		all = append(all, o)
		if o.Status != Queued || !o.Turn.Cancel {
			continue
		}
		for _, older := range all[:max(0, i+1-o.Turn.Limit)] {
			if gone[older.ID] || older.Cancelling || older.Terminal() || s.stuck(older) {
				continue
			}
			gone[older.ID] = true
			a.Cancel = append(a.Cancel, Superseded{older.ID, o.ID, fmt.Sprintf("superseded by %.8s in group %s", o.ID, name)})
		}
	}
	return gone
}

// admitTo finds who of a group has room. A later one never overtakes.
func (s *State) admitTo(a *Admission, c crowd, gone map[string]bool) {
	inside := len(c.inside)
	for _, o := range s.byBirth(c.waiting) {
		switch {
		case gone[o.ID] || s.stuck(o):
		case inside >= o.Turn.Limit || o.winding():
			return
		default:
			inside++
			a.Admit = append(a.Admit, o)
		}
	}
}

// stuck reports whether nothing moves an owner.
func (s *State) stuck(o *Owner) bool { return s.Held[Subject(o.Kind, o.ID)] != "" }

// byBirth are owners in the order of their creation.
func (s *State) byBirth(sets ...map[string]bool) []*Owner {
	all := map[string]*Owner{}
	for _, set := range sets {
		for id := range set {
			all[id] = s.Owner(id)
		}
	}
	return slices.SortedFunc(maps.Values(all), func(a, b *Owner) int {
		return cmp.Or(cmp.Compare(a.Born, b.Born), cmp.Compare(a.ID, b.ID))
	})
}

// Inside are those that take room in the group of an owner that waits for it, the oldest first.
func (s *State) Inside(o *Owner) (ids []string) {
	if _, waiting := o.part(); !waiting {
		return nil
	}
	for _, other := range s.byBirth(s.groups[group{o.Project, o.Turn.Group}].inside) {
		ids = append(ids, other.ID)
	}
	return ids
}
