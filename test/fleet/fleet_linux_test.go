package fleet

import (
	"context"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/sys/seedtest"
	"github.com/stopgate/stopgate/test/fleet/world"
)

// Everything breaks that the plan says, while owners, agents and jobs run on three machines.
func TestChaosOfAFleet(t *testing.T) {
	n, seed, begun := sizeOfRun(), seedtest.Seed(t), time.Now()
	s := newStage(t, seed, n, network())
	s.found()
	s.setCap()
	faults := plan(seed, n.faults, len(s.Machines), n.part, s.without()...)

	ctx, cancel := context.WithCancel(s.ctx)
	over := make(chan struct{})
	var people, work sync.WaitGroup
	people.Go(func() { s.people(ctx) })
	people.Go(func() { s.hooks(ctx) })
	work.Go(func() { s.run(over) })
	work.Go(func() { s.runClients(over) })
	work.Go(func() { s.addJobs(seed) })
	if err := s.breakAll(faults); err != nil {
		t.Error(err)
	}
	close(over)
	work.Wait()
	s.awaitJobs()
	cancel()
	people.Wait()
	if t.Failed() {
		t.FailNow()
	}

	logs := s.readLogs()
	s.stopDaemons()
	a := newAudit(s)
	a.executions()
	a.homes()
	a.words()
	a.complaints()
	a.blocks()
	a.fleet(logs)
	a.stores()
	left := s.stopHubs()
	for _, l := range left {
		t.Log("left: " + l)
	}
	a.enter("processes, sockets, namespaces left", 0, len(left), 0)
	t.Logf("%d faults, %d owners, %d jobs, %s\n%s\n%s", len(s.spans), len(s.owners), len(s.jobs), time.Since(begun).Round(time.Second), a.table(), a.figures())
}

// network is the best that this machine has, or the one that CHAOS_NETWORK names.
func network() world.Connect {
	if os.Getenv("CHAOS_NETWORK") == "loopback" {
		return world.Loopback
	}
	return world.Best
}
