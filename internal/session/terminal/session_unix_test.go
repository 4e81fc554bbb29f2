//go:build unix

package terminal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/sys/checktest"
)

var eventually = checktest.Eventually

func content(path string) string {
	text, _ := os.ReadFile(path)
	return string(text)
}

// newSession is a session that does nothing.
func (h *host) newSession(name string, argv ...string) error {
	if len(argv) == 0 {
		argv = []string{"sleep", "1000"}
	}
	return h.NewSession(h.t.Context(), NewSession{Name: name, Dir: h.dir, Argv: argv, Width: 100, Height: 30})
}

func (h *host) want(name string, want bool) {
	h.t.Helper()
	got, err := h.HasSession(h.t.Context(), name)
	if err != nil || got != want {
		h.t.Errorf("session %s: %v, %v; want %v", name, got, err, want)
	}
}

func TestNewSession(t *testing.T) {
	h := newHost(t)
	h.want("one", false)
	check(t, h.newSession("one"))
	check(t, h.newSession("two"))
	h.want("one", true)
	h.want("on", false) // no prefix counts
	for option, want := range map[string]string{"mouse": "on", "status": "on", "status-left": "[#{session_name}] ", "history-limit": "20000"} {
		if got := h.do("show-options", "-A", "-v", "-t", "=two:", option); got != want {
			t.Errorf("%s is %q, want %q", option, got, want)
		}
	}
	if got := h.do("show-options", "-A", "-w", "-v", "-t", "=two:", "remain-on-exit"); got != "off" {
		t.Errorf("remain-on-exit is %q", got)
	}
	if got := h.do("list-panes", "-t", "=one:", "-F", "#{pane_width} #{history_limit} #{session_attached}"); got != "100 20000 0" {
		t.Errorf("the pane has %q", got)
	}
	for _, name := range []string{"one", "one", "two", "two"} {
		check(t, h.KillSession(t.Context(), name))
		h.want(name, false)
	}
	// The last session was that of the server, and the next one starts it again.
	check(t, h.newSession("one"))
	h.want("one", true)
	h.want("two", false)
	for range 2 {
		check(t, h.KillServer(t.Context()))
		h.want("one", false)
	}
}

