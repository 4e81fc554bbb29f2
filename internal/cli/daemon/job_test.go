package daemon

import (
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/cli/term"
)

// Why a job waits is shown whole on a narrow terminal.
func TestIssue20WhyAJobWaitsIsNotCut(t *testing.T) {
	why := "on beta: the runbooks of /home/someone/source/of/things/shop are not approved"
	j := daemonapi.Job{ID: "3f9a12bc00000000", Status: "pending", Waits: []string{why}}
	lines := jobShow{j}.Lines(term.Paint(false), 60, 99)
	if text := strings.Join(strings.Fields(strings.Join(lines, " ")), " "); !strings.Contains(text, why) {
		t.Error(text)
	}
	for _, line := range lines {
		if term.Cells(line) > 60 {
			t.Errorf("%q is too long", line)
		}
	}
}

// A job whose pipeline asks a person something is shown as waiting for that, and what runs for it by its kind.
func TestIssue20AJobThatWaitsForADecision(t *testing.T) {
	j := daemonapi.Job{
		ID: "3f9a12bc00000000", Command: "slow", Status: "running", Attempt: 1, Host: "alpha", Owner: "d1498e9a00000000", Kind: "pipeline",
		Asks: "4c1c902500000000", Waits: []string{"decision 4c1c9025 waits for an answer"},
	}
	shown := func() (list, one string) {
		return strings.Join(jobLines([]daemonapi.Job{j}, time.Now(), term.Paint(false), 120, 99), "\n"), strings.Join(jobShow{j}.Lines(term.Paint(false), 120, 99), "\n")
	}
	list, one := shown()
	if strings.Contains(list, "running") || !strings.Contains(list, "waiting") || !strings.Contains(list, "4c1c9025") {
		t.Error(list)
	}
	for _, want := range []string{": waiting", "1, on alpha, pipeline d1498e9a00000000", "stopgate decision show 4c1c9025"} {
		if !strings.Contains(one, want) {
			t.Errorf("%q is not in:\n%s", want, one)
		}
	}

	j.Asks, j.Waits, j.Kind = "", nil, "run"
	if list, one := shown(); !strings.Contains(list, "running") || !strings.Contains(one, "1, on alpha, agent run d1498e9a00000000") {
		t.Errorf("%s\n%s", list, one)
	}
	j.Kind = ""
	if _, one := shown(); !strings.Contains(one, "1, on alpha, id d1498e9a00000000") {
		t.Error(one)
	}
}

// Decisions of two jobs of the same command are told apart.
func TestIssue20DecisionsOfJobsAreToldApart(t *testing.T) {
	one := daemonapi.Decision{ID: "4c1c902500000000", Name: "slow", Source: "lost", Step: "run", Job: "32cd2cde00000000", JobCommand: "slow 600"}
	other := one
	other.ID, other.Job, other.JobCommand = "d83c9c0200000000", "f7fe000000000000", "slow 900"
	list := strings.Join(decisionRows([]daemonapi.Decision{one, other}, time.Now(), term.Paint(false), 200, 99), "\n")
	for _, want := range []string{"slow 600 (job 32cd2cde)", "slow 900 (job f7fe0000)"} {
		if !strings.Contains(list, want) {
			t.Errorf("%q is not in:\n%s", want, list)
		}
	}
	if got := decisionAbout(&one); got != "slow 600 (job 32cd2cde), step run (lost)" {
		t.Error(got)
	}
}
