//go:build unix

package world

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os/exec"
	"sync"
	"time"
)

// loopback is a network of loopback addresses. What listens on a machine is reached through a proxy, which knows
// by the process at the other end from which machine a connection comes.
type loopback struct {
	prefix string
	origin func(net.Conn) (machine int, known bool)

	mu      sync.Mutex
	cut     map[way]bool
	changed chan struct{} // closed when a way is cut or healed
	slow    time.Duration // what everything that passes takes longer
	proxies []net.Listener
	conns   map[net.Conn]bool
	closed  bool
	all     sync.WaitGroup
}

// way is one direction between two machines.
type way struct{ from, to int }

// Loopback is a network of loopback addresses with a proxy.
func Loopback(machines int, mark []string) (Network, error) {
	// Worlds at the same time have addresses of their own, most likely.
	l := &loopback{
		prefix: fmt.Sprintf("127.%d.%d.", 1+rand.IntN(250), rand.IntN(250)),
		cut:    map[way]bool{}, changed: make(chan struct{}), conns: map[net.Conn]bool{},
	}
	l.origin = func(c net.Conn) (int, bool) { return originOf(c, machines, mark) }
	return l, nil
}

func (l *loopback) Name() string { return "loopback" }

func (l *loopback) Address(i int) string { return fmt.Sprintf("%s%d", l.prefix, i+1) }

func (l *loopback) Behind(i int) string { return fmt.Sprintf("%s%d", l.prefix, i+101) }

func (l *loopback) Inside(int, *exec.Cmd) {}

// Open has a proxy listen at a port of a machine's address, for what listens behind it.
func (l *loopback) Open(machine, port int) (int, error) {
	proxy, err := net.Listen("tcp", fmt.Sprintf("%s:%d", l.Address(machine), port))
	if err != nil {
		return 0, err
	}
	l.mu.Lock()
	l.proxies = append(l.proxies, proxy)
	l.mu.Unlock()
	port = proxy.Addr().(*net.TCPAddr).Port
	l.all.Go(func() { l.serve(proxy, machine, fmt.Sprintf("%s:%d", l.Behind(machine), port)) })
	return port, nil
}

// serve hands over connections until the proxy is closed.
func (l *loopback) serve(proxy net.Listener, machine int, behind string) {
	for {
		conn, err := proxy.Accept()
		if err != nil {
			return
		}
		if l.keep(conn) {
			l.all.Go(func() { l.handle(conn, machine, behind) })
		}
	}
}

// keep notes a connection that must be closed with the network.
func (l *loopback) keep(c net.Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		_ = c.Close()
		return false
	}
	l.conns[c] = true
	return true
}

func (l *loopback) drop(c net.Conn) {
	_ = c.Close()
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.conns, c)
}

// handle connects both ends. One of our own machine passes always; one of a process that has ended already
// belongs to no machine, and is closed.
func (l *loopback) handle(near net.Conn, to int, behind string) {
	defer l.drop(near)
	from, known := l.origin(near)
	if !known || !l.pass(way{from, to}) || !l.pass(way{to, from}) {
		return
	}
	far, err := net.Dial("tcp", behind)
	if err != nil {
		return // nothing listens there: the other end sees a connection that is closed at once
	}
	if !l.keep(far) {
		return
	}
	defer l.drop(far)
	var both sync.WaitGroup
	both.Go(func() { l.carry(far, near, way{from, to}) })
	both.Go(func() { l.carry(near, far, way{to, from}) })
	both.Wait()
}

// carry copies what passes on a way. Its end passes like everything else.
func (l *loopback) carry(to, from net.Conn, w way) {
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		if !l.pass(w) {
			return
		}
		if _, wrong := to.Write(buffer[:n]); wrong != nil {
			_ = from.Close()
			return
		}
		if err != nil {
			if tcp, is := to.(*net.TCPConn); is && errors.Is(err, io.EOF) {
				_ = tcp.CloseWrite()
				return
			}
			_ = to.Close()
			return
		}
	}
}

// pass waits until a way is open. It is false when the network is closed.
func (l *loopback) pass(w way) bool {
	for {
		l.mu.Lock()
		cut, changed, slow, closed := l.cut[w] && w.from != w.to, l.changed, l.slow, l.closed
		l.mu.Unlock()
		switch {
		case closed:
			return false
		case !cut:
			time.Sleep(slow)
			return true
		}
		<-changed
	}
}

func (l *loopback) Loopback(int) (net.Listener, error) { return net.Listen("tcp", "127.0.0.1:0") }

func (l *loopback) Cut(from, to int) error  { return l.set(way{from, to}, true) }
func (l *loopback) Heal(from, to int) error { return l.set(way{from, to}, false) }

func (l *loopback) set(w way, cut bool) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cut[w] = cut
	l.tell()
	return nil
}

// tell wakes all that wait for a way.
func (l *loopback) tell() {
	close(l.changed)
	l.changed = make(chan struct{})
}

// Slow has everything take that much longer.
func (l *loopback) Slow(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.slow = d
}

func (l *loopback) Left() (left []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.conns {
		left = append(left, "connection of "+c.RemoteAddr().String())
	}
	return left
}

func (l *loopback) Close() error {
	l.mu.Lock()
	l.closed = true
	for _, p := range l.proxies {
		_ = p.Close()
	}
	for c := range l.conns {
		_ = c.Close()
	}
	l.tell()
	l.mu.Unlock()
	l.all.Wait()
	return nil
}
