//go:build unix

package gauntlet

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/gate/gauntlet/change"
	"github.com/stopgate/stopgate/internal/gate/gauntlet/logdir"
)

func oneCheck(command string, more ...string) string {
	text := "entry_points:\n  - path: .\n    checks:\n      - name: t\n        command: " + command + "\n"
	for _, line := range more {
		text += "        " + line + "\n"
	}
	return text
}

func TestNothingChanged(t *testing.T) {
	command, count := (&scene{state: t.TempDir()}).counter()
	s := newScene(t, oneCheck(command))
	s.want(NoApplicableGates, "nothing has changed")
	if count() != 0 {
		t.Error("a gate ran")
	}
	if _, err := os.Stat(s.path("gauntlet_logs")); err == nil {
		t.Error("a log directory was left")
	}
}

func TestAProvenTreeIsNotRunAgain(t *testing.T) {
	s := newScene(t, "")
	command, count := s.counter()
	s.write(".gauntlet/config.yml", oneCheck(command))
	s.want(Passed)
	s.want(Passed, "unchanged since")
	s.commit()
	s.want(Passed, "unchanged since") // the content is the same
	if count() != 1 {
		t.Errorf("it ran %d times", count())
	}
	s.write("new", "x")
	s.want(Passed)
	if count() != 2 {
		t.Errorf("after a change it ran %d times", count())
	}
	s.now = s.now.Add(25 * time.Hour)
	s.want(Passed)
	if count() != 3 {
		t.Errorf("after a day it ran %d times", count())
	}
	o := s.options()
	o.NoCache = true
	wantResult(t, Execute(t.Context(), o), Passed)
	if count() != 4 {
		t.Errorf("without the cache it ran %d times", count())
	}
}

func TestACheckThatChangesTheTreeProvesNothing(t *testing.T) {
	s := newScene(t, oneCheck("date +%N >>stamp"))
	s.write("new", "x")
	first := s.want(Passed)
	second := s.want(Passed)
	if first.Gates[0].Outcome != GatePassed || second.Gates[0].Outcome != GatePassed {
		t.Errorf("got %s, then %s", first.Gates[0].Outcome, second.Gates[0].Outcome)
	}
}

func TestWhatAPassDependsOn(t *testing.T) {
	tests := []struct {
		name   string
		more   []string
		change func(s *scene)
		again  bool
	}{
		{"nothing", nil, func(*scene) {}, false},
		{"a file", nil, func(s *scene) { s.write("f", "2") }, true},
		{"a file outside the inputs", []string{"inputs: [src]"}, func(s *scene) { s.write("f", "2") }, false},
		{"a file inside the inputs", []string{"inputs: [src]"}, func(s *scene) { s.write("src/f", "2") }, true},
		{"an ignored file", nil, func(s *scene) { s.write("ignored", "2") }, false},
		{"an ignored file among the inputs", []string{"inputs: [src, ignored]"}, func(s *scene) { s.write("ignored", "2") }, true},
		{"a variable", nil, func(s *scene) { s.env = append(s.env, "V=2") }, false},
		{"a variable that counts", []string{"env: [V]"}, func(s *scene) { s.env = append(s.env, "V=2") }, true},
		{"a tool", []string{"tools: [tool]"}, func(s *scene) { s.program("tool", "echo 2") }, true},
		{"the definition", nil, func(s *scene) {
			text, _ := os.ReadFile(s.path(".gauntlet/config.yml"))
			s.write(".gauntlet/config.yml", strings.Replace(string(text), "echo x", "true; echo x", 1))
		}, true},
		{"without a cache", []string{"cache: false"}, func(*scene) {}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, "")
			command, count := s.counter()
			s.program("tool", "echo 1")
			s.write(".gitignore", "ignored\n")
			s.write("ignored", "1")
			s.write("src/f", "1")
			s.write("f", "1")
			s.write(".gauntlet/config.yml", oneCheck(command, tt.more...))
			s.want(Passed)
			tt.change(s)
			s.want(Passed)
			if again := count() == 2; again != tt.again {
				t.Errorf("ran again: %t, want %t", again, tt.again)
			}
		})
	}
}

