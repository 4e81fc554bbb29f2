//go:build unix

package conformance

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	api "github.com/stopgate/stopgate/internal/agents/daemonapi"
)

// repo is a project that imports libraries of stopgate, in a git repository with an awkward path.
// Agents are plain processes that run scripts of the home directory.
func repo(t *testing.T, format, runbook string) *daemonScene {
	t.Helper()
	t.Parallel()
	root := filepath.Join(t.TempDir(), "it's a\n\"project\"")
	p := elsewhere(t, t.TempDir(), root)
	p.write(filepath.Join(p.home, ".config", "agent-gauntlet", "config.yml"), "notify:\n  command: printf '%s\\n' >> \"$HOME/told\"\n")
	p.write(filepath.Join(p.home, ".gitconfig"), "[user]\nname = Test\nemail = test@example.invalid\n[init]\ndefaultBranch = main\n")
	p.write(filepath.Join(root, ".gauntlet", "config.yml"), "hooks: {}\n")
	p.write(filepath.Join(root, ".gauntlet", "runbooks", "work."+format), runbook)
	p.write(filepath.Join(root, "shared.txt"), "one\n")
	p.git("init", "--quiet")
	p.git("add", "--all")
	p.git("commit", "--quiet", "--message", "start")
	if r := p.does("runbook", "check"); !strings.HasSuffix(r.stdout, ": no errors\n") || r.stderr != "" {
		t.Errorf("runbook check: %+v", r)
	}
	return p
}

// agent is what an agent of the library does.
func (p *daemonScene) agent(name, script string) {
	p.t.Helper()
	p.write(filepath.Join(p.home, name), "set -eu\n"+script)
}

// branch is a new branch of main with commits, each of which adds a text to a file, or begins it.
func (p *daemonScene) branch(name string, commits ...[2]string) {
	p.t.Helper()
	dir := filepath.Join(p.t.TempDir(), "tree")
	p.git("worktree", "add", "--quiet", "-b", name, dir, "main")
	for _, c := range commits {
		p.write(filepath.Join(dir, c[0]), c[1])
		p.in(dir, "add", "--all")
		p.in(dir, "commit", "--quiet", "--message", name+": "+c[0])
	}
	p.git("worktree", "remove", dir)
}

func (p *daemonScene) in(dir string, args ...string) string {
	p.t.Helper()
	r := inDir(p.t, dir, p.env(), "git", args...)
	if r.code != 0 {
		p.t.Fatalf("git %q: %+v", args, r)
	}
	return r.stdout
}

// asked waits until a pipeline asks a person in a step, and returns the decision.
func (p *daemonScene) asked(id, step string) api.Decision {
	p.t.Helper()
	return *p.reaches(id, step, "waiting").Decision
}

// ended waits for the end of a pipeline.
func (p *daemonScene) ended(id string) api.Owner {
	p.t.Helper()
	var o api.Owner
	eventually(p.t, "it ends", func() bool {
		o = p.owner(id)
		return slices.Contains([]string{"done", "failed", "cancelled"}, o.Status)
	})
	return o
}

// cleared waits until no worktree is left but those that are kept.
func (p *daemonScene) cleared(kept int) {
	p.t.Helper()
	var listed result
	defer func() {
		if p.t.Failed() {
			p.t.Logf("worktrees: %s%s\n%s", listed.stdout, listed.stderr, p.does("pipeline", "list", "--json").stdout)
		}
	}()
	eventually(p.t, "the worktrees are removed", func() bool {
		listed = inDir(p.t, p.root, p.env(), "git", "worktree", "list", "--porcelain") // which fails while one is removed
		return listed.code == 0 && strings.Count(listed.stdout, "\nHEAD ") == kept+1
	})
}

// queueCheck is red where the file red is, and where x and y are together, which each are green alone.
const queueCheck = `test ! -e red && ! { test -e x && test -e y; } && ! grep '<<<' shared.txt`

