package api

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
)

const (
	// maxConns leaves some for questions.
	maxConns = maxStreams + maxWaiting + 128
	// grace is how long requests that are under way have when the daemon stops.
	grace = 5 * time.Second
)

// Listen makes the socket, which is its owner's alone from the beginning: connections
// of other users are told so and closed, even where the directory lets them in.
//
// A socket that an earlier daemon left behind is replaced. So whoever calls this must
// hold the daemon's lock: without it he might take the place of one that is alive.
func Listen(path string) (net.Listener, error) {
	if err := daemonapi.CheckSocket(path); err != nil {
		return nil, err
	}
	switch info, err := os.Lstat(path); {
	case errors.Is(err, os.ErrNotExist):
	case err != nil:
		return nil, err
	case info.Mode().Type() != os.ModeSocket:
		return nil, fmt.Errorf("%s exists and is not a socket", path)
	default:
		if err := os.Remove(path); err != nil {
			return nil, err
		}
	}
	return listen(path)
}

// Serve answers until the context ends. Then streams end, and requests that are under
// way have a few seconds. The listener is closed.
func Serve(ctx context.Context, l net.Listener, handler http.Handler) error {
	open, endStreams := context.WithCancel(context.Background())
	defer endStreams()

	s := &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: 5 * time.Second,
		IdleTimeout:       time.Minute,
		MaxHeaderBytes:    16 << 10,
		ErrorLog:          slog.NewLogLogger(slog.Default().Handler(), slog.LevelWarn),
		BaseContext: func(net.Listener) context.Context {
			return context.WithValue(context.Background(), ending{}, open)
		},
	}

	// When the listener is closed: whoever sees a stream end and asks why finds nobody.
	s.RegisterOnShutdown(endStreams)
	served := make(chan error, 1)
	go func() { served <- s.Serve(&limited{Listener: l, free: make(chan struct{}, maxConns)}) }()
	select {
	case err := <-served:
		return errors.Join(err, s.Close())
	case <-ctx.Done():
	}

	late, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	err := s.Shutdown(late)
	if err != nil {
		err = s.Close() // they had their time
	}
	<-served
	return err
}

// limited accepts so many connections at once. More are told so and closed.
type limited struct {
	net.Listener
	free chan struct{} // one for each that is open
}

func (l *limited) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		select {
		case l.free <- struct{}{}:
			return &counted{Conn: conn, release: func() { <-l.free }}, nil
		default:
			turnAway(conn, "503 Service Unavailable", fmt.Sprintf(`{"code":"unavailable","error":"the daemon has too many connections (%d)"}`, maxConns))
		}
	}
}

// counted gives its place back when it is closed.
type counted struct {
	net.Conn
	once    sync.Once
	release func()
}

func (c *counted) Close() error {
	defer c.once.Do(c.release)
	return c.Conn.Close()
}

// turnAway answers and hangs up, without reading anything.
func turnAway(conn net.Conn, status, body string) {
	defer conn.Close()
	_ = conn.SetWriteDeadline(time.Now().Add(time.Second))
	_, _ = fmt.Fprintf(conn, "HTTP/1.1 %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s", status, len(body), body)
}
