//go:build unix

package e2e

import (
	"strings"
	"testing"

	"github.com/stopgate/stopgate/test/claudeapi"
)

// sentBack is a pipeline whose test sends the agent back once. The agent has a workspace of its own,
// which is made and removed for each visit.
const sentBack = `
[command.go]
run = { pipeline = "work" }
[pipeline.work]
[[pipeline.work.step]]
name = "work"
run = { agent = "worker" }
on_done = "test"
[[pipeline.work.step]]
name = "test"
run = 'test -e tried || { touch tried; echo "it is red"; exit 1; }'
on_fail = "work"
[agent.worker]
run = "claude --permission-mode default"
resume = true
prompt = "Do it. ${error}"
workspace = { git = "worktree", branch = "agents/work" }
`

// obeyEach is a model that signals each time that it is told to, also in a conversation in which it
// has signalled before.
var obeyEach = claudeapi.Func(func(r claudeapi.Request) claudeapi.Answer {
	asked := 0
	for _, text := range r.Texts() {
		asked += strings.Count(text, "You must explicitly signal")
	}
	if len(r.ToolResults()) >= asked {
		return claudeapi.Text("I have signalled.")
	}
	return bash(pasteable.FindStringSubmatch(r.LastUserText())[1])
})

// An agent that its pipeline comes to again knows what it did before: the real client goes on in its
// conversation, with the new prompt as the next message.
func TestAgentResumesItsConversation(t *testing.T) {
	t.Parallel()
	m := newManaged(t, sentBack)
	m.Write(".gitignore", "tried\n")
	m.Commit()
	m.API.On(claudeapi.Last("You must explicitly signal"), claudeapi.Always(obeyEach))
	m.API.Script(claudeapi.Text("I began."), claudeapi.Text("I went on."))
	o := m.Go()
	done := m.done(o.ID)

	m.wantPrompted("Do it.", "Do it. exit status 1: it is red")
	var visits []string
	for _, v := range done.Steps {
		visits = append(visits, v.Step+" "+v.Outcome)
	}
	if got := strings.Join(visits, ", "); got != "work completed, test failed, work completed, test completed" {
		t.Errorf("it went %s", got)
	}
	if log := m.Stopgate("pipeline", "logs", o.ID).mustPass(t).Stdout; strings.Contains(log, "cannot be resumed") {
		t.Errorf("the log says:\n%s", log)
	}
}
