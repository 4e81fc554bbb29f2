//go:build unix

package conformance

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	api "github.com/stopgate/stopgate/internal/agents/daemonapi"
)

// standInClient builds the client that stands in for the real one.
var standInClient = sync.OnceValues(func() (string, error) {
	path := filepath.Join(filepath.Dir(stopgate), "claude")
	out, err := exec.Command("go", "build", "-o", path, "../standin/claude").CombinedOutput()
	if err != nil {
		err = &exec.Error{Name: string(out), Err: err}
	}
	return path, err
})

// signals is how a model obeys that is held to its signal: it does what it is told.
const signals = `#!/bin/sh
printf '%s\n--\n' "$1" >> "$HOME/asked"
case $1 in
*"You must explicitly signal"*) eval "$(printf '%s\n' "$1" | sed -n 's/.*Run: //p')" ;;
`

// example is a copy of an example in a repository of its own, with a model of the kind that
// a shell's case makes of what it is told.
func example(t *testing.T, name, model string) *daemonScene {
	t.Helper()
	t.Parallel()
	client, err := standInClient()
	check(t, err)
	home, root := t.TempDir(), t.TempDir()
	check(t, os.CopyFS(root, os.DirFS(filepath.Join(repository, "examples", name))))
	p := elsewhere(t, home, root)
	check(t, os.Symlink(client, filepath.Join(home, "claude")))
	p.write(filepath.Join(home, "standin-model"), signals+model+"esac\n")
	check(t, os.Chmod(filepath.Join(home, "standin-model"), 0o700))
	p.write(filepath.Join(home, ".gitconfig"), "[user]\nname = Test\nemail = test@example.invalid\n[init]\ndefaultBranch = main\n")
	p.write(filepath.Join(home, ".config", "agent-gauntlet", "config.yml"), "notify:\n  command: printf '%s\\n' >> \"$HOME/told\"\n")
	p.git("init", "--quiet")
	p.git("add", "--all")
	p.git("commit", "--quiet", "--message", "the example")
	if r := p.does("runbook", "check"); !strings.HasSuffix(r.stdout, ": no errors\n") || r.stderr != "" {
		t.Errorf("runbook check: %+v", r)
	}
	p.wake()
	return p
}

func (p *daemonScene) git(args ...string) string {
	p.t.Helper()
	r := inDir(p.t, p.root, p.env(), "git", args...)
	if r.code != 0 {
		p.t.Fatalf("git %q: %+v", args, r)
	}
	return r.stdout
}

// begins starts a command of the example.
func (p *daemonScene) begins(args ...string) (id string) {
	p.t.Helper()
	var o api.Owner
	check(p.t, json.Unmarshal([]byte(p.does(append([]string{"start", "--json"}, args...)...).stdout), &o))
	return o.ID
}

// went is how an owner ended, and by which steps.
func (p *daemonScene) went(id string) string {
	p.t.Helper()
	var o api.Owner
	eventually(p.t, "it ends", func() bool {
		o = p.owner(id)
		if o.Decision != nil {
			p.t.Fatalf("it asks: %s %+v", o.Decision.Context, o)
		}
		return o.Status == "done" || o.Status == "failed" || o.Status == "cancelled"
	})
	var visits []string
	for _, v := range o.Steps {
		visits = append(visits, v.Step+" "+v.Outcome)
	}
	return o.Status + ": " + strings.Join(visits, ", ")
}

// wasTold is what the model was told, a line of each.
func (p *daemonScene) wasTold() (lines []string) {
	p.t.Helper()
	text, err := os.ReadFile(filepath.Join(p.home, "asked"))
	check(p.t, err)
	for told := range strings.SplitSeq(strings.TrimSuffix(string(text), "\n--\n"), "\n--\n") {
		told = strings.TrimPrefix(told, "Stop hook feedback:\n")
		first, _, _ := strings.Cut(told, "\n")
		before, _, _ := strings.Cut(first, " Run: ")
		lines = append(lines, before)
	}
	return lines
}

