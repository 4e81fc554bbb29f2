package terminal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// ErrSessionExists means that a session has that name already.
var ErrSessionExists = errors.New("a tmux session with that name already exists")

// maxSocket is how long the path of a socket may be: what the strictest system takes.
const maxSocket = 103

// NewSession is a session that is to be made.
type NewSession struct {
	Name          string   // as SessionName makes them
	Dir           string   // where its program starts
	Argv          []string // its program
	Width, Height int      // of its window, until somebody attaches
}

// SessionName makes a name of a text that means nothing else to tmux, in a target or in a
// format.
func SessionName(text string) string {
	const longest = 100
	name := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_':
			return r
		}
		return '_'
	}, text)
	return name[:min(len(name), longest)]
}

func checkName(name string) error {
	if name == "" || name != SessionName(name) {
		return fmt.Errorf("invalid tmux session name %q", name)
	}
	return nil
}

// NewSession makes a session that nobody is attached to, and starts the server if there is
// none, without the settings of a person. The server is taken for one of ours: what can be
// set for the sessions to come only is set for all of them. The server ends with its last
// session.
func (s Server) NewSession(ctx context.Context, n NewSession) error {
	if err := errors.Join(checkName(n.Name), n.check(), s.prepare()); err != nil {
		return err
	}
	const tries = 5
	for try := 1; ; try++ {
		err := s.newSession(ctx, n)
		// One that ends with its last session just now takes no more. Nothing of what it
		// was asked for is left then.
		if !errors.Is(err, errNoServer) || try == tries || ctx.Err() != nil {
			return err
		}
	}
}

func (n NewSession) check() error {
	if len(n.Argv) == 0 {
		return errors.New("a tmux session needs a program")
	}
	switch info, err := os.Stat(n.Dir); {
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s is not a directory", n.Dir)
	}
	return nil
}

// prepare sees to it that there can be a socket: tmux says nothing of use where there
// cannot.
func (s Server) prepare() error {
	if s.Socket == "" {
		return nil
	}
	if len(s.Socket) > maxSocket {
		return fmt.Errorf("the path of the tmux socket is too long: %d bytes, at most %d (%s)", len(s.Socket), maxSocket, s.Socket)
	}
	return os.MkdirAll(filepath.Dir(s.Socket), 0o700)
}

func (s Server) newSession(ctx context.Context, n NewSession) error {
	printed, err := s.run(ctx, call{name: "new-session", dir: n.Dir}, slices.Concat([]string{"-f", "/dev/null"}, n.commands())...)
	failed := (*Error)(nil)
	switch {
	case errors.As(err, &failed) && strings.HasPrefix(failed.Message, "duplicate session"):
		return fmt.Errorf("%w: %s", ErrSessionExists, n.Name)
	case err != nil:
		return err
	case strings.TrimSuffix(printed, "\n") != n.Name: // tmux succeeds where it could make no socket
		return fmt.Errorf("tmux new-session: the session %s was not created", n.Name)
	}
	return nil
}

// commands are several in one call, which tmux runs before it looks at any program. The
// directory is that of the call: as an argument it would be a format.
func (n NewSession) commands() []string {
	target := "=" + n.Name + ":"
	args := []string{"set-option", "-g", "history-limit", "20000", ";", "new-session", "-d", "-P", "-F", "#{session_name}", "-s", n.Name}
	if n.Width > 0 && n.Height > 0 {
		args = append(args, "-x", strconv.Itoa(n.Width), "-y", strconv.Itoa(n.Height))
	}
	args = append(args, "--")
	if len(n.Argv) == 1 { // tmux would take it for a script
		args = append(args, "sh", "-c", `exec "$0"`)
	}
	for _, arg := range n.Argv {
		args = append(args, whole(arg))
	}
	for _, option := range [][]string{{"mouse", "on"}, {"status", "on"}, {"status-left", "[#{session_name}] "}, {"status-left-length", "60"}} {
		args = append(args, ";", "set-option", "-q", "-t", target, option[0], option[1])
	}
	return append(args, ";", "set-option", "-q", "-w", "-t", target, "remain-on-exit", "off")
}

// whole is an argument that ends no command: a semicolon at the end would.
func whole(arg string) string {
	if rest, found := strings.CutSuffix(arg, ";"); found {
		return rest + `\;`
	}
	return arg
}

// KillSession ends a session. What runs in it is told that its terminal is gone. A session
// that is not there has ended.
func (s Server) KillSession(ctx context.Context, name string) error {
	_, err := s.onSession(ctx, "kill-session", name)
	return err
}

// HasSession reports whether there is a session with exactly that name.
func (s Server) HasSession(ctx context.Context, name string) (bool, error) {
	return s.onSession(ctx, "has-session", name)
}

// onSession runs a command for a session, if there is one.
func (s Server) onSession(ctx context.Context, command, name string) (found bool, err error) {
	if err := checkName(name); err != nil {
		return false, err
	}
	_, err = s.tmux(ctx, "", command, "-t", "="+name)
	if isMissing(err, "session") {
		return false, nil
	}
	return err == nil, err
}

// KillServer ends the server with all its sessions. One that does not run has ended.
func (s Server) KillServer(ctx context.Context) error {
	if _, err := s.tmux(ctx, "", "kill-server"); !errors.Is(err, errNoServer) {
		return err
	}
	return nil
}

// LastLines is the visible screen and what was scrolled out of it last, as text. A line
// that the terminal has wrapped is one line.
func (p Pane) LastLines(ctx context.Context, scrolled int) (string, error) {
	_, text, err := p.look(ctx, "capture-pane", "-p", "-J", "-S", strconv.Itoa(-scrolled), "-t", p.ID)
	return text, err
}
