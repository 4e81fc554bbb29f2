package hub

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/control/fleet/member"
)

// A server whose disk was full has no streams any more, also when there is room again: the hub ends, and its daemon
// starts another one.
func TestIssue20AHubWithoutStreamsEnds(t *testing.T) {
	f := newFleet(t, 1)
	o := testOptions(f.state("a"))
	h := &hub{Options: o, id: f.identity("a"), since: time.Now()}
	h.names.Fleet = h.id.Fleet
	check(t, h.start(t.Context()))
	defer func() {
		h.nc.Close()
		h.server.Shutdown()
	}()
	check(t, h.server.DisableJetStream())
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	err := h.stay(ctx)
	if err == nil || !strings.Contains(err.Error(), "is the disk full?") || !strings.Contains(err.Error(), member.HubDir(o.StateDir)) {
		t.Errorf("the hub goes on, or ends with %v", err)
	}
}

// A hub listens where the variable says, and is reached at its address by what forwards to there.
func TestIssue20WhereAHubListens(t *testing.T) {
	own := member.Hub{Host: "127.0.0.1", Port: 1}
	if at := listenHost(own); at != "127.0.0.1" {
		t.Errorf("it listens at %s", at)
	}
	t.Setenv(listenVariable, "127.0.0.7")
	if at := listenHost(own); at != "127.0.0.7" {
		t.Errorf("it listens at %s", at)
	}
}
