package daemon

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/control/api"
	"github.com/stopgate/stopgate/internal/control/engine"
	"github.com/stopgate/stopgate/internal/gate/trust"
)

// asking is a plane without a daemon.
func asking(t *testing.T) *plane {
	t.Helper()
	dir := t.TempDir()
	return &plane{
		queued: func(string) bool { return false },
		opts:   Options{StateDir: dir, Config: filepath.Join(dir, "config.yml"), Log: quiet()},
		core:   testCore(newMemory(t)),
	}
}

func enforce(t *testing.T, p *plane) {
	t.Helper()
	check(t, os.WriteFile(p.opts.Config, []byte("trust: enforce\n"), 0o600))
}

func refusal(t *testing.T, err error) daemonapi.Failure {
	t.Helper()
	var failure *api.Error
	if !errors.As(err, &failure) {
		t.Fatalf("no failure that people are told of: %v", err)
	}
	return failure.Failure
}

func TestStart(t *testing.T) {
	p := asking(t)
	root := project(t, twoSteps)
	start := daemonapi.Start{ID: anID, Project: root, Cwd: root, Command: "build", Args: []string{"you"}}
	view, err := p.Start(t.Context(), start)
	check(t, err)
	if view.ID != anID || view.Kind != "pipeline" || view.Step != "one" || view.Cwd != root || view.Vars["name"] != "you" || len(view.Steps) != 1 {
		t.Errorf("%+v", view)
	}
	o := p.core.owner(anID)
	if o.Effects[0].Shell.Script != "echo one \"you\"" {
		t.Errorf("%+v", o)
	}
	check(t, os.RemoveAll(filepath.Join(root, ".gauntlet")))
	if again, err := p.Start(t.Context(), start); err != nil || again.Created != view.Created {
		t.Errorf("asked for again: %+v, %v", again, err)
	}
}

// A mistake in one runbook keeps nothing from running that is in another.
func TestStartBesideABrokenRunbook(t *testing.T) {
	p := asking(t)
	root := project(t, twoSteps)
	other := filepath.Join(root, ".gauntlet", "runbooks", "other.toml")
	check(t, os.WriteFile(other, []byte("[command.deploy]\nrum = \"true\"\n"), 0o600))
	start := daemonapi.Start{ID: anID, Project: root, Cwd: root, Command: "build", Args: []string{"you"}}
	if view, err := p.Start(t.Context(), start); err != nil || view.Notice != "" {
		t.Errorf("%+v, %v", view, err)
	}
	start.ID, start.Command = "fedcba9876543210", "deploy"
	_, err := p.Start(t.Context(), start)
	if failure := refusal(t, err); !strings.Contains(failure.Error, "other.toml:2") {
		t.Errorf("%+v", failure)
	}
}

func TestWhatCannotBeStarted(t *testing.T) {
	root := project(t, twoSteps)
	broken := project(t, "[command.build]\nrum = \"true\"\n")
	for name, test := range map[string]struct {
		change func(*daemonapi.Start)
		code   string
		says   []string
	}{
		"no id":            {func(s *daemonapi.Start) { s.ID = "" }, "invalid", []string{"16 hexadecimal digits"}},
		"a path for an id": {func(s *daemonapi.Start) { s.ID = "../../../../etc/a" }, "invalid", []string{"16 hexadecimal digits"}},
		"capitals":         {func(s *daemonapi.Start) { s.ID = "0123456789ABCDEF" }, "invalid", []string{"16 hexadecimal digits"}},
		"relative project": {func(s *daemonapi.Start) { s.Project = "p" }, "invalid", []string{"absolute"}},
		"no project":       {func(s *daemonapi.Start) { s.Project = "" }, "invalid", []string{"absolute"}},
		"relative cwd":     {func(s *daemonapi.Start) { s.Cwd = "p" }, "invalid", []string{"absolute"}},
		"cwd that is gone": {func(s *daemonapi.Start) { s.Cwd = filepath.Join(root, "gone") }, "invalid", []string{"gone"}},
		"cwd that is a file": {func(s *daemonapi.Start) {
			s.Cwd = filepath.Join(root, ".gauntlet", "runbooks", "book.toml")
		}, "invalid", []string{"not a directory"}},
		"unknown command":   {func(s *daemonapi.Start) { s.Command = "biuld" }, "invalid", []string{"biuld", "build"}},
		"too few arguments": {func(s *daemonapi.Start) { s.Args = nil }, "invalid", []string{"name", "usage: stopgate start build <name>"}},
		"a broken runbook":  {func(s *daemonapi.Start) { s.Project = broken }, "invalid", []string{"book.toml:2", "rum"}},
	} {
		t.Run(name, func(t *testing.T) {
			p := asking(t)
			s := daemonapi.Start{ID: anID, Project: root, Cwd: root, Command: "build", Args: []string{"you"}}
			test.change(&s)
			_, err := p.Start(t.Context(), s)
			failure := refusal(t, err)
			for _, word := range test.says {
				if !strings.Contains(failure.Error+failure.Hint, word) {
					t.Errorf("no %q in %q, %q", word, failure.Error, failure.Hint)
				}
			}
			if failure.Code != test.code || p.core.state.Len() != 0 {
				t.Errorf("%+v", failure)
			}
		})
	}
}

