//go:build unix

package agent

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
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
	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
	"github.com/stopgate/stopgate/internal/sys/process"
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
	session, settings string
	prompt            string // its id
	box, input        string
	busy, asks        bool
	slow              bool
}

func asClient(args []string) error {
	c := &client{}
	source, first := "startup", ""
	for i := 0; i < len(args); i++ {
		switch args[i] {
		case "--session-id", "--resume":
			if args[i] == "--resume" {
				source = "resume"
			}
			c.session = args[i+1]
			i++
		case "--settings":
			c.settings = args[i+1]
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
	fmt.Print("\x1b[?2004h")
	note("started %s %s", source, c.session)
	c.draw()
	c.call(hook.SessionStart, map[string]any{"source": source})
	if first != "" {
		c.submit(first)
	}
	c.listen()
	return nil
}

func (c *client) listen() {
	keys := make(chan string)
	go func() {
		for {
			buf := make([]byte, 1<<16)
			n, err := os.Stdin.Read(buf)
			if err != nil {
				os.Exit(0)
			}
			keys <- string(buf[:n])
		}
	}()
	for tick := time.Tick(20 * time.Millisecond); ; {
		select {
		case text := <-keys:
			c.input += text
			c.read()
		case <-tick:
			if _, err := os.Stat("free"); c.busy && err == nil {
				c.stop()
			}
		}
	}
}

func (c *client) read() {
	for c.input != "" {
		paste, rest, whole := strings.Cut(strings.TrimPrefix(c.input, "\x1b[200~"), "\x1b[201~")
		switch {
		case strings.HasPrefix(c.input, "\x1b[200~") && whole:
			c.box, c.input = c.box+paste, rest
			c.draw()
		case c.input == "\x1b" && c.busy:
			c.input, c.busy, c.asks = "", false, false
			c.draw()
			note("interrupted")
		case strings.HasPrefix(c.input, "\x1b"):
			return // the rest is still to come
		case c.input[0] == '\r':
			c.input = c.input[1:]
			text := strings.TrimRight(c.box, " \n")
			c.box = ""
			c.submit(text)
		default:
			c.box, c.input = c.box+c.input[:1], c.input[1:]
			c.draw()
		}
	}
}

func (c *client) submit(text string) {
	if text == "die" {
		fmt.Print("\x1b[H\x1b[2Jfatal: no tokens left\r\n")
		os.Exit(3)
	}
	c.prompt, c.busy = rand.Text(), true
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
		c.asks = true
		c.draw()
		c.call(hook.PermissionRequest, map[string]any{"tool_name": "Bash", "tool_input": map[string]any{"command": "make"}})
		note("asks")
	case !strings.HasPrefix(text, "work"):
		c.stop()
	}
}

func (c *client) stop() {
	c.busy = false
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
	text, err := os.ReadFile(c.settings)
	var file struct {
		Hooks map[hook.Event][]struct {
			Hooks []struct {
				Command string
				Args    []string
			}
		}
	}
	if err = errors.Join(err, json.Unmarshal(text, &file)); err != nil {
		note("no settings: %v", err)
		return
	}
	cwd, _ := os.Getwd()
	fields["session_id"], fields["transcript_path"], fields["cwd"], fields["hook_event_name"] = c.session, filepath.Join(cwd, "t.jsonl"), cwd, event
	if c.prompt != "" {
		fields["prompt_id"] = c.prompt
	}
	payload, _ := json.Marshal(fields)
	for _, group := range file.Hooks[event] {
		for _, h := range group.Hooks {
			cmd := exec.Command("sh", "-c", h.Command)
			if h.Args != nil {
				cmd = exec.Command(h.Command, h.Args...)
			}
			cmd.Env = append(os.Environ(), "CLAUDE_CODE_ENTRYPOINT=cli")
			cmd.Stdin = strings.NewReader(string(payload))
			cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
			if out, err := cmd.CombinedOutput(); err != nil {
				note("hook %s: %v %s", event, err, out)
			}
		}
	}
}

func (c *client) draw() {
	rule := strings.Repeat("─", 80)
	glyph := "\x1b[39m❯"
	if c.busy {
		glyph = "\x1b[90m❯\x1b[39m"
	}
	text := strings.ReplaceAll(c.box, "\n", "\r\n  ")
	if n := strings.Count(c.box, "\n"); n > 2 || len(c.box) > 800 {
		text = fmt.Sprintf("[Pasted text #1 +%d lines]", n)
	}
	lines := []string{"● \x1b[32mHello.\x1b[39m", "", rule, glyph + "\u00a0" + text + "\x1b[7m \x1b[0m", rule, "  ? for shortcuts"}
	if c.asks {
		lines = append(lines[:2], rule, " Do you want to proceed?", " ❯ 1. Yes", "   2. No")
	}
	fmt.Print("\x1b[H" + strings.ReplaceAll(strings.Join(lines, "\r\n"), "\r\n", "\x1b[K\r\n") + "\x1b[K\x1b[J")
}

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
