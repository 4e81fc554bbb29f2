package console

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/control/fleet/hub/hubtest"
	"github.com/stopgate/stopgate/internal/control/fleet/member"
	"github.com/stopgate/stopgate/internal/control/store"
)

// Each symptom has its own words, and what helps.
func TestIssue20DoctorKnowsTheSymptoms(t *testing.T) {
	now := time.Now()
	c := &command{now: func() time.Time { return now }}
	one := member.Identity{Fleet: "home", Name: "a", Hubs: []member.Hub{{Host: "127.0.0.1", Port: hubtest.Port(t)}}, Hub: 1}
	three := one
	three.Hubs = []member.Hub{one.Hubs[0], {Host: "10.0.0.2", Port: 1}, {Host: "10.0.0.3", Port: 1}}
	well := member.HubStatus{
		Number: 1, Version: version(), PID: 7, Since: now, Now: now, Expires: now.Add(lots), SyncAlways: true,
		Streams: []member.StreamStatus{{Name: "SG_home", Replicas: 3, Current: 3}},
	}
	look := func(change func(*member.HubStatus), skew float64, err error) func(*diagnosis) {
		return func(d *diagnosis) {
			s := well
			change(&s)
			h := hubLook{Name: "hub-1", Address: "a:1", Status: &s, Skew: skew, err: err}
			if err != nil {
				h.Status = nil
			}
			all := status{HubStatus: []hubLook{h}}
			all.judgeRefusals(one)
			c.checkHub(t.Context(), d, one, all, 1)
		}
	}
	same := func(*member.HubStatus) {}
	elsewhere := one
	elsewhere.Name, elsewhere.Hub = "c", 0
	silent := status{Fleet: daemonapi.Fleet{Members: []daemonapi.FleetMember{{Name: "b", State: "silent", Heard: 240}}}, maker: maker{name: "a"}}
	makerSilent := silent
	makerSilent.maker.name = "b"
	for _, s := range []struct {
		what        string
		look        func(*diagnosis)
		level, says string
	}{
		{"all well", look(same, 0.1, nil), levelOK, "up for"},
		{"the clock is ahead", look(same, 90, nil), levelWarn, "differ by 1m30s"},
		{"the clock is behind", look(same, -90, nil), levelWarn, "differ by 1m30s"},
		{"another version", look(func(s *member.HubStatus) { s.Version = "0.0.1" }, 0, nil), levelWarn, "kill 7"},
		{"the certificate ends", look(func(s *member.HubStatus) { s.Expires = now.Add(time.Hour) }, 0, nil), levelWarn, "certificate expires"},
		{"no syncs", look(func(s *member.HubStatus) { s.SyncAlways = false }, 0, nil), levelDead, "power cut"},
		{"it waits", look(func(s *member.HubStatus) { s.Waits, s.Made = "the fleet waits for hub-2", true }, 0, nil), levelWarn, "the fleet waits for hub-2"},
		{"refused", look(same, 0, fmt.Errorf("x: %w", nats.ErrAuthorization)), levelDead, "refuses this machine's key"},
		{"not permitted", look(same, 0, fmt.Errorf("x: %w", nats.ErrPermissionViolation)), levelDead, "the same version of stopgate"},
		{"a certificate of another time", look(same, 0, fmt.Errorf("x: %w", &x509.CertificateInvalidError{Reason: x509.Expired})), levelDead, "timedatectl"},
		{"another server", look(same, 0, errors.New("tls: failed to verify certificate: x509: unknown authority")), levelDead, "not a hub of this fleet"},
		{"nothing runs there", look(same, 0, nats.ErrNoServers), levelDead, "stopgate daemon start"},
		{"one of three is away", func(d *diagnosis) { d.checkQuorum(three, status{}, 2) }, levelWarn, "losing another one stops the fleet"},
		{"two of three are away", func(d *diagnosis) { d.checkQuorum(three, status{}, 1) }, levelDead, "start at least 1 more"},
		{"all three are away", func(d *diagnosis) { d.checkQuorum(three, status{}, 0) }, levelDead, "start at least 2 of them"},
		{"all three are there", func(d *diagnosis) { d.checkQuorum(three, status{}, 3) }, levelOK, "all 3"},
		{"one of one", func(d *diagnosis) { d.checkQuorum(one, status{}, 1) }, levelOK, "not highly available"},
		{"none of one", func(d *diagnosis) { d.checkQuorum(one, status{}, 0) }, levelDead, "the only hub does not answer"},
		{"streams well", func(d *diagnosis) { d.checkStreams(three, kept(3, 3, 3)) }, levelOK, "3 hubs"},
		{"too few replicas", func(d *diagnosis) { d.checkStreams(three, kept(1, 1)) }, levelDead, "kept on 1 hubs, and should be on 3"},
		{"a replica is behind", func(d *diagnosis) { d.checkStreams(three, kept(3, 3, 2)) }, levelWarn, "2 of 3 hubs have all of the fleet's data"},
		{"a copy is damaged", func(d *diagnosis) {
			d.unreadable(three, hubLook{Name: "hub-2", Status: &well}, fmt.Errorf("%w: hub-2 cannot read 1", store.ErrDamaged))
		}, levelWarn, "kill 7; remove the folder fleet/hub/jetstream"},
		{"the only copy is damaged", func(d *diagnosis) {
			d.unreadable(one, hubLook{Name: "hub-1", Status: &well}, fmt.Errorf("%w: hub-1 cannot read 1", store.ErrDamaged))
		}, levelDead, "there is no other copy"},
		{"a copy cannot be checked", func(d *diagnosis) {
			d.unreadable(three, hubLook{Name: "hub-2", Status: &well}, nats.ErrTimeout)
		}, levelWarn, "its copy of the store was not checked"},
		{"a machine is silent", func(d *diagnosis) {
			d.checkMembers(one, silent)
		}, levelWarn, "has not reported for 4m"},
		{"a machine is silent, at the maker", func(d *diagnosis) { d.checkMembers(one, silent) }, levelWarn, "If it is gone for good, run: stopgate fleet leave b"},
		{"a machine is silent, elsewhere", func(d *diagnosis) { d.checkMembers(elsewhere, silent) }, levelWarn, "If it is gone for good, on a: stopgate fleet leave b"},
		{"the maker is silent", func(d *diagnosis) { d.checkMembers(elsewhere, makerSilent) }, levelWarn, "make the fleet again, because that machine made it"},
		{"a machine is old", func(d *diagnosis) {
			d.checkMembers(one, status{Fleet: daemonapi.Fleet{Members: []daemonapi.FleetMember{{Name: "b", State: "up", Version: "0.0.1"}}}})
		}, levelWarn, "it has version 0.0.1"},
	} {
		d := &diagnosis{}
		s.look(d)
		if d.worst() != s.level || !strings.Contains(d.text(), s.says) {
			t.Errorf("%s: %s, and not %s with %q:\n%s", s.what, d.worst(), s.level, s.says, d.text())
		}
	}
}

