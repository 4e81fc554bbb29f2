package stop

import (
	"github.com/stopgate/stopgate/internal/gate/footprint"
	"github.com/stopgate/stopgate/internal/harness/hook"
	"github.com/stopgate/stopgate/internal/harness/transcript"
)

// atWork reports whether a call shows that the agent does more than read. After a stop of ours it may go on without a prompt:
// another hook has sent it on, or a subagent is still at work.
func atWork(payload hook.Payload) bool {
	if base := payload.Common(); base.AgentID != "" && base.AgentType == "" {
		return false // Claude Code's own, as the one that summarises
	}
	switch p := payload.(type) {
	case *hook.PreToolUsePayload:
		return !transcript.Reads(p.ToolUse)
	case *hook.PermissionRequestPayload:
		return !transcript.Reads(p.ToolUse)
	case *hook.PostToolUsePayload:
		return !transcript.Reads(p.ToolUse)
	case *hook.PostToolUseFailurePayload:
		return !transcript.Reads(p.ToolUse)
	case *hook.CwdChangedPayload, *hook.SubagentStartPayload, *hook.SubagentStopPayload, *hook.StopFailurePayload:
		return true
	}
	return false
}

// rests reports whether only a person can have changed anything since the session's last stop: that stop was judged, no hook
// has shown the agent at work since, and the transcript after it has no call that does more than read. An unreadable transcript
// does not count against the agent.
func rests(session *footprint.Session) bool {
	if !session.Judged {
		return false
	}
	if session.Ended.Transcript == "" {
		return true
	}
	only, _, err := transcript.OnlyReads(session.Ended.Transcript, session.Ended.At, "")
	return only || err != nil
}