// The gate comes first, then the signal, the tests, the review and the person: each sends the author back
// once. Then the fix is merged, and nothing of the worktree is left.
func TestExampleFixAnIssue(t *testing.T) {
	p := example(t, "fix-an-issue", `
*lint*) printf 'echo "Hello, %%s!" | sed s/%%s/${1:-nobody}/\n' > greet.sh; echo "I fixed it." ;;
*"got 'Hello, nobody!'"*) sed -i.old s/nobody/world/ greet.sh && rm greet.sh.old && git commit --quiet --all --message "greet" && echo "Now it is right." ;;
*"say why"*) git commit --quiet --amend --message "greet the world if there is no name" && echo "Now it says why." ;;
*"Mind the comment"*) { echo '# Greets a person, or the world.'; cat greet.sh; } > new && mv new greet.sh && git commit --quiet --all --message "say whom it greets" && echo "Done." ;;
*"issues/17.md. Run"*) echo 'echo hello ' > greet.sh; echo "I fixed it." ;;
*"Review the commits"*) if git log -1 --format=%s main..HEAD | grep -q '^greet$'; then say='{"kind": "fail", "message": "say why"}'; else say='{"kind": "complete", "message": "It greets the world."}'; fi
  stopgate emit agent:signal --agent "$STOPGATE_AGENT_ID" "$say"; echo "I have looked." ;;
`)
	id := p.begins("fix", "17")
	o := p.reaches(id, "ask", "waiting")
	if want := "Merge the fix of issue 17?\nIt greets the world."; o.Decision.Context != want {
		t.Errorf("asked %q, want %q", o.Decision.Context, want)
	}
	p.does("decision", "answer", o.Decision.ID, "change", "-m", "Mind the comment.")
	var again *api.Decision
	eventually(t, "it asks again", func() bool {
		again = p.owner(id).Decision
		return again != nil && again.ID != o.Decision.ID
	})
	if got := p.git("log", "--format=%s", "main"); got != "the example\n" {
		t.Errorf("before a person says so, main has %q", got)
	}
	p.does("decision", "answer", again.ID, "merge")
	want := "done: look completed, work completed, test failed, work completed, test completed, review failed, work completed, test completed, review completed, " +
		"ask failed, work completed, test completed, review completed, ask completed, merge completed"
	if got := p.went(id); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := p.git("log", "--format=%s", "main"); got != "say whom it greets\ngreet the world if there is no name\nthe example\n" {
		t.Errorf("commits: %q", got)
	}
	if !strings.Contains(p.read("greet.sh"), "or the world") {
		t.Error("the files of main are those of before")
	}
	p.leaves("fix/17")
	eventually(t, "a person is told", func() bool { return strings.Contains(p.told(), "Issue 17 is fixed.") })
	if id := p.begins("fix", "18"); p.went(id) != "failed: look failed" {
		t.Error("an issue that is not there is fixed")
	}
}

// leaves checks that of the worktrees of an example none is left, and of the branches these.
func (p *daemonScene) leaves(branches ...string) {
	p.t.Helper()
	p.cleared(0)
	got := strings.Fields(p.git("for-each-ref", "--format=%(refname:short)", "refs/heads"))
	if want := append(branches, "main"); !cmp.Equal(got, want) {
		p.t.Errorf("branches: %q, want %q", got, want)
	}
}

