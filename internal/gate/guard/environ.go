package guard

import (
	"path/filepath"
	"strings"

	"github.com/stopgate/stopgate/internal/gate/keeper"
	"github.com/stopgate/stopgate/internal/harness/hook"
	"github.com/stopgate/stopgate/internal/sys/paths"
)

const prefix = "CONCLAUDE_"

// Environ is the environment of a hook command: the caller's, without what an
// outer hook may have left there, plus what the payload says. It is given to
// the child and never set on our own process.
func Environ(environ []string, call *keeper.Call) []string {
	env := make([]string, 0, len(environ)+8)
	for _, entry := range environ {
		if !strings.HasPrefix(entry, prefix) {
			env = append(env, entry)
		}
	}

	set := func(name, value string) {
		// A NUL would keep the command from starting; no real payload has one.
		env = append(env, prefix+name+"="+strings.ReplaceAll(value, "\x00", ""))
	}

	base := call.Payload.Common()
	set("SESSION_ID", base.SessionID)
	set("TRANSCRIPT_PATH", base.TranscriptPath)
	set("HOOK_EVENT", base.HookEventName)
	set("CWD", base.CWD)
	set("CONFIG_DIR", filepath.Join(call.Project.Root, paths.GauntletDir))
	if base.AgentID != "" {
		set("AGENT_ID", base.AgentID)
	}
	if base.AgentType != "" {
		set("AGENT_TYPE", base.AgentType)
	}
	if p, ok := call.Payload.(*hook.SubagentStopPayload); ok {
		set("AGENT_TRANSCRIPT_PATH", p.AgentTranscriptPath)
	}
	return env
}
