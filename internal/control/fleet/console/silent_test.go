package console

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/control/fleet/hub"
	"github.com/stopgate/stopgate/internal/control/fleet/hub/hubtest"
	"github.com/stopgate/stopgate/internal/control/fleet/member"
	"github.com/stopgate/stopgate/internal/sys/checktest"
)

// A hub that does not answer a join has one exit code and one sentence, whatever the network says, and what helps
// where the fleet has others.
func TestIssue20AJoinWithoutAnAnswer(t *testing.T) {
	s := newScene(t)
	state := s.state("a")
	for host, says := range map[string]string{
		"127.0.0.1":       "does not answer: is that machine up",
		"255.255.255.255": "does not answer: is that machine up", // the system refuses at once: there is no way to it
	} {
		id := member.Identity{Fleet: "home", Name: "a", User: "anna", Hubs: []member.Hub{{Host: host, Port: hubtest.Port(t)}}}
		check(t, hub.Found(state, id, time.Now()))
		token := s.token("a")
		s.fails(3, says, "b", "join", token, "--name", "b")
		s.fails(3, "run stopgate fleet invite on one of them", "b", "join", token, "--name", "b")
	}
	refused := errors.New("the token expired")
	if err := unanswered(member.Token{}, refused); err != refused {
		t.Errorf("a hub that refuses has answered: %v", err)
	}
	for hub, hint := range map[bool]string{false: "on one of them", true: "hubs join at the machine that made the fleet"} {
		got, _ := errors.AsType[codeError](unanswered(member.Token{Runs: hub}, fmt.Errorf("%w within 5s", member.ErrNoAnswer)))
		if got.code != exitCouldNotRun || !strings.Contains(got.hint, hint) {
			t.Errorf("a hub that is connected and silent: %+v", got)
		}
	}
}

// The third invitation of a hub says that it replaces the first.
func TestIssue20AnInvitationSaysWhatItReplaces(t *testing.T) {
	s := newScene(t)
	s.ok("a", "init", "home", "--name", "a", "--hub", address(t), "--hub", address(t), "--hub", address(t))
	first := s.token("a", "--hub")
	if out := s.ok("a", "invite", "--hub"); strings.Contains(out, "replaces") {
		t.Error(out)
	}
	token, err := member.ParseToken(first)
	check(t, err)
	if out := s.ok("a", "invite", "--hub"); !strings.Contains(out, "It replaces the token that was made before for the hub at "+token.At.Address()) {
		t.Error(out)
	}
	s.fails(1, "a later one has replaced it", "b", "join", first, "--name", "b")
	var v invitation
	check(t, json.Unmarshal([]byte(s.ok("a", "invite", "--hub", "--json")), &v))
	if !v.Replaced {
		t.Errorf("%+v", v)
	}
}

// A member leaves while a hub is away: those that are up take it out, and it says so.
func TestIssue20LeavingWhileAHubIsAway(t *testing.T) {
	s := newScene(t)
	s.ok("a", "init", "home", "--name", "a", "--hub", address(t), "--hub", address(t), "--hub", address(t))
	for _, name := range []string{"b", "c"} {
		s.ok(name, "join", s.token("a", "--hub"), "--name", name)
	}
	checktest.Succeeds(t, "the fleet can be used", func() error {
		for _, hub := range s.status("a").HubStatus {
			if hub.Status == nil || hub.Status.Waits != "" {
				return fmt.Errorf("%+v", hub)
			}
		}
		return nil
	})
	check(t, member.Forget(s.state("c"))) // its hub ends, and the fleet does not know
	checktest.Succeeds(t, "a hub is away", func() error {
		if hub.Runs(s.state("c")) {
			return errors.New("it runs")
		}
		return nil
	})
	for _, name := range []string{"d", "e", "f"} {
		s.ok(name, "join", s.token("a"), "--name", name)
		if out := s.ok(name, "leave"); strings.Contains(out, "No hub") {
			t.Error(out)
		}
	}
}
