package api

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"iter"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
)

// pipes is a listener without an operating system, so that time can be made up.
type pipes struct {
	conns chan net.Conn
	done  chan struct{}
}

func newPipes() *pipes { return &pipes{make(chan net.Conn), make(chan struct{})} }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case conn := <-p.conns:
		return conn, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	select {
	case <-p.done:
	default:
		close(p.done)
	}
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.UnixAddr{} }

// dial sends a request and leaves the rest to the caller.
func (p *pipes) dial(t *testing.T, request string) net.Conn {
	t.Helper()
	ours, theirs := net.Pipe()
	p.conns <- theirs
	_, err := io.WriteString(ours, request)
	check(t, err)
	return ours
}

// during serves a plane while f runs, in time that is made up.
func during(t *testing.T, f func(t *testing.T, p *fakePlane, l *pipes)) {
	synctest.Test(t, func(t *testing.T) {
		l, p := newPipes(), &fakePlane{}
		stop := serveOn(t, l, New(p, "v1"))
		f(t, p, l)
		stop()
	})
}

const askEvents = "GET /v1/events HTTP/1.1\r\nHost: x\r\n\r\n"

func TestHeartbeats(t *testing.T) {
	during(t, func(t *testing.T, _ *fakePlane, l *pipes) {
		began := time.Now()
		conn := l.dial(t, askEvents)
		defer conn.Close()
		r := bufio.NewReader(conn)
		answer, err := http.ReadResponse(r, nil)
		check(t, err)
		lines := bufio.NewScanner(answer.Body)
		for beat := range 100 {
			if !lines.Scan() || !strings.HasPrefix(lines.Text(), ":") || !lines.Scan() || lines.Text() != "" {
				t.Fatalf("beat %d: %q, %v", beat, lines.Text(), lines.Err())
			}
			if now := time.Since(began); now != time.Duration(beat)*heartbeat {
				t.Fatalf("beat %d after %v", beat, now)
			}
		}
	})
}

func TestSlowReadersAreDropped(t *testing.T) {
	during(t, func(t *testing.T, p *fakePlane, l *pipes) {
		ended := make(chan time.Time, 1)
		p.events = func(context.Context, uint64) iter.Seq2[daemonapi.Event, error] {
			return func(yield func(daemonapi.Event, error) bool) {
				defer func() { ended <- time.Now() }()
				for yield(daemonapi.Event{}, nil) {
				}
			}
		}
		began := time.Now()
		conn := l.dial(t, askEvents)
		defer conn.Close()
		if took := (<-ended).Sub(began); took != writing {
			t.Errorf("dropped after %v", took)
		}
	})
}

func TestWhoSendsNothingIsDropped(t *testing.T) {
	during(t, func(t *testing.T, _ *fakePlane, l *pipes) {
		for request, status := range map[string]string{
			"GET /v1/version HTTP/1.1\r\nHost": "", // of the header
			"POST /v1/stop HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n{": "400",
			"POST /v1/nowhere HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n{":                                "404",
		} {
			began := time.Now()
			conn := l.dial(t, request)
			text, _ := io.ReadAll(conn)
			if !strings.Contains(string(text), status) {
				t.Errorf("%q: %s", request, text)
			}
			if took := time.Since(began); took > reading+time.Second {
				t.Errorf("%q: dropped after %v", request, took)
			}
			conn.Close()
		}
	})
}

// A request that does not end does not keep the daemon.
func TestStopDoesNotWaitForEver(t *testing.T) {
	during(t, func(t *testing.T, p *fakePlane, l *pipes) {
		entered := make(chan struct{})
		p.during = func(ctx context.Context) {
			close(entered)
			<-ctx.Done()
		}
		conn := l.dial(t, fmt.Sprintf("POST /v1/start HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(startBody), startBody))
		defer conn.Close()
		<-entered
	})
}
