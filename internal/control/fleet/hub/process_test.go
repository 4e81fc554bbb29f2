package hub

import (
	"bytes"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/stopgate/stopgate/internal/control/fleet/link"
	"github.com/stopgate/stopgate/internal/control/fleet/member"
	"github.com/stopgate/stopgate/internal/control/store"
	"github.com/stopgate/stopgate/internal/sys/checktest"
	"github.com/stopgate/stopgate/internal/sys/process/processtest"
)

// start runs the hub of a machine in a process of its own, as stopgated hub does.
func (f *fleet) start(name string) *exec.Cmd {
	f.t.Helper()
	cmd := processtest.Child(f.t, "hub", f.state(name))
	check(f.t, cmd.Start())
	f.t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }) // it may have ended already
	return cmd
}

func kill(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	check(t, cmd.Process.Kill())
	_ = cmd.Wait() // it was killed
}

// Three hubs on one machine: what was acknowledged survives the death of one, and of all; members are let in
// again also before the hubs have a quorum.
func TestHubsAreKilled(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 3)
	hubs := map[string]*exec.Cmd{"a": f.start("a")}
	for _, name := range []string{"b", "c"} {
		f.joinHub(name)
		hubs[name] = f.start(name)
	}
	f.usable("a")
	f.join("d")
	for number := 1; number <= 3; number++ {
		checktest.Succeeds(t, "all hubs know a new member", func() error { _, err := f.status("d", number); return err })
	}
	nc, err := member.Connect(t.Context(), f.state("d"), f.identity("d"), nats.MaxReconnects(-1), nats.ReconnectWait(50*time.Millisecond))
	check(t, err)
	defer nc.Close()
	l, err := link.Open(t.Context(), nc, "test", "d")
	check(t, err)
	defer l.Close()
	last := store.Position(0)
	add := func(n int) {
		t.Helper()
		checktest.Succeeds(t, "an event is appended", func() error {
			at, err := l.Log.Append(t.Context(), store.NewEvent{Subject: link.Job("1"), ID: fmt.Sprint(n), Expected: last, Data: []byte("{}")})
			if err == nil {
				last = at
				return nil
			}
			for e, unread := range l.Log.Read(t.Context(), link.Job("1"), last) { // an attempt whose answer was lost
				if unread == nil && e.ID == fmt.Sprint(n) {
					last, err = e.Position, nil
				}
			}
			return err
		})
	}
	add(1)
	kill(t, hubs["a"])
	add(10)
	hubs["a"] = f.start("a")
	f.usable("a")
	checktest.Succeeds(t, "the hub that was killed has everything again", func() error {
		s, err := f.status("a", 1)
		for _, stream := range s.Streams {
			if stream.Current < 3 {
				return fmt.Errorf("%s is complete on %d hubs", stream.Name, stream.Current)
			}
		}
		if err == nil && len(s.Streams) < 3 {
			err = fmt.Errorf("%d streams answer", len(s.Streams))
		}
		return err
	})

	for _, cmd := range hubs {
		kill(t, cmd)
	}
	hubs["b"] = f.start("b")
	checktest.Succeeds(t, "a hub lets a member in without the others", func() error {
		s, err := f.status("d", 2)
		if err == nil && !strings.Contains(s.Waits, "hub-1") {
			err = fmt.Errorf("it says that it waits for %q", s.Waits)
		}
		return err
	})
	f.start("a")
	f.start("c")
	f.usable("d")
	add(20)
	read := []string{}
	for e, err := range l.Log.Read(t.Context(), link.Job("1"), 0) {
		check(t, err)
		read = append(read, e.ID)
	}
	if fmt.Sprint(read) != "[1 10 20]" {
		t.Errorf("%v was read", read)
	}
}

// Two hubs on one directory would destroy it: the second one says who has it.
func TestTheSecondHubSaysWhoHasTheLock(t *testing.T) {
	f := newFleet(t, 1)
	first := f.start("a")
	f.usable("a")
	second := processtest.Child(t, "hub", f.state("a"))
	var said bytes.Buffer
	second.Stderr = &said
	if second.Run() == nil {
		t.Fatal("the second hub runs")
	}
	if want := fmt.Sprintf("a hub is already running for %s, process %d", f.state("a"), first.Process.Pid); !strings.Contains(said.String(), want) {
		t.Errorf("it says %q", said.String())
	}
	if PID(f.state("a")) != first.Process.Pid {
		t.Errorf("the hub is process %d, and not %d", PID(f.state("a")), first.Process.Pid)
	}
	kill(t, first)
	if Runs(f.state("a")) {
		t.Error("a hub that was killed runs")
	}
}

// A hub ends when its machine has left the fleet.
func TestTheHubEndsWhenItsMachineLeaves(t *testing.T) {
	f := newFleet(t, 1)
	hub := f.start("a")
	f.usable("a")
	check(t, member.Forget(f.state("a")))
	done := make(chan error, 1)
	go func() { done <- hub.Wait() }()
	select {
	case err := <-done:
		check(t, err)
	case <-time.After(patience):
		t.Fatal("it goes on")
	}
}

// BenchmarkIdleHub reports the memory of a hub without work, as it says itself.
func BenchmarkIdleHub(b *testing.B) {
	for _, n := range []int{1, 3} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			f := newFleet(b, n)
			f.start("a")
			for number := 2; number <= n; number++ {
				name := fmt.Sprintf("hub%d", number)
				f.joinHub(name)
				f.start(name)
			}
			f.usable("a")
			memory := int64(0)
			for b.Loop() {
				s, err := f.status("a", 1)
				check(b, err)
				memory = s.Memory
			}
			b.ReportMetric(float64(memory)/(1<<20), "MiB")
		})
	}
}

// A hub whose machine was taken out ends, and does not come back; another machine takes its place.
func TestAHubThatWasTakenOutIsReplaced(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 3)
	f.run("a")
	f.joinHub("b")
	gone := f.start("b")
	f.joinHub("c")
	f.run("c")
	f.usable("a")
	nc, _ := f.connect("a")
	var answer member.LeaveAnswer
	check(t, member.Ask(t.Context(), nc, names.AskHub("hub-1", member.VerbLeave, "a"), member.LeaveRequest{Member: "b"}, &answer))
	if answer.Error != "" || answer.Hub != 2 {
		t.Fatalf("%+v", answer)
	}
	ended := make(chan error, 1)
	go func() { ended <- gone.Wait() }()
	select {
	case <-ended: // it says why
	case <-time.After(patience):
		t.Fatal("its hub goes on")
	}
	again := processtest.Child(t, "hub", f.state("b"))
	var said bytes.Buffer
	again.Stderr = &said
	if again.Run() == nil || !strings.Contains(said.String(), "taken out of the fleet") {
		t.Errorf("it runs again: %s", said.String())
	}
	f.joinHub("d")
	if f.identity("d").Hub != 2 {
		t.Errorf("d is %+v", f.identity("d"))
	}
	f.run("d")
	f.usable("d")
}
