//go:build unix

package e2e

import (
	"path/filepath"
	"testing"

	"github.com/stopgate/stopgate/test/claudeapi"
)

func TestQuestionOnlyTurnRunsNoGate(t *testing.T) {
	t.Parallel()
	t.Run("of a proven tree", func(t *testing.T) {
		t.Parallel()
		b := newBench(t)
		gate := b.runs()
		b.Gates(oneCheck(gate.counted("true"), verifying))
		b.API.Script(bash("echo more >> README.md"), claudeapi.Text("Done."), claudeapi.Text("It is a project."))
		h := b.Start()
		for _, prompt := range []string{"write more", "what is this?"} {
			h.Send(prompt)
			h.WaitReply()
			gate.want(t, 1)
		}
		h.Close()
		b.wantAnswers("Stop", "allow gates:passed", "allow gates:unchanged")
		if logs, _ := filepath.Glob(filepath.Join(b.Project, "gauntlet_logs/previous/console.*")); len(logs) != 1 {
			t.Errorf("logs of %d runs, want 1", len(logs))
		}
	})
	t.Run("where nothing has changed", func(t *testing.T) {
		t.Parallel()
		b := newBench(t)
		gate := b.runs()
		b.Gates(oneCheck(gate.counted("false"), verifying, "base_branch: main\n"))
		b.Run("what is this?")
		b.wantAnswers("Stop", "allow gates:unchanged")
		gate.want(t, 0)
	})
}

// A red gate stays red until it passes, whatever else the agent tries.
func TestOpenFailureStaysOpen(t *testing.T) {
	t.Parallel()
	for name, try := range map[string]string{
		"the agent answers":         "true",
		"the agent commits":         "git commit -q --allow-empty -am 'all: go on'",
		"the agent takes it back":   "git checkout -q README.md",
		"the agent deletes logs":    "rm -r gauntlet_logs",
		"the agent edits the gates": "echo 'entry_points: []' > .gauntlet/config.yml",
		"the agent turns the clock": `echo '{"last_run_completed_at":"2999-01-01T00:00:00Z","branch":"main","commit":"x"}' > gauntlet_logs/.execution_state`,
		"the agent hides the files": "git update-index --assume-unchanged README.md",
		"the agent changes branch":  "git checkout -q -b other",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			gate := b.runs()
			fixed := filepath.Join(b.Tmp, "fixed")
			b.Gates(oneCheck(gate.counted("test -e "+fixed), verifying, "base_branch: main\n"))
			b.API.Script(bash("echo more >> README.md"), claudeapi.Text("Finished."),
				bash(try), claudeapi.Text("Surely finished."),
				bash("touch "+fixed), claudeapi.Text("Fixed."))
			b.Run("do it")
			answers := b.Answers("Stop")
			if len(answers) != 3 || answers[0].Decision != "block" || answers[1].Decision != "block" || answers[2].Decision != "allow" {
				t.Errorf("answers %q", statuses(answers))
			}
			gate.want(t, 3)
		})
	}
}
