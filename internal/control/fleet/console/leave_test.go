package console

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/control/fleet/member"
)

// Leaving is confirmed.
func TestIssue20LeavingAFleetIsConfirmed(t *testing.T) {
	for typed, leaves := range map[string]bool{"y\n": true, "YES\n": true, "\n": false, "no\n": false, "vps\n": false, "": false, "y": false} {
		var asked strings.Builder
		c := &command{in: strings.NewReader(typed), errOut: &asked}
		err := c.agree(t.Context(), "Take vps out of the fleet home?")
		if (err == nil) != leaves || err != nil && !strings.Contains(err.Error(), "nothing was changed") {
			t.Errorf("%q: %v", typed, err)
		}
		if !strings.HasPrefix(asked.String(), "Take vps") {
			t.Errorf("it asks %q", asked.String())
		}
	}

	s := newScene(t)
	s.ok("a", "init", "home", "--name", "a", "--hub", address(t))
	s.ok("b", "join", s.token("a"), "--name", "b")
	s.types = "no\n"
	s.fails(1, "Take b out of the fleet home? [no]: stopgate: not confirmed; nothing was changed", "a", "leave", "b")
	s.fails(1, "Take this machine, b, out of the fleet home? [no]: stopgate: not confirmed", "b", "leave")
	if v := s.status("b"); len(v.Members) != 2 {
		t.Errorf("%+v", v.Members)
	}
	s.ok("b", "leave", "--yes")
}

// A signal ends a command that waits for an answer.
func TestIssue20AQuestionCanBeInterrupted(t *testing.T) {
	in, typed := io.Pipe()
	defer typed.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c := &command{in: in, errOut: io.Discard}
	if err := c.agree(ctx, "Leave?"); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// Where only the maker can do something, it is named as well as this machine can.
func TestIssue20TheMakerIsNamed(t *testing.T) {
	hubs := []member.Hub{{Host: "10.0.0.1", Port: 1}}
	for _, c := range []struct {
		id      member.Identity
		records []member.Record
		want    string
	}{
		{member.Identity{Hubs: hubs, Hub: 1}, nil, "run: x"},
		{member.Identity{NATS: "nats://a"}, nil, "run: x"},
		{member.Identity{Hubs: hubs}, nil, "on the machine at 10.0.0.1, which made the fleet: x"},
		{member.Identity{Hubs: hubs, Hub: 2}, []member.Record{{Name: "b", Hub: 2}, {Name: "a", Hub: 1}}, "on a: x"},
	} {
		if got := makerIn(c.records).run(c.id, "x"); got != c.want {
			t.Errorf("%q, and not %q", got, c.want)
		}
	}
	if m := makerIn([]member.Record{{Name: "a", Hub: 1, Left: true}}); !m.left {
		t.Errorf("%+v", m)
	}
}
