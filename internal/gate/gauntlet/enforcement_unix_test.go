//go:build unix

package gauntlet

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/gate/trust"
	"github.com/stopgate/stopgate/internal/sys/git/gittest"
)

// Ways in which a red gate could get lost, or stay red for ever.

func TestACheckOfTwoEntryPointsClosesForBoth(t *testing.T) {
	s := newScene(t, "entry_points:\n  - path: a\n    checks: [x]\n  - path: b\n    checks: [x]\n")
	s.write(".gauntlet/checks/x.yml", "command: test ! -e b/bad\nworking_directory: .\n")
	s.write("b/bad", "1")
	s.want(Failed)
	must(t, os.Remove(s.path("b/bad")))
	s.write("a/f", "1")
	s.write("b/f", "1")
	if r := s.want(Passed); len(r.Gates) != 1 {
		t.Errorf("it ran %d times", len(r.Gates))
	}
	if open := s.ledger().Open; len(open) > 0 {
		t.Errorf("still open: %+v", open)
	}
}

func TestAnEntryPointThatMovedLeadsNowhere(t *testing.T) {
	s := newScene(t, "entry_points:\n  - path: a/b/*\n    checks: [x]\n")
	s.write(".gauntlet/checks/x.yml", "command: exit 1\n")
	s.write("a/b/c/f", "1")
	s.want(Failed, "check:a/b/c:x")
	s.write(".gauntlet/config.yml", "entry_points:\n  - path: a/*\n    checks: [x]\n")
	if r := s.want(Failed, "check:a/b:x"); len(r.Gates) != 1 {
		t.Errorf("ran %+v", r.Gates)
	}
}

// Finding out what passes prove must not cost the verdict of what failed.
func TestSlowToolsDoNotHideAFailure(t *testing.T) {
	s := newScene(t, `entry_points:
  - path: .
    checks:
      - {name: bad, command: exit 1}
      - {name: slow, command: exit 0, tools: ['sleep 600']}
`)
	s.write("f", "1")
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	e := newExecution(s.options())
	e.proving = 10 * time.Millisecond
	v := &view{}
	var err error
	if v.tree, err = e.tree.Tree(t.Context()); err != nil {
		t.Fatal(err)
	}
	r := Result{}
	for _, job := range e.plan.all() {
		outcome := GatePassed
		if job.Gate().Name == "bad" {
			outcome = GateFailed
		}
		job.key = "k" + job.Gate().Name
		r.Gates = append(r.Gates, job.result(outcome, ""))
	}
	<-ctx.Done()
	e.record(ctx, v, &r, nil)
	if r.Status != Failed || len(s.ledger().Open) != 1 {
		t.Errorf("got %s with %+v open", r.Status, s.ledger().Open)
	}
}

func TestAPartialRunTakesNothingFromTheOthers(t *testing.T) {
	s := newScene(t, `entry_points:
  - path: .
    checks:
      - {name: bad, command: exit 1}
      - {name: good, command: exit 0}
`)
	s.write("f", "1")
	only := s.options()
	only.Gate, only.NoCache = "good", true
	wantResult(t, Execute(t.Context(), only), Passed)
	stop := Stop{Options: s.options(), Log: t.Logf}
	stop.Now = func() time.Time { return s.now.Add(time.Minute) }
	r := Decide(t.Context(), stop) // one gate does not buy ten minutes
	wantResult(t, r, Failed)
	wantResult(t, Execute(t.Context(), only), Passed)
	for _, path := range []string{r.ConsoleLogPath, r.Gates[0].Log} {
		if _, err := os.Stat(path); err != nil {
			t.Errorf("what the agent was told to read is gone: %v", err)
		}
	}
}

