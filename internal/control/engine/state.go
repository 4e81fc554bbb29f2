package engine

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/control/intake"
)

// State is all owners, found by what people and hooks know of them. It holds no lock:
// owners are never changed once they are put in, but the state itself is.
type State struct {
	owners   map[string]*entry
	order    order
	live     order             // those that are not at their end
	ended    map[AtEnd]int     // how many of those that are, and that no other one runs
	agents   map[string]string // the owner's id, by its current agent's id
	sessions map[string]string // the owner's id, by its current agent's session
	plans    plans
	groups   map[group]crowd
	children map[string][]*entry // by the parent's id, the oldest first
	projects map[string]int      // how many owners each has

	// Held are the owners whose events cannot all be read, by their subjects, with why. Such an
	// owner is as it was before, or not known at all, and nothing moves it.
	Held map[string]string

	// Intake is what projects start by themselves.
	Intake intake.State
}

// entry is an owner with what it is found by, and how it was counted. An owner may be changed in place
// before it is put in again: see Apply.
type entry struct {
	owner   *Owner
	agent   string
	session string
	project string
	live    bool
	end     AtEnd // of one that no other one runs
}

// NewState is a state without owners.
func NewState() *State {
	return &State{
		owners: map[string]*entry{}, agents: map[string]string{}, sessions: map[string]string{},
		groups: map[group]crowd{}, children: map[string][]*entry{}, ended: map[AtEnd]int{}, projects: map[string]int{},
		Intake: intake.State{},
	}
}

// Put takes an owner, in place of its older self. One that was deleted is forgotten.
func (s *State) Put(o *Owner) {
	if s.owners[o.ID] == nil && !o.Deleted {
		o.Plan = s.plans.share(o.Plan)
	}
	s.put(o)
}

// put is Put for an owner whose plan is shared already.
func (s *State) put(o *Owner) {
	old, e := s.owners[o.ID], indexed(o)
	s.regroup(s.Owner(o.ID), o)
	s.relive(old, e)
	if old != nil && !o.Deleted && o.Created.Equal(old.owner.Created) && s.finds(*old, e) {
		*old = e
		return
	}
	if old != nil {
		s.forget(old)
	}
	if !o.Deleted {
		s.add(&e)
	}
}

// add has an owner be found.
func (s *State) add(e *entry) {
	id := e.owner.ID
	if e.agent != "" {
		s.agents[e.agent], s.sessions[e.session] = id, id
	}
	s.owners[id] = e
	s.projects[e.project]++
	s.order.add(e)
	if p := e.owner.Parent; p != nil {
		s.children[p.ID] = append(s.children[p.ID], e)
	}
}

// forget is add undone.
func (s *State) forget(e *entry) {
	id := e.owner.ID
	if s.agents[e.agent] == id {
		delete(s.agents, e.agent)
	}
	if s.sessions[e.session] == id {
		delete(s.sessions, e.session)
	}
	delete(s.owners, id)
	if s.projects[e.project]--; s.projects[e.project] == 0 {
		delete(s.projects, e.project)
	}
	s.order.remove(e)
	if p := e.owner.Parent; p != nil {
		s.children[p.ID] = slices.DeleteFunc(s.children[p.ID], func(other *entry) bool { return other == e })
		if len(s.children[p.ID]) == 0 {
			delete(s.children, p.ID)
		}
	}
}

// Children are the pipelines that steps of an owner ran, the oldest first.
func (s *State) Children(id string) (all []*Owner) {
	for _, e := range s.children[id] {
		all = append(all, e.owner)
	}
	slices.SortFunc(all, func(a, b *Owner) int { return b.Place().Compare(a.Place()) })
	return all
}

// indexed is an owner with what it is to be found by.
func indexed(o *Owner) entry {
	e := entry{owner: o, project: o.Project}
	if o.Agent != nil {
		e.agent, e.session = o.Agent.ID, o.Agent.Session
	}
	switch {
	case o.Deleted:
	case !o.Terminal():
		e.live = true
	case o.Parent == nil:
		e.end = AtEnd{o.Kind, o.Step}
	}
	return e
}

// finds reports whether an owner is found as it is to be, as after most steps.
func (s *State) finds(old, e entry) bool {
	return old.agent == e.agent && old.session == e.session && old.project == e.project &&
		(e.agent == "" || s.agents[e.agent] == e.owner.ID && s.sessions[e.session] == e.owner.ID)
}