// Five agents work at once, and what they did is merged one by one.
func TestExampleFiveAgents(t *testing.T) {
	p := example(t, "five-agents", `
*"Fix the issue in issues/"*)
  list=$(sed -n 's/.*words\/\([a-z]*\).*/\1/p' "issues/$(printf '%s' "$1" | sed -n 's/.*issues\/\([0-9]*\.md\).*/\1/p')")
  echo x >> "$HOME/together"; until [ "$(wc -l < "$HOME/together")" -ge 5 ]; do sleep 0.05; done
  echo zzz >> "words/$list"; git commit --quiet --all --message "more $list"; echo Done. ;;
`)
	id := p.begins("fix-all")
	if got, want := p.went(id), "done: list completed, fix completed"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	var done []string
	for _, c := range p.owner(id).Children {
		done = append(done, c.Item+" "+c.Status)
	}
	if want := []string{"1.md done", "2.md done", "3.md done", "4.md done", "5.md done"}; !cmp.Equal(done, want) {
		t.Errorf("got %q, want %q", done, want)
	}
	subjects := strings.Fields(strings.ReplaceAll(p.git("log", "--format=%s", "main"), "more ", ""))
	slices.Sort(subjects)
	if want := []string{"birds", "colours", "example", "fruits", "rivers", "the", "tools"}; !cmp.Equal(subjects, want) {
		t.Errorf("main has %q", subjects)
	}
	if got := p.git("log", "--merges", "--format=%s", "main"); got != "" {
		t.Errorf("main has merges: %q", got)
	}
	p.leaves("fix/1.md", "fix/2.md", "fix/3.md", "fix/4.md", "fix/5.md")
}

// gatesFailed is the first line of what an agent hears when a gate fails.
func gatesFailed(job string) string {
	return "stopgate: " + job + " failed, so you cannot stop yet. Fix the cause, not the gate; then stop again, and the gates run again."
}

// The agent is done when it stops and the tests are green; what it did is merged.
func TestExampleNightlyChores(t *testing.T) {
	p := example(t, "nightly-chores", `
*"Do the chores"*) echo note > notes; echo "I shall." ;;
*"cannot stop yet"*) rm notes; git rm --quiet old.sh; git commit --quiet --message "remove old.sh"; echo "Done." ;;
*) echo "What else?" ;;
`)
	id := p.begins("chores")
	if got := p.went(id); got != "done: work completed, merge completed" {
		t.Error(got)
	}
	want := []string{"Do the chores of this project, one commit for each:", gatesFailed("check:.:test")}
	if got := p.wasTold(); len(got) < 2 || !cmp.Equal(got[:2], want) { // it may hear that it is idle before it is ended
		t.Errorf("the model was told %q", got)
	}
	if got := p.git("log", "--format=%s", "main"); got != "remove old.sh\nthe example\n" {
		t.Errorf("commits: %q", got)
	}
	p.leaves("chores/" + id)
	p.does("schedule", "on")
	if list := p.does("schedule", "list").stdout; !strings.Contains(list, "0 2 * * 2-6") {
		t.Errorf("the schedule is not kept:\n%s", list)
	}
}

// Nobody is there at night: what is not decided in time is cancelled.
func TestExampleNightlyChoresExpires(t *testing.T) {
	p := example(t, "nightly-chores", "*) echo \"I will not.\" ;;\n")
	text := p.read(".gauntlet/runbooks/chores.toml")
	sooner := strings.Replace(text, `after = "10h"`, `after = "5s"`, 1)
	if sooner == text {
		t.Fatal("the example says nothing of 10 hours")
	}
	p.write(filepath.Join(p.root, ".gauntlet", "runbooks", "chores.toml"), sooner)
	id := p.begins("chores")
	p.reaches(id, "cancelled", "cancelled")
	eventually(t, "a person is told what it is about", func() bool {
		got := p.told()
		return strings.Contains(got, "Pipeline needs attention: chores\n") && strings.Contains(got, "old.sh is still there")
	})
}

// What the examples say about the global configuration is valid.
func TestExamplesGlobalConfiguration(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(repository, "examples", "nightly-chores", "global.yml"))
	check(t, err)
	home := t.TempDir()
	path := filepath.Join(home, ".config", "agent-gauntlet", "config.yml")
	check(t, os.MkdirAll(filepath.Dir(path), 0o700))
	check(t, os.WriteFile(path, text, 0o600))
	if r := inDir(t, home, []string{"HOME=" + home}, stopgate, "validate"); r.code != 0 || !strings.Contains(r.stdout, "valid") {
		t.Errorf("%+v", r)
	}
}
