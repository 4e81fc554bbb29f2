package daemon

import (
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/cli/term"
)

// A person who waits is told once that the machine does not report, and that it does again.
func TestIssue20WaitingForAMachineThatIsSilent(t *testing.T) {
	var said strings.Builder
	var w waiting
	p := &Daemon{errOut: &said}
	for _, heard := range []float64{1, 250, 300, 1, 2} {
		w.tellSilence(p, daemonapi.Away{Host: "vps", Heard: heard})
	}
	w.tellSilence(p, daemonapi.Away{})
	want := "stopgate: vps last reported 4 min ago; still waiting\nstopgate: vps reports again\n"
	if said.String() != want {
		t.Errorf("%q", said.String())
	}
}

// Jobs of a fleet that does not answer are shown with how old they are.
func TestIssue20OldJobsSaySo(t *testing.T) {
	j := daemonapi.Job{ID: "3f9a12bc00000000", Status: "lost", Decided: "again", DecidedOn: "laptop"}
	shown := func() string {
		lines := append(jobLines([]daemonapi.Job{j}, time.Now(), term.Paint(false), 100, 99), jobShow{j}.Lines(term.Paint(false), 100, 99)...)
		return strings.Join(lines, "\n")
	}
	const old = "the fleet does not answer: as of 4 min ago"
	if text := shown(); strings.Contains(text, "as of") || !strings.Contains(text, "decided    again, on laptop") {
		t.Error(text)
	}
	j.Unheard = 250
	if text := shown(); strings.Count(text, old) != 2 {
		t.Error(text)
	}
}