func TestRulingT3RunbooksThatNobodyApproved(t *testing.T) {
	p := asking(t)
	enforce(t, p)
	root := project(t, twoSteps)
	_, err := p.Start(t.Context(), daemonapi.Start{ID: anID, Project: root, Cwd: root, Command: "build", Args: []string{"you"}})
	if failure := refusal(t, err); failure.Code != "untrusted" || !strings.Contains(failure.Hint, "stopgate trust") {
		t.Errorf("%+v", failure)
	}
	if _, err := p.Commands(t.Context(), root); refusal(t, err).Code != "untrusted" {
		t.Error(err)
	}
}

func TestRulingT4TheApprovedCopyRuns(t *testing.T) {
	p := asking(t)
	enforce(t, p)
	root := project(t, strings.ReplaceAll(twoSteps, "echo two", "sh .gauntlet/two.sh"))
	script := filepath.Join(root, ".gauntlet", "two.sh")
	check(t, os.WriteFile(script, []byte("echo two\n"), 0o600))
	check(t, trust.NewStore(p.opts.StateDir).Approve(root, time.Now()))
	check(t, os.WriteFile(filepath.Join(root, ".gauntlet", "runbooks", "book.toml"), []byte(strings.ReplaceAll(twoSteps, "echo one", "rm")), 0o600))
	check(t, os.WriteFile(script, []byte("rm\n"), 0o600))
	view, err := p.Start(t.Context(), daemonapi.Start{ID: anID, Project: root, Cwd: root, Command: "build", Args: []string{"you"}})
	check(t, err)
	if !strings.Contains(view.Notice, "using the approved version") || !strings.Contains(view.Notice, "runbooks/book.toml") {
		t.Errorf("nobody is told: %q", view.Notice)
	}
	o := p.core.owner(anID)
	if got := o.Effects[0].Shell.Script; got != "echo one \"you\"" {
		t.Errorf("it runs %q", got)
	}
	done(t, p.core, anID)
	two := do(t, p.core, anID, engine.Input{ID: "exit", What: engine.ShellExited{Key: o.Shell.Key}}).Effects[0].Shell.Script
	text, err := os.ReadFile(strings.TrimPrefix(two, "sh "))
	if err != nil || string(text) != "echo two\n" {
		t.Errorf("%q: %q, %v", two, text, err)
	}
}

// However a runbook names a script in .gauntlet, the approved one runs.
func TestRulingT4ScriptsOfARunbook(t *testing.T) {
	for name, test := range map[string]struct{ run, cwd, from string }{
		"relative":                {`sh .gauntlet/s/x.sh`, "", ""},
		"project, in quotes":      {`sh "${project}/.gauntlet/s/x.sh"`, "", ""},
		"project, beside quotes":  {`sh "${project}"/.gauntlet/s/x.sh`, "", ""},
		"invoke.dir":              {`sh "${invoke.dir}/.gauntlet/s/x.sh"`, "", ""},
		"invoke.dir, from below":  {`sh "${invoke.dir}/../.gauntlet/s/x.sh"`, "", "src"},
		"a directory to go to":    {`cd "${project}/.gauntlet/s" && sh ./x.sh`, "", ""},
		"cwd":                     {`sh ./x.sh`, ".gauntlet/s", ""},
		"cwd, from below":         {`sh ./x.sh`, "../.gauntlet/s", "src"},
		"cwd, of the project":     {`sh ./x.sh`, "${project}/.gauntlet/s", "src"},
		"cwd, where somebody was": {`sh s/x.sh`, "${invoke.dir}/.gauntlet", ""},
	} {
		for _, kind := range []string{"step", "agent", "gate"} {
			t.Run(name+" in "+kind, func(t *testing.T) {
				p := asking(t)
				enforce(t, p)
				root := project(t, bookOf(kind, test.run, test.cwd))
				check(t, os.MkdirAll(filepath.Join(root, ".gauntlet", "s"), 0o755))
				check(t, os.MkdirAll(filepath.Join(root, "src"), 0o755))
				script := filepath.Join(root, ".gauntlet", "s", "x.sh")
				check(t, os.WriteFile(script, []byte("echo approved\n"), 0o600))
				check(t, trust.NewStore(p.opts.StateDir).Approve(root, time.Now()))
				_, err := p.Start(t.Context(), daemonapi.Start{ID: anID, Project: root, Cwd: filepath.Join(root, test.from), Command: "go"})
				check(t, err)
				check(t, os.WriteFile(script, []byte("echo edited\n"), 0o600)) // by an agent, meanwhile
				run, cwd := runsNow(t, p.core, kind)
				cmd := exec.Command("sh", "-c", run)
				cmd.Dir = cwd
				if out, err := cmd.CombinedOutput(); err != nil || string(out) != "approved\n" {
					t.Errorf("%s in %s: %q, %v", run, cwd, out, err)
				}
			})
		}
	}
}

