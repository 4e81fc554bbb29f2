package entry

import (
	"encoding/json"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/stopgate/stopgate/internal/harness/hook"
	"github.com/stopgate/stopgate/internal/sys/program"
)

// claudeCode is what --for calls Claude Code.
const claudeCode = "claude"

// hookCall is a hook's command line.
type hookCall struct {
	event   hook.Event    // empty: the payload decides
	timeout time.Duration // of the entry that was called; 0: not said
	harness string        // the program that calls; empty: Claude Code
}

// parseHookCall recognises "stopgate hook [EVENT] [--timeout DURATION] [--for HARNESS]" and,
// under the name conclaude, "conclaude EVENT".
func parseHookCall(args []string) (call hookCall, isHook bool) {
	rest := args[1:]
	if program.Called(args[0]) == "conclaude" && len(rest) == 1 && isEventName(rest[0]) {
		return hookCall{event: hook.Event(rest[0])}, true
	}
	if len(rest) == 0 || rest[0] != "hook" {
		return call, false
	}

	for rest = rest[1:]; len(rest) > 0; rest = rest[1:] {
		name, value, joined := strings.Cut(rest[0], "=")
		if !strings.HasPrefix(name, "-") {
			if call.event != "" {
				return call, false
			}
			call.event = hook.Event(rest[0])
			continue
		}
		if !joined {
			if len(rest) == 1 {
				return call, false
			}
			value, rest = rest[1], rest[1:]
		}
		if !call.set(name, value) {
			return call, false
		}
	}
	return call, true
}

// set takes a flag; false where it is unknown or wrong.
func (c *hookCall) set(flag, value string) (known bool) {
	switch flag {
	case "--for":
		c.harness = value
		return value != ""
	case "--timeout":
		timeout, err := time.ParseDuration(value)
		c.timeout = timeout
		return err == nil && timeout > 0
	}
	return false
}

// isForeignCall recognises a call by Copilot CLI, which runs the hooks of .claude/settings.json and
// settings.local.json for an agent of its own. It denies a tool call when a hook of
// PermissionRequest prints a text or fails, so it gets no answer at all. It ignores "args":
// of our older entries it runs the bare program, with a payload.
//
// Claude Code sets CLAUDECODE for its hooks whatever its settings say, so no settings
// file can make its hooks look like Copilot's.
func isForeignCall(args []string) bool {
	if os.Getenv("COPILOT_CLI") == "" || os.Getenv("CLAUDECODE") != "" {
		return false
	}
	if len(args) > 1 {
		_, isHook := parseHookCall(args)
		return isHook || args[1] == "hook" && !asksForHelp(args[2:])
	}
	if term.IsTerminal(int(os.Stdin.Fd())) {
		return false
	}
	payload, err := hook.Read(os.Stdin, time.Second)
	return err == nil && json.Valid(payload)
}

func asksForHelp(args []string) bool {
	return len(args) > 0 && (args[0] == "-h" || args[0] == "--help")
}

// isEventName tells events, also those of a newer client, from commands.
func isEventName(word string) bool {
	return word != "" && 'A' <= word[0] && word[0] <= 'Z'
}
