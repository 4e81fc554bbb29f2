package beat

import "time"

// State is how a member stands, as an observer sees it.
type State string

// The states.
const (
	Up     State = "up"
	Silent State = "silent" // for SilentAfter
	Lost   State = "lost"   // for LostAfter
	// Asleep is a machine that said that it is about to sleep, or that is silent and was suspended before. It is
	// waited for.
	Asleep State = "asleep"
	// Stopped is a machine whose daemon was stopped: it said so. It is waited for, for a while.
	Stopped State = "stopped"
	// Unknown is a member that was never heard of, or any while the observer does not hear itself.
	Unknown State = "unknown"
)

// Pulse is what an observer knows of one member. It is a function of what the observer has heard.
type Pulse struct {
	Beat Beat          // the newest
	At   time.Duration // when its count moved last, or it was heard first, by the observer's clock
	// Live means that the count was seen to move: the first beat that is heard may be years old.
	Live bool
}

// After is the pulse after a beat was heard.
func (p Pulse) After(b Beat, at time.Duration) Pulse {
	switch {
	case p.Beat.Life == "":
		return Pulse{Beat: b, At: at}
	case b.Life == p.Beat.Life && b.Count <= p.Beat.Count: // it was read again
		return p
	}
	return Pulse{Beat: b, At: at, Live: true}
}

// Sight is an observer: what it knows of the members, by its own clock. Times are those of a monotonic clock,
// from any beginning. The zero Sight, with a name, has heard of none.
type Sight struct {
	Me     string // the observer's own name as a member
	pulses map[string]Pulse
	// since is from when on the silence of others counts: the observer hears itself since then.
	since time.Duration
	hears bool
}

// Begin is that a link was made, or made again: silence counts from the first own beat on.
func (s *Sight) Begin() { s.hears = false }

// Hear takes a beat of a member.
func (s *Sight) Hear(member string, b Beat, at time.Duration) {
	if s.pulses == nil {
		s.pulses = map[string]Pulse{}
	}
	before := s.pulses[member]
	after := before.After(b, at)
	s.pulses[member] = after
	if member != s.Me || !after.Live || after.At != at {
		return
	}
	if !s.hears || at-before.At > UnheardAfter {
		s.since, s.hears = at, true
	}
}

// Forget drops a member that is not in the fleet any more.
func (s *Sight) Forget(member string) { delete(s.pulses, member) }

// Linked reports whether the observer hears itself.
func (s *Sight) Linked(at time.Duration) bool {
	return s.hears && at-s.pulses[s.Me].At <= UnheardAfter
}

// Silence is for how long a member has said nothing while the observer would have heard it. Without sure that
// cannot be judged now.
func (s *Sight) Silence(member string, at time.Duration) (d time.Duration, sure bool) {
	if !s.Linked(at) {
		return 0, false
	}
	p, known := s.pulses[member]
	if !known {
		return 0, false
	}
	return max(at-max(s.since, p.At), 0), true
}

// State is how a member stands.
func (s *Sight) State(member string, at time.Duration) State {
	silence, sure := s.Silence(member, at)
	p := s.pulses[member]
	switch {
	case !sure:
		return Unknown
	case p.Beat.Stopped: // its last word, however old that is
		return Stopped
	case silence > 2*Every && p.Beat.Sleeping, silence >= SilentAfter && p.Beat.Slept > 0:
		return Asleep
	case silence >= LostAfter:
		return Lost
	case silence >= SilentAfter:
		return Silent
	case !p.Live || at-p.At >= SilentAfter:
		return Unknown // it has said nothing since we listen, which is not long
	}
	return Up
}

// Pulse is what is known of a member.
func (s *Sight) Pulse(member string) (p Pulse, known bool) {
	p, known = s.pulses[member]
	return p, known
}
