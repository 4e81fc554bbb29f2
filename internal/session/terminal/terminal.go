// Package terminal reaches programs that run in tmux: it finds the panes of a session,
// reads what is on their screens, and gives them text as if a person had pasted it.
//
// All screen wording and shapes that we go by are in screen.go, and can be overridden.
package terminal

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/stopgate/stopgate/internal/sys/environ"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

var (
	// ErrNotInstalled means that there is no tmux on the PATH.
	ErrNotInstalled = errors.New("tmux is not installed")
	// ErrNoSession means that no session has that name, or that no server runs.
	ErrNoSession = errors.New("no such tmux session")
	// ErrNoPane means that the pane is gone, or its server.
	ErrNoPane = errors.New("no such tmux pane")
)

// Server is a tmux server.
type Server struct {
	Socket  string   // empty: the default server of the environment
	Environ []string // of the tmux that we run
}

// Pane is one terminal of a server. Its id is never given to another pane as long as
// the server runs; after that it is, so the server's process id belongs to it.
type Pane struct {
	Server Server
	PID    int    // of the server; 0 if it is not known
	ID     string // such as %3
}

// FromEnviron is the pane that a process with this environment was started in.
func FromEnviron(env []string) (Pane, bool) {
	id := environ.Get(env, "TMUX_PANE")
	socket, pid, ok := cutServer(environ.Get(env, "TMUX"))
	if !ok || !isPaneID(id) {
		return Pane{}, false
	}
	return Pane{Server: Server{Socket: socket, Environ: env}, PID: pid, ID: id}, true
}

// cutServer takes apart what TMUX holds: socket, process id and session, with commas
// between them. The path of the socket may have commas too.
func cutServer(value string) (socket string, pid int, ok bool) {
	value, _, ok = plain.CutLast(value, ",")
	if !ok {
		return "", 0, false
	}
	socket, digits, ok := plain.CutLast(value, ",")
	pid, err := strconv.Atoi(digits)
	return socket, pid, ok && err == nil && pid > 0 && socket != ""
}

// isPaneID tells an id from everything else that tmux takes for a pane.
func isPaneID(id string) bool {
	digits, ok := strings.CutPrefix(id, "%")
	_, err := strconv.ParseUint(digits, 10, 32)
	return ok && err == nil && digits[0] != '+'
}

// Panes lists the panes of the session with exactly that name, of all its windows.
//
// It asks for the panes of all sessions and compares the names itself. A name in a
// target is not always taken for a name, even behind the equals sign that asks for an
// exact match: =$1: is the session with that id, and = and : alone is the last one used.
func (s Server) Panes(ctx context.Context, session string) ([]Pane, error) {
	out, err := s.tmux(ctx, "", "list-panes", "-a", "-F", "#{pid} #{pane_id} #{n:socket_path} #{socket_path} #{session_name}")
	if errors.Is(err, errNoServer) {
		return nil, fmt.Errorf("%w: %q", ErrNoSession, session)
	}
	if err != nil {
		return nil, err
	}
	var panes []Pane
	for line := range strings.Lines(out) {
		if pane, name, ok := s.listed(strings.TrimSuffix(line, "\n")); ok && name == session {
			panes = append(panes, pane)
		}
	}
	if len(panes) == 0 {
		return nil, fmt.Errorf("%w: %q", ErrNoSession, session)
	}
	return panes, nil
}

// Sessions lists the names of a server's sessions; none where no server runs.
func (s Server) Sessions(ctx context.Context) ([]string, error) {
	out, err := s.tmux(ctx, "", "list-sessions", "-F", "#{session_name}")
	switch {
	case errors.Is(err, errNoServer):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return strings.Split(strings.TrimSuffix(out, "\n"), "\n"), nil
}

// listed reads a line of list-panes. The path of the socket has its length before it,
// since it may hold spaces, as names may.
func (s Server) listed(line string) (pane Pane, session string, ok bool) {
	fields := strings.SplitN(line, " ", 4)
	if len(fields) < 4 {
		return Pane{}, "", false
	}
	pid, errPID := strconv.Atoi(fields[0])
	length, errLength := strconv.Atoi(fields[2])
	rest := fields[3]
	if errPID != nil || errLength != nil || length < 0 || length >= len(rest) || !isPaneID(fields[1]) {
		return Pane{}, "", false
	}
	s.Socket = rest[:length]
	return Pane{Server: s, PID: pid, ID: fields[1]}, rest[length+1:], true
}