// kept is a fleet whose hubs say on how many hubs the streams are complete.
func kept(replicas int, current ...int) (s status) {
	for _, n := range current {
		s.HubStatus = append(s.HubStatus, hubLook{Status: &member.HubStatus{Streams: []member.StreamStatus{{Name: "SG_home", Replicas: replicas, Current: n}}}})
	}
	for len(s.HubStatus) < 3 {
		s.HubStatus = append(s.HubStatus, hubLook{})
	}
	return s
}

// Replicas are looked at where a hub can know of them.
func TestIssue20WhoKnowsTheStreams(t *testing.T) {
	up, waits, away := hubLook{Status: &member.HubStatus{}}, hubLook{Status: &member.HubStatus{Waits: "hub-2"}}, hubLook{err: nats.ErrNoServers}
	for _, c := range []struct {
		hubs   []hubLook
		quorum bool
		want   bool
	}{{[]hubLook{away, up, up}, true, true}, {[]hubLook{waits, up, up}, true, true}, {[]hubLook{up, away, away}, false, false}, {[]hubLook{waits, waits, away}, true, false}} {
		if got := (status{HubStatus: c.hubs, Quorum: c.quorum}).knowsStreams(); got != c.want {
			t.Errorf("%+v: %t", c, got)
		}
	}
}

const lots = 10 * 365 * 24 * time.Hour

// A command that is interrupted says so by its exit code.
func TestInterruptedCommands(t *testing.T) {
	s := newScene(t)
	t.Setenv("STOPGATE_STATE_DIR", s.state("a"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if code := Run(ctx, []string{"join", "x"}, strings.NewReader(""), t.Output(), t.Output()); code != exitInterrupted {
		t.Errorf("exit code %d", code)
	}
}
