package claude

import (
	"strings"

	"github.com/stopgate/stopgate/internal/harness/settings"
	"github.com/stopgate/stopgate/internal/sys/environ"
	"github.com/stopgate/stopgate/internal/sys/process"
)

// Personal is the environment that the person gave Claude Code. What a client starts has
// more: Claude Code adds the "env" of its settings files, the project's too, and with
// ANTHROPIC_BASE_URL, PATH or HOME in it a project would choose who reviews its work.
//
// On Linux it is the environment with which Claude Code was started. Where that is not
// known, it is the given one without the variables that the project's settings name now.
// The user's own settings count in both cases, as they do in Claude Code. An environment
// that no client gave is returned as it is.
//
// dirs are the directories whose settings Claude Code may have read as the project's.
func Personal(given []string, dirs ...string) []string {
	return personal(given, process.CallerEnviron, dirs)
}

func personal(given []string, started func() []string, dirs []string) []string {
	if environ.Get(given, "CLAUDECODE") == "" {
		return given
	}
	own := started()
	if own == nil {
		names, _ := projectVariables(append([]string{environ.Get(given, "CLAUDE_PROJECT_DIR")}, dirs...)...)
		own = without(given, names)
	}
	for name, value := range settings.UserEnvironment(ConfigDir(own)) {
		own = append(own, name+"="+value)
	}
	// What we start is known by variables of ours, which no client had at its start.
	for _, entry := range given {
		if strings.HasPrefix(entry, "STOPGATE_") {
			own = append(own, entry)
		}
	}
	return own
}
