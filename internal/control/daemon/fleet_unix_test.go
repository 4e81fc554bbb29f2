//go:build unix

package daemon

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/control/fleet/hub"
	"github.com/stopgate/stopgate/internal/control/fleet/hub/hubtest"
	"github.com/stopgate/stopgate/internal/control/fleet/member"
	"github.com/stopgate/stopgate/internal/gate/trust"
	"github.com/stopgate/stopgate/internal/sys/checktest"
)

// foundFleet makes a fleet with the hub of one machine, and has another one join it.
func foundFleet(t *testing.T, first, second string) {
	t.Helper()
	at := member.Hub{Host: "127.0.0.1", Port: hubtest.Port(t)}
	check(t, hub.Found(first, member.Identity{Fleet: "test", Name: "laptop", User: "ann", Hubs: []member.Hub{at}}, time.Now()))
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		ended <- hub.Run(ctx, hub.Options{StateDir: first, Version: "v1", Log: quiet(), Now: time.Now})
	}()
	t.Cleanup(func() { cancel(); check(t, <-ended) })
	checktest.Eventually(t, "the other machine joins", func() bool {
		token, _, err := hub.Invite(t.Context(), first, "ann", false, time.Now())
		if err == nil {
			_, err = member.Join(t.Context(), second, token, "vps")
		}
		return err == nil
	})
}

// Two daemons and a hub: what one starts on the other is in the lists of both, and answers and ends there.
func TestIssue20DaemonsOfAFleet(t *testing.T) {
	here, there := newWorld(), newWorld()
	a, b := options(t, here, newMemory(t)), options(t, there, newMemory(t))
	root := project(t, twoSteps)
	check(t, os.WriteFile(b.Config, []byte("fleet:\n  projects:\n    - name: shop\n      path: "+root+"\n"), 0o600))
	check(t, trust.NewStore(b.StateDir).Approve(root, time.Now()))
	foundFleet(t, a.StateDir, b.StateDir)
	laptop, vps := begin(t, here, a), begin(t, there, b)
	ctx := t.Context()
	checktest.Eventually(t, "laptop knows that vps is up", func() bool {
		f, err := laptop.Fleet(ctx)
		check(t, err)
		m, known := f.Find("vps")
		return f.Connected && known && m.State == "up" && m.User == "ann" && len(m.Projects) == 1
	})

	o, err := laptop.Client.Start(ctx, daemonapi.Start{ID: anID, Command: "build", Args: []string{"you"}, Host: "vps", ProjectName: "shop"})
	check(t, err)
	if o.Host != "vps" || o.Project != filepath.Clean(root) {
		t.Errorf("it was started as %+v", o)
	}
	there.runs(t, "echo one \"you\"")
	there.endAll(0)
	there.runs(t, "echo two")
	list := func(r *running) (steps string) {
		all, err := r.Pipelines(ctx, daemonapi.Filter{})
		check(t, err)
		for _, o := range all {
			steps += o.ID + " " + o.Host + " " + o.Step
		}
		return steps
	}
	checktest.Eventually(t, "laptop shows the second step", func() bool { return list(laptop) == anID+" vps two" })
	if own := list(vps); own != anID+"  two" {
		t.Errorf("vps shows %q", own)
	}
	o, err = laptop.Cancel(ctx, anID, daemonapi.Cancel{})
	check(t, err)
	there.endAll(1)
	what, so := at("cancelled")
	if o = vps.reach(t, anID, what, so); o.Reason != "requested by ann on laptop" {
		t.Errorf("it was cancelled because %q", o.Reason)
	}
	if len(here.started) > 0 {
		t.Errorf("laptop ran %q", here.started)
	}
	checktest.Eventually(t, "laptop shows its end", func() bool { return list(laptop) == anID+" vps cancelled" })

	check(t, member.Forget(b.StateDir)) // it leaves, and goes on alone
	checktest.Eventually(t, "vps is in no fleet", func() bool { f, err := vps.Fleet(ctx); check(t, err); return f.Name == "" })
	if own := list(vps); own != anID+"  cancelled" {
		t.Errorf("vps shows %q", own)
	}
}

// A daemon that a person stops is stopped for the others, not silent and then lost.
func TestIssue20AStoppedDaemonOfAFleet(t *testing.T) {
	here, there := newWorld(), newWorld()
	a, b := options(t, here, newMemory(t)), options(t, there, newMemory(t))
	foundFleet(t, a.StateDir, b.StateDir)
	laptop, vps := begin(t, here, a), begin(t, there, b)
	is := func(state string) {
		t.Helper()
		checktest.Eventually(t, "vps is "+state, func() bool {
			f, err := laptop.Fleet(t.Context())
			check(t, err)
			m, _ := f.Find("vps")
			return m.State == state
		})
	}
	is("up")
	vps.stop(t)
	is("stopped")
	begin(t, there, b)
	is("up")
}