// Projects are those that owners belong to, so many at most: those of the newest owners.
func (s *State) Projects(most int) []string {
	if len(s.projects) <= most {
		return slices.Sorted(maps.Keys(s.projects))
	}
	newest := map[string]bool{}
	for o := range s.After(Place{}) {
		if newest[o.Project] = true; len(newest) == most {
			break
		}
	}
	return slices.Sorted(maps.Keys(newest))
}

// Len is how many owners there are.
func (s *State) Len() int { return len(s.owners) }

// Owner is the owner with an id, or nil.
func (s *State) Owner(id string) *Owner {
	if e := s.owners[id]; e != nil {
		return e.owner
	}
	return nil
}

// Resolve finds an owner by the beginning of its id. The error is a *Refusal: no such
// owner, or several.
func (s *State) Resolve(prefix string) (*Owner, error) {
	if o := s.Owner(prefix); o != nil {
		return o, nil
	}
	var found []*Owner
	for id, e := range s.owners {
		if prefix != "" && strings.HasPrefix(id, prefix) {
			found = append(found, e.owner)
		}
	}
	if err := one(len(found), "pipeline or agent run", prefix); err != nil {
		return nil, err
	}
	return found[0], nil
}

// one refuses a prefix that does not mean exactly one thing.
func one(n int, what, prefix string) error {
	switch n {
	case 0:
		return &Refusal{"not_found", fmt.Sprintf("there is no %s %q", what, clip(prefix, 80))}
	case 1:
		return nil
	}
	return &Refusal{"conflict", fmt.Sprintf("%[2]q is ambiguous (%[1]d matches)", n, clip(prefix, 80))}
}

// OwnerOfAgent is the owner whose current agent has the id, or nil. An agent that was replaced
// has none, also when its session goes on.
func (s *State) OwnerOfAgent(id string) *Owner { return s.Owner(s.agents[id]) }

// OwnerOf is the owner whose current agent has the id, or whose current agent's client
// has that session, or nil.
func (s *State) OwnerOf(agentOrSession string) *Owner {
	return cmp.Or(s.OwnerOfAgent(agentOrSession), s.Owner(s.sessions[agentOrSession]))
}

// ResolveDecision finds a decision, open or settled, by the beginning of its id.
func (s *State) ResolveDecision(prefix string) (*Owner, Decision, error) {
	var owners []*Owner
	var found []Decision
	for _, e := range s.owners {
		for _, d := range e.owner.Decisions() {
			if d.ID == prefix {
				return e.owner, d, nil
			}
			if prefix != "" && strings.HasPrefix(d.ID, prefix) {
				owners, found = append(owners, e.owner), append(found, d)
			}
		}
	}
	if err := one(len(found), "decision", prefix); err != nil {
		return nil, Decision{}, err
	}
	return owners[0], found[0], nil
}

// Decisions are the open one, if there is one, and the latest that were settled, the
// newest first.
func (o *Owner) Decisions() []Decision {
	var all []Decision
	if o.Decision != nil {
		all = append(all, *o.Decision)
	}
	for _, d := range slices.Backward(o.Settled) {
		all = append(all, d)
	}
	return all
}

// Signal is an agent's signal, and whether it may stop because of it. An agent without an
// owner may stop without one: its pipeline has moved on.
func (s *State) Signal(agentID string) (signal Signal, given bool) {
	o := s.OwnerOfAgent(agentID)
	switch {
	case o == nil:
		return Signal{}, true
	case o.Agent.Signal == nil:
		return Signal{}, false
	}
	return *o.Agent.Signal, true
}

// The states of replies. None says that nobody is asked, or will be: the agent's client
// has to ask itself.
const (
	ReplyNone     = "none"
	ReplyOpen     = "open"
	ReplyAnswered = "answered"
)

// Reply answers a hook of an agent that waits for a person.
func (s *State) Reply(agentID, ref string) Reply {
	if o := s.OwnerOfAgent(agentID); o != nil && ref != "" {
		return o.reply(ref)
	}
	return Reply{State: ReplyNone}
}

// reply is what became of what the current agent asks.
func (o *Owner) reply(ref string) Reply {
	if o.Decision != nil && o.Decision.Ref == ref || o.Agent.asks(ref) {
		return Reply{State: ReplyOpen}
	}
	over := false
	for _, d := range o.Settled {
		switch {
		case d.Ref != ref || d.AgentID != o.Agent.ID:
		case d.Closed == "":
			return Reply{State: ReplyAnswered, Option: d.Chosen, Message: d.Message, Answers: d.Answers}
		default:
			over = true
		}
	}
	return Reply{State: ReplyNone, Over: over}
}
