//go:build unix

package stop

import (
	"testing"

	"github.com/stopgate/stopgate/internal/harness/hook"
)

// used is what hooks tell of a call of a tool.
func used(tool string, input fields) fields {
	return fields{"tool_name": tool, "tool_input": input, "tool_response": fields{}, "tool_use_id": "u"}
}

// Another Stop hook may send the agent on after ours, without a prompt: what it does then is its own, although the next
// prompt is a person's.
func TestE13WorkAfterAJudgedStopWithoutAPrompt(t *testing.T) {
	t.Parallel()
	subagent := fields{"agent_id": "a1", "agent_type": "coder"}
	for name, tt := range map[string]struct {
		after  func(s *scene, c conversation)
		blocks bool
	}{
		"an edit tool": {func(s *scene, _ conversation) {
			s.call(hook.PostToolUse, used("Write", fields{"file_path": s.path("red")}))
		}, true},
		"a tool that failed": {func(s *scene, _ conversation) {
			s.call(hook.PostToolUseFailure, used("Bash", fields{"command": "make"}))
		}, true},
		"a tool that is not permitted yet": {func(s *scene, _ conversation) {
			s.call(hook.PermissionRequest, used("Bash", fields{"command": "make"}))
		}, true},
		"another directory": {func(s *scene, _ conversation) {
			s.call(hook.CwdChanged, fields{"old_cwd": s.root, "new_cwd": s.path(".gauntlet")})
		}, true},
		"a subagent that starts": {func(s *scene, _ conversation) { s.call(hook.SubagentStart, subagent) }, true},
		"a subagent that ends":   {func(s *scene, _ conversation) { s.call(hook.SubagentStop, nil) }, true},
		"a turn that failed":     {func(s *scene, _ conversation) { s.call(hook.StopFailure, fields{"error": "overloaded"}) }, true},
		"a shell":                {func(_ *scene, c conversation) { c.uses("Bash") }, true},
		"reading, then a shell":  {func(_ *scene, c conversation) { c.uses("Read"); c.uses("Bash") }, true},

		"nothing":               {func(*scene, conversation) {}, false},
		"words":                 {func(_ *scene, c conversation) { c.says("Anything else?") }, false},
		"reading":               {func(_ *scene, c conversation) { c.uses("Read"); c.says("It is fine.") }, false},
		"a question":            {func(s *scene, _ conversation) { s.call(hook.PreToolUse, used("AskUserQuestion", fields{})) }, false},
		"a summary of it":       {func(s *scene, _ conversation) { s.call(hook.SubagentStop, fields{"agent_type": ""}) }, false},
		"a session that begins": {func(s *scene, _ conversation) { s.call(hook.SessionStart, fields{"source": "resume"}) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newWork(t)
			c := s.conversation()
			c.prompt("do it")
			c.uses("Write")
			write(t, s.path("g"), "")
			wantAllow(t, s.stop(c.says("It is done.")))

			tt.after(s, c)
			s.red()
			c.prompt("wait, what is that?")
			c.uses("Bash")
			if r := s.stop(c.says("It is red.")); r.blocks() != tt.blocks {
				t.Errorf("blocked %t, want %t: %s", r.blocks(), tt.blocks, r.Stdout)
			}
		})
	}
}
