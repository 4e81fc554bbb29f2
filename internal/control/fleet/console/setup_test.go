package console

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/control/fleet/hub/hubtest"
	"github.com/stopgate/stopgate/internal/control/fleet/member"
)

// threeHubs is a member of a fleet of three hubs on ports where nothing listens.
func threeHubs(t *testing.T) member.Identity {
	id := member.Identity{Fleet: "home", Name: "d"}
	for range 3 {
		id.Hubs = append(id.Hubs, member.Hub{Host: "127.0.0.1", Port: hubtest.Port(t)})
	}
	return id
}

// A fleet that is being set up waits: hubs that answer are not dead, and a hub that has joined is not to be invited.
func TestIssue20DoctorWhileTheFleetIsSetUp(t *testing.T) {
	now := time.Now()
	id := threeHubs(t)
	answers := func(made bool, joined ...int) hubLook {
		s := member.HubStatus{Version: version(), Since: now, Expires: now.Add(lots), SyncAlways: true, Waits: "the fleet waits for hub-3", Made: made}
		for _, n := range joined {
			s.Peers = append(s.Peers, member.HubPeer{Name: member.HubName(n), Joined: true})
		}
		return hubLook{Status: &s}
	}
	away := hubLook{err: nats.ErrNoServers}
	for _, test := range []struct {
		what      string
		hubs      []hubLook
		level     string
		says, not string
	}{
		{"hub-3 has not joined", []hubLook{answers(false, 2), answers(false, 1), away}, levelWait, "wait  hub-3: no machine has joined as this hub yet\n      → on a: stopgate fleet invite --hub", "DEAD"},
		{"hub-3 has joined, and is away", []hubLook{answers(false, 2, 3), answers(false, 1), away}, levelWait, "no hub runs on it\n      → on that machine: stopgate daemon start\n", "invite"},
		{"the first hub is away", []hubLook{away, answers(false, 1), away}, levelWait, "if none has joined as hub-3 yet, on a: stopgate fleet invite --hub", "DEAD"},
		{"two hubs are away later", []hubLook{answers(true), away, away}, levelDead, "DEAD  quorum: 1 of 3 hubs answer", "invite"},
		{"all hubs are away", []hubLook{away, away, away}, levelDead, "DEAD  quorum: none of the 3 hubs answers", "invite"},
	} {
		s := status{HubStatus: test.hubs, maker: maker{name: "a"}}
		for i := range s.HubStatus {
			s.HubStatus[i].Name = member.HubName(i + 1)
		}
		c, d, up := &command{now: func() time.Time { return now }}, &diagnosis{}, 0
		for i := range s.HubStatus {
			if c.checkHub(t.Context(), d, id, s, i+1) {
				up++
			}
		}
		d.checkQuorum(id, s, up)
		text := strings.ReplaceAll(d.text(), " ()", "")
		if d.worst() != test.level || !strings.Contains(text, test.says) || strings.Contains(text, test.not) {
			t.Errorf("%s: %s\n%s", test.what, d.worst(), text)
		}
	}
}

// Members use one port of a hub, and hubs two.
func TestIssue20DoctorNamesThePortsThatAreNeeded(t *testing.T) {
	id := member.Identity{Fleet: "home", Name: "d", Hubs: []member.Hub{{Host: "255.255.255.255", Port: 7000}, {Host: "a", Port: 1}, {Host: "b", Port: 1}}}
	if _, hint := symptom(t.Context(), id, 1, nats.ErrNoServers); !strings.Contains(hint, "its port 7000 must be open") {
		t.Error(hint)
	}
	id.Hub = 2
	if _, hint := symptom(t.Context(), id, 1, nats.ErrNoServers); !strings.Contains(hint, "its ports 7000 and 7001 must be open") {
		t.Error(hint)
	}
}

