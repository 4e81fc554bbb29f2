package effect

import (
	"slices"
	"sync"
)

// place is where agents count together: those of a name in a project, those of a runbook
// in a project, and all on this machine, which is the zero value.
type place struct{ project, runbook, name string }

var machine place

// limit is how many agents a place has room for, by the word of whoever wants one there.
// Zero is no limit.
type limit struct {
	place
	atMost int
}

// slots lets no more agents run than there is room for: first come, first served. Its
// zero value is empty.
type slots struct {
	most    func() int // on this machine, as it is now; nil is no limit
	mu      sync.Mutex
	live    map[string][]limit // by the agent's id
	waiting []applicant        // as they came
}

type applicant struct {
	agent   string
	limits  []limit
	granted chan struct{}
}

// hold counts an agent that runs, or may.
func (s *slots) hold(agent string, limits []limit) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.let(agent, limits)
}

// apply asks for a place, which is the agent's when the channel is closed; at once where
// it holds one. Either way, release ends it.
func (s *slots) apply(agent string, limits []limit) (granted <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := applicant{agent, limits, make(chan struct{})}
	if _, in := s.live[agent]; in {
		close(a.granted)
		return a.granted
	}
	s.waiting = append(s.waiting, a)
	s.letIn()
	return a.granted
}

// release gives a place back, or asks for it no longer.
func (s *slots) release(agent string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.live, agent)
	s.waiting = slices.DeleteFunc(s.waiting, func(a applicant) bool { return a.agent == agent })
	s.letIn()
}

// look lets in those for whom a person has made room. Of those who wait, the first looks for
// all.
func (s *slots) look(agent string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.waiting) > 0 && s.waiting[0].agent == agent {
		s.letIn()
	}
}

// waits reports whether there is no room for an agent yet.
func (s *slots) waits(agent string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(s.waiting, func(a applicant) bool { return a.agent == agent })
}

// letIn lets in those for whom there is room. Nobody overtakes another at a place that is
// full for the other; at a place that has room, one need not wait for somebody who waits
// elsewhere.
func (s *slots) letIn() {
	if len(s.waiting) == 0 {
		return
	}

	most := limit{place: machine}
	if s.most != nil {
		most.atMost = s.most()
	}
	counts := map[place]int{machine: len(s.live)}
	for _, limits := range s.live {
		for _, l := range limits {
			counts[l.place]++
		}
	}

	full := map[place]bool{}
	var left []applicant
	for _, a := range s.waiting {
		free := true
		limits := append(slices.Clone(a.limits), most)
		for _, l := range limits {
			if l.atMost > 0 && (full[l.place] || counts[l.place] >= l.atMost) {
				full[l.place], free = true, false
			}
		}

		if !free {
			left = append(left, a)
			continue
		}
		for _, l := range limits {
			counts[l.place]++
		}
		s.let(a.agent, a.limits)
		close(a.granted)
	}
	s.waiting = left
}

func (s *slots) let(agent string, limits []limit) {
	if s.live == nil {
		s.live = map[string][]limit{}
	}
	s.live[agent] = limits
}
