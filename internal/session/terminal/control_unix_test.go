//go:build unix

package terminal

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func open(t *testing.T, s Server) *Control {
	t.Helper()
	c, err := Open(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func TestControl(t *testing.T) {
	h := newHost(t)
	p := h.session("a")
	c := open(t, p.Server) // with TMUX in its environment, as in a pane
	lines, err := c.Run("list-panes", "-a", "-F", "#{pane_id} #{session_name}")
	if diff := cmp.Diff([]string{p.ID + " a"}, lines); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
	failed := (*Error)(nil)
	if _, err := c.Run("list-panes", "-t", "=none:"); !errors.As(err, &failed) || failed.Message != "can't find session: none" {
		t.Errorf("got %v", err)
	}
	if _, err := c.Run("no-such-command"); !errors.As(err, &failed) {
		t.Errorf("got %v", err)
	}
	if lines, err := c.Run("set-buffer", "x"); len(lines) > 0 || err != nil {
		t.Errorf("got %q, %v", lines, err)
	}
	for _, args := range [][]string{nil, {"a\x00"}, {"set-buffer", strings.Repeat("x", 1<<20)}} {
		if _, err := c.Run(args...); err == nil {
			t.Errorf("%.10q was taken", args)
		}
	}
	if lines, err := c.Run("show-buffer"); !slices.Equal(lines, []string{"x"}) || err != nil {
		t.Errorf("after all that: %q, %v", lines, err)
	}
}

func TestControlPassesArgumentsAsTheyAre(t *testing.T) {
	h := newHost(t)
	h.session("a")
	c := open(t, h.Server)
	for _, text := range []string{
		"plain", "a b", "-flag", "a;", ";", `\;`, "a\nb", "\n", "it's", `"quoted"`, `back\slash\`, "$HOME", "${HOME}", "~", "#{pane_id}", "# no comment",
		"{ a", "%end 1 2 1", "%exit", "é😀", "tab\there", `\n`, `\u0041`, "'", "''", "a'\n'b", "\x1b[1m", "carriage\rreturn",
	} {
		if _, err := c.Run("set-buffer", "-b", "one", "--", text); err != nil {
			t.Errorf("%q: %v", text, err)
		}
		if got := h.do("show-buffer", "-b", "one"); got != strings.TrimSuffix(text, "\n") {
			t.Errorf("%q became %q", text, got)
		}
	}
}

// Text in an answer that looks like its end is text.
func TestControlIsNotFooled(t *testing.T) {
	h := newHost(t)
	h.session("a")
	c := open(t, h.Server)
	text := "%end 1 2 1\n%error 1 2 1\n%begin 1 2 1\n%exit"
	if _, err := c.Run("set-buffer", text); err != nil {
		t.Fatal(err)
	}
	lines, err := c.Run("show-buffer")
	if diff := cmp.Diff(strings.Split(text, "\n"), lines); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
}

// Commands that tmux runs by itself are not ours, and answer none of ours.
func TestControlWithHooks(t *testing.T) {
	h := newHost(t)
	h.session("a")
	h.do("set-hook", "-g", "after-set-buffer", "list-sessions")
	h.do("set-hook", "-g", "client-attached", "list-sessions")
	c := open(t, h.Server)
	for i := range 20 {
		text := fmt.Sprint(i)
		if _, err := c.Run("set-buffer", text); err != nil {
			t.Fatal(err)
		}
		if lines, err := c.Run("show-buffer"); !slices.Equal(lines, []string{text}) || err != nil {
			t.Fatalf("%d: %q, %v", i, lines, err)
		}
	}
}

// What a person sees of a session does not change because we are there.
func TestControlIsNotFelt(t *testing.T) {
	h := newHost(t)
	h.session("a")
	h.do("set-environment", "-t", "=a:", "DISPLAY", "of the person")
	state := func() string {
		return h.do("display-message", "-p", "-t", "=a:", "#{window_width}x#{window_height}") + h.do("show-environment", "-t", "=a:", "DISPLAY")
	}
	before := state()
	s := h.Server
	s.Environ = append(slices.Clone(s.Environ), "DISPLAY=ours")
	c := open(t, s)
	if after := state(); after != before {
		t.Errorf("%s became %s", before, after)
	}
	if flags := h.do("list-clients", "-F", "#{client_flags}"); !strings.Contains(flags, "ignore-size") || !strings.Contains(flags, "no-output") {
		t.Errorf("the client's flags are %s", flags)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if after := state(); after != before {
		t.Errorf("%s became %s", before, after)
	}
	if clients := h.do("list-clients"); clients != "" {
		t.Errorf("still there: %s", clients)
	}
}

func TestControlFromManyPlaces(t *testing.T) {
	h := newHost(t)
	h.session("a")
	c := open(t, h.Server)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for j := range 20 {
				want := fmt.Sprint(i, j)
				if lines, err := c.Run("display-message", "-p", want); !slices.Equal(lines, []string{want}) || err != nil {
					t.Errorf("%s: %q, %v", want, lines, err)
				}
			}
		})
	}
	all.Wait()
}

func TestControlWithoutServer(t *testing.T) {
	h := newHost(t)
	if _, err := Open(t.Context(), h.Server); !errors.Is(err, ErrNoSession) {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(h.Socket); err == nil {
		t.Error("a server was started")
	}
	// A server may stay without a session.
	h.do("start-server", ";", "set-option", "-g", "exit-empty", "off")
	if _, err := Open(t.Context(), h.Server); !errors.Is(err, ErrNoSession) {
		t.Errorf("got %v", err)
	}
}

func TestControlEnds(t *testing.T) {
	for name, end := range map[string]func(*host, Pane, *Control){
		"closed":           func(_ *host, _ Pane, c *Control) { _ = c.Close() },
		"server killed":    func(_ *host, p Pane, _ *Control) { _ = syscall.Kill(p.PID, syscall.SIGKILL) },
		"server ends":      func(h *host, _ Pane, _ *Control) { h.do("kill-server") },
		"session ends":     func(h *host, _ Pane, _ *Control) { h.do("kill-session", "-t", "=a:") },
		"client is thrown": func(h *host, _ Pane, _ *Control) { h.do("detach-client", "-s", "=a:") },
	} {
		t.Run(name, func(t *testing.T) {
			h := newHost(t)
			p := h.session("a")
			c := open(t, h.Server)
			end(h, p, c)
			for range 2 {
				await(t, func() bool { // the news may be on its way
					_, err := c.Run("list-sessions")
					return errors.Is(err, ErrClosed)
				})
			}
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// After an answer that did not come in time, no answer can be told from the next one.
func TestControlOfServerThatHangs(t *testing.T) {
	h := newHost(t)
	p := h.session("a")
	c := open(t, h.Server)
	c.patience = 50 * time.Millisecond
	if err := syscall.Kill(p.PID, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	_, err := c.Run("display-message", "-p", "late")
	if kill := syscall.Kill(p.PID, syscall.SIGCONT); kill != nil {
		t.Fatal(kill)
	}
	if err == nil || !strings.Contains(err.Error(), "no answer in 50ms") {
		t.Errorf("got %v", err)
	}
	if lines, err := c.Run("display-message", "-p", "next"); !errors.Is(err, ErrClosed) {
		t.Errorf("got %q, %v", lines, err)
	}
}
