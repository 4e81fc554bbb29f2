package settings

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Of a settings file only the other tool's own hooks go, and what they leave empty.
func TestIssue19OnlyTheHooksOfTheOtherToolGo(t *testing.T) {
	const before = `{
  "model": "opus",
  "hooks": {
    "Stop": [
      {"hooks": [{"type": "command", "command": "conclaude Stop"}, {"type": "command", "command": "say done"}]},
      {"hooks": [{"type": "command", "command": "npx -y conclaude@1.2.3 Stop"}]}
    ],
    "SubagentStop": [{"hooks": [{"type": "command", "command": "/opt/conclaude", "args": ["SubagentStop"]}]}],
    "PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "echo conclaude"}]}]
  },
  "env": {"A": "b"}
}
`
	theirs := func(e Entry) bool { return e.ShareOf("conclaude", isEvent) == AllTheirs }
	after, gone, err := Without("settings.json", []byte(before), theirs)
	check(t, err)
	const want = `{
  "model": "opus",
  "hooks": {
    "Stop": [
      {"hooks": [{"type": "command", "command": "say done"}]}
    ],
    "PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "echo conclaude"}]}]
  },
  "env": {"A": "b"}
}
`
	if diff := cmp.Diff(want, string(after)); diff != "" {
		t.Error(diff)
	}
	var lines []int
	for _, f := range gone {
		lines = append(lines, f.At)
	}
	if diff := cmp.Diff([]int{5, 6, 8}, lines); diff != "" {
		t.Error(diff)
	}

	again, gone, err := Without("settings.json", after, theirs)
	check(t, err)
	if string(again) != want || len(gone) > 0 {
		t.Errorf("%d more: %s", len(gone), again)
	}
	if _, _, err := Without("settings.json", []byte(`{"hooks": []}`), theirs); err == nil || !strings.HasPrefix(err.Error(), "settings.json:1:11: ") {
		t.Errorf("got %v", err)
	}
}

// isEvent knows an argument of a hook of conclaude.
func isEvent(arguments []string) bool { return len(arguments) > 0 && known(arguments[0]) }

func TestWithoutLeavesOurs(t *testing.T) {
	const ours = `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"stopgate hook Stop"}]}]}}`
	after, gone, err := Without("settings.json", []byte(ours), func(Entry) bool { return true })
	if err != nil || len(gone) > 0 || string(after) != ours {
		t.Errorf("left %s, gone %v, %v", after, gone, err)
	}
}
