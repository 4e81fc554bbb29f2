package daemon

import (
	"runtime"
	"testing"

	"github.com/stopgate/stopgate/internal/control/fleet/job"
	"github.com/stopgate/stopgate/internal/project/config"
)

// The room that other machines are told is the one by which jobs are taken, also without a limit of agents.
func TestIssue20TheRoomThatIsShown(t *testing.T) {
	m, _ := doing(t, twoSteps)
	shows := func(want int) {
		t.Helper()
		if _, room := m.jobRoom(); room != want || room != m.Room() {
			t.Errorf("room for %d is shown, and not %d; jobs see %d", room, want, m.Room())
		}
	}
	shows(2)
	check(t, m.Start(t.Context(), job.Owner(aJob, 1), jobOf(job.Spec{Project: "shop", Command: "build", Args: []string{"you"}, OnLost: job.Again})))
	shows(1)
	m.global = func() *config.Global { return &config.Global{} }
	shows(runtime.NumCPU() - 1)
}
