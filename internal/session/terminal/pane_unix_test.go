//go:build unix

package terminal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestPasteKeepsEveryByte(t *testing.T) {
	h := newHost(t)
	r := h.record("a", "")
	for name, text := range map[string]string{
		"plain":               "hello",
		"a command":           "/gsd:plan-phase 3",
		"leading dash":        "-t %0 --help",
		"trailing semicolon":  "echo a;",
		"only a semicolon":    ";",
		"escaped semicolon":   `a \;`,
		"newlines":            "one\ntwo\n\n\nfive\n",
		"spaces around":       "  a  ",
		"tabs":                "\ta\tb",
		"quotes":              `"a" 'b' ` + "`c`",
		"backslashes":         `a\nb\\ \`,
		"variables":           "$HOME ${HOME} $(id) ~ %1 {last}",
		"formats":             "#{pane_id} #(id) #S %H:%M",
		"names of keys":       "Enter C-c Escape",
		"emoji":               "👩‍👩‍👧 🇩🇪 ❤️",
		"combining, NBSP":     "e\u0301 a\u00a0b",
		"wide":                "日本語",
		"replacement is text": "\uFFFD",
		"100 kB in one line":  strings.Repeat("abcdefghi ", 10_000),
		"100 kB in lines":     strings.Repeat("abcdefghi\n", 10_000),
		"as long as allowed":  strings.Repeat("0123456789abcde\n", MaxText/16),
	} {
		if err := r.Paste(t.Context(), text); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		r.want(pasted(text))
	}
	for _, text := range []string{"a\x1b[201~\r", "a\r", "", "\xff"} {
		if err := r.Paste(t.Context(), text); err == nil {
			t.Errorf("%q was pasted", text)
		}
	}
	check(t, r.Enter(t.Context()))
	r.want("\r") // and nothing before it
	if left := h.do("list-buffers"); left != "" {
		t.Errorf("left behind: %s", left)
	}
}

// A person's own buffers are not touched.
func TestPasteKeepsOtherBuffers(t *testing.T) {
	h := newHost(t)
	r := h.record("a", "")
	h.do("set-buffer", "copied by a person")
	check(t, r.Paste(t.Context(), "text"))
	r.want(pasted("text"))
	if got := h.do("show-buffer"); got != "copied by a person" {
		t.Errorf("the buffer is %q", got)
	}
}

// While a person scrolls or chooses something, the program still gets what is typed.
func TestTypingLeavesModes(t *testing.T) {
	h := newHost(t)
	r := h.record("a", "")
	for _, mode := range []string{"copy-mode", "clock-mode", "choose-tree", "choose-buffer"} {
		h.do("set-buffer", "-b", "one", "something to choose")
		h.do(mode, "-t", r.ID)
		check(t, r.Paste(t.Context(), "text"))
		r.want(pasted("text"))
		h.do(mode, "-t", r.ID)
		if h.do("display-message", "-p", "-t", r.ID, "#{pane_in_mode}") == "0" {
			t.Fatalf("%s did nothing", mode)
		}
		check(t, r.Enter(t.Context()))
		r.want("\r")
	}
}

func TestTypingIsRefused(t *testing.T) {
	for name, tt := range map[string]struct {
		close, open func(*host, *recorder)
		want        string
	}{
		"input is off": {
			func(h *host, r *recorder) { h.do("select-pane", "-d", "-t", r.ID) },
			func(h *host, r *recorder) { h.do("select-pane", "-e", "-t", r.ID) },
			"its input is disabled",
		},
		"synchronized panes": {
			func(h *host, r *recorder) { h.do("set-option", "-w", "-t", r.ID, "synchronize-panes", "on") },
			func(h *host, r *recorder) { h.do("set-option", "-w", "-t", r.ID, "synchronize-panes", "off") },
			"types into all panes",
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHost(t)
			r := h.record("a", "")
			tt.close(h, r)
			for what, err := range map[string]error{"Paste": r.Paste(t.Context(), "text"), "Enter": r.Enter(t.Context())} {
				if err == nil || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("%s: %v", what, err)
				}
			}
			tt.open(h, r)
			check(t, r.Paste(t.Context(), "later"))
			r.want(pasted("later")) // and nothing before it
		})
	}
}

func TestTypingWhereTheProgramHasEnded(t *testing.T) {
	h := newHost(t)
	r := h.record("a", "")
	h.do("set-option", "-w", "-t", r.ID, "remain-on-exit", "on")
	_ = r.conn.Close() // the recorder ends with the next byte
	_ = r.Enter(t.Context())
	await(t, func() bool { return h.do("display-message", "-p", "-t", r.ID, "#{pane_dead}") == "1" })
	for what, err := range map[string]error{"Paste": r.Paste(t.Context(), "text"), "Enter": r.Enter(t.Context())} {
		if err == nil || !strings.Contains(err.Error(), "its program has ended") {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// await asks until it is so.
func await(t *testing.T, so func() bool) {
	t.Helper()
	for deadline := time.Now().Add(long); !so(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it never came to that")
		}
	}
}

// No pane is taken for one that is gone: not the active one, and not one that has the
// same id on the server that was started after.
func TestPaneThatIsGone(t *testing.T) {
	h := newHost(t)
	first := h.session("a")
	h.session("b")
	other := first
	other.PID++
	gone := first
	gone.ID = "%99"
	for name, p := range map[string]Pane{
		"no such pane":       gone,
		"of another server":  other,
		"no id":              {Server: h.Server},
		"a session's name":   {Server: h.Server, ID: "a"},
		"nobody listens":     {Server: Server{Socket: filepath.Join(h.dir, "none"), Environ: h.Environ}, ID: "%0"},
		"a file, no socket":  {Server: Server{Socket: file(t, h), Environ: h.Environ}, ID: "%0"},
		"directory is gone":  {Server: Server{Socket: filepath.Join(h.dir, "no", "s"), Environ: h.Environ}, ID: "%0"},
		"last pane, by name": {Server: h.Server, ID: "{last}"},
		"pane by its place":  {Server: h.Server, ID: "a:0.0"},
		"an option":          {Server: h.Server, ID: "-t"},
		"two commands":       {Server: h.Server, ID: first.ID + ";"},
	} {
		_, session := p.Session(t.Context())
		_, capture := p.Capture(t.Context())
		for what, err := range map[string]error{
			"Session": session, "Capture": capture, "Paste": p.Paste(t.Context(), "x"), "Enter": p.Enter(t.Context()),
		} {
			if !errors.Is(err, ErrNoPane) {
				t.Errorf("%s: %s: %v", name, what, err)
			}
		}
	}
}

func file(t *testing.T, h *host) string {
	t.Helper()
	path := filepath.Join(h.dir, "file")
	check(t, os.WriteFile(path, nil, 0o600))
	return path
}

func TestSession(t *testing.T) {
	h := newHost(t)
	for _, name := range []string{"a", "ab", "sp ace", "emoji é😀", "%0", "$1"} {
		p := h.session(name)
		if got, err := p.Session(t.Context()); got != name || err != nil {
			t.Errorf("%q, %v; want %q", got, err, name)
		}
		unknown := p
		unknown.PID = 0
		if got, err := unknown.Session(t.Context()); got != name || err != nil {
			t.Errorf("without the server's process id: %q, %v; want %q", got, err, name)
		}
	}
	p := h.session("old")
	h.do("rename-session", "-t", "=old:", "new")
	if got, err := p.Session(t.Context()); got != "new" || err != nil {
		t.Errorf("after renaming: %q, %v", got, err)
	}
}

// What a pane shows is seen as the client drew it.
func TestCapture(t *testing.T) {
	patterns := builtin(t)
	h := newHost(t)
	for i, tt := range []struct {
		screen string
		want   View
	}{
		{"2.1.325-fresh", View{State: Ready}},
		{"2.1.325-queued", View{State: Ready}}, // with a dim hint in the box
		{"2.1.197-queued", View{State: Ready}},
		{"2.1.325-emoji", View{State: Occupied, Box: "👩‍👩‍👧 é 日本語 x"}},
		{"2.1.325-permission-bash", View{State: Dialog}},
		{"2.1.197-history-search", View{State: NoPrompt}}, // the cursor is under the box
	} {
		r := h.record("s"+strconv.Itoa(i), filepath.Join("testdata", "screens", tt.screen+".txt"))
		screen, err := r.Capture(t.Context())
		check(t, err)
		if diff := cmp.Diff(tt.want, patterns.Look(screen)); diff != "" {
			t.Errorf("%s (-want +got):\n%s\n%s", tt.screen, diff, screen)
		}
	}
}

// The buffer goes even where the pane ends between our looking and our pasting.
func TestPasteFailsAndLeavesNothing(t *testing.T) {
	h := newHost(t)
	p := h.session("a")
	h.session("b")
	bin := t.TempDir()
	script := fmt.Sprintf(`#!/bin/sh
case "$*" in *load-buffer*) '%[1]s' -S '%[2]s' kill-pane -t '%[3]s' ;; esac
exec '%[1]s' "$@"
`, h.program, h.Socket, p.ID)
	check(t, os.WriteFile(filepath.Join(bin, "tmux"), []byte(script), 0o755))
	p.Server.Environ = append(p.Server.Environ, "PATH="+bin)
	if err := p.Paste(t.Context(), "text"); !errors.Is(err, ErrNoPane) {
		t.Errorf("got %v", err)
	}
	if left := h.do("list-buffers"); left != "" {
		t.Errorf("left behind: %s", left)
	}
}

// A server that hangs costs no more than the caller's patience.
func TestServerHangs(t *testing.T) {
	h := newHost(t)
	p := h.session("a")
	check(t, syscall.Kill(p.PID, syscall.SIGSTOP))
	defer func() { _ = syscall.Kill(p.PID, syscall.SIGCONT) }()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := p.Paste(ctx, "text"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

func TestPanes(t *testing.T) {
	h := newHost(t)
	if _, err := h.Panes(t.Context(), "a"); !errors.Is(err, ErrNoSession) {
		t.Errorf("without a server: %v", err)
	}
	names := []string{
		"a", "ab", "ab-1", "sp ace", "sl/ash", `q'uo"te`, "=eq", "-dash", "gl*b", "glob", "[ab]", "$1", "$99", "%0", "@1",
		"{last}", "{mouse}", "+", "!", "~", "^", "emoji é😀", "tr ", "C",
	}
	ids := map[string]string{}
	for _, name := range names {
		ids[name] = h.session(name).ID
	}
	names, ids[`new\nline`] = append(names, `new\nline`), h.session("new\nline").ID // tmux writes it so
	for _, name := range names {
		panes, err := h.Panes(t.Context(), name)
		if err != nil || len(panes) != 1 || panes[0].ID != ids[name] {
			t.Errorf("%q: %v, %v; want %s", name, panes, err, ids[name])
			continue
		}
		if got, err := panes[0].Session(t.Context()); got != name || err != nil {
			t.Errorf("%q: %q, %v", name, got, err)
		}
	}
	for _, name := range []string{
		"", " ", "abc", "A", "a:", "a:0", "a.0", "a:0.0", "=a", "=a:", "$0", "$2", "%1", "@0", "gl?b", "gl*", "*", "{top}", "-", "=", ":",
		"/dev/pts/0", "a\nab", "new\nline", "a;", "a\x00b", "#{session_name}", strings.Repeat("a", 100_000),
	} {
		if panes, err := h.Panes(t.Context(), name); !errors.Is(err, ErrNoSession) {
			t.Errorf("%.20q: %v, %v", name, panes, err)
		}
	}
}