func TestRetries(t *testing.T) {
	s := newScene(t, oneCheck("test -e good"))
	s.write("new", "x")
	for range 3 {
		s.want(Failed, "check:.:t")
	}
	if r := s.want(RetryLimitExceeded, "person"); !r.NewLimit {
		t.Error("nobody is told that the limit was reached")
	}
	if r := s.want(RetryLimitExceeded); r.NewLimit {
		t.Error("it was told already")
	}
	s.write("good", "")
	s.want(Passed)
	s.want(Passed, "unchanged since")
}

func TestOpenFailuresOutliveEverythingButAPass(t *testing.T) {
	s := newScene(t, "entry_points:\n  - path: src\n    checks:\n      - name: t\n        command: test -e good\n")
	s.write("src/f", "x")
	s.want(Failed)
	s.commit()
	s.want(Failed)
	s.git("update-ref", "refs/remotes/origin/main", "HEAD") // now nothing has changed
	must(t, os.RemoveAll(s.path("gauntlet_logs")))
	s.want(Failed)
	s.write("src/good", "")
	s.want(Passed)
	s.want(Passed)
}

func TestFlakyCheckPassesWithAWarning(t *testing.T) {
	s := newScene(t, "")
	outside := filepath.Join(s.state, "good")
	s.write(".gauntlet/config.yml", oneCheck("test -e "+outside))
	s.want(Failed)
	must(t, os.WriteFile(outside, nil, 0o600))
	s.want(PassedWithWarnings, "flaky")
}

func TestGateChangedOrRemovedWhileRed(t *testing.T) {
	s := newScene(t, oneCheck("exit 1"))
	s.write("new", "x")
	s.want(Failed)
	s.write(".gauntlet/config.yml", oneCheck("exit 0"))
	s.want(PassedWithWarnings, "check:.:t", "definition")

	s = newScene(t, oneCheck("exit 1"))
	s.write("new", "x")
	s.want(Failed)
	s.write(".gauntlet/config.yml", strings.Replace(oneCheck("exit 0"), "name: t", "name: u", 1))
	s.want(PassedWithWarnings, "check:.:t", "removed")
}

func TestCouldNotRun(t *testing.T) {
	s := newScene(t, oneCheck("no-such-program"))
	s.write("new", "x")
	s.want(InfrastructureError, "check:.:t", "not found")
	if len(s.ledger().Open) > 0 {
		t.Error("a gate that could not run counts as failed")
	}
	s.write(".gauntlet/config.yml", oneCheck("no-such-program", "on_error: block"))
	s.want(Failed)

	s = newScene(t, oneCheck("tool"))
	s.program("tool", "exit 1")
	s.write("new", "x")
	s.want(Failed)
	s.program("tool", "exit 127")
	r := s.want(Failed)
	if !strings.Contains(r.Gates[0].Message, "ran here before") {
		t.Errorf("got %q", r.Gates[0].Message)
	}
}

func TestInterruptionIsNoFailure(t *testing.T) {
	s := newScene(t, oneCheck("touch ../started; sleep 600", "working_directory: src"))
	s.write("src/f", "x")
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		defer cancel()
		for {
			if _, err := os.Stat(s.path("started")); err == nil {
				return
			}
			time.Sleep(time.Millisecond)
		}
	}()
	r := Execute(ctx, s.options())
	wantResult(t, r, InfrastructureError, "interrupted")
	if !r.Interrupted {
		t.Error("not marked as interrupted")
	}
	if entries, _ := filepath.Glob(s.path("gauntlet_logs/.gauntlet-run.lock")); len(entries) > 0 {
		t.Error("the lock is still there")
	}
}

func TestTimeoutIsAFailure(t *testing.T) {
	s := newScene(t, oneCheck("sleep 600", "timeout: 50ms"))
	s.write("new", "x")
	r := s.want(Failed)
	if !strings.Contains(r.Gates[0].Message, "Timed out after 0.05s") {
		t.Errorf("got %q", r.Gates[0].Message)
	}
}

func TestPartialRunsCloseOnlyWhatTheyLookAt(t *testing.T) {
	s := newScene(t, "entry_points:\n  - path: .\n    checks:\n      - {name: a, command: test -e a}\n      - {name: b, command: test -e b}\n")
	s.write("new", "x")
	s.want(Failed)
	s.write("a", "")
	o := s.options()
	o.Gate = "a"
	r := Execute(t.Context(), o)
	wantResult(t, r, Passed)
	if len(r.Gates) != 1 {
		t.Errorf("ran %+v", r.Gates)
	}
	s.want(Failed, "check:.:b")
}

