package effect

import (
	"slices"
	"sync"
)

// place is where agents count together.
type place struct{ project, name string }

// slots lets no more agents of a name run in a project than their runbook allows: first
// come, first served. Its zero value is empty.
type slots struct {
	mu      sync.Mutex
	live    map[string]place // by the agent's id
	waiting map[place][]applicant
}

type applicant struct {
	agent   string
	atMost  int
	granted chan struct{}
}

// hold counts an agent that runs, or may.
func (s *slots) hold(agent string, at place) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.let(agent, at)
}

// apply asks for a place, which is the agent's when the channel is closed; at once where
// it holds one, or where there is no limit. Either way, release ends it.
func (s *slots) apply(agent string, at place, atMost int) (granted <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := applicant{agent, atMost, make(chan struct{})}
	if _, in := s.live[agent]; in || atMost <= 0 {
		s.let(agent, at)
		close(a.granted)
		return a.granted
	}
	if s.waiting == nil {
		s.waiting = map[place][]applicant{}
	}
	s.waiting[at] = append(s.waiting[at], a)
	s.letIn(at)
	return a.granted
}

// release gives a place back, or asks for it no longer.
func (s *slots) release(agent string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if at, in := s.live[agent]; in {
		delete(s.live, agent)
		s.letIn(at)
		return
	}
	for at, queue := range s.waiting {
		i := slices.IndexFunc(queue, func(a applicant) bool { return a.agent == agent })
		if i >= 0 {
			s.waiting[at] = slices.Delete(queue, i, i+1)
			s.letIn(at) // the next may be content with less room
			return
		}
	}
}

// letIn lets in those for whom there is room.
func (s *slots) letIn(at place) {
	for len(s.waiting[at]) > 0 && s.count(at) < s.waiting[at][0].atMost {
		first := s.waiting[at][0]
		s.waiting[at] = s.waiting[at][1:]
		s.let(first.agent, at)
		close(first.granted)
	}
	if len(s.waiting[at]) == 0 {
		delete(s.waiting, at)
	}
}

func (s *slots) let(agent string, at place) {
	if s.live == nil {
		s.live = map[string]place{}
	}
	s.live[agent] = at
}

func (s *slots) count(at place) (n int) {
	for _, other := range s.live {
		if other == at {
			n++
		}
	}
	return n
}