// What the program is given reaches it byte for byte, and means nothing to tmux.
func TestNewSessionArguments(t *testing.T) {
	h := newHost(t)
	dir := filepath.Join(h.dir, "a #{pid} #(touch ran) ;")
	check(t, os.Mkdir(dir, 0o700))
	out := filepath.Join(h.dir, "out")
	odd := []string{"", ";", `\;`, `a\`, "x;", `x\\;`, "#{pid}", "#(touch ran)", "#[fg=red]", "$HOME", "-t", "two words", "new\nline", "'", `"`, "%H", "é❯", "{", "}", "~"}
	script := `pwd; for a; do printf '%s\0' "$a"; done; exit 0`
	argv := append([]string{"sh", "-c", `(` + script + `) > "$0.new"; mv "$0.new" "$0"; exec sleep 1000`, out}, odd...)
	check(t, h.NewSession(t.Context(), NewSession{Name: "odd", Dir: dir, Argv: argv}))
	eventually(t, "the program says what it got", func() bool { return content(out) != "" })
	real, err := filepath.EvalSymlinks(dir)
	check(t, err)
	if diff := cmp.Diff(real+"\n"+strings.Join(odd, "\x00")+"\x00", content(out)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A program without arguments is no script.
func TestNewSessionOneWord(t *testing.T) {
	h := newHost(t)
	program, out := filepath.Join(h.dir, "my program;"), filepath.Join(h.dir, "out")
	check(t, os.WriteFile(program, []byte("#!/bin/sh\necho ran > '"+out+"'\nexec sleep 1000\n"), 0o700))
	check(t, h.newSession("one", program))
	eventually(t, "it ran", func() bool { return content(out) == "ran\n" })
}

func TestNewSessionTwice(t *testing.T) {
	h := newHost(t)
	const starters, names = 8, 3 // of a server that does not run yet
	made := make([]error, starters*names)
	var all sync.WaitGroup
	for i := range made {
		all.Go(func() { made[i] = h.newSession(fmt.Sprint("s", i%names)) })
	}
	all.Wait()
	ok := map[int]int{}
	for i, err := range made {
		switch {
		case err == nil:
			ok[i%names]++
		case !errors.Is(err, ErrSessionExists):
			t.Error(err)
		}
	}
	if diff := cmp.Diff(map[int]int{0: 1, 1: 1, 2: 1}, ok); diff != "" {
		t.Errorf("sessions made by name (-want +got):\n%s", diff)
	}
	if got := len(strings.Fields(h.do("list-sessions", "-F", "#{session_name}"))); got != names {
		t.Errorf("%d sessions", got)
	}
}

// The server ends with its last session again and again, while others are made.
func TestNewSessionWhileTheServerEnds(t *testing.T) {
	h := newHost(t)
	var all sync.WaitGroup
	for worker := range 4 {
		all.Go(func() {
			for i := range 10 {
				name := fmt.Sprint("w", worker, "-", i)
				if err := h.newSession(name); err != nil {
					t.Error(err)
					return
				}
				if err := h.KillSession(context.Background(), name); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
}

// A server that was killed leaves its socket behind.
func TestNewSessionAfterKilledServer(t *testing.T) {
	h := newHost(t)
	check(t, h.newSession("one"))
	panes, err := h.Panes(t.Context(), "one")
	check(t, err)
	check(t, syscall.Kill(panes[0].PID, syscall.SIGKILL))
	eventually(t, "the server is gone", func() bool { found, err := h.HasSession(t.Context(), "one"); return err == nil && !found })
	check(t, h.newSession("one"))
	h.want("one", true)
}

// A session ends with its program, also when that is at once.
func TestSessionEndsWithItsProgram(t *testing.T) {
	h := newHost(t)
	for range 20 {
		check(t, h.newSession("short", "sh", "-c", "exit 3"))
		eventually(t, "it ends", func() bool { found, err := h.HasSession(t.Context(), "short"); return err == nil && !found })
	}
}

func TestNewSessionFaults(t *testing.T) {
	h := newHost(t)
	file := filepath.Join(h.dir, "file")
	check(t, os.WriteFile(file, nil, 0o600))
	fine := NewSession{Name: "fine", Dir: h.dir, Argv: []string{"sleep", "1000"}}
	for name, tt := range map[string]struct {
		server func(*Server)
		change func(*NewSession)
		want   string
	}{
		"no name":           {nil, func(n *NewSession) { n.Name = "" }, "invalid tmux session name"},
		"a name for tmux":   {nil, func(n *NewSession) { n.Name = "a:b" }, "invalid tmux session name"},
		"a long name":       {nil, func(n *NewSession) { n.Name = strings.Repeat("x", 101) }, "invalid tmux session name"},
		"no program":        {nil, func(n *NewSession) { n.Argv = nil }, "needs a program"},
		"no directory":      {nil, func(n *NewSession) { n.Dir = filepath.Join(h.dir, "none") }, "no such file"},
		"a file":            {nil, func(n *NewSession) { n.Dir = file }, "not a directory"},
		"too many words":    {nil, func(n *NewSession) { n.Argv = []string{"echo", strings.Repeat("x", 20000)} }, "too long"},
		"long socket":       {func(s *Server) { s.Socket = filepath.Join(h.dir, strings.Repeat("x", 100)) }, nil, "too long"},
		"socket in a file":  {func(s *Server) { s.Socket = filepath.Join(file, "s") }, nil, "not a directory"},
		"socket in nowhere": {func(s *Server) { s.Socket = "/proc/none/s" }, nil, "/proc/none"},
		"no tmux":           {func(s *Server) { s.Environ = []string{"PATH=/none"} }, nil, ErrNotInstalled.Error()},
	} {
		t.Run(name, func(t *testing.T) {
			server, n := h.Server, fine
			if tt.server != nil {
				tt.server(&server)
			}
			if tt.change != nil {
				tt.change(&n)
			}
			err := server.NewSession(t.Context(), n)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
	h.want("fine", false)
	if _, err := h.HasSession(t.Context(), "=fine"); err == nil {
		t.Error("a target is no name")
	}
	if err := h.KillSession(t.Context(), ""); err == nil {
		t.Error("a session without a name was ended")
	}
}

// The directory of the socket is made, for nobody else.
func TestSocketDirectory(t *testing.T) {
	h := newHost(t)
	h.Socket = filepath.Join(h.dir, "state", "s")
	check(t, h.newSession("one"))
	info, err := os.Stat(filepath.Dir(h.Socket))
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info, err)
	}
}

// A call that takes too long is given up.
func TestNewSessionCanceled(t *testing.T) {
	h := newHost(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := h.NewSession(ctx, NewSession{Name: "one", Dir: h.dir, Argv: []string{"sleep", "1000"}}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestLastLines(t *testing.T) {
	h := newHost(t)
	script := `i=0; while [ $i -lt 200 ]; do i=$((i+1)); echo "line $i"; done; printf '\033[31m%0150d\033[0m\n' 7; echo end > "$0"; exec sleep 1000`
	check(t, h.newSession("one", "sh", "-c", script, filepath.Join(h.dir, "end")))
	panes, err := h.Panes(t.Context(), "one")
	check(t, err)
	long := strings.Repeat("0", 149) + "7"
	var lines []string
	eventually(t, "all is drawn", func() bool {
		text, err := panes[0].LastLines(t.Context(), 50)
		check(t, err)
		lines = strings.Split(strings.TrimRight(text, " \n"), "\n")
		return lines[len(lines)-1] == long
	})
	if n := len(lines); n < 60 || n > 80 || lines[n-2] != "line 200" {
		t.Errorf("%d lines, before the last %q", n, lines[n-2])
	}
	check(t, h.KillSession(t.Context(), "one"))
	if _, err := panes[0].LastLines(t.Context(), 50); !errors.Is(err, ErrNoPane) {
		t.Errorf("of a pane that is gone: %v", err)
	}
}

func FuzzSessionName(f *testing.F) {
	f.Add("stopgate-fix.it:now-0123abcd")
	f.Add("=$1:")
	f.Add("a\nb é")
	f.Fuzz(func(t *testing.T, text string) {
		name := SessionName(text)
		if name != "" && checkName(name) != nil || SessionName(name) != name {
			t.Errorf("%q", name)
		}
		if name == "" && text != "" {
			t.Error("nothing is left")
		}
	})
}