// Branches that are merged at once are rebased, checked and merged one after the other: main is green at each
// commit, and has all that are good. A conflict goes to an agent; a branch that is red, or red together with what was
// merged before, is not merged. A daemon that is killed meanwhile changes nothing.
func TestMergeQueue(t *testing.T) {
	p := repo(t, "toml", `
[[import]]
library = "merge"
alias = "queue"
const = { check = "`+strings.ReplaceAll(queueCheck, `"`, `\"`)+`", how = "squash", agent = 'sh "$HOME/resolver"', delete = "yes" }
`)
	p.agent("resolver", `
test "$(git diff --name-only --diff-filter=U)" = shared.txt
grep -v -e '<<<' -e '===' -e '>>>' shared.txt | sort -u > resolved
mv resolved shared.txt
git add shared.txt
git rebase --continue
stopgate emit agent:signal --agent "$STOPGATE_AGENT_ID" complete
`)
	p.branch("good", [2]string{"red", "for now"}, [2]string{"good", "1"})
	p.in(p.root, "switch", "--quiet", "good")
	p.in(p.root, "rm", "--quiet", "red")
	p.in(p.root, "commit", "--quiet", "--message", "good: not red any more")
	p.in(p.root, "switch", "--quiet", "main")
	p.branch("left", [2]string{"shared.txt", "left\n"}, [2]string{"le ft\n", "2"})
	p.branch("right", [2]string{"shared.txt", "right\n"}, [2]string{"right", "3"})
	p.branch("red", [2]string{"red", "4"})
	p.branch("x", [2]string{"x", "5"})
	p.branch("y", [2]string{"y", "6"})
	p.write(filepath.Join(p.root, "mine"), "not committed")
	p.wake()

	ids := map[string]string{}
	for _, branch := range []string{"good", "left", "right", "red", "x", "y"} {
		ids[branch] = p.begins("queue:merge", branch)
	}
	p.kill()
	p.wake()
	status := map[string]string{}
	for branch, id := range ids {
		if o := p.ended(id); o.Status == "done" {
			status[branch] = "done"
		} else {
			status[branch] = o.Status + ": " + o.Error
		}
	}
	for _, branch := range []string{"good", "left", "right"} {
		if status[branch] != "done" {
			t.Errorf("%s: %s\n%s", branch, status[branch], p.does("pipeline", "logs", ids[branch]).stdout)
		}
	}
	if !strings.HasPrefix(status["red"], "failed: ") || (status["x"] == "done") == (status["y"] == "done") {
		t.Errorf("%q", status)
	}

	commits := strings.Fields(p.git("rev-list", "main"))
	if len(commits) != 5 { // the first, and one for each branch
		t.Errorf("main has %d commits: %s", len(commits), p.git("log", "--format=%s", "main"))
	}
	for _, commit := range commits {
		p.in(p.root, "checkout", "--quiet", commit)
		if r := inDir(t, p.root, p.env(), "sh", "-c", queueCheck); r.code != 0 {
			t.Errorf("%s is red: %s", commit, p.git("log", "-1", "--format=%s", commit))
		}
	}
	p.in(p.root, "checkout", "--quiet", "main")
	if got := p.read("shared.txt"); got != "left\nright\n" {
		t.Errorf("shared.txt has %q", got)
	}
	if got := p.git("status", "--porcelain"); got != "?? mine\n" {
		t.Errorf("in the project: %q", got)
	}
	p.cleared(2)
	left := strings.Fields(p.git("branch", "--format=%(refname:short)"))
	if slices.Contains(left, "good") || !slices.Contains(left, "red") || len(left) != 5 { // main, two that were not merged, two workspaces
		t.Errorf("branches: %q", left)
	}
}

// Conflicts that the agent does not resolve are a person's. They can resolve them in the workspace, and have the
// last word.
func TestMergeConflictGoesToAPerson(t *testing.T) {
	p := repo(t, "hcl", `
import "merge" {
  const = { check = "true", tries = 1, agent = "sh \"$HOME/resolver\"" }
}
`)
	p.agent("resolver", `
echo tried >> "$HOME/tried"
test ! -e "$HOME/fail" || exec stopgate emit agent:signal --agent "$STOPGATE_AGENT_ID" '{"kind": "fail", "message": "no way"}'
stopgate emit agent:signal --agent "$STOPGATE_AGENT_ID" complete
`)
	for _, branch := range []string{"mine", "theirs", "worst"} {
		p.branch(branch, [2]string{"shared.txt", branch + "\n"})
	}
	p.wake()
	if o := p.ended(p.begins("merge", "mine")); o.Status != "done" {
		t.Fatalf("%+v", o)
	}

	id := p.begins("merge", "theirs")
	d := p.asked(id, "conflict")
	if !strings.Contains(d.Context, "shared.txt") || !strings.Contains(d.Context, "Resolve the conflict of theirs with main?") {
		t.Errorf("it asks %q", d.Context)
	}
	if tried, _ := os.ReadFile(filepath.Join(p.home, "tried")); string(tried) != "tried\n" {
		t.Errorf("the agent tried %q", tried)
	}
	tree := p.owner(id).Workspaces[0].Path
	p.write(filepath.Join(tree, "shared.txt"), "mine\ntheirs\n")
	p.in(tree, "add", "shared.txt")
	p.does("decision", "answer", d.ID, "resolved")
	if o := p.ended(id); o.Status != "done" || p.read("shared.txt") != "mine\ntheirs\n" {
		t.Errorf("%+v; %q", o, p.read("shared.txt"))
	}
	p.cleared(0)

	p.write(filepath.Join(p.home, "fail"), "")
	id = p.begins("merge", "worst")
	d = p.asked(id, "unresolved")
	p.does("decision", "answer", d.ID, "reject", "-m", "it has to wait")
	if o := p.ended(id); o.Status != "failed" || p.read("shared.txt") != "mine\ntheirs\n" {
		t.Errorf("%+v", o)
	}
	p.cleared(1)
}