func TestCheckEnvironment(t *testing.T) {
	s := newScene(t, oneCheck(`'test "${BASE_BRANCH}" = "x; touch pwned" && test ! -t 0 && ! read line'`))
	s.write("new", "x")
	o := s.options()
	o.Scope = change.Scope{Base: "x; touch pwned"}
	r := Execute(t.Context(), o)
	wantResult(t, r, Passed)
	if _, err := os.Stat(s.path("pwned")); err == nil {
		t.Error("a branch name was run")
	}
}

func TestWithoutGit(t *testing.T) {
	s := newScene(t, oneCheck("test -e good"))
	must(t, os.RemoveAll(s.path(".git")))
	r := s.want(Failed)
	if len(r.Notes) == 0 || !strings.Contains(r.Notes[0], "git") {
		t.Errorf("notes %q", r.Notes)
	}
	s.write("good", "")
	s.want(Passed)
	s.want(Passed, "unchanged since")
}

// A run that was killed may have left gates that go on; the next run must not run
// beside them.
func TestLeftoversOfAKilledRunAreEnded(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs /proc")
	}
	s := newScene(t, oneCheck("exit 0"))
	s.write("new", "x")
	start := func(run logdir.Owner) *exec.Cmd {
		cmd := exec.Command("sh", "-c", "exec sleep 600")
		cmd.Env = append(s.env, runMark(run))
		must(t, cmd.Start())
		t.Cleanup(func() { cmd.Process.Kill() })
		return cmd
	}
	gone := logdir.Owner{Version: 1, PID: 1 << 30, Start: "1", Boot: "b", Host: "h", Since: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	before := gone
	before.Since = before.Since.Add(-time.Hour)
	left, service := start(gone), start(before)
	text, err := json.Marshal(gone)
	must(t, err)
	s.write("gauntlet_logs/.gauntlet-run.lock", string(text))
	s.want(Passed)
	if err := left.Wait(); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Errorf("the leftover ended with %v", err)
	}
	if err := service.Process.Signal(syscall.Signal(0)); err != nil {
		t.Errorf("what an earlier run had started was ended with it: %v", err)
	}
}

