package runbook

import (
	"strings"
	"testing"
)

// agentOf is the agent of a runbook with one line in it, in each format.
func agentOf(t *testing.T, format, line string) (Agent, Faults) {
	t.Helper()
	text := "[agent.a]\nrun = \"claude\"\n" + line + "\n"
	if format == "hcl" {
		text = "agent \"a\" {\nrun = \"claude\"\n" + line + "\n}\n"
	}
	book, faults := Parse("x."+format, []byte(text), noFile)
	return book.Agents["a"], faults
}

func inBothFormats(t *testing.T, test func(t *testing.T, format string)) {
	for _, format := range []string{"toml", "hcl"} {
		t.Run(format, func(t *testing.T) { test(t, format) })
	}
}

func parsesAs(t *testing.T, line string, want StopAction) {
	t.Helper()
	inBothFormats(t, func(t *testing.T, format string) {
		agent, faults := agentOf(t, format, line)
		if len(faults) > 0 || agent.OnStop != want {
			t.Errorf("%s: %q, %v", line, agent.OnStop, faults)
		}
	})
}

// stopActions are those of the specification, whatever the program knows.
var stopActions = []StopAction{"signal", "idle", "escalate"}

func TestParseOnStopSimple(t *testing.T) {
	for _, action := range stopActions {
		parsesAs(t, `on_stop = "`+string(action)+`"`, action)
	}
}

func TestParseOnStopObject(t *testing.T) {
	for _, action := range stopActions {
		parsesAs(t, `on_stop = { action = "`+string(action)+`" }`, action)
	}
}

func TestParseOnStopOmitted(t *testing.T) {
	parsesAs(t, "", "")
	agent, _ := agentOf(t, "toml", "")
	if agent.StopAction(false) != StopSignal || agent.StopAction(true) != StopEscalate {
		t.Errorf("in a pipeline %q, alone %q", agent.StopAction(false), agent.StopAction(true))
	}
	agent.OnStop = StopIdle
	if agent.StopAction(false) != StopIdle || agent.StopAction(true) != StopIdle {
		t.Error("what the runbook says does not hold")
	}
}

func TestParseOnStopInvalid(t *testing.T) {
	for line, want := range map[string]string{
		`on_stop = "nudge"`:                             `on_stop cannot be "nudge"`,
		`on_stop = { action = "done" }`:                 `on_stop cannot be "done"`,
		`on_stop = "signall"`:                           `unknown action of on_stop "signall"`,
		`on_stop = "Signal"`:                            `unknown action of on_stop "Signal"`,
		`on_stop = ""`:                                  `unknown action of on_stop ""`,
		`on_stop = {}`:                                  "action is missing",
		`on_stop = { action = "idle", message = "go" }`: `unknown field "message"`,
		`on_stop = ["idle"]`:                            "on_stop must be text, not a list",
		`on_stop = true`:                                "on_stop must be text, not true or false",
		`on_stop = { action = 3 }`:                      "action must be text, not a number",
	} {
		inBothFormats(t, func(t *testing.T, format string) {
			_, faults := agentOf(t, format, line)
			if len(faults) != 1 || faults[0].Message != want && !strings.HasPrefix(faults[0].Message, want) || faults[0].Line != 3 {
				t.Errorf("%s: want %s on line 3, got %v", line, want, faults)
			}
		})
	}
}
