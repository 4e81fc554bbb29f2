//go:build unix

package e2e

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/test/claudeapi"
)

func TestGatesDoNotRunWhenASubagentStops(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	gate := b.runs()
	b.Gates(oneCheck(gate.counted("test -e fixed"), verifying))
	b.API.Script(working, claudeapi.Agent("Count", "Count the files."), claudeapi.Text("Three files."),
		bash("touch fixed"), claudeapi.Text("Fixed."))
	b.API.On(claudeapi.Prompt("Count the files."), claudeapi.Text("3"))
	b.Run("how many files?")
	b.wantAnswers("SubagentStop", "allow")
	b.wantAnswers("Stop", "block gates:failed", "allow gates:passed")
	gate.want(t, 2)
}

func TestLeavingTheProjectDoesNotLeaveItsChecks(t *testing.T) {
	t.Parallel()
	for name, leave := range map[string]string{
		"another folder":      "mkdir $TMPDIR/elsewhere && cd $TMPDIR/elsewhere",
		"another repository":  "git init -q $TMPDIR/elsewhere && cd $TMPDIR/elsewhere",
		"a repository within": "git init -q inner && cd inner",
		"a project within":    "git init -q inner && mkdir inner/.gauntlet && echo 'entry_points: []' > inner/.gauntlet/config.yml && cd inner",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			fixed := filepath.Join(b.Project, "fixed")
			b.Gates(oneCheck("test -e fixed", verifying))
			b.API.Script(working, bash(strings.ReplaceAll(leave, "$TMPDIR", b.Tmp)), claudeapi.Text("Finished."),
				bash("touch "+fixed), claudeapi.Text("Fixed."))
			b.Run("do it", "--add-dir", b.Tmp, "--verbose")
			if cwd := b.WaitEvent("Stop").Str("cwd"); cwd == b.Project {
				t.Error("the agent stopped in the project; this test needs it elsewhere")
			}
			b.wantAnswers("Stop", "block gates:failed", "allow gates:passed")
		})
	}
}

// The client's flag says that somebody blocked before. Only a keeper that did so
// itself may take it for its own.
func TestGatesRunAfterTheGuardHasBlocked(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ settings, last string }{
		"and verify":          {verifying, "allow guard:passed gates:passed"},
		"and trust the agent": {"stop_hook:\n  run_interval_minutes: 0\n  verify_fixes: false\n", "allow guard:passed gates:stop_hook_active"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.Gates(oneCheck("test -e second", tt.settings, "hooks:\n  Stop:\n    - run: test -e first\n"))
			b.API.Script(claudeapi.Text("Finished."), bash("touch first"), claudeapi.Text("Finished again."),
				bash("touch second"), claudeapi.Text("Fixed."))
			b.Run("do it")
			b.wantAnswers("Stop", "block guard:failed", "block guard:passed gates:failed", tt.last)
			if stops := b.Events("Stop"); len(stops) != 3 || stops[0].Bool("stop_hook_active") || !stops[1].Bool("stop_hook_active") {
				t.Errorf("%d stops; this test needs the flag on the second", len(stops))
			}
		})
	}
}
