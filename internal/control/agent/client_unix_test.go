//go:build unix

package agent

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/term"

	"github.com/stopgate/stopgate/internal/agents/agentdir"
	"github.com/stopgate/stopgate/internal/agents/errand"
	"github.com/stopgate/stopgate/internal/harness/hook"
	"github.com/stopgate/stopgate/internal/session/driver"
	"github.com/stopgate/stopgate/internal/sys/checktest"
	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
	"github.com/stopgate/stopgate/internal/sys/process"
	"github.com/stopgate/stopgate/test/standin"
)

// TestMain makes the test binary the program stopgate, or a client, by the name that it is
// called by.
func TestMain(m *testing.M) {
	var run func([]string) error
	switch filepath.Base(os.Args[0]) {
	case "stopgate":
		run = asStopgate
	case "claude":
		run = asClient
	default:
		environtest.Clean()
		goleak.VerifyTestMain(m)
		return
	}
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// asStopgate is as much of stopgate as an agent needs.
func asStopgate(args []string) error {
	d := &driver.Driver{
		StateDir: os.Getenv("STOPGATE_STATE_DIR"), ConfigDir: os.Getenv("STOPGATE_STATE_DIR"), Environ: os.Environ(), Now: time.Now,
		Log: func(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }, Send: func() error { return nil },
	}
	d.Drive = func(session string) error {
		return driver.Start(process.DetachAfter, d.StateDir, os.Environ(), os.Args[0], session)
	}
	switch args[0] {
	case "errand":
		return errand.RunInTerminal(args[2])
	case "queue":
		_, _ = io.Copy(io.Discard, os.Stdin) // until whoever started us has ended
		if os.Getenv("KILLED") != "" {
			return errors.New("killed")
		}
		return d.Deliver(context.Background(), args[3])
	case "hook":
		text, err := io.ReadAll(os.Stdin)
		if err != nil {
			return err
		}
		payload, err := hook.Decode(text, hook.Event(args[1]))
		if err != nil {
			return err
		}
		if payload.Event() == hook.Stop {
			if err := saidLast(d.StateDir); err != nil {
				return err
			}
		}
		if report := d.Hook(context.Background(), driver.Call{ID: rand.Text(), Payload: payload}); report.Message != "" {
			return errors.New(report.Message)
		}
		return nil
	}
	return fmt.Errorf("unknown: %q", args)
}

func saidLast(stateDir string) error {
	own, err := agentdir.At(stateDir, agentdir.FromEnviron(os.Environ()))
	if err != nil {
		return err
	}
	return own.SetLast(agentdir.Last{Message: "done", Time: time.Now()})
}

// client stands in for the real one: it draws the same box, takes pastes, and calls the
// hooks of the file that it was given. A prompt that begins with "work" keeps it busy until
// there is a file "free", one with "ask" makes it ask something, and Escape interrupts
// either; "die" ends it. What it hears is in the file "heard".
type client struct {
	standin.Session
	screen standin.Screen
	keys   standin.Keys
	slow   bool
}

func asClient(args []string) error {
	cwd, err := os.Getwd()
	if err != nil {
		return err
	}
	c := &client{Session: standin.Session{CWD: cwd, Transcript: filepath.Join(cwd, "t.jsonl")}}
	c.screen.Above = []string{"● \x1b[32mHello.\x1b[39m", ""}
	source, first := "startup", ""
	for i := 0; i < len(args); i++ {
		switch args[i] {
		case "--session-id", "--resume":
			if args[i] == "--resume" {
				source = "resume"
			}
			c.ID = args[i+1]
			i++
		case "--settings":
			c.Settings = []string{args[i+1]}
			i++
		case "--":
			first = args[i+1]
			i++
		case "--slow":
			c.slow = true
		case "--trust":
			fmt.Print("\x1b[H\x1b[2J────────────────────────\r\n Do you trust the files in this folder?\r\n\r\n ❯ 1. Yes, I trust this folder\r\n   2. No, exit\r\n")
			time.Sleep(time.Hour)
		default:
			return fmt.Errorf("unknown flag %q", args[i])
		}
	}
	signal.Ignore(syscall.SIGTSTP)
	if _, err := term.MakeRaw(int(os.Stdin.Fd())); err != nil {
		return err
	}
	fmt.Print(standin.Begin)
	note("started %s %s", source, c.ID)
	c.draw()
	c.call(hook.SessionStart, map[string]any{"source": source})
	if first != "" {
		c.submit(first)
	}
	c.listen()
	return nil
}

func (c *client) listen() {
	typed := standin.Keyboard()
	for tick := time.Tick(20 * time.Millisecond); ; {
		select {
		case text, ok := <-typed:
			if !ok {
				return
			}
			c.keys.Add(text)
			c.read()
		case <-tick:
			if c.screen.Busy && checktest.Exists("free") {
				c.stop()
			}
		}
	}
}

func (c *client) read() {
	for {
		switch kind, typed := c.keys.Next(); kind {
		case standin.More:
			if c.screen.Busy && c.keys.Escape() {
				c.screen.Busy, c.screen.Instead = false, nil
				c.draw()
				note("interrupted")
			}
			return
		case standin.Enter:
			text := strings.TrimRight(c.screen.Box, " \n")
			c.screen.Box = ""
			c.submit(text)
		case standin.Text:
			c.screen.Box += typed
			c.draw()
		}
	}
}

func (c *client) submit(text string) {
	if text == "die" {
		fmt.Print("\x1b[H\x1b[2Jfatal: no tokens left\r\n")
		os.Exit(3)
	}
	c.Prompt, c.screen.Busy = rand.Text(), true
	c.draw()
	if c.slow { // until it takes the prompt that it was started with
		c.slow = false
		for _, err := os.Stat("first"); err != nil; _, err = os.Stat("first") {
			time.Sleep(5 * time.Millisecond)
		}
	}
	c.call(hook.UserPromptSubmit, map[string]any{"prompt": text})
	note("prompt %q", text)
	switch {
	case strings.HasPrefix(text, "ask"):
		c.screen.Instead = standin.Dialog
		c.draw()
		c.call(hook.PermissionRequest, map[string]any{"tool_name": "Bash", "tool_input": map[string]any{"command": "make"}})
		note("asks")
	case !strings.HasPrefix(text, "work"):
		c.stop()
	}
}

func (c *client) stop() {
	c.screen.Busy = false
	c.draw()
	c.call(hook.Stop, map[string]any{"stop_hook_active": false, "last_assistant_message": "done"})
	note("stop")
}

func note(format string, args ...any) {
	f, err := os.OpenFile("heard", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err == nil {
		_, _ = fmt.Fprintf(f, format+"\n", args...)
		_ = f.Close()
	}
}

// call calls the hooks of an event, as the real client does.
func (c *client) call(event hook.Event, fields map[string]any) {
	hooks, err := c.Hooks(string(event), fields)
	if err != nil {
		note("no settings: %v", err)
	}
	for _, cmd := range hooks {
		if out, err := cmd.CombinedOutput(); err != nil {
			note("hook %s: %v %s", event, err, out)
		}
	}
}

func (c *client) draw() { fmt.Print(c.screen) }

// programs is a directory in which the test binary is both programs.
func programs(t testing.TB) (bin string) {
	t.Helper()
	self, err := os.Executable()
	check(t, err)
	bin = t.TempDir()
	for _, name := range []string{"stopgate", "claude"} {
		check(t, os.Symlink(self, filepath.Join(bin, name)))
	}
	return bin
}

// path is the PATH with the directory of tmux and the system's.
func path(bin, tmux string) string {
	dirs := []string{bin}
	for _, dir := range []string{filepath.Dir(tmux), "/usr/local/bin", "/usr/bin", "/bin"} {
		if !slices.Contains(dirs, dir) && dir != "." {
			dirs = append(dirs, dir)
		}
	}
	return strings.Join(dirs, ":")
}
