package console

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"

	"github.com/stopgate/stopgate/internal/control/fleet/hub"
	"github.com/stopgate/stopgate/internal/control/fleet/hub/hubtest"
	"github.com/stopgate/stopgate/internal/control/fleet/link"
	"github.com/stopgate/stopgate/internal/control/fleet/member"
	"github.com/stopgate/stopgate/internal/sys/checktest"
	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
	"github.com/stopgate/stopgate/internal/sys/paths"
)

var check = checktest.OK

// The test binary is also what init and join start.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "hub" {
		state, err := paths.StateDir()
		if err == nil {
			err = hub.Run(context.Background(), hub.Options{StateDir: state, Version: version(), Log: slog.New(slog.DiscardHandler), Now: time.Now})
		}
		if err != nil {
			panic(err)
		}
		return
	}
	environtest.Clean()
	m.Run()
}

// scene is some machines.
type scene struct {
	t     *testing.T
	dir   string
	types string // what a person answers
}

func newScene(t *testing.T) *scene {
	s := &scene{t, t.TempDir(), "yes\n"}
	t.Cleanup(func() { // the hubs end when their machines are in no fleet
		machines, _ := filepath.Glob(filepath.Join(s.dir, "*"))
		for _, state := range machines {
			_ = member.Forget(state) // it may be in none
			for end := time.Now().Add(time.Minute); hub.Runs(state) && time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
			}
		}
	})
	return s
}

func (s *scene) state(machine string) string { return filepath.Join(s.dir, machine) }

// on runs a command on a machine.
func (s *scene) on(machine string, args ...string) (code int, out, errOut string) {
	s.t.Helper()
	s.t.Setenv("STOPGATE_STATE_DIR", s.state(machine))
	var o, e bytes.Buffer
	code = Run(context.Background(), args, strings.NewReader(s.types), &o, &e)
	return code, o.String(), e.String()
}

// ok is on for a command that succeeds.
func (s *scene) ok(machine string, args ...string) string {
	s.t.Helper()
	code, out, errOut := s.on(machine, args...)
	if code != 0 {
		s.t.Fatalf("%s on %s: exit code %d\n%s%s", strings.Join(args, " "), machine, code, out, errOut)
	}
	return out
}

// fails is on for a command that does not.
func (s *scene) fails(code int, says, machine string, args ...string) {
	s.t.Helper()
	got, out, errOut := s.on(machine, args...)
	if got != code || !strings.Contains(out+errOut, says) {
		s.t.Errorf("%s on %s: exit code %d, and not %d\n%s%s, and not %q", strings.Join(args, " "), machine, got, code, out, errOut, says)
	}
}

// refuses is fails for a command that asks nothing before, and names what helps.
func (s *scene) refuses(says, helps, machine string, args ...string) {
	s.t.Helper()
	code, out, errOut := s.on(machine, args...)
	if code != 1 || !strings.HasPrefix(errOut, "stopgate: ") || !strings.Contains(errOut, says) || !strings.Contains(errOut, helps) {
		s.t.Errorf("%s on %s: exit code %d\n%s%s, and not %q with %q", strings.Join(args, " "), machine, code, out, errOut, says, helps)
	}
}

// token is that of an invitation.
func (s *scene) token(machine string, args ...string) string {
	s.t.Helper()
	var v invitation
	check(s.t, json.Unmarshal([]byte(s.ok(machine, append([]string{"invite", "--json"}, args...)...)), &v))
	if v.Command != "stopgate fleet join "+v.Token && v.Command != "stopgate fleet join "+v.Token+" --creds FILE" {
		s.t.Errorf("the command is %q", v.Command)
	}
	return v.Token
}

func (s *scene) status(machine string) (v status) {
	s.t.Helper()
	check(s.t, json.Unmarshal([]byte(s.ok(machine, "status", "--json")), &v))
	return v
}

// address is one at which a hub can listen.
func address(t *testing.T) string {
	t.Helper()
	return fmt.Sprintf("127.0.0.1:%d", hubtest.Port(t))
}

