package daemon

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/gate/trust"
)

// write writes files of a project.
func write(t *testing.T, root string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(root, filepath.FromSlash(name))
		check(t, os.MkdirAll(filepath.Dir(path), 0o755))
		check(t, os.WriteFile(path, []byte(text), 0o644))
	}
}

const (
	importer = `
import "lib/greet.toml" {
  alias = "lib"
  const = { word = "hello" }
}
command "go" {
  args = "<who>"
  run  = { pipeline = "lib:greet" }
}
`
	imported = `
[const.word]
[locals]
tool = ".gauntlet/greet.sh"
[pipeline.greet]
locals = { what = "${const.word} ${var.who}" }
[[pipeline.greet.step]]
name = "say"
run = 'sh "${local.tool}" "${local.what}"'
`
)

// An approval covers what a runbook imports, and what a local names of .gauntlet.
func TestAnApprovalCoversImports(t *testing.T) {
	p, root := asking(t), t.TempDir()
	enforce(t, p)
	write(t, root, map[string]string{
		".gauntlet/runbooks/go.hcl": importer, ".gauntlet/runbooks/lib/greet.toml": imported, ".gauntlet/greet.sh": "echo approved $1\n",
	})
	check(t, trust.NewStore(p.opts.StateDir).Approve(root, time.Now()))
	write(t, root, map[string]string{
		".gauntlet/runbooks/lib/greet.toml": strings.ReplaceAll(imported, "sh ", "echo edited "), ".gauntlet/greet.sh": "echo edited $1\n",
	})
	view, err := p.Start(t.Context(), daemonapi.Start{ID: anID, Project: root, Cwd: root, Command: "go", Args: []string{`a$b"c`}})
	check(t, err)
	if !strings.Contains(view.Notice, "runbooks/lib/greet.toml") {
		t.Errorf("the person is not told: %q", view.Notice)
	}
	run, cwd := runsNow(t, p.core, "step")
	cmd := exec.Command("sh", "-c", run)
	cmd.Dir = cwd
	if out, err := cmd.CombinedOutput(); err != nil || string(out) != "approved hello a$b\"c\n" {
		t.Errorf("%s: %q, %v", run, out, err)
	}
}

// A project with runbooks of oddjobs alone can start them, once they are approved: then what
// was approved runs.
func TestRunbooksOfOddjobs(t *testing.T) {
	p, root := asking(t), t.TempDir()
	enforce(t, p)
	const book = "job \"go\" {\n step \"a\" {\n run = \"sh .oj/runbooks/x.sh\"\n }\n}\ncommand \"go\" {\n run = { job = \"go\" }\n}\n"
	write(t, root, map[string]string{".oj/runbooks/go.hcl": book, ".oj/runbooks/x.sh": "false; echo went on\n", ".gauntlet/notes.md": "x"})
	start := daemonapi.Start{ID: anID, Project: root, Cwd: root, Command: "go"}
	if _, err := p.Start(t.Context(), start); refusal(t, err).Code != "untrusted" {
		t.Error(err)
	}
	store := trust.NewStore(p.opts.StateDir)
	check(t, store.Approve(root, time.Now()))
	if _, err := p.Start(t.Context(), start); refusal(t, err).Code != "untrusted" {
		t.Errorf("an approval of .gauntlet covers .oj: %v", err)
	}
	check(t, store.Oddjobs().Approve(root, time.Now()))
	if got := store.Roots(); len(got) != 1 {
		t.Errorf("approved projects: %q", got)
	}
	write(t, root, map[string]string{".oj/runbooks/go.hcl": strings.ReplaceAll(book, "sh .oj", "rm .oj"), ".oj/runbooks/x.sh": "echo edited\n"})
	view, err := p.Start(t.Context(), start)
	check(t, err)
	if !strings.Contains(view.Notice, "edited since: go.hcl, x.sh") {
		t.Errorf("%q", view.Notice)
	}
	run, cwd := runsNow(t, p.core, "step")
	cmd := exec.Command("sh", "-c", run)
	cmd.Dir = cwd
	if out, err := cmd.CombinedOutput(); err != nil || string(out) != "went on\n" {
		t.Errorf("%s: %q, %v", run, out, err)
	}
}

// The project's own runbooks win over those of oddjobs.
func TestOwnRunbooksWin(t *testing.T) {
	p, root := asking(t), t.TempDir()
	write(t, root, map[string]string{
		".oj/runbooks/x.hcl":        "command \"go\" {\n run = \"echo odd\"\n}\ncommand \"other\" {\n run = \"true\"\n}\n",
		".gauntlet/runbooks/x.toml": "[command.go]\nrun = \"echo own\"\n",
	})
	commands, err := p.Commands(t.Context(), root)
	if err != nil || len(commands) != 2 || commands[0].Name != "go" || commands[1].Name != "other" {
		t.Errorf("%+v, %v", commands, err)
	}
	for runbook, want := range map[string]string{"": "echo own", ".oj/runbooks/x.hcl": "echo odd"} {
		p.core = testCore(newMemory(t))
		_, err := p.Start(t.Context(), daemonapi.Start{ID: anID, Project: root, Cwd: root, Command: "go", Runbook: runbook})
		check(t, err)
		if run, _ := runsNow(t, p.core, "step"); !strings.HasSuffix(run, want) {
			t.Errorf("%q starts %s", runbook, run)
		}
	}
}

// A runbook that is new in an approved project is not used, and what is missing says so.
func TestANewRunbookIsNotApproved(t *testing.T) {
	p, root := asking(t), t.TempDir()
	enforce(t, p)
	write(t, root, map[string]string{".gauntlet/config.yml": "hooks: {}\n"})
	check(t, trust.NewStore(p.opts.StateDir).Approve(root, time.Now()))
	write(t, root, map[string]string{".gauntlet/runbooks/go.toml": "[command.go]\nrun = \"true\"\nschedule = \"@daily\"\n"})
	_, err := p.Start(t.Context(), daemonapi.Start{ID: anID, Project: root, Cwd: root, Command: "go"})
	if f := refusal(t, err); !strings.Contains(f.Hint, "stopgate trust") {
		t.Errorf("%+v", f)
	}
	_, err = p.Commands(t.Context(), root)
	if f := refusal(t, err); !strings.Contains(f.Hint, "stopgate trust") {
		t.Errorf("%+v", f)
	}
	_, err = p.SwitchSchedules(t.Context(), daemonapi.ScheduleSwitch{Project: root, On: true})
	if f := refusal(t, err); !strings.Contains(f.Hint, "stopgate trust") {
		t.Errorf("%+v", f)
	}
}