func TestCIClosesNoLocalFailure(t *testing.T) {
	s := newScene(t, `entry_points:
  - path: .
    checks:
      - {name: bad, command: exit 1, run_in_ci: false}
      - {name: good, command: exit 0}
`)
	s.write("f", "1")
	s.commit()
	s.want(Failed)
	local := s.env
	s.env = append(local[:len(local):len(local)], "CI=true")
	o := s.options()
	o.Scope = ScopeOf(s.env)
	Execute(t.Context(), o)
	if len(s.ledger().Open) != 1 {
		t.Error("a run elsewhere closed it")
	}
	s.env = local
	s.want(Failed)
}

func TestANameThatIsNoUTF8KeepsItsGate(t *testing.T) {
	s := newScene(t, "entry_points:\n  - path: p/*\n    checks: [x]\n")
	s.write(".gauntlet/checks/x.yml", "command: exit 1\n")
	s.write("p/\xff/f", "1")
	s.write("p/\xfe/f", "1")
	for range 3 {
		if r := s.want(Failed); len(r.with(GateFailed)) != 2 {
			t.Errorf("got %+v", r.Gates)
		}
	}
	s.write(".gauntlet/checks/x.yml", "command: exit 0\n")
	s.want(PassedWithWarnings)
	s.want(PassedWithWarnings, "")
}

func TestEscape(t *testing.T) {
	for _, path := range []string{"", "a b", `a\b`, `a\\x41`, "\xff\xfe", "é\xc3", `\xff`, "\\\xff\\"} {
		if got := unescape(escape(path)); got != path {
			t.Errorf("%q became %q, then %q", path, escape(path), got)
		}
	}
	if escape("\xff") == escape(`\xff`) {
		t.Error("two paths read alike")
	}
}

func TestE6ToolsRunAsApproved(t *testing.T) {
	s := newScene(t, oneCheck("exit 0", "tools: ['sh .gauntlet/v.sh']"))
	s.write(".gauntlet/v.sh", "echo approved")
	o := s.options()
	store := trust.NewStore(s.state)
	must(t, store.Approve(s.root, s.now))
	s.write(".gauntlet/v.sh", "touch "+filepath.Join(s.state, "evil"))
	standing, err := store.Standing(s.root)
	must(t, err)
	o.Project.Content, o.Project.Approval = standing.Content, standing.ID
	wantResult(t, Execute(t.Context(), o), Passed)
	if _, err := os.Stat(filepath.Join(s.state, "evil")); err == nil {
		t.Error("a script ran that nobody approved")
	}
}

func TestManyJobsAreProven(t *testing.T) {
	s := newScene(t, "entry_points:\n  - path: p/*\n    checks: [x, y, z]\n")
	for _, name := range []string{"x", "y", "z"} {
		s.write(".gauntlet/checks/"+name+".yml", "command: exit 0\nparallel: true\n")
	}
	for i := range 100 {
		s.write(fmt.Sprintf("p/%d/f", i), "1")
	}
	s.want(Passed)
	s.want(Passed, "300 gates are unchanged")
}

func TestAPassDependsOnTheBaseAndOnOurOwnScripts(t *testing.T) {
	s := newScene(t, oneCheck("sh check.sh"))
	s.write("check.sh", `git diff --quiet "$BASE_BRANCH" -- protected`)
	s.write("protected", "1")
	s.commit()
	s.git("update-ref", "refs/remotes/origin/main", "HEAD")
	s.write("g", "1")
	s.want(Passed)
	s.git("update-ref", "refs/remotes/origin/main", "HEAD~1")
	s.want(Failed)

	s = newScene(t, oneCheck("sh .gauntlet/x.sh", "inputs: [src]"))
	s.write(".gauntlet/x.sh", "exit 0")
	s.write("src/f", "1")
	s.want(Passed)
	s.write(".gauntlet/x.sh", "exit 1")
	s.want(Failed)
}

func TestAToolIsAskedOnce(t *testing.T) {
	s := newScene(t, `entry_points:
  - path: .
    checks:
      - {name: a, command: exit 0, tools: [tool]}
      - {name: b, command: exit 0, tools: [tool]}
`)
	command, count := s.counter()
	s.program("tool", command+"; echo 1")
	s.write("f", "1")
	s.want(Passed)
	before := count()
	s.want(Passed, "unchanged since")
	if asked := count() - before; asked != 1 {
		t.Errorf("asked %d times", asked)
	}
}

