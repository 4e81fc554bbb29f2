//go:build unix

package e2e

import (
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
)

// promptGlyph begins the line where the client takes text. It is all we read from the screen:
// words change from version to version.
var promptGlyph = regexp.MustCompile(`(?m)^[\s│]*❯`)

const (
	// typingPause lies between a paste and its Enter. Measured: without it the client sometimes
	// takes the Enter for a part of the paste; with 0.1 to 0.5 s it never did.
	typingPause = 300 * time.Millisecond
	// enterLost is how long a prompt may take to be recorded before Enter is pressed once more.
	enterLost = 10 * time.Second
)

// tui is a client in a tmux session of its own.
type tui struct {
	Started event // the client's SessionStart

	t       testing.TB
	bench   *bench
	socket  string // of the tmux server
	session string // its name there
	command []string
}

// TUI starts the client in a terminal and waits until it takes text.
func (b *bench) TUI(flags ...string) *tui {
	b.t.Helper()
	return b.Terminal(b.clientCommand(flags...)...)
}

// clientCommand is the command line of one start of the client.
func (b *bench) clientCommand(flags ...string) []string {
	b.t.Helper()
	settings := b.SettingsFile()
	return slices.Concat(b.Client, []string{"--settings", settings, "--debug-file", b.numbered("debug", "log")}, flags)
}

// Terminal does the same with another command line that ends up in the client. It has to pass on
// --settings with a SettingsFile: of a client whose hooks are not recorded nothing is known.
func (b *bench) Terminal(command ...string) *tui {
	b.t.Helper()
	b.terminals++
	s := b.terminal(filepath.Join(b.Tmp, fmt.Sprintf("terminal-%d", b.terminals)), "client", command)
	s.begin()
	return s
}

// terminal prepares a session on the tmux server behind the socket.
func (b *bench) terminal(socket, session string, command []string) *tui {
	b.t.Helper()
	environtest.Need(b.t, "tmux")
	s := &tui{t: b.t, bench: b, socket: socket, session: session, command: command}
	b.t.Cleanup(s.close)
	return s
}

// begin starts the client and waits until it takes text.
func (s *tui) begin() {
	s.t.Helper()
	before := s.bench.Last()
	s.launch()
	s.await(before)
}

// launch starts the client and waits for nothing.
func (s *tui) launch() {
	s.t.Helper()
	s.tmux(nil, append([]string{
		"start-server", ";",
		"set-option", "-g", "default-terminal", "xterm-256color", ";",
		"set-option", "-g", "remain-on-exit", "on", ";", // so that the end can be waited for
		"new-session", "-d", "-s", s.session, "-x", "140", "-y", "50", "-c", s.bench.Project,
	}, s.command...)...)
}

// await waits for the SessionStart after an event, and for the prompt.
func (s *tui) await(before event) {
	s.t.Helper()
	s.Started = s.bench.WaitEvent("SessionStart", after(before))
	if !poll(patience, func() bool { return promptGlyph.MatchString(s.Screen()) }) {
		s.t.Fatalf("no prompt on the screen in %v", patience)
	}
}

// Send submits a prompt and gives its UserPromptSubmit. Wait for the Stop before the next one:
// the client merges what it is sent while busy.
func (s *tui) Send(text string) event {
	s.t.Helper()
	return s.SendFor(text, "UserPromptSubmit")
}

// Clear begins a new session and gives its SessionStart. The client may empty its box after that, or on a busy machine never:
// what is typed before would be added to the command. So the box is emptied as a person would.
func (s *tui) Clear() event {
	s.t.Helper()
	began := s.SendFor("/clear", "SessionStart", with("source", "clear"))
	emptied := func() bool {
		empty := !strings.Contains(s.lower(), "/clear")
		if !empty {
			s.Keys("C-u")
		}
		return empty
	}
	if !poll(patience, emptied) {
		s.t.Fatal("the client keeps /clear in its box")
	}
	return began
}

// SendFor submits a text and waits for the event that shows that the client took it.
func (s *tui) SendFor(text, name string, matches ...match) event {
	s.t.Helper()
	matches = append(matches, after(s.bench.Last()))
	s.Type(text)
	if e, ok := s.bench.pollEvent(enterLost, name, matches...); ok {
		return e
	}
	s.Keys("Enter")
	return s.bench.WaitEvent(name, matches...)
}

// Type pastes a text, newlines and all, and presses Enter; it waits for nothing.
func (s *tui) Type(text string) {
	s.t.Helper()
	before := s.lower()
	s.tmux(strings.NewReader(text), "load-buffer", "-b", "prompt", "-")
	s.tmux(nil, "paste-buffer", "-p", "-d", "-b", "prompt", "-t", s.pane())
	poll(enterLost, func() bool { return s.lower() != before }) // a busy machine takes longer than the pause
	time.Sleep(typingPause)
	s.Keys("Enter")
}

// Keys presses keys by their tmux names.
func (s *tui) Keys(keys ...string) {
	s.t.Helper()
	s.tmux(nil, append([]string{"send-keys", "-t", s.pane()}, keys...)...)
}

// Screen is what a person would see.
func (s *tui) Screen() string {
	s.t.Helper()
	return s.tmux(nil, "capture-pane", "-p", "-t", s.pane())
}

// WaitExit waits for the end of the client.
func (s *tui) WaitExit() {
	s.t.Helper()
	if !poll(patience, s.exited) {
		s.t.Fatalf("the client is still running after %v", patience)
	}
}

func (s *tui) exited() bool { return strings.TrimSpace(s.show("#{pane_dead}")) == "1" }

func (s *tui) show(format string) string {
	s.t.Helper()
	return s.tmux(nil, "display-message", "-p", "-t", s.pane(), format)
}

// pane is the session's only one.
func (s *tui) pane() string { return "=" + s.session + ":" }

// close ends the client, then its session, whose server ends with its last one. The client goes
// first and by a signal, so that its last hooks have run before the bench is removed.
func (s *tui) close() {
	if _, err := s.try(nil, "has-session", "-t", "="+s.session); err != nil {
		return // it never started, or a test ended it
	}
	if s.t.Failed() {
		s.t.Logf("screen:\n%s", strings.TrimRight(s.Screen(), "\n"))
	}
	if pid, err := strconv.Atoi(strings.TrimSpace(s.show("#{pane_pid}"))); err == nil && !s.exited() {
		syscall.Kill(pid, syscall.SIGTERM)
		if !poll(30*time.Second, s.exited) {
			syscall.Kill(-pid, syscall.SIGKILL) // the pane's process leads its group
		}
	}
	s.tmux(nil, "kill-session", "-t", "="+s.session)
}

func (s *tui) tmux(stdin io.Reader, args ...string) string {
	s.t.Helper()
	out, err := s.try(stdin, args...)
	if err != nil {
		s.t.Fatalf("tmux %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

func (s *tui) try(stdin io.Reader, args ...string) (string, error) {
	// -u: the environment names no UTF-8 locale, and the prompt glyph needs one.
	cmd := exec.Command("tmux", append([]string{"-u", "-S", s.socket, "-f", "/dev/null"}, args...)...)
	cmd.Dir = s.bench.Project
	cmd.Env = s.bench.Env
	cmd.Stdin = stdin
	out, err := cmd.CombinedOutput()
	return string(out), err
}
