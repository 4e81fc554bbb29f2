//go:build unix

package terminal

import (
	"context"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
)

// long bounds what a test waits for; nothing takes that long.
const long = 3 * time.Minute

// host is a tmux server for one test.
type host struct {
	Server
	t       testing.TB
	dir     string
	program string // tmux
}

// newHost prepares a server, which starts with its first session. There is no UTF-8
// locale in its environment, as there may be none in a hook's.
func newHost(t testing.TB) *host {
	t.Helper()
	program := environtest.Need(t, "tmux")
	dir, err := os.MkdirTemp("", "tmux") // the path of a socket must be short
	check(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	env := []string{"PATH=" + filepath.Dir(program) + ":/usr/bin:/bin", "HOME=" + dir, "LC_ALL=C", "SHELL=/bin/sh", "TERM=xterm-256color"}
	h := &host{Server: Server{Socket: filepath.Join(dir, "s"), Environ: env}, t: t, dir: dir, program: program}
	t.Cleanup(func() { _, _ = h.tmux(context.Background(), "", "kill-server") })
	return h
}

// do runs tmux as a person would, and starts its server if there is none.
func (h *host) do(args ...string) string {
	h.t.Helper()
	out, err := h.tmux(h.t.Context(), "", slices.Concat([]string{"-f", "/dev/null"}, args)...)
	if err != nil {
		h.t.Fatalf("tmux %q: %v", args, err)
	}
	return strings.TrimSuffix(out, "\n")
}

// session makes a session with a program that does nothing, and gives its pane.
func (h *host) session(name string) Pane {
	h.t.Helper()
	return h.pane(h.do("new-session", "-d", "-P", "-F", "#{pid} #{pane_id}", "-s", name, "-x", "100", "-y", "30", "sleep 1000"))
}

// pane reads a process id and a pane's id.
func (h *host) pane(printed string) Pane {
	h.t.Helper()
	pid, id, _ := strings.Cut(printed, " ")
	p, ok := FromEnviron(append(slices.Clone(h.Environ), "TMUX="+h.Socket+","+pid+",0", "TMUX_PANE="+id))
	if !ok {
		h.t.Fatalf("no pane in %q", printed)
	}
	return p
}

// recorder is a pane of which it is known what its program was given.
type recorder struct {
	Pane
	t    testing.TB
	conn net.Conn
}

// record makes a session with a recorder. It shows a screen, if there is one.
func (h *host) record(name, screen string) *recorder {
	h.t.Helper()
	socket := filepath.Join(h.dir, "recorder-"+name)
	listener, err := net.Listen("unix", socket)
	check(h.t, err)
	defer listener.Close()
	program, err := os.Executable()
	check(h.t, err)
	if screen != "" {
		if screen, err = filepath.Abs(screen); err != nil {
			h.t.Fatal(err)
		}
	}
	printed := h.do(
		"new-session", "-d", "-P", "-F", "#{pid} #{pane_id}", "-s", name, "-x", "140", "-y", "50",
		"-e", "TERMINAL_RECORDER="+socket, "-e", "TERMINAL_SCREEN="+screen, program,
	)
	_ = listener.(*net.UnixListener).SetDeadline(time.Now().Add(long))
	conn, err := listener.Accept()
	if err != nil {
		h.t.Fatalf("the recorder did not start: %v", err)
	}
	h.t.Cleanup(func() { _ = conn.Close() })
	return &recorder{Pane: h.pane(printed), t: h.t, conn: conn}
}

// want reads as many bytes as it should have been given, and compares them.
func (r *recorder) want(text string) {
	r.t.Helper()
	_ = r.conn.SetReadDeadline(time.Now().Add(long))
	got := make([]byte, len(text))
	n, err := io.ReadFull(r.conn, got)
	if err != nil || string(got) != text {
		r.t.Fatalf("got %d bytes %.80q…, want %d bytes %.80q… (%v)", n, got[:n], len(text), text, err)
	}
}

func pasted(text string) string { return "\x1b[200~" + text + "\x1b[201~" }
