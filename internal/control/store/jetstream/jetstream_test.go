package jetstream

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/stopgate/stopgate/internal/control/fleet/hub/hubtest"
	"github.com/stopgate/stopgate/internal/control/store"
	"github.com/stopgate/stopgate/internal/control/store/storetest"
	"github.com/stopgate/stopgate/internal/sys/checktest"
	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
)

var check = checktest.OK

func TestMain(m *testing.M) {
	environtest.Clean()
	m.Run()
}

// The contract holds on one server.
func TestContract(t *testing.T) {
	storetest.Run(t, func(t *testing.T) storetest.Backend {
		c := newCluster(t, 1)
		b := c.backend()
		b.Damage = func(t testing.TB, at store.Position) { c.damage(t, 0, "data of run_a-4") }
		return b
	})
}

// And on three, with each event on all of them.
func TestContractOnThreeServers(t *testing.T) {
	c := newCluster(t, 3)
	tests := 0
	storetest.Run(t, func(t *testing.T) storetest.Backend {
		tests++
		c.name = fmt.Sprintf("SG_%d", tests) // each has a store of its own
		b := c.backend()
		b.Damage = nil // one server's damage is not the others'
		return b
	})
}

// cluster is some servers with JetStream, and what clients connect to.
type cluster struct {
	name    string
	dirs    []string
	ports   []int
	servers []*server.Server
	deaf    atomic.Bool // what the servers answer does not arrive
}

func newCluster(t *testing.T, n int) *cluster {
	t.Helper()
	c := &cluster{name: "SG_test"}
	for range n {
		c.ports = append(c.ports, hubtest.Port(t))
		c.dirs = append(c.dirs, t.TempDir())
	}
	c.start(t)
	t.Cleanup(c.stop)
	return c
}

func (c *cluster) start(t testing.TB) {
	t.Helper()
	var routes []*url.URL
	for _, port := range c.ports {
		routes = append(routes, &url.URL{Scheme: "nats-route", Host: fmt.Sprintf("127.0.0.1:%d", port)})
	}
	for i, dir := range c.dirs {
		o := &server.Options{
			ServerName: fmt.Sprintf("s%d", i), Host: "127.0.0.1", Port: server.RANDOM_PORT, JetStream: true, StoreDir: dir, SyncAlways: true,
			NoSigs: true, NoLog: true, MaxPayload: 1 << 20,
		}
		if len(c.dirs) > 1 {
			o.Cluster, o.Routes = server.ClusterOpts{Name: "test", Host: "127.0.0.1", Port: c.ports[i]}, routes
		}
		srv, err := server.NewServer(o)
		check(t, err)
		srv.Start()
		c.servers = append(c.servers, srv)
	}
	for _, srv := range c.servers {
		if !srv.ReadyForConnections(time.Minute) {
			t.Fatal("the servers do not start")
		}
	}
}

func (c *cluster) stop() {
	for _, srv := range c.servers {
		srv.Shutdown()
		srv.WaitForShutdown()
	}
	c.servers = nil
}

// Dial is how clients connect: what comes back can be lost.
func (c *cluster) Dial(network, address string) (net.Conn, error) {
	conn, err := net.Dial(network, address)
	if err != nil {
		return nil, err
	}
	return &lossy{conn, c}, nil
}

type lossy struct {
	net.Conn
	c *cluster
}

func (l *lossy) Read(p []byte) (int, error) {
	for {
		n, err := l.Conn.Read(p)
		if err != nil || !l.c.deaf.Load() {
			return n, err
		}
	}
}

func (c *cluster) connect(t testing.TB) *nats.Conn {
	t.Helper()
	if c.servers == nil {
		c.start(t)
	}
	var urls []string
	for _, srv := range c.servers {
		urls = append(urls, srv.ClientURL())
	}
	nc, err := nats.Connect(strings.Join(urls, ","), nats.SetCustomDialer(c), nats.MaxReconnects(-1), nats.ReconnectWait(50*time.Millisecond))
	check(t, err)
	t.Cleanup(nc.Close)
	return nc
}

// open tries again for a while: on a busy machine servers take longer to find each other than a store waits.
func (c *cluster) open(t testing.TB) store.Store {
	t.Helper()
	nc := c.connect(t)
	for tries := 1; ; tries++ {
		s, err := Open(t.Context(), nc, Options{Name: c.name, Prefix: "sg." + c.name, Replicas: len(c.dirs)})
		if err == nil {
			return s
		}
		if tries == 8 {
			t.Fatal(err)
		}
	}
}

func (c *cluster) backend() storetest.Backend {
	return storetest.Backend{
		Open: c.open, Second: c.open,
		Lose: func(t testing.TB, _ store.Store, do func(context.Context)) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			c.deaf.Store(true)
			do(ctx)
			c.deaf.Store(false)
		},
		DamageSnapshot: func(t testing.TB, at store.Position) {
			nc := c.connect(t)
			check(t, nc.Publish(fmt.Sprintf("sg.%s-snapshot.%d.manifest", c.name, at), []byte("{}")))
			check(t, nc.Flush())
		},
	}
}

// damage stops the servers and flips a bit of an event's data in the files of one.
func (c *cluster) damage(t testing.TB, server int, data string) {
	t.Helper()
	c.stop()
	files, err := filepath.Glob(filepath.Join(c.dirs[server], "jetstream", "*", "streams", c.name, "msgs", "*.blk"))
	check(t, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		check(t, err)
		if i := bytes.Index(text, []byte(data)); i >= 0 {
			text[i] ^= 1
			check(t, os.WriteFile(file, text, 0o600))
			return
		}
	}
	t.Fatalf("the event is in none of %v", files)
}
