package beat

import (
	"cmp"
	"fmt"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/sys/seedtest"
)

// story tells an observer what it hears, second by second.
type story struct {
	t      *testing.T
	sight  Sight
	at     time.Duration
	counts map[string]uint64
}

func newStory(t *testing.T) *story {
	return &story{t: t, sight: Sight{Me: "me"}, at: time.Hour, counts: map[string]uint64{}}
}

// pass lets some time pass in which these members beat.
func (s *story) pass(d time.Duration, members ...string) {
	for end := s.at + d; s.at < end; {
		s.at += Every
		for _, member := range members {
			s.hear(member, Beat{})
		}
	}
}

func (s *story) hear(member string, b Beat) {
	s.counts[member]++
	b.Life, b.Count = cmp.Or(b.Life, "1"), s.counts[member]
	s.sight.Hear(member, b, s.at)
}

func (s *story) is(member string, want State) {
	s.t.Helper()
	if got := s.sight.State(member, s.at); got != want {
		silence, sure := s.sight.Silence(member, s.at)
		s.t.Errorf("after %s %s is %s, not %s (silent for %s, %v)", s.at-time.Hour, member, got, want, silence, sure)
	}
}

func TestAMemberThatFallsSilent(t *testing.T) {
	s := newStory(t)
	s.pass(10*time.Second, "me", "vps")
	s.is("vps", Up)
	s.pass(27*time.Second, "me")
	s.is("vps", Up)
	s.pass(6*time.Second, "me")
	s.is("vps", Silent)
	s.pass(30*time.Second, "me")
	s.is("vps", Lost)
	s.hear("vps", Beat{})
	s.is("vps", Up)
	s.is("stranger", Unknown)
}

// What a member said before we listened may be years old.
func TestAnOldBeatIsNoSignOfLife(t *testing.T) {
	s := newStory(t)
	s.hear("vps", Beat{Life: "old"})
	s.pass(10*time.Second, "me")
	s.is("vps", Unknown)
	for range 20 { // it is read again, as after a reconnect
		s.pass(Every, "me")
		s.sight.Hear("vps", Beat{Life: "old", Count: 1}, s.at)
	}
	s.is("vps", Lost)
	s.hear("vps", Beat{Life: "new"})
	s.is("vps", Up)
}

// While our own beats do not come back, the silence of others says nothing; afterwards it counts anew.
func TestIssue20AnObserverJudgesOnlyWhileItHearsItself(t *testing.T) {
	s := newStory(t)
	s.pass(10*time.Second, "me", "vps")
	s.pass(10 * time.Minute)
	s.is("vps", Unknown)
	if s.sight.Linked(s.at) {
		t.Error("a link on which nothing comes is up")
	}
	s.pass(27*time.Second, "me")
	s.is("vps", Unknown)
	s.pass(6*time.Second, "me")
	s.is("vps", Silent)
	s.pass(30*time.Second, "me")
	s.is("vps", Lost)

	s.sight.Begin()
	s.is("vps", Unknown)
	s.pass(27*time.Second, "me")
	s.is("vps", Unknown)
}

// An observer that was stopped for minutes wakes up and has missed everything: that proves nothing.
func TestAnObserverThatWasStopped(t *testing.T) {
	s := newStory(t)
	s.pass(10*time.Second, "me", "vps")
	s.at += 5 * time.Minute
	s.is("vps", Unknown)
	s.hear("me", Beat{})
	s.is("vps", Unknown)
	s.hear("vps", Beat{})
	s.is("vps", Up)
}

func TestIssue20AMachineThatSleepsIsNotLost(t *testing.T) {
	s := newStory(t)
	s.pass(10*time.Second, "me")
	for range 5 {
		s.pass(Every, "me")
		s.hear("laptop", Beat{Slept: 3600})
		s.hear("server", Beat{})
	}
	s.pass(33*time.Second, "me")
	s.is("laptop", Asleep)
	s.is("server", Silent)
	s.pass(24*time.Hour, "me")
	s.is("laptop", Asleep)
	s.is("server", Lost)
	s.hear("laptop", Beat{Slept: 90000})
	s.is("laptop", Up)

	s.hear("server", Beat{Sleeping: true}) // its first time, and it says so
	s.is("server", Up)
	s.pass(9*time.Second, "me")
	s.is("server", Asleep)
	s.pass(24*time.Hour, "me")
	s.is("server", Asleep)
	s.hear("server", Beat{})
	s.is("server", Up)
}

// A daemon that was stopped says so, and is stopped until another one begins: also for those who come later.
func TestIssue20ADaemonThatWasStoppedIsNotLost(t *testing.T) {
	s := newStory(t)
	s.pass(10*time.Second, "me", "vps")
	s.hear("vps", Beat{Stopped: true})
	s.is("vps", Stopped)
	s.pass(24*time.Hour, "me")
	s.is("vps", Stopped)
	s.pass(time.Minute)
	s.is("vps", Unknown) // we do not hear ourselves

	late := newStory(t)
	late.hear("vps", Beat{Stopped: true}) // the last word that there is
	late.pass(10*time.Second, "me")
	late.is("vps", Stopped)
	for _, s := range []*story{s, late} {
		s.pass(10*time.Second, "me")
		s.hear("vps", Beat{Life: "2"})
		s.is("vps", Up)
		s.pass(2*time.Minute, "me")
		s.is("vps", Lost) // it was killed
	}
}

// Whatever is heard, in whichever order: a member is lost only after a minute in which its count stood still
// and our own beats came.
func TestLostIsNeverSaidTooEarly(t *testing.T) {
	r := seedtest.New(t)
	for range 200 {
		s := newStory(t)
		moved, own, linked := map[string]time.Duration{}, time.Duration(-1), time.Duration(-1)
		for range 300 {
			s.at += time.Duration(r.IntN(8)) * time.Second
			switch member := fmt.Sprint("m", r.IntN(3)); r.IntN(6) {
			case 0:
				s.sight.Begin()
				linked = -1
			case 1: // an old one comes again
				s.sight.Hear(member, Beat{Life: "1", Count: max(s.counts[member], 1)}, s.at)
				s.counts[member] = max(s.counts[member], 1)
			case 2:
				s.hear(member, Beat{})
				moved[member] = s.at
			default:
				s.hear("me", Beat{})
				if own < 0 || s.at-own > UnheardAfter {
					linked = -1
				}
				if linked < 0 {
					linked = s.at
				}
				own = s.at
			}
			for i := range 3 {
				member := fmt.Sprint("m", i)
				if s.sight.State(member, s.at) == Lost && (linked < 0 || s.at-linked < LostAfter || s.at-moved[member] < LostAfter || s.at-own > UnheardAfter) {
					t.Fatalf("%s is lost too early", member)
				}
			}
		}
	}
}
