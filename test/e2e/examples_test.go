//go:build unix

package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stopgate/stopgate/test/claudeapi"
)

// deed is a command that a model runs when it is told something.
type deed struct{ told, command string }

// newExample is a project that is a copy of an example. The model does what it is told, each deed once
// and in their order, and signals when it has to.
func newExample(t *testing.T, name string, deeds ...deed) *managed {
	t.Helper()
	t.Parallel()
	m := newManaged(t, "")
	for _, name := range []string{".gauntlet", "README.md"} {
		check(t, os.RemoveAll(filepath.Join(m.Project, name)))
	}
	check(t, os.CopyFS(m.Project, os.DirFS(filepath.Join("..", "..", "examples", name))))
	m.Exec("git", "branch", "-M", "main").mustPass(t)
	m.Allow("Bash")
	m.Commit()
	var mu sync.Mutex
	m.API.Script(claudeapi.Always(claudeapi.Func(func(r claudeapi.Request) claudeapi.Answer {
		mu.Lock()
		defer mu.Unlock()
		last := r.LastUserText()
		if command := pasteable.FindStringSubmatch(last); command != nil && !answersTool(r) {
			return bash(command[1])
		}
		i := slices.IndexFunc(deeds, func(d deed) bool { return strings.Contains(last, d.told) })
		if i < 0 || answersTool(r) {
			return claudeapi.Text("I have done it.")
		}
		command := deeds[i].command
		deeds = slices.Delete(deeds, i, i+1)
		return bash(command)
	})))
	return m
}

// answersTool reports whether the newest of a conversation is what a tool gave back.
func answersTool(r claudeapi.Request) bool {
	for _, message := range slices.Backward(r.Messages) {
		if message.Role == "user" {
			return slices.ContainsFunc(message.Content, func(c claudeapi.Content) bool { return c.Type == "tool_result" })
		}
	}
	return false
}

// wantVisits checks how a pipeline went.
func (m *managed) wantVisits(id, want string) {
	m.t.Helper()
	var visits []string
	for _, v := range m.done(id).Steps {
		visits = append(visits, v.Step+" "+v.Outcome)
	}
	if got := strings.Join(visits, ", "); got != want {
		m.t.Errorf("it went %s, want %s", got, want)
	}
}

func TestExampleFixAnIssue(t *testing.T) {
	m := newExample(t, "fix-an-issue",
		deed{"Fix the issue in issues/17.md", `printf 'echo "Hello, ${1:-nobody}!"\n' > greet.sh && git commit -qam 'greet'`},
		deed{"Fix the issue in issues/17.md", `printf 'echo "Hello, ${1:-world}!"\n' > greet.sh && git commit -qam 'greet the world'`},
		deed{"Review the commits", "git log -p main..HEAD"})
	o := m.begin("fix", "17")
	d := m.asks(o.ID, "step")
	if !strings.HasPrefix(d.Context, "Merge the fix of issue 17?") {
		t.Errorf("asked %q", d.Context)
	}
	m.answers(d, "merge")
	m.wantVisits(o.ID, "look completed, work completed, test failed, work completed, test completed, review completed, ask completed, merge completed")
	if got := m.Exec("git", "log", "--format=%s", "-2", "main").mustPass(t).Stdout; got != "greet the world\ngreet\n" {
		t.Errorf("main has %q", got)
	}
}

// Two of the five issues, to be small.
func TestExampleFiveAgents(t *testing.T) {
	m := newExample(t, "five-agents",
		deed{"Fix the issue in issues/1.md", "echo zebra >> words/birds && git commit -qam 'more birds'"},
		deed{"Fix the issue in issues/2.md", "echo yellow >> words/colours && git commit -qam 'more colours'"})
	m.Exec("git", "rm", "-q", "issues/3.md", "issues/4.md", "issues/5.md").mustPass(t)
	m.Exec("git", "commit", "-qm", "two are enough").mustPass(t)
	o := m.begin("fix-all")
	m.wantVisits(o.ID, "list completed, fix completed")
	got := strings.Fields(m.Exec("git", "log", "--format=%f", "-2", "main").mustPass(t).Stdout)
	if slices.Sort(got); !slices.Equal(got, []string{"more-birds", "more-colours"}) {
		t.Errorf("main has %q", got)
	}
}

func TestExampleNightlyChores(t *testing.T) {
	m := newExample(t, "nightly-chores", deed{"Do the chores", "git rm -q old.sh && git commit -qm 'remove old.sh'"})
	o := m.begin("chores")
	m.wantVisits(o.ID, "work completed, merge completed")
	if got := m.Exec("git", "log", "--format=%s", "-1", "main").mustPass(t).Stdout; got != "remove old.sh\n" {
		t.Errorf("main has %q", got)
	}
}
