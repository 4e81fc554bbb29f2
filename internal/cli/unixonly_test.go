package cli

import (
	"io"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/cli/term"
)

// What needs tmux or the daemon says so at once, with the exit code of what could not run.
func TestIssue19WindowsCommandsSayWhatTheyNeed(t *testing.T) {
	for line, needed := range map[string]string{
		"daemon start": "the daemon", "pipeline show": "the daemon", "start build": "the daemon", "top": "the daemon",
		"queue list": "tmux", "queue create x": "tmux", "registry check": "tmux", "provider check": "stopgated",
	} {
		root := newRoot("stopgate")
		refuseUnixOnly(root)
		root.SetOut(io.Discard)
		root.SetArgs(strings.Fields(line))
		complaint := term.Explain(root.Execute())

		if complaint.Code != term.ExitCouldNotRun || !strings.Contains(complaint.Message, " needs "+needed+", which does not run on Windows") {
			t.Errorf("%s: exit %d, %q", line, complaint.Code, complaint.Message)
		}
	}
}

func TestIssue19WindowsHasNamesOfRealCommandsOnly(t *testing.T) {
	root := newRoot("stopgate")
	for _, names := range unixOnly {
		for _, name := range names {
			if cmd, rest, err := root.Find(strings.Fields(name)); err != nil || cmd == root || len(rest) > 0 {
				t.Errorf("unknown command %q", name)
			}
		}
	}
}

// Hooks answer on every system, also the one that stands among the commands of the daemon.
func TestIssue19WindowsHooksAnswer(t *testing.T) {
	root := newRoot("stopgate")
	refuseUnixOnly(root)
	root.SetOut(io.Discard)
	root.SetErr(io.Discard)
	root.SetArgs([]string{"agent", "hook", "stop", "--no-such-flag"})
	if complaint := term.Explain(root.Execute()); strings.Contains(complaint.Message, "Windows") {
		t.Errorf("refused: %s", complaint.Message)
	}
	hook, rest, _ := root.Find([]string{"agent", "hook", "stop"})
	if len(rest) > 0 || hook.Args != nil && hook.Args(hook, []string{"a", "b", "c"}) == nil {
		t.Errorf("%s takes any arguments, as what is refused does", hook.CommandPath())
	}
}
