package hub

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/stopgate/stopgate/internal/control/fleet/hub/hubtest"
	"github.com/stopgate/stopgate/internal/control/fleet/link"
	"github.com/stopgate/stopgate/internal/control/fleet/member"
	"github.com/stopgate/stopgate/internal/sys/checktest"
	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
	"github.com/stopgate/stopgate/internal/sys/process/processtest"
	"github.com/stopgate/stopgate/internal/sys/statefile"
)

var check = checktest.OK

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "hub" { // as a keeper starts it
		if err := hubProcess([]string{os.Getenv("STOPGATE_STATE_DIR")}); err != nil {
			panic(err)
		}
		return
	}
	if processtest.Run(map[string]func([]string) error{"hub": hubProcess}) {
		return
	}
	environtest.Clean()
	m.Run()
}

// hubProcess is stopgated hub.
func hubProcess(args []string) error { return Run(context.Background(), testOptions(args[0])) }

func testOptions(stateDir string) Options {
	level := slog.LevelError
	if os.Getenv("STOPGATE_TEST_VERBOSE") != "" {
		level = slog.LevelDebug
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level}))
	return Options{StateDir: stateDir, Version: "test", Log: log, Now: time.Now}
}

// patience is for what takes a moment, also on a busy machine.
const patience = time.Minute

// fleet is a fleet of machines, each a state directory.
type fleet struct {
	t    testing.TB
	dir  string // the machines' state directories are in it
	hubs []member.Hub
	stop map[string]func()
	log  *slog.Logger // of hubs in this process; nil is that of the test
}

// newFleet makes a fleet whose first machine is called a.
func newFleet(t testing.TB, hubs int) *fleet {
	t.Helper()
	f := &fleet{t: t, dir: t.TempDir(), stop: map[string]func(){}}
	for range hubs {
		f.hubs = append(f.hubs, member.Hub{Host: "127.0.0.1", Port: hubtest.Port(t)})
	}
	check(t, Found(f.state("a"), member.Identity{Fleet: "test", Name: "a", User: "anna", Hubs: f.hubs}, time.Now()))
	return f
}

func (f *fleet) state(name string) string { return filepath.Join(f.dir, name) }

func (f *fleet) identity(name string) member.Identity {
	f.t.Helper()
	id, err := member.Load(f.state(name))
	check(f.t, err)
	return id
}

// run runs the hub of a machine in this process.
func (f *fleet) run(name string) {
	f.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	o := testOptions(f.state(name))
	if f.log != nil {
		o.Log = f.log
	}
	go func() { done <- Run(ctx, o) }()
	stop := func() {
		cancel()
		if err := <-done; err != nil {
			f.t.Errorf("the hub of %s: %v", name, err)
		}
		done <- nil
	}
	f.stop[name] = stop
	f.t.Cleanup(stop)
}

// usable waits until the fleet can be used by a machine.
func (f *fleet) usable(name string) {
	f.t.Helper()
	checktest.Succeeds(f.t, "the fleet can be used by "+name, func() error {
		nc, err := member.Connect(f.t.Context(), f.state(name), f.identity(name), nats.NoReconnect())
		if err != nil {
			return err
		}
		defer nc.Close()
		l, err := link.Open(f.t.Context(), nc, "test", name)
		if err != nil {
			return err
		}
		defer l.Close()
		_, err = l.Log.Barrier(f.t.Context())
		return err
	})
	checktest.Succeeds(f.t, "the hub is ready", func() error {
		s, err := f.status(name, max(f.identity(name).Hub, 1))
		if err == nil && s.Waits != "" {
			err = errors.New(s.Waits)
		}
		return err
	})
}

// status is what a hub answers a machine.
func (f *fleet) status(name string, number int) (s member.HubStatus, err error) {
	f.t.Helper()
	nc, err := member.ConnectTo(f.t.Context(), f.state(name), f.identity(name), number, nats.NoReconnect())
	if err != nil {
		return s, err
	}
	defer nc.Close()
	return s, member.Ask(f.t.Context(), nc, link.Names{Fleet: "test"}.AskHub(member.HubName(number), member.VerbStatus, name), struct{}{}, &s)
}

