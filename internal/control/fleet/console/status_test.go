package console

import (
	"net"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/control/fleet/member"
)

// Machines are shown also while the fleet's store cannot be read: as they reported to the daemon last, with their age.
func TestIssue20StatusWithoutTheStore(t *testing.T) {
	s := status{HubStatus: []hubLook{{Name: "hub-1", Status: &member.HubStatus{}}, {Name: "hub-2", err: nats.ErrNoServers}, {Name: "hub-3", err: nats.ErrNoServers}}}
	s.Name, s.Connected, s.Error = "home", true, unread(nats.ErrTimeout).Error()
	s.join(nil, []daemonapi.FleetMember{{Name: "vps", User: "anna", State: "silent", Heard: 248.199999999, Room: 3, Labels: []string{"linux"}, Projects: []string{"shop", "site"}}})
	s.Members = append(s.Members, daemonapi.FleetMember{Name: "web", User: "anna", State: "unknown", Heard: 60, Version: "1.4.0"}, daemonapi.FleetMember{Name: "new", User: "anna", State: "unknown"})
	text := s.text(member.Identity{Name: "desk"}, time.Now())
	for _, want := range []string{
		"no quorum, 1 of 3 hubs answer", "the fleet's store has not answered within 3s",
		"vps      anna  silent   4m8s ago", "0       -     linux   shop,site\n", "web      anna  unknown  1m ago", "new      anna  unknown  not yet\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("status does not say %q:\n%s", want, text)
		}
	}
}

// A machine that does not report takes no jobs, whatever room it had.
func TestIssue20OnlyAMachineThatIsUpHasRoom(t *testing.T) {
	for state, want := range map[string]string{"up": "2", "silent": "-", "lost": "-", "stopped": "-", "asleep": "-", "unknown": "-"} {
		if got := room(daemonapi.FleetMember{State: state, Room: 2}); got != want {
			t.Errorf("%s: %q, not %q", state, got, want)
		}
	}
	if got := room(daemonapi.FleetMember{State: "up", Room: -1}); got != "any" {
		t.Error(got)
	}
}

// It says how many hubs answer.
func TestIssue20StatusCountsTheHubs(t *testing.T) {
	up, away := hubLook{Status: &member.HubStatus{}}, hubLook{err: nats.ErrNoServers}
	for want, s := range map[string]status{
		"2 of 3 hubs answer (losing another one stops the fleet)": {HubStatus: []hubLook{up, up, away}, Quorum: true},
		"3 hubs (one may be lost)":                                {HubStatus: []hubLook{up, up, up}, Quorum: true, HighlyAvailable: true},
		"1 hub (not highly available)":                            {HubStatus: []hubLook{up}, Quorum: true},
	} {
		if s.Connected = true; s.servers() != want {
			t.Errorf("%q, and not %q", s.servers(), want)
		}
	}
}

// With the store it says who is in the fleet, and what others reported to the daemon is not shown.
func TestIssue20StatusKeepsToTheRecords(t *testing.T) {
	var s status
	s.join([]member.Record{{Name: "desk", User: "anna"}, {Name: "old", Left: true}}, []daemonapi.FleetMember{{Name: "old", State: "up"}, {Name: "desk", State: "up"}})
	if len(s.Members) != 1 || s.Members[0].Name != "desk" || s.Members[0].State != "up" {
		t.Errorf("%+v", s.Members)
	}
	if text := unread(jetstream.ErrStreamNotFound).Error(); !strings.Contains(text, "not made yet") {
		t.Error(text)
	}
}

// A machine without a default route has an address all the same; where it has several, a person chooses.
func TestIssue20TheAddressOfAMachine(t *testing.T) {
	all := func(texts ...string) (all []net.Addr) {
		for _, text := range texts {
			ip, network, err := net.ParseCIDR(text)
			check(t, err)
			network.IP = ip
			all = append(all, network)
		}
		return all
	}
	for _, c := range []struct {
		all        []net.Addr
		want, says string
	}{
		{all("127.0.0.1/8", "::1/128", "10.77.0.1/24", "fe80::1/64", "fd00::1/64"), "10.77.0.1", ""},
		{all("127.0.0.1/8", "fd00::1/64"), "fd00::1", ""},
		{all("127.0.0.1/8", "fe80::1/64"), "", "no address that others could reach"},
		{all("10.77.0.1/24", "192.168.1.5/24"), "", "10.77.0.1, 192.168.1.5"},
	} {
		got, err := reachable(c.all)
		if got != c.want || (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("reachable(%v) = %q, %v", c.all, got, err)
		}
	}
}

// A hub that was taken out is not one of those that could answer, until another machine has its place.
func TestIssue20AHubThatWasTakenOutIsNotCounted(t *testing.T) {
	hubs := func(up int) []hubLook { // the first ones answer
		all := []hubLook{{Name: "hub-1"}, {Name: "hub-2"}, {Name: "hub-3"}}
		for i := range up {
			all[i].Status = &member.HubStatus{}
		}
		return all
	}
	out := []member.Record{{Name: "a", Hub: 1}, {Name: "b", Hub: 2}, {Name: "c", Hub: 3, Left: true}}
	again := []member.Record{{Name: "a", Hub: 1}, {Name: "b", Hub: 2}, {Name: "c"}} // without its hub
	replaced := append([]member.Record{{Name: "d", Hub: 3}}, out...)
	for _, test := range []struct {
		hubs    []hubLook
		records []member.Record
		want    string
	}{
		{hubs(2), out, "2 of 2 hubs answer, hub-3 was taken out (losing another one stops the fleet)"},
		{hubs(2), again, "2 of 2 hubs answer, hub-3 was taken out (losing another one stops the fleet)"},
		{hubs(1), out, "no quorum, 1 of 2 hubs answer, hub-3 was taken out: the machines"},
		{hubs(2), replaced, "2 of 3 hubs answer (losing another one stops the fleet)"},
		{hubs(3), replaced, "3 hubs (one may be lost)"},
	} {
		s := status{HubStatus: test.hubs}
		s.Connected = true
		s.Quorum, s.HighlyAvailable = s.up() > 1, s.up() == 3
		s.join(test.records, nil)
		if text := s.text(member.Identity{Name: "a"}, time.Now()); !strings.Contains(text, test.want) {
			t.Errorf("status does not say %q:\n%s", test.want, text)
		}
	}
}