// What was checked is merged, or nothing: where the base moves meanwhile, here or at the remote, all begins again. A
// person's uncommitted work on the same files is left alone, and they are asked.
func TestMergeIntoABaseThatMoves(t *testing.T) {
	p := repo(t, "toml", `
[[import]]
library = "merge"
alias = "far"
const = { remote = "origin", check = 'sh "$HOME/check"' }
[[import]]
library = "merge"
const = { check = 'sh "$HOME/check"' }
`)
	remote := filepath.Join(t.TempDir(), "re mote")
	p.git("clone", "--quiet", "--bare", p.root, remote)
	p.git("remote", "add", "origin", remote)
	p.branch("far", [2]string{"far", "1"})
	p.branch("near", [2]string{"near", "2"})
	p.branch("dirty", [2]string{"shared.txt", "new\n"})
	p.agent("check", `
echo checked >> "$HOME/checked"
test ! -e "$HOME/move" || sh "$HOME/move"
rm -f "$HOME/move"
`)
	other := filepath.Join(t.TempDir(), "other")
	p.git("clone", "--quiet", remote, other)
	p.agent("move", "cd '"+other+"'\ngit commit --quiet --allow-empty --message moved\ngit push --quiet origin main\n")
	p.wake()
	want := "done: merge completed, clean completed"
	if got := p.went(p.begins("far:merge", "far")); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := p.in(remote, "log", "--format=%s", "main"); got != "far: far\nmoved\nstart\n" {
		t.Errorf("the remote has %q", got)
	}
	if got := p.git("log", "--format=%s", "main"); got != "start\n" {
		t.Errorf("here main has %q", got)
	}
	p.cleared(0)

	p.agent("move", "cd '"+strings.ReplaceAll(p.root, "'", `'\''`)+"'\ngit commit --quiet --allow-empty --message moved\n")
	if got := p.went(p.begins("merge", "near")); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := p.git("log", "--format=%s", "main"); got != "near: near\nmoved\nstart\n" || p.read("near") != "2" {
		t.Errorf("here main has %q", got)
	}

	p.write(filepath.Join(p.root, "shared.txt"), "my own work\n")
	id := p.begins("merge", "dirty")
	d := p.asked(id, "blocked")
	if !strings.Contains(d.Context, "shared.txt") || p.read("shared.txt") != "my own work\n" {
		t.Errorf("it asks %q", d.Context)
	}
	p.git("checkout", "--", "shared.txt")
	p.does("decision", "answer", d.ID, "again")
	if o := p.ended(id); o.Status != "done" || p.read("shared.txt") != "new\n" {
		t.Errorf("%+v", o)
	}
	p.git("switch", "--quiet", "--detach") // main is checked out nowhere
	p.branch("last", [2]string{"last", "3"})
	if o := p.ended(p.begins("merge", "last")); o.Status != "done" || !strings.HasPrefix(p.git("log", "--format=%s", "main"), "last: last\n") {
		t.Errorf("%+v", o)
	}
}

