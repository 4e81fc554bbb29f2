//go:build linux || darwin

package daemonapi

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/record/journal"
)

// daemon answers each connection with a function until the test ends.
func daemon(t *testing.T, answer func(conn net.Conn)) *Client {
	t.Helper()
	dir, err := os.MkdirTemp("", "client") // sockets have short paths
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	path := filepath.Join(dir, "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() {
				defer conn.Close()
				answer(conn)
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		all.Wait()
	})
	return New(path, "v1")
}

// says reads a request and answers with a text.
func says(text string) func(net.Conn) {
	return func(conn net.Conn) {
		readRequest(conn)
		io.WriteString(conn, text)
	}
}

func readRequest(conn net.Conn) string {
	r := bufio.NewReader(conn)
	var head strings.Builder
	for {
		line, err := r.ReadString('\n')
		head.WriteString(line)
		if err != nil || line == "\r\n" {
			return head.String()
		}
	}
}

func TestOddAnswers(t *testing.T) {
	for name, test := range map[string]struct {
		text string
		want error
		says string
	}{
		"cut in the body":  {"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{", ErrCut, "cut off"},
		"cut at once":      {"", ErrCut, "cut off"},
		"too large":        {"HTTP/1.1 200 OK\r\nContent-Length: 67108865\r\n\r\n{", ErrAnswer, "64 MiB"},
		"not JSON":         {"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\noops", ErrAnswer, "invalid character"},
		"two values":       {"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n{}{}", ErrAnswer, "after top-level"},
		"a failure in two": {"HTTP/1.1 500 X\r\nContent-Length: 10\r\n\r\n{", ErrCut, "cut off"},
		"words":            {"HTTP/1.1 431 X\r\nContent-Length: 10\r\n\r\ntoo large\n", nil, "status 431: too large"},
		"other JSON":       {"HTTP/1.1 500 X\r\nContent-Length: 2\r\n\r\n{}", nil, "status 500: {}"},
		"a stranger":       {"220 mail.example ESMTP\r\n", ErrAnswer, "220 mail"},
	} {
		_, err := daemon(t, says(test.text)).Status(t.Context())
		if err == nil || test.want != nil && !errors.Is(err, test.want) || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %v", name, err)
		}
		if _, ok := errors.AsType[*Error](err); ok != (test.want == nil) {
			t.Errorf("%s: %T", name, err)
		}
	}
}

func TestEndlessAnswersAreRefused(t *testing.T) {
	c := daemon(t, func(conn net.Conn) {
		readRequest(conn)
		io.WriteString(conn, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
		for chunk := "100000\r\n" + strings.Repeat(" ", 1<<20) + "\r\n"; ; {
			if _, err := io.WriteString(conn, chunk); err != nil {
				return
			}
		}
	})
	if _, err := c.Status(t.Context()); !errors.Is(err, ErrAnswer) || !strings.Contains(err.Error(), "64 MiB") {
		t.Errorf("error %v", err)
	}
}

// A daemon may say no before it has read anything.
func TestAnswersToWhatWasNotRead(t *testing.T) {
	c := daemon(t, func(conn net.Conn) {
		io.WriteString(conn, "HTTP/1.1 403 Forbidden\r\nContent-Length: 38\r\n\r\n{\"code\":\"forbidden\",\"error\":\"not you\"}")
	})
	for range 50 {
		_, err := c.Start(t.Context(), Start{Args: []string{strings.Repeat("x", 1<<20)}})
		if e, ok := errors.AsType[*Error](err); !ok || e.Status != 403 || e.Code != "forbidden" || e.Error() != "not you" {
			t.Fatalf("error %v", err)
		}
	}
}

func TestADaemonThatDoesNotAnswer(t *testing.T) {
	c := daemon(t, func(conn net.Conn) { io.Copy(io.Discard, conn) })
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if _, err := c.Signal(ctx, "a", journal.Position{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
	ctx, cancel = context.WithCancel(t.Context())
	go cancel()
	if _, err := c.Status(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	for _, err := range c.Events(ctx, "", 0) {
		t.Errorf("events after the context's end: %v", err)
	}
}

func TestWhatIsSent(t *testing.T) {
	heads := make(chan string, 1)
	c := daemon(t, func(conn net.Conn) {
		heads <- readRequest(conn)
		io.WriteString(conn, "HTTP/1.1 200 OK\r\nStopgate-Version: v9\r\nContent-Length: 2\r\n\r\n{}")
	})
	if _, err := c.Agent(t.Context(), "../a b\r\nX: y?"); err != nil {
		t.Error(err)
	}
	want := "GET /v1/agents/..%2Fa%20b%0D%0AX:%20y%3F HTTP/1.1\r\nHost: stopgate\r\nConnection: close\r\nStopgate-Version: v1\r\n\r\n"
	if got := <-heads; got != want {
		t.Errorf("sent %q, want %q", got, want)
	}
	if c.Skew() != "v9" {
		t.Errorf("skew %q", c.Skew())
	}
}

func TestStreamsThatAreCut(t *testing.T) {
	c := daemon(t, says("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n14\r\ndata: {\"position\":1}\r\n2\r\n\n\n\r\n3\r\nid"))
	var got []error
	for _, err := range c.Events(t.Context(), "", 0) {
		got = append(got, err)
	}
	if len(got) != 2 || got[0] != nil || !errors.Is(got[1], ErrCut) {
		t.Errorf("%v", got)
	}
}

// The program that answers hooks links this.
func TestLinksNoHTTP(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for pkg := range strings.FieldsSeq(string(out)) {
		if pkg == "net/http" || pkg == "regexp" || strings.HasPrefix(pkg, "crypto/tls") {
			t.Errorf("links %s", pkg)
		}
	}
}