// A machine that some hubs do not know yet was not taken out.
func TestIssue20ANewMachineWasNotTakenOut(t *testing.T) {
	in, early, refuses, away := hubLook{Status: &member.HubStatus{Made: true}}, hubLook{Status: &member.HubStatus{}}, hubLook{err: fmt.Errorf("x: %w", nats.ErrAuthorization)}, hubLook{err: nats.ErrNoServers}
	for _, test := range []struct {
		what string
		own  int
		hubs []hubLook
		out  bool
	}{
		{"it has just joined", 0, []hubLook{in, refuses, in}, false},
		{"it has just joined at the second hub", 0, []hubLook{refuses, in, away}, false},
		{"it has just joined as a hub", 3, []hubLook{early, refuses, early}, false},
		{"it was taken out", 0, []hubLook{refuses, refuses, away}, true},
		{"it was taken out, and its own hub does not know", 3, []hubLook{refuses, refuses, in}, true},
		{"it was taken out while the fleet was set up", 3, []hubLook{refuses, early, early}, true},
	} {
		s := status{HubStatus: test.hubs}
		s.judgeRefusals(member.Identity{Hub: test.own})
		if s.refused() != test.out {
			t.Errorf("%s: %t", test.what, s.refused())
		}
		for _, h := range s.HubStatus {
			if yet := strings.Contains(h.state(time.Now()), "does not know this machine yet"); h.Status == nil && h.err != nats.ErrNoServers && yet == test.out {
				t.Errorf("%s: %s", test.what, h.state(time.Now()))
			}
		}
	}
}

// What is not known yet has no age, and a machine that is cut off says so of itself.
func TestIssue20StatusOfMachinesThatWereNotHeard(t *testing.T) {
	var s status
	s.Name, s.Member = "home", "desk"
	machine := func(name string, heard float64) daemonapi.FleetMember {
		return daemonapi.FleetMember{Name: name, User: "anna", State: "unknown", Heard: heard, Version: "1.4.0"}
	}
	for _, test := range []struct {
		members []daemonapi.FleetMember
		want    []string
	}{
		{ // it has just joined, or its daemon was started
			[]daemonapi.FleetMember{machine("desk", 0), machine("old", 3600), machine("web", 2)},
			[]string{"desk     anna  unknown  not yet   1.4.0", "old      anna  unknown  1h ago    1.4.0", "web      anna  unknown  not yet   1.4.0"},
		},
		{
			[]daemonapi.FleetMember{machine("desk", 13), machine("web", 8)},
			[]string{"desk     anna  cut off  13s ago   1.4.0", "web      anna  unknown  8s ago    1.4.0"},
		},
	} {
		s.Members = test.members
		text := s.text(member.Identity{Name: "desk"}, time.Now())
		for _, want := range test.want {
			if !strings.Contains(text, want) {
				t.Errorf("status does not say %q:\n%s", want, text)
			}
		}
	}
	s.starting = true
	if text := s.text(member.Identity{Name: "desk"}, time.Now()); !strings.Contains(text, "no hub answers yet: that of this machine is starting") {
		t.Error(text)
	}
}

// Status says in words that hubs catch up, once.
func TestIssue20StatusSaysThatHubsCatchUp(t *testing.T) {
	s := kept(3, 3, 2, 2)
	s.Connected, s.Quorum, s.HighlyAvailable = true, true, true
	text := s.text(member.Identity{}, time.Now())
	if strings.Count(text, "2 of 3 hubs") != 1 || strings.Contains(text, "SG_home") || !strings.Contains(text, "2 of 3 hubs have everything so far: the others are catching up") {
		t.Error(text)
	}
}

// A command says what it does on a terminal alone, and leaves nothing of that.
func TestIssue20Progress(t *testing.T) {
	var out strings.Builder
	c := &command{errOut: &out}
	c.doing("asking the hubs")
	if out.String() != "" {
		t.Errorf("in a pipe: %q", out.String())
	}
	if text := progress("asking the hubs"); text != "\r\x1b[Kasking the hubs…" || progress("") != "\r\x1b[K" {
		t.Errorf("%q", text)
	}
}
