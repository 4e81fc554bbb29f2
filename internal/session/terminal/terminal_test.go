package terminal

import (
	"errors"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestFromEnviron(t *testing.T) {
	for _, tt := range []struct {
		tmux, pane string
		socket     string
		pid        int
	}{
		{"/tmp/tmux-0/default,123,4", "%3", "/tmp/tmux-0/default", 123},
		{"/tmp/a,b/s,123,0", "%0", "/tmp/a,b/s", 123},
		{"/tmp/s,123,$1", "%12", "/tmp/s", 123},
		{"", "%3", "", 0},
		{"/tmp/s", "%3", "", 0},
		{"/tmp/s,123", "%3", "", 0},
		{",123,0", "%3", "", 0},
		{"/tmp/s,,0", "%3", "", 0},
		{"/tmp/s,-1,0", "%3", "", 0},
		{"/tmp/s,x,0", "%3", "", 0},
		{"/tmp/s,123,0", "", "", 0},
		{"/tmp/s,123,0", "3", "", 0},
		{"/tmp/s,123,0", "%", "", 0},
		{"/tmp/s,123,0", "%+3", "", 0},
		{"/tmp/s,123,0", "%3;", "", 0},
		{"/tmp/s,123,0", "name", "", 0},
	} {
		env := []string{"A=1", "TMUX=" + tt.tmux, "TMUX_PANE=" + tt.pane}
		p, ok := FromEnviron(env)
		if ok != (tt.socket != "") || p.Server.Socket != tt.socket || p.PID != tt.pid || ok && p.ID != tt.pane {
			t.Errorf("TMUX=%s TMUX_PANE=%s: %+v, %t", tt.tmux, tt.pane, p, ok)
		}
	}
	if _, ok := FromEnviron(nil); ok {
		t.Error("a pane without an environment")
	}
}

func FuzzFromEnviron(f *testing.F) {
	f.Add("/tmp/tmux-0/default,123,4", "%3")
	f.Add(",,", "%")
	f.Fuzz(func(t *testing.T, tmux, id string) {
		p, ok := FromEnviron([]string{"TMUX=" + tmux, "TMUX_PANE=" + id})
		if !ok {
			return
		}
		if p.ID != id || strings.Trim(id, "%0123456789") != "" || p.PID <= 0 || !strings.HasPrefix(tmux, p.Server.Socket+",") {
			t.Errorf("TMUX=%q TMUX_PANE=%q: %+v", tmux, id, p)
		}
	})
}

func TestTmuxIsNotInstalled(t *testing.T) {
	s := Server{Environ: []string{"PATH=" + t.TempDir()}}
	p := Pane{Server: s, ID: "%0"}
	_, panes := s.Panes(t.Context(), "a")
	for what, err := range map[string]error{"Panes": panes, "Paste": p.Paste(t.Context(), "x"), "Enter": p.Enter(t.Context())} {
		if !errors.Is(err, ErrNotInstalled) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestCheck(t *testing.T) {
	for text, want := range map[string]string{
		"hello":      "",
		"one\n\ttwo": "",
		"e\u0301 \u00a0 👩‍👩‍👧 \uFFFD \u2028": "",
		strings.Repeat("x", MaxText):         "",
		"":                                   "the text is blank",
		" \n\t\u00a0":                        "the text is blank",
		strings.Repeat("x", MaxText+1):       "the text has 1048577 bytes; at most 1048576 can be typed",
		"a\x00":                              "control character U+0000 at line 1, column 2",
		"é\x1b[201~":                         "control character U+001B at line 1, column 2",
		"one\ntw\x03":                        "control character U+0003 at line 2, column 3",
		"\x7f":                               "control character U+007F at line 1, column 1",
		"\u009b201~":                         "control character U+009B at line 1, column 1",
		"dos\r\n":                            `carriage return (use \n for a new line) at line 1, column 4`,
		"ab\xff":                             "byte 0xFF is not UTF-8 at line 1, column 3",
		"cut \xe2\x80":                       "byte 0xE2 is not UTF-8 at line 1, column 5",
		"\x9b201~":                           "byte 0x9B is not UTF-8 at line 1, column 1",
	} {
		got := ""
		if err := Check(text); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("Check(%.30q) = %q, want %q", text, got, want)
		}
	}
}

func FuzzCheck(f *testing.F) {
	for _, text := range []string{"", "hello", "a\nb\tc", "\x1b[201~", "\u0085", "a\r\nb", "\xff", "\uFFFD"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		bad := !utf8.ValidString(text) || strings.TrimSpace(text) == "" || len(text) > MaxText
		for _, r := range text {
			bad = bad || r != '\n' && r != '\t' && unicode.IsControl(r)
		}
		if err := Check(text); (err != nil) != bad {
			t.Errorf("Check(%q) = %v", text, err)
		}
	})
}
