package jetstream

import (
	"fmt"
	"sync"
	"testing"

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
