package hub

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nkeys"

	"github.com/stopgate/stopgate/internal/control/fleet/link"
	"github.com/stopgate/stopgate/internal/control/fleet/member"
	"github.com/stopgate/stopgate/internal/sys/checktest"
)

// All hubs are needed to make the store. After that more than half of them are enough, and the others are not waited for.
func TestIssue20HowManyHubsAreEnough(t *testing.T) {
	for _, c := range []struct {
		there, hubs  int
		made, enough bool
	}{
		{1, 1, false, true},
		{3, 3, false, true},
		{2, 3, false, false},
		{1, 3, false, false},
		{1, 1, true, true},
		{3, 3, true, true},
		{2, 3, true, true},
		{1, 3, true, false},
	} {
		if got := enoughOf(c.there, c.hubs, c.made); got != c.enough {
			t.Errorf("%+v: %t", c, got)
		}
	}
}

// The founder's hub takes a member out by its own copy while there is no store. Once one was made, it alone decides,
// also while it cannot be reached.
func TestIssue20WhoIsTakenOutWithoutTheStore(t *testing.T) {
	early := func(hubs, number int, made bool) bool {
		t.Helper()
		f := newFleet(t, hubs)
		h := &hub{Options: testOptions(f.state("a")), id: f.identity("a")}
		certificate, err := member.HubCertificate(h.StateDir, h.id)
		check(t, err)
		h.users, err = newUsers(h, certificate)
		check(t, err)
		h.id.Hub = number
		if made {
			check(t, h.noteMade())
			check(t, h.noteMade()) // at each start
		}
		done, err := h.leaveEarly(member.Record{Name: "b", User: "anna", Hub: 2, Left: true})
		check(t, err)
		if r, known := h.users.get("b"); known != done || known && !r.Left {
			t.Errorf("its copy has %+v (%t)", r, known)
		}
		return done
	}
	if !early(3, 1, false) {
		t.Error("the founder's hub waits for a store that was never made")
	}
	if early(3, 1, true) {
		t.Error("the store was made, and is not asked")
	}
	if early(3, 2, false) {
		t.Error("another hub takes a member out")
	}
	if early(1, 1, false) {
		t.Error("a fleet with one hub does not wait for its store")
	}
}

// A hub whose machine was taken out does not start, also for a moment: its certificate is still valid. A machine that
// joined again has another key.
func TestIssue20AHubThatWasTakenOutDoesNotStart(t *testing.T) {
	f := newFleet(t, 1)
	h := &hub{Options: testOptions(f.state("a")), id: f.identity("a")}
	left := member.Record{Name: "a", User: "anna", Key: h.id.Key, Hub: 1, Left: true}
	check(t, member.SaveMembers(h.StateDir, []member.Record{left}))
	if err := h.start(t.Context()); !errors.Is(err, errTakenOut) || h.server != nil {
		t.Errorf("it starts: %v", err)
	}
	left.Key = "another"
	check(t, h.users.set(left))
	if h.takenOut() {
		t.Error("the machine of today is out with the one of before")
	}
}

// A hub's token is for the machine that has the address. Who forwards it knows better, and a name that cannot be
// looked up may be right.
func TestIssue20WhereAHubMayRun(t *testing.T) {
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	elsewhere := member.Hub{Host: "192.0.2.7", Port: 1}
	if err := CheckPlace(t.Context(), elsewhere); !errors.Is(err, errElsewhere) {
		t.Errorf("an address of another machine: %v", err)
	}
	check(t, CheckPlace(t.Context(), member.Hub{Host: "127.0.0.1", Port: 1}))
	check(t, CheckPlace(cancelled, member.Hub{Host: "hub.example.org", Port: 1})) // nothing is looked up
	t.Setenv(listenVariable, "0.0.0.0")
	check(t, CheckPlace(t.Context(), elsewhere))
}

