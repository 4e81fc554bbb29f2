package errand

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestInTerminal(t *testing.T) {
	got := inTerminal(
		[]string{"A=1", "TERM=dumb", "TMUX=/theirs,1,0", "TMUX_PANE=%7", "COLUMNS=80", "LINES=24", "TERMINFO=/x", "TERM_PROGRAM=other", "odd"},
		[]string{"A=2", "TERM=tmux-256color", "TMUX=/ours,2,0", "TMUX_PANE=%1", "SECRET=x"},
	)
	want := []string{"A=1", "TERMINFO=/x", "odd", "TERM=tmux-256color", "TMUX=/ours,2,0", "TMUX_PANE=%1"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestEnvironOnDisk(t *testing.T) {
	for name, env := range map[string][]string{
		"none":      nil,
		"some":      {"A=1", "B=two\nlines", "C=", "D==;'\"$x", "E=\xff", ""},
		"ten of MB": {"A=" + strings.Repeat("x", 10<<20)},
	} {
		t.Run(name, func(t *testing.T) {
			d := directory(t.TempDir())
			check(t, d.writeEnviron(append(env, d.mark())))
			got, err := d.readEnviron()
			check(t, err)
			if !cmp.Equal(env, got) {
				t.Errorf("%d entries became %d", len(env), len(got))
			}
			d.forgetEnviron()
			if _, err := d.readEnviron(); err == nil {
				t.Error("it is still there")
			}
			d.forgetEnviron()
		})
	}
}

func FuzzParseEnviron(f *testing.F) {
	f.Add("")
	f.Add("A=1\x00B=2\x00")
	f.Add("A=1\x00B=")
	f.Fuzz(func(t *testing.T, text string) {
		env, err := parseEnviron(text)
		if whole := text == "" || strings.HasSuffix(text, "\x00"); whole != (err == nil) {
			t.Fatalf("%q: %v", text, err)
		}
		again := ""
		for _, entry := range env {
			again += entry + "\x00"
		}
		if err == nil && again != text {
			t.Errorf("%q became %q", text, again)
		}
	})
}
