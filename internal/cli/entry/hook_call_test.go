package entry

import (
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/harness/hook"
)

func TestHookCall(t *testing.T) {
	for _, test := range []struct {
		args  []string
		event hook.Event
		hook  bool
	}{
		{[]string{"stopgate", "hook"}, "", true},
		{[]string{"stopgate", "hook", "Stop"}, hook.Stop, true},
		{[]string{"/usr/bin/stopgate", "hook", "SomethingNew"}, "SomethingNew", true},
		{[]string{"stopgate", "hook", "--help"}, "--help", false},
		{[]string{"stopgate", "hook", "Stop", "Stop"}, "", false},
		{[]string{"stopgate", "hooks"}, "", false},
		{[]string{"stopgate", "Stop"}, "", false},
		{[]string{"stopgate"}, "", false},
		{[]string{"/opt/conclaude", "Stop"}, hook.Stop, true},
		{[]string{"conclaude.exe", "SubagentStop"}, hook.SubagentStop, true},
		{[]string{"conclaude", "SomethingNew"}, "SomethingNew", true},
		{[]string{"conclaude", "hook", "Stop"}, hook.Stop, true},
		{[]string{"conclaude", "validate"}, "", false},
		{[]string{"conclaude", "Stop", "now"}, "", false},
		{[]string{"conclaude", ""}, "", false},
		{[]string{"conclaude"}, "", false},
	} {
		call, isHook := parseHookCall(test.args)
		if isHook != test.hook || isHook && call.event != test.event {
			t.Errorf("parseHookCall(%q) = %+v, %t", test.args, call, isHook)
		}
	}
}

func TestE14HookFlags(t *testing.T) {
	for line, want := range map[string]hookCall{
		"hook Stop --timeout 20m":                {event: hook.Stop, timeout: 20 * time.Minute},
		"hook --timeout=90s Stop":                {event: hook.Stop, timeout: 90 * time.Second},
		"hook --for gemini AfterAgent":           {event: "AfterAgent", harness: "gemini"},
		"hook Stop --for claude --timeout 1h30m": {event: hook.Stop, timeout: 90 * time.Minute, harness: claudeCode},
		"hook --timeout 5s":                      {timeout: 5 * time.Second},
	} {
		if call, isHook := parseHookCall(append([]string{"stopgate"}, strings.Fields(line)...)); !isHook || call != want {
			t.Errorf("%s: %+v, %t", line, call, isHook)
		}
	}
	for _, line := range []string{"hook Stop --timeout", "hook Stop --timeout soon", "hook Stop --timeout 0s", "hook Stop --timeout -1m", "hook Stop --for=", "hook Stop --later 5"} {
		if call, isHook := parseHookCall(append([]string{"stopgate"}, strings.Fields(line)...)); isHook {
			t.Errorf("%s: %+v", line, call)
		}
	}
}