func TestPanesOfAllWindows(t *testing.T) {
	h := newHost(t)
	first := h.session("a")
	h.session("b")
	split := h.do("split-window", "-t", first.ID, "-P", "-F", "#{pane_id}", "sleep 1000")
	window := h.do("new-window", "-t", "=a:", "-P", "-F", "#{pane_id}", "sleep 1000")
	panes, err := h.Panes(t.Context(), "a")
	check(t, err)
	var got []string
	for _, p := range panes {
		if p.PID != first.PID || p.Server.Socket != h.Socket {
			t.Errorf("%+v is on another server", p)
		}
		got = append(got, p.ID)
	}
	if diff := cmp.Diff([]string{first.ID, split, window}, got); diff != "" {
		t.Error(diff)
	}
}

// Where no socket is named, it is the server of the environment.
func TestDefaultServer(t *testing.T) {
	h := newHost(t)
	p := h.session("a")
	s := Server{Environ: p.Server.Environ} // with TMUX
	if panes, err := s.Panes(t.Context(), "a"); err != nil || len(panes) != 1 || panes[0].ID != p.ID {
		t.Errorf("%v, %v", panes, err)
	}
	if _, err := (Server{Environ: append(h.Environ, "TMUX_TMPDIR="+h.dir)}).Panes(t.Context(), "a"); !errors.Is(err, ErrNoSession) {
		t.Errorf("another default server: %v", err)
	}
}