// From one machine to two, and back.
func TestIssue20OneHub(t *testing.T) {
	s := newScene(t)
	s.fails(3, "stopgate fleet init NAME", "desk", "status")
	s.fails(3, `{"error":{"message":"this machine is not in a fleet","hint":"create one with: stopgate fleet init NAME; `, "desk", "status", "--json")
	s.fails(3, "not in a fleet", "desk", "doctor")
	s.fails(3, "not in a fleet", "desk", "invite")
	s.fails(3, "stopgate fleet init NAME", "desk", "leave")
	s.fails(3, "not in a fleet", "desk", "leave", "laptop")
	where := address(t)
	out := s.ok("desk", "init", "home", "--name", "desk", "--user", "anna", "--hub", where)
	for _, want := range []string{"created the fleet home; this machine is desk", where, "not highly available", "stopgate fleet invite"} {
		if !strings.Contains(out, want) {
			t.Errorf("init does not say %q:\n%s", want, out)
		}
	}
	s.fails(1, "in the fleet home already, as desk", "desk", "init", "home")
	s.fails(1, `{"error":{"message":"this machine is in the fleet home already`, "desk", "init", "home", "--json")

	token := s.token("desk")
	out = s.ok("laptop", "join", token, "--name", "laptop")
	if !strings.Contains(out, "this machine is now laptop in the fleet home, for the user anna") {
		t.Error(out)
	}
	s.fails(1, "used already, by laptop", "third", "join", token, "--name", "third")
	s.fails(2, "incomplete", "third", "join", token[:len(token)/2], "--name", "third")
	s.fails(2, "line break", "third", "join", token[:20]+"\n"+token[20:], "--name", "third")
	s.fails(2, "other characters", "third", "join", token, "--name", "a.b")
	s.fails(1, "runs no hub", "laptop", "invite")
	s.fails(1, "all hubs of the fleet have joined", "desk", "invite", "--hub")
	s.fails(2, "invalid user name", "desk", "invite", "--user", "a b")
	s.ok("berts", "join", s.token("desk", "--user", "bert"), "--name", "berts")

	v := s.status("laptop")
	if !v.Connected || !v.Quorum || v.HighlyAvailable || len(v.Members) != 3 || v.Members[0].User != "bert" || !v.Members[1].Hub || len(v.HubStatus) != 1 || v.HubStatus[0].Member != "desk" {
		t.Errorf("the status is %+v", v)
	}
	if _, out, errOut := s.on("laptop", "status"); !strings.Contains(out, "1 hub (not highly available)") || !strings.HasSuffix(errOut, "is not running, so it is not known which machines are up\nstart it with: stopgate daemon start\n") {
		t.Error(out, errOut)
	}
	s.fails(1, "DEAD  daemon: it is not running", "laptop", "doctor")
	s.fails(1, "ok    quorum: the only hub answers; the fleet is not highly available", "laptop", "doctor")

	s.refuses("only the machine that made the fleet home can remove another one", "on desk: stopgate fleet leave berts", "laptop", "leave", "berts")
	s.fails(1, "no member nobody", "desk", "leave", "nobody")
	s.ok("desk", "leave", "berts")
	s.fails(1, "was taken out", "berts", "doctor")
	s.ok("berts", "leave")
	s.ok("laptop", "leave")
	if v := s.status("desk"); len(v.Members) != 1 {
		t.Errorf("the members are %+v", v.Members)
	}
	s.ok("laptop", "join", s.token("desk"), "--name", "laptop")
	s.refuses("without it the fleet ends for all", "stopgate fleet leave --yes", "desk", "leave")
	out = s.ok("desk", "leave", "--yes")
	if hub.Runs(s.state("desk")) {
		t.Error("the hub runs on")
	}
	if kept, _ := filepath.Glob(filepath.Join(s.state("desk"), "fleet-left-*", "hub", "jetstream")); len(kept) != 1 {
		t.Errorf("the hub's files are gone: %s", out)
	}
	s.fails(1, "no hub answers", "laptop", "status")
	s.fails(1, "no hub runs on it\n      → on that machine: stopgate daemon start\n", "laptop", "doctor")
	s.fails(1, "DEAD  quorum: the only hub does not answer", "laptop", "doctor")
	s.refuses("only the machine that made the fleet", "on the machine at 127.0.0.1, which made the fleet: stopgate fleet leave berts", "laptop", "leave", "berts")
	if out := s.ok("laptop", "leave"); !strings.Contains(out, "No hub has confirmed it") || !strings.Contains(out, "If the others still use the fleet, on the machine at 127.0.0.1") {
		t.Error(out)
	}
}

