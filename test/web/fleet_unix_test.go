//go:build unix

package web

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/agents/agentdir"
	"github.com/stopgate/stopgate/internal/record/event"
	"github.com/stopgate/stopgate/internal/record/journal"
	"github.com/stopgate/stopgate/internal/sys/checktest"
)

// busy is a runbook with something for each state.
const busy = `[command.release]
args = "<version>"
run = { pipeline = "release" }

[pipeline.release]
vars = ["version"]

[[pipeline.release.step]]
name = "test"
run = "echo 214 tests passed"
on_done = "approve"

[[pipeline.release.step]]
name = "approve"
approval = { title = "Release ${var.version} to production?", text = "${steps.test.log_tail}", options = [
  { name = "release", text = "tag it and publish it", step = "ship" },
  { name = "test-again", text = "run the tests once more", step = "test" },
  { name = "reject", fail = true },
] }

[[pipeline.release.step]]
name = "ship"
run = "echo shipped"

[command.build]
run = { pipeline = "build" }

[pipeline.build]

[[pipeline.build.step]]
name = "compile"
run = "exec sleep 1000"

[command.lint]
run = { pipeline = "lint" }

[pipeline.lint]

[[pipeline.lint.step]]
name = "check"
run = "echo 3 problems; exit 1"

[command.fix]
args = "<issue>"
run = { pipeline = "fix" }

[pipeline.fix]
vars = ["issue"]
workspace = { git = "worktree", base = "main" }

[[pipeline.fix.step]]
name = "change"
run = '''
printf 'package cart\n\n// Total is what all items cost, in cents.\nfunc Total(items []Item) int {\n\tsum := 0\n\tfor _, item := range items {\n\t\tsum += item.Price * item.Count\n\t}\n\treturn sum\n}\n' > cart.go
printf 'package cart\n\nimport "testing"\n\nfunc TestTotal(t *testing.T) {\n\tif got := Total([]Item{{Price: 250, Count: 3}}); got != 750 {\n\t\tt.Errorf("%%d", got)\n\t}\n}\n' > cart_test.go
git add -A && git -c user.name=a -c user.email=a@b -c commit.gpgsign=false commit -qm "cart: count each item as often as it is there"
'''
on_done = "merge"

[[pipeline.fix.step]]
name = "merge"
approval = { title = "Merge the fix of issue ${var.issue}?", text = "All 12 gates passed. The total was wrong for items that are in the cart more than once.", options = [
  { name = "merge", text = "push it to main" },
  { name = "reject", fail = true },
] }

[command.migrate]
run = { agent = "migrate" }

[agent.migrate]
run = "exec sleep 1000"
`

// fleet puts something of everything on the stage: pipelines in each state, an agent that asks, and
// sessions of Claude Code.
func (s *stage) fleet() {
	s.t.Helper()
	checktest.Write(s.t, filepath.Join(s.root, "cart.go"), "package cart\n\n// Total is what all items cost, in cents.\nfunc Total(items []Item) int {\n\tsum := 0\n\tfor _, item := range items {\n\t\tsum += item.Price\n\t}\n\treturn sum\n}\n")
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "-A"}, {"-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false", "commit", "-qm", "begin"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Env = s.root, s.environ()
		if out, err := cmd.CombinedOutput(); err != nil {
			s.t.Fatalf("git %q: %v\n%s", args, err, out)
		}
	}
	s.waits(s.start("lint").ID, "failed")
	done := s.start("release", "2.3.1").ID
	s.run("decision", "answer", s.waits(done, "waiting").Decision.ID, "release")
	s.waits(done, "done")
	s.start("build")
	s.waits(s.start("release", "2.4.0").ID, "waiting")
	s.waits(s.start("fix", "418").ID, "waiting")
	agent := s.start("migrate").Agent.ID
	eventually(s.t, "the agent runs", func() bool {
		dir, err := agentdir.At(s.state, agent)
		check(s.t, err)
		return dir.Exists()
	})
	dir, err := agentdir.At(s.state, agent)
	check(s.t, err)
	check(s.t, dir.SetLast(agentdir.Last{
		Message: "I moved 41 of 43 tables to the new schema. `orders` and `refunds` share a column that both write: one of them has to give it up, and the queries of the other change.",
		Cwd:     s.root, Time: time.Now(),
	}))
	s.run("emit", "agent:signal", "--agent", agent, `{"kind": "escalate", "message": "Which table keeps the column amount_cents: orders or refunds?"}`)
	eventually(s.t, "the agent asks", func() bool {
		open, err := s.Decisions(s.t.Context(), false)
		check(s.t, err)
		return len(open) == 3
	})
	s.sessions()
}

