package change

import (
	"os"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/sys/git/gittest"
)

// A link to files of the kernel takes no time: they say that they are empty, and there is no end of them.
func TestWhatIsGoneIsNotLookedForInTheKernel(t *testing.T) {
	r := gittest.New(t)
	r.Commit("one")
	mine, err := os.ReadFile("/proc/self/status")
	check(t, err)
	check(t, os.Symlink("/proc/self/status", r.Path("status")))
	check(t, os.Symlink("/proc", r.Path("all")))
	w := open(t, r)
	view := &View{Include: everything}
	begun := time.Now()
	if why, err := w.Hidden(t.Context(), view, "gone", traceOf(mine), time.Now().Add(-time.Hour)); why != "" || err != nil {
		t.Errorf("hidden because %q, %v", why, err)
	}
	if took := time.Since(begun); took > 10*time.Second {
		t.Errorf("it took %s", took)
	}

	found := view.places
	if _, err := w.Hidden(t.Context(), view, "other", traceOf(mine), time.Now()); err != nil || view.places != found || found == nil {
		t.Errorf("git is asked again, %v", err)
	}
}
