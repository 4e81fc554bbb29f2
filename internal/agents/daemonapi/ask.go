package daemonapi

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// MaxSocket is how long a socket's path may be: what the strictest system takes.
const MaxSocket = 103

// CheckSocket says what is wrong with a socket's path.
func CheckSocket(path string) error {
	switch {
	case len(path) > MaxSocket:
		return fmt.Errorf("the path of the daemon's socket is too long: %d bytes, at most %d; set STOPGATE_STATE_DIR to a shorter directory (%s)", len(path), MaxSocket, path)
	case strings.ContainsRune(path, 0) || path == "" || path[0] == '@':
		return fmt.Errorf("invalid socket path %q", path)
	}
	return nil
}

// Ask sends a request and reads the answer, also one that no method here asks for. The body may be nil, and answer where
// nobody wants to know. It waits half a minute, unless the context ends sooner. What is
// not 2xx is an *Error.
func (c *Client) Ask(ctx context.Context, method, path string, body, answer any) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	text, err := c.ask(ctx, method, path, body)
	if err != nil || answer == nil {
		return err
	}
	return decode(text, answer)
}

func decode(text []byte, answer any) error {
	if err := json.Unmarshal(text, answer); err != nil {
		return fmt.Errorf("%w: %w", ErrAnswer, err)
	}
	return nil
}

// ask is Ask without a limit of time of its own. It returns the answer's body.
func (c *Client) ask(ctx context.Context, method, path string, body any) ([]byte, error) {
	text, _, err := c.fetch(ctx, method, path, body)
	return text, err
}

// fetch returns the answer's body and, of a list, the request for its next page.
func (c *Client) fetch(ctx context.Context, method, path string, body any) (text []byte, next string, err error) {
	s, err := c.open(ctx, method, path, body)
	if err != nil {
		return nil, "", err
	}
	defer s.close()
	text, err = s.readAll()
	if err != nil {
		return nil, "", s.explain(err)
	}
	return text, s.next, nil
}

// stream is an answer whose body is still to be read.
type stream struct {
	*answer
	conn   net.Conn
	ctx    context.Context
	unhook func() bool
}

// open sends a request and reads the answer as far as its body, where it is 2xx.
func (c *Client) open(ctx context.Context, method, path string, body any) (*stream, error) {
	request, err := c.request(method, path, body)
	if err != nil {
		return nil, err
	}
	conn, err := c.dial(ctx)
	if err != nil {
		return nil, err
	}
	s := &stream{conn: conn, ctx: ctx, unhook: context.AfterFunc(ctx, func() { conn.Close() })}
	if err := c.exchange(s, request); err != nil {
		s.close()
		return nil, s.explain(err)
	}
	return s, nil
}

// request is a whole request. There is one on each connection.
func (c *Client) request(method, path string, body any) ([]byte, error) {
	var text []byte
	if body != nil {
		var err error
		if text, err = json.Marshal(body); err != nil {
			return nil, err
		}
	}
	b := make([]byte, 0, 256+len(path)+len(text))
	b = append(b, method+" "+path+" HTTP/1.1\r\nHost: stopgate\r\nConnection: close\r\n"+VersionHeader+": "+c.version+"\r\n"...)
	if body != nil {
		b = append(b, "Content-Type: application/json\r\nContent-Length: "+strconv.Itoa(len(text))+"\r\n"...)
	}
	b = append(b, "\r\n"...)
	return append(b, text...), nil
}

func (c *Client) dial(ctx context.Context) (net.Conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := CheckSocket(c.socket); err != nil {
		return nil, err
	}
	if err := ours(c.socket); err != nil {
		return nil, err
	}
	// Neither answers a name nor waits: the kernel has room for the connection or not.
	conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: c.socket, Net: "unix"})
	switch {
	case err == nil:
		return conn, nil
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED):
		return nil, fmt.Errorf("%w: nothing listens on %s", ErrNotRunning, c.socket)
	case errors.Is(err, syscall.EAGAIN):
		return nil, fmt.Errorf("the daemon has too many connections: %w", err)
	}
	return nil, err
}

// exchange sends the request and reads the answer. The daemon may answer and hang up
// without having read the request, so that is read in any case.
func (c *Client) exchange(s *stream, request []byte) error {
	_, sent := s.conn.Write(request)
	a, err := readAnswer(bufio.NewReader(s.conn))
	if err != nil {
		if sent != nil {
			return cut(sent)
		}
		return err
	}
	s.answer = a
	if a.version != "" {
		c.other.Store(&a.version)
	}
	if a.status > 299 {
		return s.failure()
	}
	return nil
}

// failure is the error that the answer is.
func (s *stream) failure() error {
	text, err := s.readAll()
	if err != nil {
		return err
	}
	e := &Error{Status: s.status}
	if json.Unmarshal(text, &e.Failure) != nil || e.Failure.Error == "" {
		e.Failure = Failure{Error: fmt.Sprintf("status %d: %.200s", s.status, bytes.TrimSpace(text))}
	}
	return e
}

func (s *stream) readAll() ([]byte, error) {
	if s.length > maxAnswer {
		return nil, fmt.Errorf("%w: it has %d bytes, more than %d MiB", ErrAnswer, s.length, maxAnswer>>20)
	}
	if s.length >= 0 {
		return readExactly(s.body, s.length)
	}
	text, err := io.ReadAll(io.LimitReader(s.body, maxAnswer+1))
	if err == nil && len(text) > maxAnswer {
		err = fmt.Errorf("%w: it has more than %d MiB", ErrAnswer, maxAnswer>>20)
	}
	return text, err
}

// readExactly reads a body of that length. It takes no more memory than twice what
// really comes, whatever length was promised.
func readExactly(r io.Reader, length int64) ([]byte, error) {
	var text bytes.Buffer
	text.Grow(int(min(length, 64<<10)) + bytes.MinRead)
	_, err := text.ReadFrom(r)
	return text.Bytes(), err
}

// explain is what an error means when the context has ended: we hung up ourselves.
func (s *stream) explain(err error) error {
	switch ended := s.ctx.Err(); {
	case ended == nil:
		return err
	case errors.Is(ended, context.DeadlineExceeded):
		return fmt.Errorf("the daemon did not answer in time: %w", ended)
	default:
		return ended
	}
}

func (s *stream) close() {
	s.unhook()
	s.conn.Close()
}

// keepAlive has the connection closed when nothing has come for that long.
func (s *stream) keepAlive(silence time.Duration) (heard func()) {
	heard = func() { _ = s.conn.SetReadDeadline(time.Now().Add(silence)) }
	heard()
	return heard
}
