// Package linktest has fleets for tests: a real server in this process, without passwords.
package linktest

import (
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/stopgate/stopgate/internal/control/fleet/link"
)

// Fleet is a fleet of a test.
type Fleet struct {
	Server *server.Server
	t      testing.TB
}

// Name is the name of every fleet here.
const Name = "test"

// New starts a fleet with one hub, which ends with the test.
func New(t testing.TB) *Fleet {
	t.Helper()
	srv, err := server.NewServer(&server.Options{
		ServerName: "hub", Host: "127.0.0.1", Port: server.RANDOM_PORT, JetStream: true, StoreDir: t.TempDir(),
		NoSigs: true, NoLog: true, MaxPayload: link.MaxRequest,
	})
	if err != nil {
		t.Fatal(err)
	}
	srv.Start()
	t.Cleanup(func() { srv.Shutdown(); srv.WaitForShutdown() })
	if !srv.ReadyForConnections(time.Minute) {
		t.Fatal("the hub does not start")
	}
	f := &Fleet{Server: srv, t: t}
	if err := link.Make(t.Context(), f.Dial(), Name, 1); err != nil {
		t.Fatal(err)
	}
	return f
}

// Dial is a connection that ends with the test.
func (f *Fleet) Dial(more ...nats.Option) *nats.Conn {
	f.t.Helper()
	options := append(more, nats.MaxReconnects(-1), nats.ReconnectWait(50*time.Millisecond), nats.ReconnectBufSize(-1))
	nc, err := nats.Connect(f.Server.ClientURL(), options...)
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(nc.Close)
	return nc
}

// Member is the link of a member.
func (f *Fleet) Member(name string) *link.Link {
	f.t.Helper()
	l, err := link.Open(f.t.Context(), f.Dial(nats.CustomInboxPrefix(link.Inbox(name))), Name, name)
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { l.Close() })
	return l
}
