//go:build unix

package driver

import (
	"errors"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/session/terminal"
)

func TestAdd(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.register(`{"agents":[{"agent_id":"warden","session_name":"warden-main-4","commands":["/gsd:*"]}]}`)
	w := s.ready(mainSession)
	add := func(commands ...string) bool {
		t.Helper()
		_, added, err := s.outside().Add(t.Context(), Order{Session: mainSession, Commands: commands})
		check(t, err)
		return added
	}

	// Without a queue it makes one; after that it appends, and types nothing.
	if add("/gsd:a") {
		t.Error("added to a queue that was not there")
	}
	w.wantBytes(pasted("/gsd:a") + enter)
	id := s.queue(mainSession).Stopgate.ID
	if !add(" /gsd:b ", "/gsd:c") {
		t.Error("made another queue")
	}
	w.wantBytes(pasted("/gsd:a") + enter)
	q := s.queue(mainSession)
	if left := strings.Join(q.Remaining(), "|"); left != "/gsd:a|/gsd:b|/gsd:c" || q.Stopgate.ID != id {
		t.Errorf("the queue %s has %s", q.Stopgate.ID, left)
	}

	// What may not be typed, and a session that is not there, change nothing.
	var refused *RefusedError
	if _, _, err := s.outside().Add(t.Context(), Order{Session: mainSession, Commands: []string{"rm -rf /"}}); !errors.As(err, &refused) {
		t.Errorf("got %v, want it refused", err)
	}
	if _, _, err := s.outside().Add(t.Context(), Order{Session: "warden-main-9", Commands: []string{"/gsd:a"}}); !errors.Is(err, terminal.ErrNoSession) {
		t.Errorf("got %v, want no such session", err)
	}
	if n := len(s.queue(mainSession).Commands); n != 3 {
		t.Errorf("the queue has %d commands", n)
	}
}

// A queue that delivers a message says by its end that the message has arrived.
func TestAddToAMessage(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.ready(mainSession)
	_, err := s.outside().Create(t.Context(), Order{Session: mainSession, Key: "k", Commands: []string{"a message"}})
	check(t, err)
	var refused *RefusedError
	if _, _, err = s.outside().Add(t.Context(), Order{Session: mainSession, Commands: []string{"more"}}); !errors.As(err, &refused) {
		t.Errorf("got %v, want it refused", err)
	}
}