// Where the ledger cannot be written, what failed has failed all the same, and the logs of that
// stay: whether a pass has closed it is not known.
func TestFailureWithoutALedger(t *testing.T) {
	s := newScene(t, oneCheck("test -e good"))
	s.write("f", "1")
	s.want(Failed)
	locks, _ := filepath.Glob(filepath.Join(s.state, "ledger/*/lock"))
	if len(locks) != 1 {
		t.Fatalf("locks %q", locks)
	}
	must(t, os.Remove(locks[0]))
	must(t, os.Mkdir(locks[0], 0o700))
	r := s.want(Failed)
	if len(r.Gates) != 1 || len(r.Notes) == 0 || !strings.Contains(r.Notes[len(r.Notes)-1], "ledger") {
		t.Errorf("got %+v, notes %q", r.Gates, r.Notes)
	}
	s.write("good", "")
	if r := s.want(Passed); filepath.Dir(r.ConsoleLogPath) != s.path("gauntlet_logs") {
		t.Errorf("the logs are in %s", filepath.Dir(r.ConsoleLogPath))
	}
}

// unreadable makes a tree inexact: a pipe is in the place of a file.
func (s *scene) unreadable() {
	s.t.Helper()
	s.write("pipe", "1")
	s.git("add", "pipe")
	must(s.t, os.Remove(s.path("pipe")))
	must(s.t, syscall.Mkfifo(s.path("pipe"), 0o600))
}

func TestAnInexactTreeIsNotNamed(t *testing.T) {
	s := newScene(t, oneCheck("exit 0"))
	s.unreadable()
	s.want(Passed)
	text, err := os.ReadFile(s.path("gauntlet_logs/.execution_state"))
	if err != nil || strings.Contains(string(text), `"tree"`) {
		t.Errorf("%v: %s", err, text)
	}
}

func TestTheDeadlineIsNoFailure(t *testing.T) {
	for _, more := range [][]string{nil, {"on_error: block"}} { // that it must run does not make it fail
		s := newScene(t, oneCheck("sleep 600", more...))
		s.write("f", "1")
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		r := Execute(ctx, s.options())
		wantResult(t, r, InfrastructureError, "time")
		if r.Interrupted || len(s.ledger().Open) > 0 {
			t.Errorf("got %+v", r)
		}
	}
}

// Where an agent's settings leave no time to start a gate, it is red.
func TestE14NoTimeToStartIsRed(t *testing.T) {
	s := newScene(t, `entry_points:
  - path: .
    checks:
      - {name: slow, command: sleep 600}
      - {name: never, command: exit 0}
`)
	s.write("f", "1")
	o := s.options()
	o.Limit = Limit{Time: time.Second, Shortened: time.Second}
	for _, time := range []time.Duration{0, 300 * time.Millisecond} {
		ctx, cancel := context.WithTimeout(t.Context(), time)
		defer cancel()
		r := Execute(ctx, o)
		wantResult(t, r, Failed, "check:.:slow, check:.:never")
		if failed := r.with(GateFailed); len(failed) != 2 || !strings.Contains(failed[1].Message, "remove what shortens") {
			t.Errorf("%s: %+v", time, r.Gates)
		}
	}
}

// A nested repository is not looked into. That nothing can be proven there does
// not mean that everything has changed.
func TestAnInexactTreeIsNotAChangedOne(t *testing.T) {
	s := newScene(t, oneCheck("exit 1"))
	s.git("init", "-q", "nested")
	s.write("nested/x", "1")
	for _, want := range []Status{Failed, Failed, Failed, RetryLimitExceeded, RetryLimitExceeded, RetryLimitExceeded} {
		s.want(want)
	}
	s = reviewed(t, oneReview)
	s.git("init", "-q", "nested")
	s.write("nested/x", "1")
	s.answer(violations("high", "it is bad"))
	s.want(Failed)
	s.answer(allGood)
	s.want(Failed)
	s.write("src/f.go", "good\n")
	s.want(Passed)
}