// A hub that starts ends with the reason: what the server says, that it was ended, or that its machine has left.
func TestIssue20AHubThatDoesNotStartSaysWhy(t *testing.T) {
	f := newFleet(t, 1)
	waiting := func(change func(*hub), ctx context.Context, said ...string) error {
		h := &hub{Options: testOptions(f.state("a")), id: f.identity("a")}
		change(h)
		var err error
		h.server, err = server.NewServer(&server.Options{DontListen: true}) // it is not started
		check(t, err)
		fatal := make(chan string, 1)
		for _, why := range said {
			fatal <- why
		}
		return h.awaitServer(ctx, fatal)
	}
	same := func(*hub) {}
	if err := waiting(same, t.Context(), "no port"); err == nil || !strings.Contains(err.Error(), "cannot start: no port") {
		t.Errorf("it failed: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := waiting(same, ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("it was ended: %v", err)
	}
	if err := waiting(func(h *hub) { h.id.Key = "another" }, t.Context()); err == nil || !strings.Contains(err.Error(), "has left the fleet") {
		t.Errorf("its machine has left: %v", err)
	}
}

// A hub that is ended while it starts has nothing to say, also where it could not start.
func TestIssue20AHubIsEndedWhileItStarts(t *testing.T) {
	f := newFleet(t, 1)
	taken, err := net.Listen("tcp", f.hubs[0].Address())
	check(t, err)
	defer taken.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	h := &hub{Options: testOptions(f.state("a")), id: f.identity("a"), names: link.Names{Fleet: "test"}, since: time.Now()}
	check(t, h.live(ctx))
}

// What the founder's hub did before there was a store holds against a record of one that did not know; and of hubs other
// than itself only the founder's hub writes records.
func TestIssue20TheFoundersCopyHoldsWhenTheStoreIsMade(t *testing.T) {
	f := newFleet(t, 1)
	h := &hub{Options: testOptions(f.state("a")), id: f.identity("a"), since: time.Now()}
	h.names.Fleet = h.id.Fleet
	check(t, h.start(t.Context()))
	defer func() {
		h.nc.Close()
		h.server.Shutdown()
		h.server.WaitForShutdown()
	}()
	checktest.Succeeds(t, "the store is made", func() error { return h.make(t.Context()) })
	l, err := link.Open(t.Context(), h.nc, h.id.Fleet, hubUser)
	check(t, err)
	defer l.Close()
	members := func() map[string]member.Record {
		t.Helper()
		check(t, h.catchUp(t.Context(), l.Log))
		all, err := h.id.Members(t.Context(), l.Log)
		check(t, err)
		stored := map[string]member.Record{}
		for _, r := range all {
			stored[r.Name] = r
		}
		return stored
	}

	key := func() string {
		pair, err := nkeys.CreateUser()
		check(t, err)
		public, err := pair.PublicKey()
		check(t, err)
		return public
	}
	out := member.Record{Name: "b", User: "anna", Key: key(), Hub: 2, Time: time.Now().UTC().Truncate(time.Second)}
	check(t, h.write(t.Context(), l.Log, out))
	out.Left = true
	check(t, h.users.set(out))
	if stored := members(); !stored["b"].Left {
		t.Errorf("b is back: %+v", stored)
	}
	again := out
	again.Left, again.Key, again.Time = false, key(), out.Time.Add(time.Minute)
	check(t, again.Append(t.Context(), l.Log, h.id.Fleet, h.users.certificate))
	if stored := members(); stored["b"].Left {
		t.Errorf("another machine that took its place is out: %+v", stored)
	}

	check(t, h.users.set(member.Record{Name: "d", User: "anna", Key: key(), Hub: 3, Time: out.Time}))
	h.id.Hub = 2
	if _, known := members()["d"]; known {
		t.Error("another hub than the founder's writes what its copy says")
	}
	h.id.Hub = 1
	if _, known := members()["d"]; !known {
		t.Error("a hub that joined before the store was made is lost")
	}
}

// What takes some seconds while hubs find each other is said in plain words; what stays is said as it is.
func TestIssue20HubsThatAreGettingReady(t *testing.T) {
	for text, want := range map[string]bool{"no suitable peers for placement": true, "no suitable peers for placement, insufficient storage": false} {
		err := fmt.Errorf("make the views: %w", &jetstream.APIError{Code: 400, ErrorCode: 10005, Description: text})
		if gettingReady(err) != want {
			t.Errorf("%s: %t", text, !want)
		}
	}
}