// invite makes a token on a machine.
func (f *fleet) invite(on, user string, runs bool) member.Token {
	f.t.Helper()
	token, _, err := Invite(f.t.Context(), f.state(on), user, runs, time.Now())
	check(f.t, err)
	again, err := member.ParseToken(token.String())
	check(f.t, err)
	return again
}

// join makes a machine a member.
func (f *fleet) join(name string) {
	f.t.Helper()
	_, err := member.Join(f.t.Context(), f.state(name), f.invite("a", "anna", false), name)
	check(f.t, err)
}

// connect is a connection of a machine, and what the servers refused on it.
func (f *fleet) connect(name string) (*nats.Conn, chan error) {
	f.t.Helper()
	refused := make(chan error, 100)
	nc, err := member.Connect(f.t.Context(), f.state(name), f.identity(name), nats.NoReconnect(), nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { refused <- err }))
	check(f.t, err)
	f.t.Cleanup(nc.Close)
	return nc, refused
}

// A fleet with one hub: a machine joins, and both see the same store.
func TestMachinesJoin(t *testing.T) {
	f := newFleet(t, 1)
	check(t, statefile.Write(endedPath(f.state("a")), Ended{Reason: "the port was in use"}))
	f.run("a")
	f.usable("a")
	if end := LastEnd(f.state("a")); end.Reason != "" {
		t.Errorf("the hub runs, and %q is kept", end.Reason)
	}
	f.join("b")
	f.usable("b")
	id := f.identity("b")
	if id.User != "anna" || id.Name != "b" || id.Hub != 0 {
		t.Errorf("b is %+v", id)
	}
	s, err := f.status("b", 1)
	check(t, err)
	if !s.SyncAlways {
		t.Error("the hub does not sync always")
	}
	nc, _ := f.connect("b")
	l, err := link.Open(t.Context(), nc, "test", "b")
	check(t, err)
	defer l.Close()
	members, err := id.Members(t.Context(), l.Log)
	check(t, err)
	if len(members) != 2 || members[0].Name != "a" || members[0].Hub != 1 || members[1].Key != id.Key {
		t.Errorf("the members are %+v", members)
	}
}

// What a person may do wrong with a token has an error that says it.
func TestTokensAreForOneMachineAndOneHour(t *testing.T) {
	f := newFleet(t, 1)
	f.run("a")
	f.usable("a")
	join := func(token member.Token, name string) string {
		_, err := member.Join(t.Context(), f.state(name), token, name)
		if err == nil {
			t.Fatalf("%s could join", name)
		}
		return err.Error()
	}
	says := func(got, want string) {
		t.Helper()
		if !strings.Contains(got, want) {
			t.Errorf("it says %q, and not %q", got, want)
		}
	}
	token := f.invite("a", "anna", false)
	_, err := member.Join(t.Context(), f.state("b"), token, "b")
	check(t, err)
	says(join(token, "c"), "used already, by b: each join needs its own")
	says(join(token, "b"), "in the fleet test already, as b")
	_, err = member.Join(t.Context(), f.state("d"), f.invite("a", "anna", false), "d.*")
	says(fmt.Sprint(err), "other characters")

	fresh := f.invite("a", "anna", false)
	_, err = member.Join(t.Context(), f.state("e"), fresh, "b")
	if err == nil {
		t.Fatal("two machines have one name")
	}
	says(err.Error(), "b is in the fleet already")
	_, err = member.Join(t.Context(), f.state("e"), fresh, "e")
	check(t, err)

	old, _, err := Invite(t.Context(), f.state("a"), "anna", false, time.Now().Add(-Valid-time.Minute))
	check(t, err)
	says(join(old, "g"), "expired 1m0s ago")

	other := newFleet(t, 1)
	foreign := other.invite("a", "anna", false)
	foreign.Hub = f.hubs[0]
	wrong := join(foreign, "g")
	says(wrong, "not a hub of the fleet that the token is for")
	says(wrong, "on a hub of the fleet that you mean run")
	if strings.Contains(wrong, "x509") {
		t.Errorf("it says more than that: %s", wrong)
	}
	unknown := foreign
	unknown.CA, unknown.Fleet = token.CA, token.Fleet
	says(join(unknown, "g"), "does not know this token")
	says(join(foreign, "b"), "in the fleet test")
	if _, _, err := Invite(t.Context(), f.state("b"), "anna", false, time.Now()); !errors.Is(err, ErrNotHub) {
		t.Errorf("a machine without a hub invites: %v", err)
	}
	if _, _, err := Invite(t.Context(), f.state("a"), "anna", true, time.Now()); err == nil {
		t.Error("a second hub is invited to a fleet with one")
	}
}

