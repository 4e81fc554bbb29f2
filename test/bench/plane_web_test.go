//go:build unix

package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/record/journal"
)

// What is sent is counted, all of it, and a page only where it is one.
func TestStreamsAreCounted(t *testing.T) {
	const sent = "event: version\ndata: 1\n\n:\n\nevent: main\nid: x\ndata: one\n\nevent: nav\ndata: n\n\nevent: main\ndata: two\n\n"
	b := &stream{address: "/", next: make(chan struct{})}
	b.read(strings.NewReader(sent))
	if updates, size := b.count(); updates != 2 || size != len(sent) {
		t.Errorf("%d updates, %d bytes of %d", updates, size, len(sent))
	}
	check(t, b.wait(t.Context(), func(page []byte) bool { return bytes.Contains(page, []byte("two")) }))
	if err := b.wait(t.Context(), func(page []byte) bool { return bytes.Contains(page, []byte("one")) }); err == nil {
		t.Error("a stream that has ended is waited for")
	}
}

// All sessions are told of in turns, and each record says something about its session.
func TestTheFeedTellsOfAllSessions(t *testing.T) {
	s := &site{journal: journalOf(testState(t, testLab(t), "s")), sessions: 3}
	for range 4 * s.sessions {
		check(t, s.tellNext())
	}
	told := map[string]int{}
	for e, err := range s.journal.Backward(journal.Position{}, nil) {
		check(t, err)
		if e.Record != nil {
			told[e.Record.Session]++
		}
	}
	for i := range s.sessions {
		if told[sessionID(i)] != 4 {
			t.Errorf("%v", told)
		}
	}
	if sessionID(marked) != markedSession {
		t.Error(sessionID(marked))
	}
}
