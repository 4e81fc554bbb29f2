//go:build unix

package change

import (
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/sys/git/gittest"
)

func mkfifo(t *testing.T, path string) {
	t.Helper()
	check(t, syscall.Mkfifo(path, 0o600))
}

// What lies behind such a link can be anything the next time.
func TestE10ALinkToAPipeOrADevice(t *testing.T) {
	r := gittest.New(t)
	r.Write("pipe", "one\n", "zero", "one\n")
	r.Commit("one")
	r.Origin()
	outside := gittest.Dir(t) + "/outside"
	mkfifo(t, outside)
	for name, target := range map[string]string{"pipe": outside, "zero": "/dev/zero"} {
		check(t, os.Remove(r.Path(name)))
		check(t, os.Symlink(target, r.Path(name)))
	}
	w := open(t, r)
	d, err := w.Diff(t.Context(), Scope{}, position(t, w, Scope{}), everything, 1<<20)
	check(t, err)
	for _, name := range []string{"pipe", "zero"} {
		if why, err := w.Hidden(t.Context(), &View{Diff: d, Include: everything}, name, traceOf([]byte("one\n")), time.Time{}); why != IsSpecial || err != nil {
			t.Errorf("%s: hidden because %q (%v)", name, why, err)
		}
	}
}

// Opening a pipe that has a writer does not wait, but reading from it does.
func TestTraceOfAPipe(t *testing.T) {
	r := gittest.New(t)
	mkfifo(t, r.Path("pipe"))
	writer, err := os.OpenFile(r.Path("pipe"), os.O_RDWR, 0)
	check(t, err)
	defer writer.Close()
	w := open(t, r)
	if trace := w.Trace(Diff{}, "pipe"); trace != "" {
		t.Errorf("trace %q", trace)
	}
	view := &View{Diff: Diff{Missing: []Missing{{"pipe", IsSpecial}}}, Include: func(string) bool { return false }}
	if why, err := w.Hidden(t.Context(), view, "gone", traceOf([]byte("one\n")), time.Time{}); why != "" || err != nil {
		t.Errorf("a pipe holds a trace: %q, %v", why, err)
	}
}