// A machine that was killed while it joined joins with the same token.
func TestAJoinThatWasCutOffIsRepeated(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 3)
	f.run("a")
	checktest.Succeeds(t, "the hub answers", func() error { _, err := f.status("a", 1); return err })
	token := f.invite("a", "anna", true)
	for _, lost := range [][]string{{"member.json"}, {"member.json", "hub/members.json"}, {"member.json", "hub/members.json", "hub/certificate.pem"}} {
		_, err := member.Join(t.Context(), f.state("b"), token, "b")
		check(t, err)
		for _, name := range lost {
			check(t, os.Remove(filepath.Join(member.Dir(f.state("b")), name)))
		}
	}
	_, err := member.Join(t.Context(), f.state("b"), token, "b")
	check(t, err)
	if f.identity("b").Hub != 2 {
		t.Errorf("b is %+v", f.identity("b"))
	}
	// Until all hubs are there, others cannot join, and learn why.
	_, err = member.Join(t.Context(), f.state("d"), f.invite("a", "anna", false), "d")
	if err == nil || !strings.Contains(err.Error(), "the fleet waits for hub-2") {
		t.Errorf("d joins: %v", err)
	}
}

// A machine that leaves is refused at once, and so is one that the founder takes out.
func TestWhoLeftIsRefusedAtOnce(t *testing.T) {
	f := newFleet(t, 1)
	f.run("a")
	f.usable("a")
	f.join("b")
	f.join("c")
	leave := func(from, who string) string {
		nc, _ := f.connect(from)
		var answer member.LeaveAnswer
		if err := member.Ask(t.Context(), nc, link.Names{Fleet: "test"}.AskHub("hub-1", member.VerbLeave, from), member.LeaveRequest{Member: who}, &answer); err != nil {
			return "" // the connection was closed first
		}
		return answer.Error
	}
	if why := leave("b", "c"); !strings.Contains(why, "only the machine that made the fleet") {
		t.Errorf("b takes c out: %q", why)
	}
	nc, _ := f.connect("c")
	closed := make(chan struct{})
	nc.SetClosedHandler(func(*nats.Conn) { close(closed) })
	if why := leave("a", "c"); why != "" {
		t.Error(why)
	}
	select {
	case <-closed:
	case <-time.After(patience):
		t.Fatal("the connection of who left stays")
	}
	leave("b", "b")
	for _, name := range []string{"b", "c"} {
		if _, err := member.Connect(t.Context(), f.state(name), f.identity(name)); !errors.Is(err, nats.ErrAuthorization) {
			t.Errorf("%s is let in: %v", name, err)
		}
	}
	f.stop["a"]()
	f.run("a")
	f.usable("a")
	if _, err := member.Connect(t.Context(), f.state("c"), f.identity("c")); !errors.Is(err, nats.ErrAuthorization) {
		t.Errorf("c is let in after a restart: %v", err)
	}
}

// all runs all hubs in this process: the first machine is a, the others are hub2 and hub3.
func (f *fleet) all() {
	f.t.Helper()
	f.run("a")
	for number := 2; number <= len(f.hubs); number++ {
		name := fmt.Sprintf("hub%d", number)
		f.joinHub(name)
		f.run(name)
	}
	f.usable("a")
}

// joinHub makes a machine the next hub.
func (f *fleet) joinHub(name string) {
	f.t.Helper()
	checktest.Succeeds(f.t, "the first hub answers", func() error { _, err := f.status("a", 1); return err })
	_, err := member.Join(f.t.Context(), f.state(name), f.invite("a", "anna", true), name)
	check(f.t, err)
}
