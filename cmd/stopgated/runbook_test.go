//go:build unix

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// inProject goes to a project with these runbooks.
func inProject(t *testing.T, files map[string]string) {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, ".gauntlet", "runbooks", name)
		check(t, os.MkdirAll(filepath.Dir(path), 0o755))
		check(t, os.WriteFile(path, []byte(text), 0o644))
	}
	check(t, os.Mkdir(filepath.Join(root, ".git"), 0o755))
	t.Chdir(root)
}

func runbookCommand(args string) (code int, stdout, stderr string) {
	var out, errOut strings.Builder
	code = run(append([]string{"runbook"}, strings.Fields(args)...), nil, &out, &errOut)
	return code, strings.ReplaceAll(out.String(), `.gauntlet\runbooks\`, ".gauntlet/runbooks/"), errOut.String()
}

const (
	buildBook = `max_agents = 2

[command.build]
description = "Build it"
args = "<branch>"
run = { pipeline = "build" }

[pipeline.build]
on_fail = "clean"
budget = { usd = 2.5, time = "1h" }
expire = { after = "30m", answer = "cancel" }
[[pipeline.build.step]]
name = "make"
run = """
make "${var.branch}"
make test
"""
on_done = "look"
[[pipeline.build.step]]
name = "look"
run = { agent = "a" }
[[pipeline.build.step]]
name = "clean"
run = "make clean"

[agent.a]
run = "claude"
prompt_file = "prompts/a.md"
on_idle = { action = "nudge", message = "Go on.", attempts = 3, cooldown = "1h" }
on_error = [{ match = "rate_limited", action = "resume", attempts = "forever", cooldown = "90s" }]
`
	lintBook = "command \"lint\" {\n  run = \"make lint\"\n}\n"
	badBook  = "[command.x]\nrunn = \"x\"\n"
	oddBook  = "[agent.b]\nrun = \"x\"\non_stop = \"idle\"\n"
)

func sound() map[string]string {
	return map[string]string{"build.toml": buildBook, "lint.hcl": lintBook, "prompts/a.md": "Look \x1b[31mat it.\n"}
}

func TestRunbookCheck(t *testing.T) {
	inProject(t, sound())
	for _, args := range []string{"check", "check .gauntlet/runbooks/build.toml .gauntlet/runbooks/lint.hcl", "check -- .gauntlet/runbooks/lint.hcl .gauntlet/runbooks/build.toml"} {
		if code, out, errOut := runbookCommand(args); code != 0 || out != "2 runbooks, 2 commands, 1 pipeline, 1 agent: no errors\n" || errOut != "" {
			t.Errorf("%s: exit %d, %s%s", args, code, out, errOut)
		}
	}
	// From below, and with the prompts of the runbooks directory.
	t.Chdir(filepath.Join(".gauntlet", "runbooks", "prompts"))
	if code, out, _ := runbookCommand("check"); code != 0 || !strings.HasPrefix(out, "2 runbooks") {
		t.Errorf("from below: exit %d, %s", code, out)
	}
}

func TestRunbookCheckFaults(t *testing.T) {
	inProject(t, map[string]string{"bad.toml": badBook, "odd.toml": oddBook})
	code, out, errOut := runbookCommand("check")
	want := `.gauntlet/runbooks/bad.toml:2:1: unknown field "runn"
  2 | runn = "x"
    | ^^^^
  hint: did you mean "run"?

.gauntlet/runbooks/odd.toml:3:1: warning: on_stop = "idle" with on_idle = "escalate" says the same as on_stop = "escalate"
  3 | on_stop = "idle"
    | ^^^^^^^

1 error in 1 file
`
	if diff := cmp.Diff(want, out); diff != "" || code != 1 || errOut != "" {
		t.Errorf("exit %d, %s (-want +got)\n%s", code, errOut, diff)
	}
	code, out, _ = runbookCommand("check --json")
	var got struct {
		Files            []string
		Faults, Warnings []struct{ Message string }
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil || code != 1 || len(got.Files) != 2 || len(got.Faults) != 1 || len(got.Warnings) != 1 {
		t.Errorf("exit %d, %v: %s", code, err, out)
	}
	if code, out, _ := runbookCommand("check .gauntlet/runbooks/odd.toml"); code != 0 || !strings.HasSuffix(out, "1 runbook, 0 commands, 0 pipelines, 1 agent: no errors\n") {
		t.Errorf("a warning alone: exit %d, %s", code, out)
	}
	if code, out, _ := runbookCommand("check nowhere.toml"); code != 1 || !strings.HasPrefix(out, "nowhere.toml: does not exist") {
		t.Errorf("exit %d, %s", code, out)
	}
}

func TestRunbookWithoutRunbooks(t *testing.T) {
	t.Chdir(t.TempDir())
	check(t, os.Mkdir(".git", 0o755))
	if code, out, _ := runbookCommand("check"); code != 0 || out != "nothing to check: no .gauntlet/runbooks or .oj/runbooks here or above\n" {
		t.Errorf("exit %d, %s", code, out)
	}
	if code, out, _ := runbookCommand("check --json"); code != 0 || !strings.Contains(out, `"files": []`) {
		t.Errorf("exit %d, %s", code, out)
	}
	if code, _, errOut := runbookCommand("show"); code != 2 || errOut != "stopgate: no .gauntlet/runbooks or .oj/runbooks here or above\n" {
		t.Errorf("exit %d, %s", code, errOut)
	}
}

func TestRunbookShow(t *testing.T) {
	inProject(t, sound())
	code, out, errOut := runbookCommand("show")
	want := `.gauntlet/runbooks/build.toml
  at most 2 agents at once

  command build <branch>
    Build it
    runs pipeline build

  pipeline build
    budget $2.50 and 1h
    a decision expires after 30m: cancel
    make   sh: make "${var.branch}" …
      done ↓
    look   agent a
      done → (done)
    clean  sh: make clean ◀──────────────╮
      done → (done)                      │
    any step                             │
      fail ──────────────────────────────╯

  agent a
    sh: claude
    prompt: Look at it.
    on_stop    signal in a pipeline, escalate alone
    on_idle    nudge “Go on.”, 3 times, 1h apart
    on_dead    escalate
    on_prompt  escalate
    on_error   rate_limited: resume, without limit, 1m30s apart

.gauntlet/runbooks/lint.hcl

  command lint
    runs sh: make lint
`
	if diff := cmp.Diff(want, out); diff != "" || code != 0 || errOut != "" {
		t.Errorf("exit %d, %s (-want +got)\n%s", code, errOut, diff)
	}
	if code, out, _ := runbookCommand("show lint"); code != 0 || !strings.HasPrefix(out, ".gauntlet/runbooks/lint.hcl\n\n  command lint\n") {
		t.Errorf("exit %d, %s", code, out)
	}
	if code, _, errOut := runbookCommand("show missing"); code != 2 || !strings.Contains(errOut, `no runbook defines a command, pipeline or agent "missing"`) {
		t.Errorf("exit %d, %s", code, errOut)
	}
	code, out, _ = runbookCommand("show build --json")
	var got []shownBook
	if err := json.Unmarshal([]byte(out), &got); err != nil || code != 0 || len(got) != 1 || len(got[0].Commands) != 1 || len(got[0].Pipelines[0].Steps) != 3 || len(got[0].Agents) != 0 {
		t.Errorf("exit %d, %v: %s", code, err, out)
	}
}

func TestRunbookPicture(t *testing.T) {
	inProject(t, sound())
	if code, out, errOut := runbookCommand("show build --svg=build.svg"); code != 0 || out+errOut != "" {
		t.Fatalf("exit %d, %s%s", code, out, errOut)
	}
	written, err := os.ReadFile("build.svg")
	check(t, err)
	if code, out, _ := runbookCommand("show --svg=-"); code != 0 || out != string(written) || !strings.HasPrefix(out, "<svg ") || !strings.Contains(out, ">look<") {
		t.Errorf("exit %d, %s", code, out)
	}
	if code, _, errOut := runbookCommand("show lint --svg=-"); code != 1 || errOut != "stopgate: there is no pipeline to draw\n" {
		t.Errorf("exit %d, %s", code, errOut)
	}
}

// Where definitions come from is shown, with the version of what is part of the program.
func TestRunbookShowsImports(t *testing.T) {
	inProject(t, map[string]string{
		"ci.hcl":      "import \"wait\" {\n  alias = \"ci\"\n  const = { until = \"true\" }\n}\nimport \"lib/x.hcl\" {\n}\n",
		"lib/x.hcl":   "locals {\n  word = \"hello\"\n}\ncommand \"hi\" {\n  run = \"echo \\\"${local.word}\\\"\"\n}\n",
		"other.toml":  "[command.o]\nrun = \"true\"\n",
		"lib/note.md": "",
	})
	code, out, errOut := runbookCommand("show")
	if code != 0 || errOut != "" {
		t.Fatalf("exit %d, %s", code, errOut)
	}
	for _, want := range []string{"imports library wait (stopgate ", ") as ci\n", "imports lib/x.hcl\n", "local x-2.word: hello", "command ci:wait\n", "command hi\n", "pipeline ci:wait\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("not shown: %q in\n%s", want, out)
		}
	}
	if code, out, _ := runbookCommand("check"); code != 0 || out != "2 runbooks, 3 commands, 1 pipeline, 0 agents: no errors\n" {
		t.Errorf("exit %d, %s", code, out)
	}
}

// Runbooks of oddjobs are checked and shown beside the project's own, which win.
func TestRunbooksOfOddjobs(t *testing.T) {
	inProject(t, map[string]string{"a.toml": "[command.build]\nrun = \"make\"\n", "../../.oj/runbooks/b.hcl": "job \"p\" {\n  step \"a\" {\n    run = \"make ${var.x}\"\n  }\n}\ncommand \"build\" {\n  args = \"<x>\"\n  run = { job = \"p\" }\n}\n"})
	code, out, _ := runbookCommand("check")
	if code != 0 || !strings.Contains(out, "2 runbooks, 2 commands, 1 pipeline, 0 agents: no errors") {
		t.Errorf("exit %d, %s", code, out)
	}
	for _, want := range []string{".oj/runbooks/b.hcl:3:17: warning: ${var.x} is not in double quotes", ".oj/runbooks/b.hcl: warning: command \"build\" is hidden by .gauntlet/runbooks/a.toml"} {
		if !strings.Contains(strings.ReplaceAll(out, `\`, "/"), want) {
			t.Errorf("not told: %s in\n%s", want, out)
		}
	}
	if code, out, _ := runbookCommand("check .oj/runbooks/b.hcl"); code != 0 || !strings.Contains(out, "1 runbook, 1 command, 1 pipeline") {
		t.Errorf("exit %d, %s", code, out)
	}
	check(t, os.RemoveAll(".gauntlet"))
	if code, out, errOut := runbookCommand("show"); code != 0 || !strings.Contains(out, "pipeline p") {
		t.Errorf("alone: exit %d, %s%s", code, out, errOut)
	}
}

// What is sound is shown beside what is not.
func TestRunbookShowWithFaults(t *testing.T) {
	inProject(t, map[string]string{"bad.toml": badBook, "lint.hcl": lintBook})
	if code, out, errOut := runbookCommand("show"); code != 1 || !strings.Contains(out, "command lint") || !strings.Contains(errOut, `unknown field "runn"`) {
		t.Errorf("exit %d, %s%s", code, out, errOut)
	}
}

func TestRunbookUsage(t *testing.T) {
	for _, args := range []string{"", "chekc", "check --jsn", "show a b", "--json", "check --svg=x", "show --svg=", "show --svg=x --json"} {
		if code, out, errOut := runbookCommand(args); code != 2 || out != "" || !strings.HasPrefix(errOut, "usage: stopgated runbook check") {
			t.Errorf("%q: exit %d, %s%s", args, code, out, errOut)
		}
	}
}
