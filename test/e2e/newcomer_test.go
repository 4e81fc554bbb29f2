//go:build unix

package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/test/claudeapi"
	"github.com/stopgate/stopgate/test/docs"
)

// A person who copies the commands of the guide to pipelines, one block after the other, comes
// from an empty folder to a pipeline that is done.
func TestNewcomerCopiesEveryCommand(t *testing.T) {
	t.Parallel()
	n := newNewcomer(t)
	hello := filepath.Join(n.Project, "hello")
	n.API.Script(
		claudeapi.Tool("AskUserQuestion", map[string]any{"questions": []any{map[string]any{
			"question": "In which language?", "header": "Language", "multiSelect": false,
			"options": []any{
				map[string]any{"label": "English", "description": "Hello, Ada!"},
				map[string]any{"label": "German", "description": "Hallo, Ada!"},
			},
		}}}),
		claudeapi.Tool("Write", map[string]any{"file_path": filepath.Join(hello, "hello.sh"), "content": "echo 'Hallo, Ada!'\nexit 1\n"}),
		claudeapi.Text("I have written it."), // and the gate is red
		bash("echo \"echo 'Hallo, Ada!'\" > hello.sh"),
		claudeapi.Text("Now it works."), // and it has not signalled
		obey,
	)

	n.copies("git init")
	n.copies("stopgate init")
	if out := n.copies("stopgate start"); !strings.Contains(out, "started") || !strings.Contains(out, "writer") {
		t.Errorf("stopgate start printed %q", out)
	}
	o := n.pipeline()
	n.ids["PIPELINE"], n.ids["AGENT"] = o.ID[:8], o.Agent.ID[:8]
	o = n.until(o.ID, "its question", func(o daemonapi.Owner) bool { return o.Decision != nil })
	n.ids["DECISION"] = o.Decision.ID[:8]
	if out := n.copies("stopgate decision"); !strings.Contains(out, "In which language?") || !strings.Contains(out, "Hallo, Ada!") {
		t.Errorf("stopgate decision printed %q", out)
	}
	if out := n.copies("stopgate pipeline"); !strings.Contains(out, "hello done") || !strings.Contains(out, "[show] Hallo, Ada!") {
		t.Errorf("stopgate pipeline printed %q", out)
	}
	if len(n.blocks) > 0 {
		t.Errorf("not copied: %q", n.blocks)
	}

	told := strings.Join(n.API.Requests()[len(n.API.Requests())-1].Texts(), "\n")
	inOrder(t, told, "Write hello.sh, which greets Ada. Ask me first in which language.", "you cannot stop yet", "You must explicitly signal completion")
	n.wantDecisions(o.ID, "question")
}

// newcomer reads the guide, and has nothing else.
type newcomer struct {
	*managed
	blocks []string
	ids    map[string]string // what stands for the ids that commands print
}

func newNewcomer(t *testing.T) *newcomer {
	t.Helper()
	m := newManaged(t, "") // whose runbook is of another project
	m.kill()               // the first command that needs a daemon starts it
	t.Cleanup(func() {
		cmd := exec.Command(filepath.Join(bin, "stopgate"), "daemon", "stop", "--kill")
		cmd.Env = m.Env
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v: %v\n%s", cmd, err, out)
		}
	})
	m.Allow("Bash(echo:*)")
	check(t, os.RemoveAll(filepath.Join(m.Home, ".config")))
	for _, left := range []string{".gauntlet", ".git", "README.md"} {
		check(t, os.RemoveAll(filepath.Join(m.Project, left)))
	}
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "guides", "pipelines.md"))
	check(t, err)
	n := &newcomer{managed: m, ids: map[string]string{}}
	for _, b := range docs.Read("docs/guides/pipelines.md", string(text)).Blocks {
		if b.IsShell() && !b.NotRun() {
			n.blocks = append(n.blocks, b.Script())
		}
	}
	n.trusts(filepath.Join(m.Project, "hello"))
	return n
}

// trusts is what the section says in words: a person has answered the client's first dialog.
func (n *newcomer) trusts(dir string) {
	n.t.Helper()
	path := filepath.Join(n.Home, ".claude.json")
	text, err := os.ReadFile(path)
	check(n.t, err)
	var seed map[string]any
	check(n.t, json.Unmarshal(text, &seed))
	seed["projects"] = map[string]any{dir: map[string]any{"hasTrustDialogAccepted": true}}
	n.writeJSON(path, seed)
}

// copies runs the next block, which must hold these words, and gives what it printed. After the
// first one it does so in the folder that it made.
func (n *newcomer) copies(words string) string {
	n.t.Helper()
	if len(n.blocks) == 0 || !strings.Contains(n.blocks[0], words) {
		n.t.Fatalf("the next block has no %q: %q", words, n.blocks)
	}
	script := n.blocks[0]
	for name, id := range n.ids {
		script = regexp.MustCompile(`\b`+name+`\b`).ReplaceAllString(script, id)
	}
	n.blocks = n.blocks[1:]
	if _, err := os.Stat(filepath.Join(n.Project, "hello")); err == nil {
		script = "cd hello\n" + script
	}
	out := n.Exec("sh", "-e", "-c", script).mustPass(n.t)
	return out.Stdout
}

// pipeline is the only one there is.
func (n *newcomer) pipeline() daemonapi.Owner {
	n.t.Helper()
	all, err := n.Daemon.Pipelines(n.t.Context(), daemonapi.Filter{})
	if err != nil || len(all) != 1 {
		n.t.Fatalf("%d pipelines, %v", len(all), err)
	}
	o, err := n.Daemon.Owner(n.t.Context(), all[0].ID)
	if err != nil || o.Agent == nil {
		n.t.Fatalf("%+v, %v", o, err)
	}
	return o
}
