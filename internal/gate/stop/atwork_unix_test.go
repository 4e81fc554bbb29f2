//go:build unix

package stop

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
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
			c := s.worked()
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

// What another session makes red in a project that this one has only come from is not this one's. It is where this one may
// have worked there, too.
func TestE5WhereAnotherSessionWorksNow(t *testing.T) {
	t.Parallel()
	// from is a call of a tool, by its place in the transcript.
	from := func(c conversation, cwd, tool, input string) {
		before, _ := os.ReadFile(c.path) // there is none at first
		write(c.s.t, c.path, string(before)+strings.Replace(toolUse(tool, input), "{", fmt.Sprintf(`{"cwd":%q,`, cwd), 1))
	}
	for name, tt := range map[string]struct {
		work   func(s *scene, c conversation, wt string)
		blocks bool
	}{
		"it reads":     {func(_ *scene, c conversation, _ string) { c.uses("Read") }, false},
		"an edit tool": {func(_ *scene, c conversation, wt string) { from(c, wt, "Write", `{"file_path":"g"}`) }, false},
		"a shell":      {func(_ *scene, c conversation, wt string) { from(c, wt, "Bash", `{"command":"make && touch g"}`) }, false},
		"a look at it": {func(s *scene, c conversation, wt string) { from(c, wt, "Bash", `{"command":"cat ../project/f"}`) }, false},
		"an edit from there": {func(s *scene, c conversation, wt string) {
			from(c, s.root, "Write", fmt.Sprintf(`{"file_path":%q}`, filepath.Join(wt, "deep", "g")))
		}, false},
		"a folder beside it": {func(_ *scene, c conversation, wt string) {
			from(c, wt, "Bash", `{"command":"cp f ../notes && cd ../notes && git log main..HEAD > log"}`)
		}, false},

		"the directory before": {func(_ *scene, c conversation, wt string) {
			from(c, wt, "Bash", `{"command":"cd - && touch red && cd -"}`)
		}, true},
		"where git has its files": {func(_ *scene, c conversation, wt string) {
			from(c, wt, "Bash", `{"command":"touch \"$(dirname \"$(git rev-parse --git-common-dir)\")/red\""}`)
		}, true},
		"the first of git's list": {func(_ *scene, c conversation, wt string) {
			from(c, wt, "Bash", `{"command":"m=$(git worktree list | head -1 | cut -d\" \" -f1); touch $m/red"}`)
		}, true},
		"git's list to a command": {func(_ *scene, c conversation, wt string) {
			from(c, wt, "Bash", `{"command":"git worktree list | cut -f1 | xargs -n1 make -C"}`)
		}, true},
		"each folder beside it": {func(_ *scene, c conversation, wt string) {
			from(c, wt, "Bash", `{"command":"for d in ../*/; do sed -i s/a/b/ $d/main.txt; done"}`)
		}, true},
		"step by step": {func(_ *scene, c conversation, wt string) {
			from(c, wt, "Bash", `{"command":"cd .. && cd p* && touch red"}`)
		}, true},
		"up from below": {func(_ *scene, c conversation, wt string) {
			from(c, wt, "Bash", `{"command":"mkdir d && cd d && cd ../.. && cd project && touch red"}`)
		}, true},
		"home": {func(_ *scene, c conversation, wt string) { from(c, wt, "Bash", `{"command":"cd; touch project/red"}`) }, true},
		"another shell": {func(_ *scene, c conversation, wt string) {
			from(c, wt, "PowerShell", `{"command":"pushd +1; touch red; popd"}`)
		}, true},
		"a server that runs code":  {func(_ *scene, c conversation, wt string) { from(c, wt, "mcp__py__run", `{"code":"main()"}`) }, true},
		"a server that edits":      {func(_ *scene, c conversation, wt string) { from(c, wt, "mcp__fs__write_file", `{"path":"g"}`) }, true},
		"an edit without its file": {func(_ *scene, c conversation, wt string) { from(c, wt, "Write", `{}`) }, true},
		"an edit up there":         {func(_ *scene, c conversation, wt string) { from(c, wt, "Write", `{"file_path":"../project/f"}`) }, true},
		"a subagent":               {func(_ *scene, c conversation, wt string) { from(c, wt, "Agent", `{"prompt":"fix the cart"}`) }, true},

		"a shell there":      {func(s *scene, c conversation, _ string) { from(c, s.root, "Bash", `{"command":"make"}`) }, true},
		"a shell above it":   {func(s *scene, c conversation, _ string) { from(c, filepath.Dir(s.root), "Bash", `{"command":"make"}`) }, true},
		"a shell that leads": {func(_ *scene, c conversation, wt string) { from(c, wt, "Bash", `{"command":"cd ../project && make"}`) }, true},
		"a shell somewhere": {func(_ *scene, c conversation, _ string) {
			c.add(`{"type":"tool_use","name":"Bash","input":{"command":"make"}}`)
		}, true},
		"an edit by its path": {func(s *scene, c conversation, wt string) {
			from(c, wt, "Write", `{"file_path":"g"}`)
			s.call(hook.PostToolUse, merge(used("Write", fields{"file_path": s.path("f")}), fields{"cwd": wt}))
		}, true},
		"a subagent that ends": {func(s *scene, c conversation, wt string) {
			from(c, wt, "Write", `{"file_path":"g"}`)
			s.call(hook.SubagentStop, nil)
		}, true},
		"it goes back and forth": {func(s *scene, c conversation, wt string) {
			from(c, wt, "Write", `{"file_path":"g"}`)
			s.call(hook.CwdChanged, fields{"old_cwd": wt, "new_cwd": s.root})
			s.call(hook.CwdChanged, fields{"old_cwd": s.root, "new_cwd": wt, "cwd": wt})
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newWork(t)
			s.env = append(s.env, "CLAUDE_PROJECT_DIR="+s.root)
			wt := s.linked("wt")
			c := s.conversation()
			c.prompt("go into the worktree")
			s.call(hook.CwdChanged, fields{"old_cwd": s.root, "new_cwd": wt, "cwd": wt})
			write(t, filepath.Join(wt, "g"), "")

			theirs := fields{"session_id": "s2"}
			s.prompt("do it", theirs)
			s.red()
			s.call(hook.PostToolUse, merge(used("Write", fields{"file_path": s.path("red")}), theirs))

			tt.work(s, c, wt)
			if r := s.stop(merge(c.says("It is done."), fields{"cwd": wt})); r.blocks() != tt.blocks {
				t.Errorf("blocked %t, want %t: %s", r.blocks(), tt.blocks, r.Stdout)
			}
		})
	}
}

// From a worktree within the project the way to that is a way up, which names nothing.
func TestE5AWayUpLeadsToTheProjectAround(t *testing.T) {
	t.Parallel()
	s := newWork(t)
	write(t, s.path(".git/info/exclude"), ".claude\n")
	s.git("worktree", "add", "-q", ".claude/worktrees/wt")
	wt := s.path(".claude/worktrees/wt")
	for command, want := range map[string]bool{"touch ../../../red": true, "touch red": false} {
		input := json.RawMessage(fmt.Sprintf(`{"command":%q}`, command))
		if got := concerns(s.root)(wt, hook.ToolUse{ToolName: "Bash", ToolInput: input}); got != want {
			t.Errorf("%s: %t", command, got)
		}
	}
}