// sessions puts sessions into the journal, as their hooks do.
func (s *stage) sessions() {
	s.t.Helper()
	now := time.Now()
	at := func(minutes int) time.Time { return now.Add(-time.Duration(minutes) * time.Minute) }
	gates := func(outcome string) []event.Tree {
		return []event.Tree{{Root: s.root, Status: outcome, Gates: []event.Gate{{Job: "check:.:test", Outcome: outcome, DurationMS: 4200}, {Job: "check:.:lint", Outcome: "proven"}, {Job: "review:.:quality", Outcome: "passed", DurationMS: 31000}}}}
	}
	stop := func(id, project, decision, outcome string, minutes int) event.Record {
		return event.Record{
			Session: id, Project: filepath.Join(s.home, project), Kind: event.Answered, Event: "Stop", Decision: decision, Time: at(minutes), Trees: gates(outcome), DurationMS: 35200,
			Verdicts: []event.Verdict{{Keeper: "gates", Outcome: outcome, Blocked: decision == "block", Message: "check:.:test failed", Cost: event.Cost{USD: 0.11}}},
		}
	}
	call := func(id, project, name string, minutes int) event.Record {
		return event.Record{Session: id, Project: filepath.Join(s.home, project), Kind: event.Received, Event: name, Time: at(minutes)}
	}
	asking := call("5d0e7f31-0000-4000-8000-000000000004", "billing", "Notification", 7)
	asking.Enums.NotificationType = "permission_prompt"
	for _, r := range []event.Record{
		stop("8f3a2c10-0000-4000-8000-000000000001", "shop", "block", "failed", 21),
		stop("8f3a2c10-0000-4000-8000-000000000001", "shop", "block", "failed", 3),
		call("c1b9d4e2-0000-4000-8000-000000000002", "search", "UserPromptSubmit", 12),
		stop("77ab01fe-0000-4000-8000-000000000003", "docs", "allow", "passed", 34),
		asking,
		stop("e64210aa-0000-4000-8000-000000000005", "shop", "allow", "passed", 130),
	} {
		s.told(r)
	}
}

// told appends a record to the journal.
func (s *stage) told(r event.Record) {
	s.t.Helper()
	r.Call = journal.NewID()
	_, err := journal.New(filepath.Join(s.state, "journal"), journal.Limits{}).Append(&r)
	check(s.t, err)
}

// hook calls the real hook, as Claude Code does.
func (s *stage) hook(name, session, prompt string) (answer string) {
	s.t.Helper()
	payload, err := json.Marshal(map[string]any{
		"session_id": session, "transcript_path": filepath.Join(s.home, "transcript.jsonl"), "cwd": s.root, "hook_event_name": name,
		"permission_mode": "default", "prompt_id": prompt, "stop_hook_active": false, "last_assistant_message": "done",
	})
	check(s.t, err)
	cmd := exec.Command(stopgate, "hook", name)
	cmd.Dir, cmd.Env, cmd.Stdin = s.root, s.environ(), strings.NewReader(string(payload))
	out, err := cmd.Output()
	check(s.t, err)
	return string(out)
}

// A session is seen to be blocked by its gates, and to turn green, while a person looks on.
func TestIssue18ASessionBlocksAndTurnsGreen(t *testing.T) {
	s := newStage(t, "")
	s.gates("test -e fixed")
	b := open(t, s.ui().Link)
	b.sees("Nothing is running.")
	const session = "8f3a2c10-0000-4000-8000-000000000001"
	if answer := s.hook("Stop", session, "p1"); !strings.Contains(answer, `"block"`) {
		t.Fatalf("%q", answer)
	}
	b.sees("blocked")
	b.sees("Blocked: test failed")
	checktest.Write(t, filepath.Join(s.root, "fixed"), "")
	if answer := s.hook("Stop", session, "p2"); strings.Contains(answer, `"block"`) {
		t.Fatalf("%q", answer)
	}
	b.sees("stopped")
	b.sees("2 stops, 1 blocked")
	b.clean()
}

// gates gives the project a gate that runs a command.
func (s *stage) gates(command string) {
	s.t.Helper()
	cmd := exec.Command("git", "init", "-q", "-b", "main")
	cmd.Dir, cmd.Env = s.root, s.environ()
	check(s.t, cmd.Run())
	s.run("init", "--yes", "--check", command)
}
