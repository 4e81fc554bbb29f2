package standin

import (
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/sys/checktest"
)

// patience only bounds a test that fails.
const patience = 3 * time.Minute

// Director is a test's side of an actor.
type Director struct {
	Sent chan string // the texts that Enter sent off; closed with the actor

	t      testing.TB
	conn   net.Conn
	shown  chan struct{}
	fenced chan struct{}
	mu     sync.Mutex
	given  []byte
}

// Direct has an actor started that finds us at a socket: this program, with a variable more.
func Direct(t testing.TB, socket string, start func(variable, program string)) *Director {
	t.Helper()
	listener, err := net.Listen("unix", socket)
	checktest.OK(t, err)
	defer listener.Close()
	program, err := os.Executable()
	checktest.OK(t, err)
	start(ActorEnv+"="+socket, program)

	_ = listener.(*net.UnixListener).SetDeadline(time.Now().Add(patience))
	conn, err := listener.Accept()
	checktest.OK(t, err)
	return &Director{t: t, conn: conn, Sent: make(chan string, 1000), shown: make(chan struct{}, 1), fenced: make(chan struct{}, 1)}
}

// Listen hears what the actor tells, until it is gone.
func (d *Director) Listen() {
	defer d.conn.Close()
	defer close(d.Sent)
	for decoder := json.NewDecoder(d.conn); ; {
		var report word
		if err := decoder.Decode(&report); err != nil {
			if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, net.ErrClosed) {
				d.t.Errorf("the stand-in: %v", err)
			}
			return
		}

		switch {
		case report.Shown:
			d.shown <- struct{}{}
		case report.Fenced:
			d.fenced <- struct{}{}
		case report.Sent != nil:
			d.Sent <- *report.Sent
		default:
			d.mu.Lock()
			d.given = append(d.given, report.Bytes...)
			d.mu.Unlock()
		}
	}
}

// Show makes the actor look and behave so.
func (d *Director) Show(l Looks) {
	d.t.Helper()
	checktest.OK(d.t, json.NewEncoder(d.conn).Encode(l))
	d.wait("the stand-in shows that", d.shown)
}

// Given is everything that the actor was given before the fence, the key 01, which press presses.
func (d *Director) Given(press func()) string {
	d.t.Helper()
	press()
	d.wait("the fence reaches the stand-in", d.fenced)
	d.mu.Lock()
	defer d.mu.Unlock()
	return string(d.given)
}

func (d *Director) wait(what string, c <-chan struct{}) {
	d.t.Helper()
	select {
	case <-c:
	case <-time.After(patience):
		d.t.Fatalf("never: %s", what)
	}
}