func TestADeletedFolderKeepsItsGates(t *testing.T) {
	s := newScene(t, "entry_points:\n  - path: packages/*\n    checks:\n      - {name: c, command: test ! -e bad, working_directory: .}\n      - {name: d, command: exit 1}\n")
	s.write("packages/a/f", "1")
	s.commit()
	s.git("update-ref", "refs/remotes/origin/main", "HEAD")
	s.write("bad", "")
	must(t, os.RemoveAll(s.path("packages/a")))
	if r := s.want(Failed, "check:packages/a:c"); len(r.Gates) != 1 {
		t.Errorf("ran %+v: the other has nowhere to run", r.Gates)
	}
}

// A check of a folder that is gone does not run in the one above, where it may well pass.
func TestACheckOfAFolderThatMovedDoesNotRunElsewhere(t *testing.T) {
	s := newScene(t, "entry_points:\n  - path: src\n    checks:\n      - {name: x, command: test ! -e red}\n  - path: Makefile\n    checks:\n      - {name: y, command: test ! -e Makefile}\n")
	s.write("src/f", "1")
	s.commit()
	must(t, os.Rename(s.path("src"), s.path("code")))
	s.write("code/red", "")
	s.want(InfrastructureError, "check:src:x")
	must(t, os.Rename(s.path("code"), s.path("src")))
	s.want(Failed, "check:src:x")
	must(t, os.Remove(s.path("src/red")))
	s.write("src/g", "1")
	s.want(Passed)
	must(t, os.Rename(s.path("src"), s.path("code")))
	s.want(Failed, "check:src:x")
	must(t, os.Rename(s.path("code"), s.path("src")))
	s.want(Passed)

	s.write("Makefile", "1")
	s.want(Failed, "check:Makefile:y")
	must(t, os.Remove(s.path("Makefile"))) // a file has no folder of its own
	s.write("Makefile.am", "1")
	s.want(Passed)
}

func TestARedGateStaysRedWithoutALogDirectory(t *testing.T) {
	s := newScene(t, oneCheck("exit 1"))
	s.write("f", "1")
	s.want(Failed)
	must(t, os.RemoveAll(s.path("gauntlet_logs")))
	s.write("gauntlet_logs", "in the way")
	s.want(Failed)
	s.want(Failed)
	s.want(RetryLimitExceeded)
}

func TestExternalRunnerIsHeldToItsFailure(t *testing.T) {
	s := newScene(t, "stop_hook:\n  verify_fixes: true\n  runner: [sh, -c, 'echo why; test -e good']\n")
	stop := func(active bool) Result {
		return Decide(t.Context(), Stop{Options: s.options(), Active: active, Log: t.Logf})
	}
	r := stop(false)
	wantResult(t, r, Failed)
	if text := Reason(&r, true); !strings.Contains(text, "why") || !strings.Contains(text, "exit 1") {
		t.Errorf("the reason does not say what failed:\n%s", text)
	}
	wantResult(t, stop(true), Failed)
	wantResult(t, stop(true), Failed)
	wantResult(t, stop(true), RetryLimitExceeded)
	s.write("good", "")
	wantResult(t, stop(true), Passed)
	wantResult(t, stop(true), Passed)
}

func TestRefusedEditsAreExplained(t *testing.T) {
	s := reviewed(t, oneReview)
	s.answer(violations("medium", "it is bad"))
	r := s.want(Failed)
	edit(t, r.Gates[0].Reviews[0], "skipped", "")
	r = s.want(Failed)
	if text := Reason(&r, true); !strings.Contains(text, "needs a reason") {
		t.Errorf("nobody says why the skip did not count:\n%s", text)
	}
}

