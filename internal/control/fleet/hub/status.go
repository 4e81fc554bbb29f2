package hub

import (
	"context"
	"os"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/stopgate/stopgate/internal/control/fleet/member"
)

// status is how this hub sees itself, the others and the fleet's streams.
func (h *hub) status(ctx context.Context) member.HubStatus {
	s := member.HubStatus{
		Number: h.id.Hub, Version: h.Version, PID: os.Getpid(), Since: h.since.UTC(), Now: h.Now().UTC(),
		Expires: h.users.certificate.Leaf.NotAfter, Memory: resident(), Waits: h.waits(), Made: h.made(), Peers: h.peers(),
	}
	if info, err := h.server.Jsz(&server.JSzOptions{Config: true}); err == nil {
		s.SyncAlways = info.Config.SyncAlways
		if info.Meta != nil {
			s.Leader = info.Meta.Leader
		} else {
			s.Leader = member.HubName(h.id.Hub)
		}
	}
	s.Streams = h.streams(ctx)
	return s
}

// peers are the other hubs, whether or not they have joined.
func (h *hub) peers() (peers []member.HubPeer) {
	joined := map[string]bool{}
	for _, m := range h.users.all() {
		if m.Hub > 0 && !m.Left {
			joined[member.HubName(m.Hub)] = true
		}
	}
	online := map[string]bool{}
	if routes, err := h.server.Routez(nil); err == nil {
		for _, route := range routes.Routes {
			online[route.RemoteName] = true
		}
	}
	for i, other := range h.id.Hubs {
		if name := member.HubName(i + 1); i+1 != h.id.Hub {
			peers = append(peers, member.HubPeer{Name: name, Address: other.Address(), Online: online[name], Joined: joined[name]})
		}
	}
	return peers
}

// streams are the fleet's, as far as they answer.
func (h *hub) streams(ctx context.Context) (all []member.StreamStatus) {
	ctx, cancel := context.WithTimeout(ctx, time.Second) // without a quorum they do not answer
	defer cancel()

	js, err := jetstream.New(h.nc)
	if err != nil {
		return nil
	}

	for _, name := range []string{h.names.LogStream(), h.names.ViewStream(), h.names.LogStream() + "-snapshots"} {
		stream, err := js.Stream(ctx, name)
		if err != nil {
			continue
		}
		info := stream.CachedInfo()
		one := member.StreamStatus{Name: name, Replicas: info.Config.Replicas, Current: 1, Messages: info.State.Msgs, Bytes: info.State.Bytes}
		if info.Cluster != nil {
			one.Leader = info.Cluster.Leader
			for _, replica := range info.Cluster.Replicas {
				if replica.Current && !replica.Offline {
					one.Current++
				}
			}
		}
		all = append(all, one)
	}
	return all
}
