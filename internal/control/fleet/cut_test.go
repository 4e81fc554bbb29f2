package fleet

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/control/api"
	"github.com/stopgate/stopgate/internal/control/fleet/beat"
	"github.com/stopgate/stopgate/internal/control/fleet/link"
	"github.com/stopgate/stopgate/internal/control/fleet/link/linktest"
	"github.com/stopgate/stopgate/internal/project/config"
	"github.com/stopgate/stopgate/internal/sys/checktest"
)

// Without its hub a machine goes on: its own work as ever, that of others as it was last, and what would change
// something elsewhere is refused.
func TestIssue20WithoutItsHubAMachineGoesOn(t *testing.T) {
	w := newWorld(t)
	w.belongs("vps", "ann")
	laptop := w.machine("laptop", "ann", owner(1))
	w.machine("vps", "ann", owner(2))
	w.sees(laptop, 2)
	w.hears(laptop, "vps")
	w.fleet.Server.Shutdown()
	w.fleet.Server.WaitForShutdown()
	checktest.Eventually(t, "it is not connected", func() bool { _, up := laptop.up(); return !up })
	ctx := t.Context()

	if all := laptop.list(t, &api.Query{}); len(all) != 2 || all[0].Host != "vps" || all[0].Heard < 0 {
		t.Errorf("it lists %+v", all)
	}
	o, err := laptop.Owner(ctx, owner(2).ID)
	check(t, err)
	if o.Host != "vps" || o.Status != "waiting" {
		t.Errorf("what vps showed last: %+v", o)
	}
	_, err = laptop.Answer(ctx, owner(2).Decision.ID, daemonapi.Answer{ID: "aa", Option: "yes"})
	if daemonapi.Code(err) != "unavailable" || !strings.Contains(err.Error(), "not connected to its fleet; nothing was changed") {
		t.Errorf("an answer elsewhere: %v", err)
	}
	_, err = laptop.Answer(ctx, owner(1).Decision.ID, daemonapi.Answer{ID: "ab", Option: "yes"})
	check(t, err)
	if got := laptop.own.done(); len(got) != 1 || !strings.HasSuffix(got[0], "by the user") {
		t.Errorf("%q", got)
	}
	if s := laptop.Status(); s.Name != linktest.Name || s.Member != "laptop" {
		t.Errorf("%+v", s)
	}
}

// A machine that is gone is not asked, and nothing is said to have changed.
func TestAMachineThatTakesNoRequests(t *testing.T) {
	w := newWorld(t)
	w.belongs("vps", "ann")
	laptop := w.machine("laptop", "ann")
	l := w.fleet.Member("vps")
	_, err := l.JS.Publish(t.Context(), l.View("vps", owner(2).ID), encoded(t, owner(2)))
	check(t, err)
	w.sees(laptop, 1)
	checktest.Eventually(t, "it is connected", func() bool { _, up := laptop.up(); return up })
	_, err = laptop.Cancel(t.Context(), owner(2).ID, daemonapi.Cancel{ID: "aa"})
	if daemonapi.Code(err) != "unavailable" || !strings.Contains(err.Error(), "vps has never reported; nothing was changed") {
		t.Errorf("%v", err)
	}

	_, err = l.Conn.Subscribe(l.Ask("vps", "*"), func(*nats.Msg) {}) // it takes requests, and answers none
	check(t, err)
	check(t, l.Conn.Flush())
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err = laptop.Cancel(ctx, owner(2).ID, daemonapi.Cancel{ID: "aa"})
	if daemonapi.Code(err) != "unavailable" || !strings.Contains(err.Error(), "not known whether") {
		t.Errorf("%v", err)
	}
}

// Nothing of a machine's own waits for a hub that accepts connections and says nothing.
func TestIssue20NothingLocalWaitsForTheFleet(t *testing.T) {
	mute, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	t.Cleanup(func() { mute.Close() })
	accepted := make(chan net.Conn, 100)
	go func() {
		for {
			c, err := mute.Accept()
			if err != nil {
				close(accepted)
				return
			}
			accepted <- c
		}
	}()
	own := &ownPlane{owners: map[string]daemonapi.Owner{owner(1).ID: owner(1)}}
	f := New(Options{
		Version: "v1", Plane: own, Handler: api.New(own, "v1"), Now: time.Now, Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
		Config: func() *config.Global { return &config.Global{} }, Changed: func() {}, Trouble: func() error { return nil },
		Self: func() (string, string) { return "test", "laptop" },
		Dial: func(ctx context.Context) (*link.Link, error) {
			_, err := nats.Connect("nats://"+mute.Addr().String(), nats.Timeout(time.Minute))
			return nil, err
		},
	})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go f.Run(ctx)
	defer func() {
		mute.Close()
		for c := range accepted {
			c.Close()
		}
	}()
	first := <-accepted
	defer first.Close()
	m := &machine{Fleet: f, Plane: f.Merged(), own: own}
	begun := time.Now()
	if all := m.list(t, &api.Query{}); len(all) != 1 {
		t.Errorf("%+v", all)
	}
	_, err = m.Answer(t.Context(), owner(1).Decision.ID, daemonapi.Answer{ID: "aa", Option: "yes"})
	check(t, err)
	f.OwnerChanged(owner(1).ID)
	m.Status()
	if took := time.Since(begun); took > 20*time.Second { // the hub would take a minute
		t.Errorf("that took %s", took)
	}
}

// A daemon that is told to end says so: the others see at once that it was stopped, are told so if they ask something
// of it, and see when it is back.
func TestIssue20AStoppedDaemonSaysSo(t *testing.T) {
	w := newWorld(t)
	laptop, vps := w.machine("laptop", "ada"), w.machine("vps", "ada", owner(1))
	w.hears(laptop, "vps")
	w.sees(laptop, 1)
	vps.stop()
	checktest.Eventually(t, "vps is stopped", func() bool { return laptop.Observer().State("vps") == beat.Stopped })
	status := laptop.Fleet.Status()
	if m, _ := status.Find("vps"); m.State != "stopped" || !strings.HasPrefix(m.Why(), "vps was stopped ") {
		t.Errorf("%+v: %s", m, m.Why())
	}
	_, err := laptop.Cancel(t.Context(), fmt.Sprintf("%016x", 1), daemonapi.Cancel{ID: daemonapi.NewID()})
	if daemonapi.Code(err) != "unavailable" || !strings.Contains(err.Error(), "vps was stopped") {
		t.Errorf("%v", err)
	}
	w.machine("vps", "ada")
	w.hears(laptop, "vps")
}
