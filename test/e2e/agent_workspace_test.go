//go:build unix

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/sys/disk"
	"github.com/stopgate/stopgate/test/claudeapi"
)

// inWorkspace is a pipeline whose agent and second step run in a worktree.
const inWorkspace = `
[command.go]
run = { pipeline = "work" }
[pipeline.work]
workspace = { git = "worktree", branch = "agents/work", base = "main" }
[[pipeline.work.step]]
name = "work"
run = { agent = "worker" }
on_done = "commit"
[[pipeline.work.step]]
name = "commit"
run = 'git add -A && git commit -qm "by the agent" && pwd >"${project}/where"'
[agent.worker]
run = "claude --permission-mode default"
prompt = "Do it."
`

// In a workspace the client does not ask whether it is trusted where its project is; the project's
// gates, with the approval that the project has, judge the worktree; a decision shows what was done there.
func TestAgentInAWorkspace(t *testing.T) {
	t.Parallel()
	m := newManaged(t, inWorkspace)
	m.Exec("git", "branch", "-M", "main").mustPass(t)
	m.Write(".gauntlet/config.yml", "quiet: true\n"+oneCheck("test ! -e red", ""))
	m.Allow("Bash")
	m.Write(".gitignore", "gauntlet_logs\nwhere\n")
	m.Stopgate("init", "--yes", "--user").mustPass(t)
	m.Commit()
	escalate := claudeapi.Func(func(r claudeapi.Request) claudeapi.Answer {
		return bash(strings.TrimSuffix(pasteable.FindStringSubmatch(r.LastUserText())[1], "complete") + "escalate")
	})
	m.API.On(claudeapi.Last("You must explicitly signal"), escalate, claudeapi.Text("I wait."), obey)
	m.API.On(claudeapi.Last("Well done."), claudeapi.Text("I am finished."))
	m.API.Script(bash("touch red new && git add new && git commit -qm 'add new'"), claudeapi.Text("I am finished."),
		bash("rm red && echo more >more"), claudeapi.Text("I am finished."))
	o := m.Go()

	d := m.asks(o.ID, "signal")
	m.heard(1, verdict("lifecycle", "blocked_before"))
	shown := m.Stopgate("decision", "show", d.ID).mustPass(t).Stdout
	for _, want := range []string{"branch agents/work", "commits since main", "add new", "uncommitted changes", "more | new"} {
		if !strings.Contains(shown, want) {
			t.Errorf("decision show does not say %q:\n%s", want, shown)
		}
	}
	if sent := m.feedback(); !strings.Contains(sent[0], "check:.:build failed") {
		t.Errorf("the gates did not judge it: %q", sent)
	}
	if disk.Exists(filepath.Join(m.Project, "new")) || disk.Exists(filepath.Join(m.Project, "more")) {
		t.Error("it worked in the project")
	}
	m.answers(d, "-m", "Well done.")
	m.done(o.ID)

	where, err := os.ReadFile(filepath.Join(m.Project, "where"))
	check(t, err)
	space := strings.TrimSpace(string(where))
	if filepath.Dir(space) != filepath.Join(m.State, "workspaces") {
		t.Errorf("it ran in %s", space)
	}
	if !poll(patience, func() bool { return !disk.Exists(space) }) {
		t.Errorf("%s is still there", space)
	}
	if log := m.Exec("git", "log", "--format=%s", "main..agents/work").mustPass(t).Stdout; log != "by the agent\nadd new\n" {
		t.Errorf("the branch has %q", log)
	}
	m.wantDecisions(o.ID, "signal")
}
