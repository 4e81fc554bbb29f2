package console

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/control/fleet/hub"
	"github.com/stopgate/stopgate/internal/control/fleet/member"
	"github.com/stopgate/stopgate/internal/sys/checktest"
	"github.com/stopgate/stopgate/internal/sys/statefile"
)

// A hub's token is refused on a machine that the others cannot reach at the hub's address, and nothing is left of
// the try: neither here nor in the fleet.
func TestIssue20AHubsTokenIsForOneMachine(t *testing.T) {
	s := newScene(t)
	s.ok("a", "init", "home", "--name", "a", "--hub", address(t), "--hub", "192.0.2.7", "--hub", address(t))
	s.fails(1, "this machine does not have the address 192.0.2.7", "b", "join", s.token("a", "--hub"), "--name", "b")
	if _, err := os.Stat(member.Dir(s.state("b"))); !os.IsNotExist(err) {
		t.Errorf("something was written: %v", err)
	}
	third := s.token("a", "--hub")
	token, err := member.ParseToken(third)
	check(t, err)
	taken, err := net.Listen("tcp", token.At.Address())
	check(t, err)
	s.fails(3, "end the program that has them", "c", "join", third, "--name", "c")
	check(t, taken.Close())
	if _, err := os.Stat(member.Dir(s.state("c"))); !os.IsNotExist(err) {
		t.Errorf("something was written: %v", err)
	}
	s.ok("c", "join", third, "--name", "c")
	s.fails(1, "in the fleet home already, as c", "c", "join", third, "--name", "c") // its own hub has the ports
}

// The founder takes a hub out before the fleet's store is made, and another machine takes its place. The hub that
// joined in between has a copy in which the first one is a member: that does not bring it back.
func TestIssue20AHubIsTakenOutEarly(t *testing.T) {
	s := newScene(t)
	s.ok("a", "init", "home", "--name", "a", "--hub", address(t), "--hub", address(t), "--hub", address(t))
	second := s.token("a", "--hub")
	s.ok("wrong", "join", second, "--name", "wrong")
	third := s.token("a", "--hub")
	if out := s.ok("a", "leave", "wrong"); !strings.Contains(out, "It ran hub-2") {
		t.Error(out)
	}
	s.fails(1, "was taken out", "wrong", "doctor")
	if _, out, _ := s.on("wrong", "doctor"); strings.Contains(out, "own hub") { // it has ended for good
		t.Error(out)
	}
	s.ok("wrong", "leave")
	if hub.Runs(s.state("wrong")) {
		t.Error("its hub runs on")
	}
	s.ok("c", "join", third, "--name", "c")
	s.ok("b", "join", s.token("a", "--hub"), "--name", "b")
	checktest.Succeeds(t, "all are there", func() error {
		v := s.status("b")
		if v.Error != "" || len(v.Members) != 3 || v.Members[0].Name != "a" || v.Members[1].Name != "b" || v.Members[2].Name != "c" {
			return fmt.Errorf("%+v", v)
		}
		return nil
	})
}

// A hub whose port another program has ends at once. Doctor says why, and its machine can leave.
func TestIssue20AHubWithoutItsPortSaysSo(t *testing.T) {
	s := newScene(t)
	where := address(t)
	s.ok("a", "init", "home", "--name", "a", "--hub", where)
	id, err := member.Load(s.state("a"))
	check(t, err)
	note := filepath.Join(member.HubDir(s.state("a")), "ended.json")
	check(t, statefile.Write(note, hub.Ended{Reason: "the port was in use"}))
	s.fails(1, "it is starting, process", "a", "doctor") // the daemon has just started it again
	check(t, os.Remove(note))
	check(t, member.Forget(s.state("a")))
	checktest.Succeeds(t, "the hub has ended", func() error {
		if hub.Runs(s.state("a")) {
			return errors.New("it runs")
		}
		return nil
	})
	taken, err := net.Listen("tcp", where)
	check(t, err)
	defer taken.Close()
	check(t, id.Save(s.state("a")))
	err = hub.Run(t.Context(), hub.Options{StateDir: s.state("a"), Version: version(), Log: slog.New(slog.DiscardHandler), Now: time.Now})
	if err == nil || !strings.Contains(err.Error(), "in use") {
		t.Errorf("the hub ended with %v", err)
	}
	s.fails(1, "DEAD  own hub: it does not run: the hub cannot start", "a", "doctor")
	c := &command{stateDir: s.state("a"), now: time.Now} // init and join wait for their hub
	if err := c.awaitHub(t.Context(), id); err == nil || !strings.Contains(err.Error(), "its hub does not run: the hub cannot start") {
		t.Errorf("it waits for a hub that has ended: %v", err)
	}
	if out := s.ok("a", "leave", "--yes"); !strings.Contains(out, "has left the fleet home") {
		t.Error(out)
	}
}

// A machine that leaves twice within a second keeps the files of both.
func TestIssue20FilesOfEachMembershipAreKept(t *testing.T) {
	now := time.Now()
	c := &command{stateDir: t.TempDir(), now: func() time.Time { return now }}
	kept := map[string]bool{}
	for range 3 {
		id := member.Identity{Fleet: "home", Name: "a", User: "anna", Hubs: []member.Hub{{Host: "127.0.0.1", Port: 1}}}
		check(t, hub.Found(c.stateDir, id, now))
		dir, err := c.forget(t.Context(), id)
		check(t, err)
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			t.Errorf("%s: %v", dir, err)
		}
		kept[dir] = true
	}
	if len(kept) != 3 {
		t.Errorf("kept %v", kept)
	}
}
