//go:build unix

package stop

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stopgate/stopgate/internal/record/event"
)

// The record of a session's last stop is found without looking for it, and never another's.
func TestTheLastStopOfASession(t *testing.T) {
	t.Parallel()
	s := newWork(t)
	s.config(untilGood)
	s.approve()
	write(t, s.path("red"), "")
	if r, found := Last(s.state, "first"); found {
		t.Fatalf("before any stop: %+v", r)
	}
	for _, session := range []string{"first", "second"} {
		wantBlock(t, s.stop(fields{"session_id": session}), "check:.:t")
	}
	check(t, os.Remove(s.path("red")))
	wantAllow(t, s.stop(fields{"session_id": "second"}), "")

	for session, decision := range map[string]string{"first": "block", "second": "allow"} {
		r, found := Last(s.state, session)
		if !found || r.Kind != event.Answered || r.Session != session || r.Decision != decision || len(r.Trees) == 0 {
			t.Errorf("%s: %+v", session, r)
		}
	}

	check(t, os.Rename(answerFile(s.state, "first"), answerFile(s.state, "third")))
	if r, found := Last(s.state, "third"); found {
		t.Errorf("another session's: %+v", r)
	}
	check(t, os.RemoveAll(filepath.Join(s.state, "journal")))
	if r, found := Last(s.state, "second"); found {
		t.Errorf("without a journal: %+v", r)
	}
}
