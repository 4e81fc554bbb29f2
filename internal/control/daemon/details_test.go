package daemon

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/control/engine"
	"github.com/stopgate/stopgate/internal/gate/gauntlet/ledger"
)

func TestOpenGates(t *testing.T) {
	state, root := t.TempDir(), t.TempDir()
	check(t, os.MkdirAll(filepath.Join(root, ".gauntlet"), 0o755))
	check(t, os.WriteFile(filepath.Join(root, ".gauntlet", "config.yml"), nil, 0o644))
	dirs := []string{filepath.Join(root, "gone"), root}
	if got := openGates(state, present(dirs)); got != nil {
		t.Errorf("%q", got)
	}
	check(t, ledger.Open(state, root).Update(t.Context(), func(s *ledger.State) error {
		s.Open = []ledger.Failure{
			{Job: "check:.:test", Kind: "check", Name: "test", Message: "exit\x1b[1m status 1\nmore", Since: noon, Last: noon},
			{Job: "review:.:style", Kind: "review", Name: "style", Since: noon, Last: noon},
		}
		return nil
	}))
	if diff := cmp.Diff([]string{"check:.:test: exit status 1 more", "review:.:style"}, openGates(state, present(dirs))); diff != "" {
		t.Error(diff)
	}
	if got := openGates(state, nil); got != nil {
		t.Errorf("no directory: %q", got)
	}
}

// What hangs is left out, in time.
func TestDetailsThatHang(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hang := make(chan struct{})
		begun := time.Now()
		if got := <-within(t.Context(), func(context.Context) []string { <-hang; return []string{"late"} }); got != nil || time.Since(begun) != detailPatience {
			t.Errorf("%q after %v", got, time.Since(begun))
		}
		close(hang)
		if got := <-within(t.Context(), func(context.Context) []string { return []string{"x"} }); len(got) != 1 {
			t.Errorf("%q", got)
		}
	})
}

func TestRan(t *testing.T) {
	for _, test := range []struct {
		status engine.Status
		since  time.Duration
		want   time.Duration
	}{
		{engine.Running, time.Minute, 2 * time.Minute},
		{engine.Waiting, time.Minute, time.Minute},
		{engine.Ended, time.Minute, time.Minute},
		{engine.Running, -time.Hour, time.Minute}, // the clock was put back
	} {
		o := &engine.Owner{Status: test.status, Ran: time.Minute, Updated: noon}
		if got := ran(o, noon.Add(test.since)); got != test.want {
			t.Errorf("%s for %v: %v", test.status, test.since, got)
		}
	}
}
