package cli

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

func TestParseAge(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"0": 0, "30m": 30 * time.Minute, "2h": 2 * time.Hour, "3d": 72 * time.Hour, "-1h": -time.Hour,
	} {
		if got, err := parseAge(text); err != nil || got != want {
			t.Errorf("parseAge(%q) = %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "5", "soon", "d", "1.5d", "200000000d", "-200000000d"} {
		if got, err := parseAge(text); err == nil {
			t.Errorf("parseAge(%q) = %v, not an error", text, got)
		}
	}
}

func TestBrief(t *testing.T) {
	for want, d := range map[string]time.Duration{
		"20m": 20 * time.Minute, "10s": 10 * time.Second, "1h": time.Hour, "1h0m5s": time.Hour + 5*time.Second,
		"1.5s": 1500 * time.Millisecond, "1m30s": 90 * time.Second, "0s": 0,
	} {
		if got := brief(d); got != want {
			t.Errorf("brief(%v) = %q, not %q", d, got, want)
		}
	}
}

func TestQuote(t *testing.T) {
	for path, want := range map[string]string{
		"/a/b": "/a/b", "/a b": "'/a b'", "/it's": `'/it'\''s'`, "/a#b": "'/a#b'", "/a~": "'/a~'", "/ä": "/ä", "/{a,b}": "'/{a,b}'",
	} {
		if got := quote(path); got != want {
			t.Errorf("quote(%q) = %s, not %s", path, got, want)
		}
	}
}
