package web

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/stopgate/stopgate/internal/record/journal"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// Soundness is what a look at all that a store holds came to.
type Soundness struct {
	Events   int
	Sound    bool
	Findings []string
}

// verification is what a look at everything on record came to: what stopgate log verify does.
type verification struct {
	Running bool
	Began   time.Time
	Ended   time.Time // zero while it never was done
	Journal journal.Report
	Store   Soundness
	Trouble []string // what could not be read
	More    int      // findings that are not listed
}

// Sound reports whether everything was read, and is as it was.
func (v verification) Sound() bool {
	return len(v.Trouble) == 0 && len(v.Journal.Damage) == 0 && v.Store.Sound
}

// verifier verifies, once at a time.
type verifier struct {
	mu   sync.Mutex
	last verification
}

func (v *verifier) get() verification {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.last
}

// begin reports whether it is the caller's to verify now.
func (v *verifier) begin(now time.Time) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.last.Running {
		return false
	}
	v.last.Running, v.last.Began = true, now
	return true
}

func (v *verifier) end(found verification) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.last = found
}

// verify is the action behind the button. It takes as long as reading everything does, so that the page
// says what came of it later.
func verify(r *Request) (next string, err error) {
	s := r.site
	if !s.verified.begin(r.Now) {
		return "/journal#verify", nil
	}
	before := s.verified.get()
	if !s.run(func(ctx context.Context) { s.verified.end(s.look(ctx)) }) {
		before.Running = false
		s.verified.end(before)
	}
	return "/journal#verify", nil
}

// look reads everything that is on record.
func (s *Site) look(ctx context.Context) verification {
	const most = 20 // findings of each that a person reads
	v := verification{Began: s.Now()}
	var err error
	if v.Journal, err = s.roster.journal.Verify(ctx); err != nil {
		v.Trouble = append(v.Trouble, "The journal cannot be read: "+plain.Line(err.Error()))
	}
	if v.Store, err = s.Plane.VerifyStore(ctx); err != nil && !errors.Is(err, context.Canceled) {
		v.Trouble = append(v.Trouble, "The daemon's store cannot be read: "+plain.Line(err.Error()))
	}
	var more int
	v.Journal.Damage, v.More = firstOf(v.Journal.Damage, most)
	v.Store.Findings, more = firstOf(v.Store.Findings, most)
	v.More, v.Ended = v.More+more, s.Now()
	return v
}

func verifyTone(v verification) string {
	if v.Sound() {
		return "good"
	}
	return "bad"
}