// Three hubs, invited by the first; each says what it waits for.
func TestIssue20ThreeHubs(t *testing.T) {
	s := newScene(t)
	a, b, c := address(t), address(t), address(t)
	out := s.ok("a", "init", "home", "--name", "a", "--hub", a, "--hub", b, "--hub", c)
	if !strings.Contains(out, "when all three hubs have joined") {
		t.Error(out)
	}
	if out := s.ok("a", "status"); !strings.Contains(out, "being set up, 1 of 3 hubs answer") || !strings.Contains(out, "the fleet waits for hub-2 ("+b+") and hub-3 ("+c+")") {
		t.Error(out)
	}
	s.fails(1, "no machine has joined as this hub yet\n      → run: stopgate fleet invite --hub", "a", "doctor")
	second, third := s.token("a", "--hub"), s.token("a", "--hub")
	s.fails(1, "the fleet waits for hub-2", "d", "join", s.token("a"), "--name", "d")
	if out := s.ok("c", "join", third, "--name", "c"); !strings.Contains(out, "and a hub at "+c) {
		t.Error(out)
	}
	if h := s.status("a").HubStatus[0].Status; h == nil || h.Made || h.Peers[0].Joined || !h.Peers[1].Joined {
		t.Errorf("the first hub does not know which hubs have joined: %+v", h)
	}
	s.fails(1, "→ on a: stopgate fleet invite --hub", "c", "doctor")
	s.ok("b", "join", second, "--name", "b")
	s.fails(1, "this machine did not make the fleet", "b", "invite", "--hub")
	checktest.Succeeds(t, "the fleet can be used", func() error {
		for _, hub := range s.status("a").HubStatus {
			if hub.Status == nil || hub.Status.Waits != "" {
				return fmt.Errorf("%+v", hub)
			}
		}
		return nil
	})
	s.ok("d", "join", s.token("b"), "--name", "d") // any hub invites members
	checktest.Succeeds(t, "all are there", func() error {
		if v := s.status("d"); !v.HighlyAvailable || len(v.Members) != 4 || v.Error != "" || !v.HubStatus[2].Status.Made {
			return fmt.Errorf("%+v", v)
		}
		return nil
	})
	s.fails(1, "streams: 3, each on 3 hubs, written to disk before they acknowledge", "d", "doctor") // no daemon runs
	checktest.Succeeds(t, "all copies were read", func() error {
		if _, out, _ := s.on("d", "doctor"); !strings.Contains(out, "copies: all 3 hubs can read everything that they keep") {
			return errors.New(out)
		}
		return nil
	})
}

// A fleet on servers of others: its streams are made there, and its members bring credentials.
func TestIssue20AnExistingCluster(t *testing.T) {
	s := newScene(t)
	key, creds := newSeed(t)
	members, memberCreds := newSeed(t)
	names := link.Names{Fleet: "home"}
	may := hub.Permissions(names, "b") // as init prints them
	may.Publish.Allow = append(may.Publish.Allow, names.LogSubjects(link.MemberOf("b")))
	srv, err := server.NewServer(&server.Options{
		Host: "127.0.0.1", Port: server.RANDOM_PORT, JetStream: true, StoreDir: t.TempDir(), NoSigs: true, NoLog: true, MaxPayload: 4 << 20,
		Nkeys: []*server.NkeyUser{{Nkey: key}, {Nkey: members, Permissions: may}},
	})
	check(t, err)
	srv.Start()
	t.Cleanup(func() { srv.Shutdown(); srv.WaitForShutdown() })
	if !srv.ReadyForConnections(time.Minute) {
		t.Fatal("the server does not start")
	}
	s.fails(2, "--nats needs --creds", "a", "init", "home", "--nats", srv.ClientURL())
	out := s.ok("a", "init", "home", "--name", "a", "--user", "anna", "--nats", srv.ClientURL(), "--creds", creds)
	for _, want := range []string{"with 1 replica", "not highly available", "sync_interval: always", "publish    sg.home.view.M.>", "subscribe  _INBOX.M.>"} {
		if !strings.Contains(out, want) {
			t.Errorf("init does not say %q:\n%s", want, out)
		}
	}
	token := s.token("a", "--user", "bert")
	s.fails(2, "--creds FILE", "b", "join", token, "--name", "b")
	s.fails(1, "a is in the fleet already", "b", "join", token, "--name", "a", "--creds", creds)
	s.ok("b", "join", token, "--name", "b", "--creds", memberCreds)
	if v := s.status("b"); len(v.Members) != 2 || v.Members[1].User != "bert" || !v.Connected {
		t.Errorf("%+v", v)
	}
	s.ok("a", "leave", "b")
	if v := s.status("a"); len(v.Members) != 1 {
		t.Errorf("%+v", v)
	}
}

// newSeed is a key of a cluster, and the file with its seed.
func newSeed(t *testing.T) (key, file string) {
	t.Helper()
	pair, err := nkeys.CreateUser()
	check(t, err)
	key, err = pair.PublicKey()
	check(t, err)
	seed, err := pair.Seed()
	check(t, err)
	file = filepath.Join(t.TempDir(), "seed")
	check(t, os.WriteFile(file, seed, 0o600))
	return key, file
}

func TestIssue20BadAddresses(t *testing.T) {
	s := newScene(t)
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	defer taken.Close()
	s.fails(2, "one hub or three", "a", "init", "home", "--hub", "127.0.0.1", "--hub", "127.0.0.2")
	s.fails(2, "given twice", "a", "init", "home", "--hub", "127.0.0.1", "--hub", "127.0.0.1", "--hub", "127.0.0.2")
	s.fails(2, "invalid hub address", "a", "init", "home", "--hub", "http://a")
	s.fails(2, "other characters", "a", "init", "Home")
	s.fails(2, "needs the fleet's name", "a", "init")
	s.fails(2, "unknown flag", "a", "init", "home", "--nonsense")
	s.fails(2, "one of init, invite", "a", "dance")
	s.fails(3, "cannot listen at port", "a", "init", "home", "--name", "a", "--hub", taken.Addr().String())
	s.fails(3, "not in a fleet", "a", "status")
}