// bookOf is a runbook that runs a command as a step, an agent or the gate of one.
func bookOf(kind, run, cwd string) string {
	book := "[command.go]\nrun = { pipeline = \"p\" }\n"
	dir := ""
	if cwd != "" {
		dir = fmt.Sprintf("cwd = %q\n", cwd)
	}
	switch kind {
	case "step":
		return book + "[pipeline.p]\n" + dir + fmt.Sprintf("[[pipeline.p.step]]\nname = \"s\"\nrun = %q\n", run)
	case "agent":
		return book + "[pipeline.p]\n[[pipeline.p.step]]\nname = \"s\"\nrun = { agent = \"a\" }\n" +
			"[agent.a]\n" + dir + fmt.Sprintf("run = %q\n", run)
	}
	return book + "[pipeline.p]\n" + dir + "[[pipeline.p.step]]\nname = \"s\"\nrun = { agent = \"a\" }\n" +
		fmt.Sprintf("[agent.a]\nrun = \"true\"\non_idle = { action = \"gate\", run = %q }\n", run)
}

// runsNow is what is to be run, and where.
func runsNow(t *testing.T, c *core, kind string) (run, cwd string) {
	t.Helper()
	if kind == "gate" {
		agent := done(t, c, anID).Agent.ID
		do(t, c, anID, engine.Input{ID: "idle", What: engine.AgentIdle{AgentID: agent, Prompt: "p"}})
	}
	for _, e := range c.owner(anID).Effects {
		switch {
		case e.Shell != nil:
			return e.Shell.Script, e.Shell.Cwd
		case e.Agent != nil:
			return e.Agent.Run, e.Agent.Cwd
		}
	}
	t.Fatalf("nothing runs: %+v", c.owner(anID))
	return "", ""
}

// Directories outside .gauntlet are where they were.
func TestDirectoriesOfAnApprovedRunbook(t *testing.T) {
	p := asking(t)
	enforce(t, p)
	root := project(t, `
[command.go]
args = "<dir>"
run = { pipeline = "p" }
[pipeline.p]
vars = ["dir"]
cwd = ".gauntlet"
[[pipeline.p.step]]
name = "s"
run = { agent = "a" }
[agent.a]
run = "true"
cwd = "../src"
[agent.b]
run = "true"
cwd = "${var.dir}"
`)
	check(t, trust.NewStore(p.opts.StateDir).Approve(root, time.Now()))
	_, err := p.Start(t.Context(), daemonapi.Start{ID: anID, Project: root, Cwd: root, Command: "go", Args: []string{"x"}})
	check(t, err)
	plan := p.core.owner(anID).Plan
	if got := p.core.owner(anID).Effects[0].Agent.Cwd; got != filepath.Join(root, "src") {
		t.Errorf("the agent runs in %s", got)
	}
	if b, known := plan.Agents["b"]; known && b.Cwd != "${var.dir}" {
		t.Errorf("%q", b.Cwd)
	}
}

func TestCommands(t *testing.T) {
	p := asking(t)
	commands, err := p.Commands(t.Context(), project(t, twoSteps+`
[command.hello]
description = "says it"
run = "echo hello"
`))
	check(t, err)
	if len(commands) != 2 || commands[0].Name != "build" || commands[0].Usage != "<name>" || commands[0].Runs != "pipeline build" ||
		commands[1].Description != "says it" || commands[1].Runs != "shell" || filepath.Base(commands[1].Runbook) != "book.toml" {
		t.Errorf("%+v", commands)
	}
	if commands, err := p.Commands(t.Context(), t.TempDir()); err != nil || commands == nil || len(commands) != 0 {
		t.Errorf("a project without runbooks: %v, %v", commands, err)
	}
}