func TestFewCallsOfGitForAProvenTree(t *testing.T) {
	s := newScene(t, oneCheck("exit 0"))
	git, err := exec.LookPath("git")
	must(t, err)
	command, count := s.counter()
	s.write("f", "1")
	s.commit()
	s.want(Passed)
	s.commit() // the commit on record is another now
	s.want(Passed, "unchanged since")
	s.program("git", command+"\nexec "+git+` "$@"`)
	s.want(Passed, "unchanged since")
	if calls := count(); calls > 2 {
		t.Errorf("%d calls of git", calls)
	}
}

// A red gate stays red when nobody can look at the tree.
func TestARedGateStaysRedWithoutGit(t *testing.T) {
	s := newScene(t, oneCheck("exit 1"))
	s.write("f", "1")
	s.want(Failed)
	path := s.env[0]
	s.env[0] = "PATH=" + t.TempDir()
	var console strings.Builder
	o := s.options()
	o.Console = &console
	wantResult(t, Execute(t.Context(), o), Failed)
	if !strings.Contains(console.String(), "git is not installed") || !strings.Contains(console.String(), "Status: Failed") {
		t.Errorf("the console says\n%s", console.String())
	}
	over, cancel := context.WithTimeout(t.Context(), 0)
	defer cancel()
	wantResult(t, Execute(over, s.options()), Failed)
	s.env[0] = path
	s.want(RetryLimitExceeded) // each of them counted
}

func TestExternalRunnerThatCannotRun(t *testing.T) {
	s := newScene(t, "stop_hook: {runner: [sh, -c, 'exit 1']}\n")
	stop := func(ctx context.Context) Result {
		return Decide(ctx, Stop{Options: s.options(), Log: t.Logf})
	}
	s.write("gauntlet_logs", "in the way")
	wantResult(t, stop(t.Context()), Failed) // its log is in the state directory
	must(t, os.Remove(s.path("gauntlet_logs")))
	wantResult(t, stop(t.Context()), Failed)
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if r := stop(over); r.Status != InfrastructureError || !r.Interrupted {
		t.Errorf("got %+v", r)
	}
	must(t, os.RemoveAll(s.path("gauntlet_logs")))
	s.write("gauntlet_logs", "in the way")
	wantResult(t, stop(t.Context()), Failed)
	if failures := s.ledger().Series.Failures; failures != 3 {
		t.Errorf("%d failing runs are counted: an interruption is none", failures)
	}
}

// Looking has a time limit of its own: what it cannot get through counts as changed, and
// the gates still have their time.
func TestE7WhatTakesForEverToLookAt(t *testing.T) {
	for name, harm := range map[string]func(*scene){
		"a pipe as ignore rules": func(s *scene) { s.pipe(".gitignore") },
		"a pipe as attributes":   func(s *scene) { s.pipe(".gitattributes") },
		"a large sparse file": func(s *scene) {
			s.write("huge", "")
			must(s.t, os.Truncate(s.path("huge"), 1<<40))
		},
		"a link among inputs to a large sparse file": func(s *scene) {
			s.write(".gauntlet/config.yml", oneCheck("test ! -e red", "inputs: [ignored]"))
			must(s.t, os.Symlink("huge", s.path("ignored")))
			s.write(".gitignore", "gauntlet_logs\nignored\nhuge\n")
			s.write("huge", "")
			must(s.t, os.Truncate(s.path("huge"), 1<<40))
		},
		"git waits for ever": func(s *scene) { s.env = gittest.Wrap(s.t, s.env, "exec sleep 600") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, oneCheck("test ! -e red"))
			s.write("red", "")
			harm(s)
			run := func() Result {
				e := newExecution(s.options())
				e.looking, e.proving = 500*time.Millisecond, 500*time.Millisecond
				return e.run(t.Context())
			}
			wantResult(t, run(), Failed)
			must(t, os.Remove(s.path("red")))
			r := run()
			wantResult(t, r, Passed)
			if again := run(); len(again.with(GateProven)) > 0 {
				t.Error("a pass on a tree that cannot be seen was reused")
			}
		})
	}
}

func (s *scene) pipe(name string) {
	s.t.Helper()
	must(s.t, syscall.Mkfifo(s.path(name), 0o644))
}
