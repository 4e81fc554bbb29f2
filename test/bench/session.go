//go:build unix

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/session/terminal"
)

// stage is a tmux server of our own.
type stage struct {
	*lab
	dir string // of its socket, whose path must be short
}

// newStage starts the server. The session that it begins with keeps it alive.
func (l *lab) newStage(ctx context.Context) (*stage, error) {
	dir, err := os.MkdirTemp("/tmp", "sgb")
	if err != nil {
		return nil, err
	}
	s := &stage{l, dir}
	if _, err := s.open(ctx, "keep", "sleep", "86400"); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func (s *stage) close() {
	_ = s.command(context.Background(), "kill-server").Run() // nothing may run there
	_ = os.RemoveAll(s.dir)
}

func (s *stage) socket() string { return filepath.Join(s.dir, "s") }

func (s *stage) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, s.other, slices.Concat([]string{"-u", "-S", s.socket(), "-f", "/dev/null"}, args)...)
	cmd.Env = append(s.env, "TERM=xterm-256color")
	return cmd
}

func (s *stage) tmux(ctx context.Context, args ...string) (string, error) {
	out, err := s.command(ctx, args...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("tmux %s: %w\n%s", args[0], err, out)
	}
	return strings.TrimSuffix(string(out), "\n"), nil
}

// open starts a program in a session of its own.
func (s *stage) open(ctx context.Context, session string, args ...string) (terminal.Pane, error) {
	printed, err := s.tmux(ctx, slices.Concat([]string{
		"new-session", "-d", "-P", "-F", "#{pid} #{pane_id}", "-s", session, "-x", "120", "-y", "30", "--",
	}, args)...)
	if err != nil {
		return terminal.Pane{}, err
	}
	digits, id, _ := strings.Cut(printed, " ")
	pid, err := strconv.Atoi(digits)
	return terminal.Pane{Server: terminal.Server{Socket: s.socket(), Environ: s.env}, PID: pid, ID: id}, err
}

// inside is the environment of a hook of the client in that pane.
func inside(p terminal.Pane) []string {
	return []string{
		"CLAUDE_CODE_ENTRYPOINT=cli",
		fmt.Sprintf("TMUX=%s,%d,0", p.Server.Socket, p.PID),
		"TMUX_PANE=" + p.ID,
	}
}

// until waits for what another process does.
func until(ctx context.Context, what string, done func() bool) error {
	ctx, cancel := context.WithTimeoutCause(ctx, 5*time.Minute, fmt.Errorf("never: %s", what))
	defer cancel()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
	}
	return nil
}
