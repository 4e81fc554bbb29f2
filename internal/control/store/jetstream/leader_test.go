package jetstream

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/control/store"
)

// The server that leads the stream goes away while events are appended: what was acknowledged is there, each
// once, and appends go on.
func TestTheLeaderGoesAway(t *testing.T) {
	c := newCluster(t, 3)
	s := c.open(t).(*Store)
	defer s.Close()
	const writers, each = 4, 60
	half := make(chan struct{}, writers)
	acknowledged := make([]map[string]store.Position, writers)
	var all sync.WaitGroup
	for w := range writers {
		acknowledged[w] = map[string]store.Position{}
		all.Go(func() {
			version := store.Position(0)
			for n := range each {
				if n == each/2 {
					half <- struct{}{}
				}
				id := fmt.Sprintf("%d-%d", w, n)
				position, err := s.Append(t.Context(), store.NewEvent{Subject: fmt.Sprintf("job.%d", w), ID: id, Expected: version})
				if err != nil {
					t.Errorf("append %s: %v", id, err)
					return
				}
				acknowledged[w][id], version = position, position
			}
		})
	}
	for range writers {
		<-half
	}
	info, err := s.stream.Info(t.Context())
	check(t, err)
	for _, srv := range c.servers {
		if srv.Name() == info.Cluster.Leader {
			srv.Shutdown()
		}
	}
	all.Wait()

	read := 0
	for e, err := range s.ReadAll(t.Context(), 0) {
		check(t, err)
		var writer int
		fmt.Sscanf(e.ID, "%d-", &writer)
		if acknowledged[writer][e.ID] != e.Position {
			t.Errorf("%s is at %d, and was acknowledged at %d", e.ID, e.Position, acknowledged[writer][e.ID])
		}
		read++
	}
	if read != writers*each {
		t.Errorf("%d events of %d", read, writers*each)
	}
}

// A watch ends with its context also while the servers cannot agree on anything.
func TestAWatchEndsThoughMostServersAreGone(t *testing.T) {
	c := newCluster(t, 3)
	s := c.open(t).(*Store)
	defer s.Close()
	_, err := s.Append(t.Context(), store.NewEvent{Subject: "job.1", ID: "1"})
	check(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	const watches = 6 // of them some are served by the servers that go
	begun := make(chan struct{}, watches)
	var all sync.WaitGroup
	for range watches {
		all.Go(func() {
			for e := range s.Watch(ctx, "", 0) {
				if e.ID == "1" {
					begun <- struct{}{}
				}
			}
		})
	}
	for range watches {
		<-begun
	}
	for _, srv := range c.servers {
		if srv.Name() != s.js.Conn().ConnectedServerName() {
			srv.Shutdown()
		}
	}
	time.Sleep(3 * heartbeat) // until then they miss their servers; where they do not, this shows nothing
	cancel()
	ended := make(chan struct{})
	go func() {
		all.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(time.Minute):
		t.Error("a watch goes on")
	}
}