// A review sends the changes back to the author, and after some rounds to a person; the branch gets what was
// approved.
func TestReviewLibrary(t *testing.T) {
	p := repo(t, "hcl", `
import "review" {
  alias = "team"
  const = { rounds = 1, reviewer = "sh \"$HOME/reviewer\"", author = "sh \"$HOME/author\"", rules = "Look at 'quotes' and \"these\"." }
}
`)
	p.agent("reviewer", `
printf '%s\n' "$STOPGATE_PROMPT" >> "$HOME/asked"
test "$(git log --format=%s main..HEAD | tail -n 1)" = "fix/1: work"
say() { stopgate emit agent:signal --agent "$STOPGATE_AGENT_ID" "$1"; }
case $(cat work) in
silent*) say complete ;;
good*) say '{"kind": "complete", "message": "fine", "data": {"verdict": "approve"}}' ;;
*) say '{"kind": "complete", "message": "write \"good\", $(touch \"$HOME/injected\")", "data": {"verdict": "changes"}}' ;;
esac
`)
	p.agent("author", `
printf '%s\n--\n' "$STOPGATE_PROMPT" >> "$HOME/told-author"
echo "$(cat "$HOME/writes") $STOPGATE_AGENT_ID" > work
test -e "$HOME/lazy" && rm "$HOME/lazy" || git commit --quiet --all --message "work again"
stopgate emit agent:signal --agent "$STOPGATE_AGENT_ID" complete
`)
	p.write(filepath.Join(p.home, "writes"), "good")
	p.write(filepath.Join(p.home, "lazy"), "")
	p.branch("fix/1", [2]string{"work", "bad\n"})
	p.wake()
	want := "done: review completed, unclear skipped, verdict failed, person skipped, change completed, committed failed, change completed, committed completed, " +
		"review completed, unclear skipped, verdict completed, publish completed"
	if got := p.went(p.begins("team:review", "fix/1")); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := p.git("log", "--format=%s", "main..fix/1"); got != "work again\nfix/1: work\n" {
		t.Errorf("the branch has %q", got)
	}
	if told, _ := os.ReadFile(filepath.Join(p.home, "told-author")); strings.Count(string(told), `write "good", $(touch "$HOME/injected")`) != 2 {
		t.Errorf("the author was told %s", told)
	}
	if _, err := os.Stat(filepath.Join(p.home, "injected")); err == nil {
		t.Error("the words of the reviewer were run")
	}
	p.cleared(0)

	// The author cannot please the reviewer: a person says what to do, and approves in the end.
	p.git("branch", "--quiet", "-D", "fix/1")
	p.branch("fix/1", [2]string{"work", "bad\n"})
	p.write(filepath.Join(p.home, "writes"), "worse")
	id := p.begins("team:review", "fix/1")
	d := p.asked(id, "person")
	p.does("decision", "answer", d.ID, "change", "-m", "try harder")
	eventually(t, "it asks again", func() bool {
		now := p.owner(id).Decision
		return now != nil && now.ID != d.ID
	})
	if told, _ := os.ReadFile(filepath.Join(p.home, "told-author")); !strings.Contains(string(told), "try harder") {
		t.Errorf("the author was told %s", told)
	}
	p.does("decision", "answer", p.owner(id).Decision.ID, "approve")
	if o := p.ended(id); o.Status != "done" || !strings.HasPrefix(p.git("show", "fix/1:work"), "worse ") {
		t.Errorf("%+v", o)
	}

	p.cleared(0)

	// A reviewer that gives no verdict.
	p.git("branch", "--quiet", "-D", "fix/1")
	p.branch("fix/1", [2]string{"work", "silent\n"})
	id = p.begins("team:review", "fix/1")
	p.does("decision", "answer", p.asked(id, "unclear").ID, "approve")
	if o := p.ended(id); o.Status != "done" {
		t.Errorf("%+v", o)
	}
	p.cleared(0)
}

// What is left beside workspaces: branches are brought up to date, pushed and deleted, and no work is lost.
func TestGitWorktreeLibrary(t *testing.T) {
	p := repo(t, "toml", "[[import]]\nlibrary = \"git-worktree\"\n")
	remote := filepath.Join(t.TempDir(), "remote")
	p.git("clone", "--quiet", "--bare", p.root, remote)
	p.git("remote", "add", "origin", remote)
	p.branch("old", [2]string{"old", "1"})
	p.branch("clash", [2]string{"shared.txt", "clash\n"})
	p.branch("merged")
	p.write(filepath.Join(p.root, "shared.txt"), "two\n")
	p.git("commit", "--quiet", "--all", "--message", "two")
	p.wake()
	ends := func(want string, args ...string) {
		t.Helper()
		if o := p.ended(p.begins(args...)); o.Status != want {
			t.Errorf("%q: %s %s", args, o.Status, o.Error)
		}
	}

	ends("done", "push", "old")
	ends("done", "sync", "old")
	if got := p.git("log", "--format=%s", "old"); got != "old: old\ntwo\nstart\n" {
		t.Errorf("old has %q", got)
	}
	ends("done", "push", "old")
	if got := p.in(remote, "log", "--format=%s", "old"); got != "old: old\ntwo\nstart\n" {
		t.Errorf("the remote has %q", got)
	}
	before := p.git("rev-parse", "clash")
	ends("failed", "sync", "clash")
	if p.git("rev-parse", "clash") != before {
		t.Error("a branch with a conflict was changed")
	}

	tree := filepath.Join(t.TempDir(), "a tree")
	p.git("worktree", "add", "--quiet", tree, "old")
	p.git("commit", "--quiet", "--allow-empty", "--message", "three")
	p.write(filepath.Join(tree, "old"), "my own work")
	ends("failed", "sync", "old")
	p.in(tree, "checkout", "--", "old")
	ends("done", "sync", "old")
	if got := p.in(tree, "log", "--format=%s"); got != "old: old\nthree\ntwo\nstart\n" || p.in(tree, "status", "--porcelain") != "" {
		t.Errorf("old has %q", got)
	}

	check(t, os.RemoveAll(tree))
	ends("done", "tidy")
	if got := strings.Fields(p.git("branch", "--format=%(refname:short)")); !slices.Equal(got, []string{"clash", "main", "old"}) {
		t.Errorf("branches: %q", got)
	}
	p.cleared(0)
}
