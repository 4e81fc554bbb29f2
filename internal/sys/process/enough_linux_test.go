package process

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// firstLine closes its channel at the first line end.
type firstLine struct {
	bytes.Buffer
	done chan struct{}
}

func (w *firstLine) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte("\n")) && !bytes.Contains(w.Bytes(), []byte("\n")) {
		defer close(w.done)
	}
	return w.Buffer.Write(p)
}

func TestEnough(t *testing.T) {
	for name, tt := range map[string]struct {
		script string
		signal syscall.Signal
		code   int
	}{
		"ends when asked":     {"echo answer; exec sleep 300", syscall.SIGTERM, -1},
		"ends in its own way": {"trap 'echo last >&2; kill $!; exit 7' TERM; echo answer; sleep 300 & wait", 0, 7},
		"will not listen":     {"trap '' TERM; echo answer; while :; do sleep 300; done", syscall.SIGKILL, -1},
		"has ended already":   {"echo answer", 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			out := &firstLine{done: make(chan struct{})}
			c := shell(t, tt.script)
			c.Stdout, c.Enough = out, out.done
			if tt.signal != syscall.SIGKILL {
				c.lastWord = patience
			}
			r := run(t, c)
			if out.String() != "answer\n" || len(r.Stdout) > 0 {
				t.Errorf("got %q, kept %q", out.String(), r.Stdout)
			}
			if name != "has ended already" && (r.Signal != tt.signal || r.Code != tt.code) {
				t.Errorf("got %+v", r)
			}
			if r.Canceled || r.TimedOut {
				t.Errorf("got %+v", r)
			}
			if strings.Contains(r.Tail, "answer") {
				t.Errorf("standard output is among the last lines: %q", r.Tail)
			}
		})
	}
}

// A child that left the group ends too, even if it took the terminal away.
func TestEnoughLeavesNothingBehind(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pid")
	out := &firstLine{done: make(chan struct{})}
	c := shell(t, `setsid sh -c 'echo $$ > "$0.new"; mv "$0.new" "$0"; exec sleep 300' '`+file+`' >/dev/null 2>&1 &
while ! test -e '`+file+`'; do sleep 0.01; done; echo answer`)
	c.Stdout, c.Enough = out, out.done
	run(t, c)
	wantDead(t, pid(t, file))
}

// A writer that panics or fails changes nothing for the command.
func TestWritersOfTheCaller(t *testing.T) {
	for name, w := range map[string]writer{
		"panics": func([]byte) (int, error) { panic("no") },
		"fails":  func([]byte) (int, error) { return 0, os.ErrClosed },
	} {
		t.Run(name, func(t *testing.T) {
			c := shell(t, "head -c 300000 /dev/zero; echo end >&2; exit 3")
			c.Stdout, c.Output = w, w
			if r := run(t, c); r.Code != 3 || r.Tail != "end" {
				t.Errorf("got %+v", r)
			}
		})
	}
}
