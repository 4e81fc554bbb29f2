package terminal

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/sys/environ"
	"github.com/stopgate/stopgate/internal/sys/plain"
	"github.com/stopgate/stopgate/internal/sys/process"
)

// patience bounds a call of tmux. It takes milliseconds, but seconds where hundreds of
// sessions are driven at once on a machine that is busy anyway.
const patience = 30 * time.Second

// errNoServer means that nobody listens at the socket.
var errNoServer = errors.New("no tmux server is running")

// noTarget is what tmux says when it has no sessions at all: it is about to end.
const noTarget = "no current target"

// Error is a tmux command that failed.
type Error struct {
	Command string
	Message string // the first line of what tmux printed
}

func (e *Error) Error() string { return fmt.Sprintf("tmux %s: %s", e.Command, e.Message) }

// isMissing reports whether an error says that a pane or a session is not there, or no server.
func isMissing(err error, what string) bool {
	failed, ok := errors.AsType[*Error](err)
	return errors.Is(err, errNoServer) || ok && (strings.HasPrefix(failed.Message, "can't find "+what) || failed.Message == noTarget)
}

// command is a tmux that talks UTF-8 whatever the locale says.
func (s Server) command(ctx context.Context, args ...string) (*exec.Cmd, error) {
	program, found := environ.LookPath(s.Environ, "tmux")
	if !found {
		return nil, ErrNotInstalled
	}
	flags := []string{"-u"}
	if s.Socket != "" {
		flags = append(flags, "-S", s.Socket)
	}
	cmd := exec.CommandContext(ctx, program, slices.Concat(flags, args)...)
	cmd.Env = s.Environ
	process.ContainTool(cmd)
	return cmd, nil
}

// tmux runs one command, or several with ";" between them, and gives what it printed.
// No text from outside may be among the arguments: one that ends in a semicolon is two.
func (s Server) tmux(ctx context.Context, stdin string, args ...string) (string, error) {
	return s.run(ctx, call{name: args[0], stdin: stdin}, args...)
}

// call is what else there is to a call of tmux.
type call struct {
	name  string // of its command, for people
	dir   string // where it runs; empty: where we do
	stdin string
}

func (s Server) run(ctx context.Context, c call, args ...string) (string, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("tmux %s: no answer within %v", c.name, patience))
	defer cancel()
	cmd, err := s.command(ctx, args...)
	if err != nil {
		return "", err
	}
	var stdout, stderr strings.Builder
	if c.stdin != "" {
		cmd.Stdin = strings.NewReader(c.stdin)
	}
	cmd.Dir = c.dir
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err = cmd.Run()
	switch exit := (*exec.ExitError)(nil); {
	case err == nil:
		return stdout.String(), nil
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case errors.As(err, &exit):
		return "", failure(c.name, stderr.String(), exit)
	}
	return "", fmt.Errorf("tmux %s: %w", c.name, err)
}

// failure makes an error of what tmux said when it failed.
func failure(command, stderr string, exit error) error {
	message, _, _ := strings.Cut(strings.TrimSpace(stderr), "\n")
	switch {
	case message == "":
		message = exit.Error()
	case strings.HasPrefix(message, "no server running on "),
		strings.HasPrefix(message, "error connecting to "),
		strings.HasPrefix(message, "server exited"),
		strings.HasPrefix(message, "lost server"):
		return fmt.Errorf("tmux %s: %w (%s)", command, errNoServer, plain.Line(message))
	}
	return &Error{Command: command, Message: plain.Line(message)}
}