func TestE11WhatAProofCovers(t *testing.T) {
	stage := func(s *scene) { s.git("add", "new") }
	branch := func(s *scene) { s.git("switch", "-q", "-c", "another") }
	commit := func(s *scene) { s.git("commit", "-q", "--allow-empty", "-m", "empty") }
	base := func(s *scene) {
		s.git("update-ref", "refs/remotes/origin/main", s.git("commit-tree", "-p", "origin/main", "-m", "m", "origin/main^{tree}"))
	}
	other := func(s *scene) {
		s.git("branch", "unrelated")
		s.git("tag", "unrelated")
		s.git("update-ref", "refs/remotes/origin/other", "HEAD")
	}
	for name, tt := range map[string]struct {
		command string
		more    []string
		script  string
		change  func(*scene)
		again   bool
	}{
		"the index, by git":                {command: "git diff --cached", change: stage, again: true},
		"HEAD, by git":                     {command: "git log -1", change: commit, again: true},
		"the branch, by git":               {command: "git status", change: branch, again: true},
		"the base, by git":                 {command: "git log origin/main..", change: base, again: true},
		"by a path to git":                 {command: "/usr/bin/env git status", change: stage, again: true},
		"inside a shell":                   {command: `sh -c "git status"`, change: stage, again: true},
		"other refs":                       {command: "git status", change: other},
		"without git":                      {command: "true", change: func(s *scene) { stage(s); branch(s) }},
		"a word that is not the command":   {command: "echo legit .git digit git-lfs", change: stage},
		"said":                             {command: "true", more: []string{"reads: [git]"}, change: stage, again: true},
		"said not to":                      {command: "git status", more: []string{"reads: []"}, change: stage},
		"by a script":                      {command: "sh .gauntlet/s.sh", script: "git status\n", change: stage, again: true},
		"by a script that does not use it": {command: "sh .gauntlet/s.sh", script: "true\n", change: stage},
		"by a script with another name":    {command: "sh .gauntlet/s.sh.json", script: "git status\n", change: stage, again: true},
		"by a script that make includes":   {command: "make -s t", script: "git status\n", change: stage, again: true},
		"by a script of a script":          {command: "sh run.sh", script: "git status\n", change: stage, again: true},
		"by a script of two scripts":       {command: "make -s u", script: "git status\n", change: stage, again: true},
		"by a script from its own folder":  {command: "sh s.sh", more: []string{"working_directory: .gauntlet"}, script: "git status\n", change: stage, again: true},
		"scripts that are not run":         {command: "true", script: "git status\n", change: stage},
		"a base that moved, without git":   {command: "true", change: base},
		"a base that was asked for":        {command: "echo $BASE_BRANCH", change: base, again: true},
		"a variable that is empty now":     {command: "true", more: []string{"env: [PLACE]"}, change: func(s *scene) { s.env = append(s.env, "PLACE=") }, again: true},
		"a variable that is not named":     {command: "true", change: func(s *scene) { s.env = append(s.env, "PLACE=") }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, "")
			counts, count := s.counter()
			s.write(".gauntlet/s.sh", tt.script)
			s.write(".gauntlet/s.sh.json", tt.script)
			s.write("Makefile", "include mk/two.mk\nt:; sh .gauntlet/s.sh\n")
			if strings.Contains(tt.command, "make -s u") {
				s.write("Makefile", "include mk/two.mk\n")
			}
			s.write("mk/two.mk", "u:; sh deep/run.sh\n")
			s.write("deep/run.sh", "sh .gauntlet/s.sh\n")
			s.write("run.sh", "sh .gauntlet/s.sh\n")
			s.write(".gauntlet/config.yml", "base_branch: origin/main\n"+oneCheck(counts+"; "+tt.command+" >/dev/null", tt.more...))
			s.commit()
			s.write("new", "1")
			s.want(Passed)
			s.want(Passed, "unchanged since")
			tt.change(s)
			s.want(Passed)
			if again := count() == 2; again != tt.again {
				t.Errorf("ran again: %t, want %t", again, tt.again)
			}
		})
	}
}

// Else one list of texts could be made to stand for another, and a proof for one that never was.
func TestNoTwoListsOfAProofAreTheSame(t *testing.T) {
	seen := map[string][]string{}
	for _, parts := range [][]string{{"a", "b"}, {"a,b"}, {"a,1:b"}, {"a,b,"}, {"", "a", "b"}, {"a", "b", ""}} {
		var text strings.Builder
		if into(&text)(parts...); seen[text.String()] != nil {
			t.Errorf("%q and %q are both %q", seen[text.String()], parts, text.String())
		}
		seen[text.String()] = parts
	}
}

// A gate that changes what it reads of git proves nothing.
func TestE11WhatAGateChangesItselfIsNotProven(t *testing.T) {
	s := newScene(t, "")
	counts, count := s.counter()
	s.write(".gauntlet/config.yml", oneCheck(counts+"; git add new"))
	s.write("new", "1")
	s.want(Passed)
	s.want(Passed)
	if count() != 2 {
		t.Errorf("ran %d times", count())
	}
	s.want(Passed, "unchanged since")
}

func TestWhatRunsNowIsShown(t *testing.T) {
	s := newScene(t, oneCheck("until test -e go; do sleep 0.01; done"))
	s.write("f", "1")
	if now := Now(s.state, s.root, "gauntlet_logs"); len(now) > 0 {
		t.Errorf("before: %+v", now)
	}
	done := make(chan Result, 1)
	go func() { done <- Execute(t.Context(), s.options()) }()
	now := Now(s.state, s.root, "gauntlet_logs")
	for ; len(now) == 0; now = Now(s.state, s.root, "gauntlet_logs") {
		time.Sleep(time.Millisecond)
	}
	if len(now) != 1 || now[0].Job != "check:.:t" || now[0].Since != s.now.UTC() {
		t.Errorf("meanwhile: %+v", now)
	}
	s.write("go", "")
	<-done
	if now := Now(s.state, s.root, "gauntlet_logs"); len(now) > 0 {
		t.Errorf("afterwards: %+v", now)
	}
}
