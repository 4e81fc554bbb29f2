//go:build unix

package gauntlet

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/gate/gauntlet/change"
	"github.com/stopgate/stopgate/internal/gate/gauntlet/ledger"
)

// A pass of a tree that changed while the gate ran proves nothing of the tree before, which is there
// again later. The gate runs once more on the tree after, which it has not seen.
func TestATreeThatChangesDuringTheRunIsNotProven(t *testing.T) {
	s := newScene(t, "")
	counts, count := s.counter()
	s.write(".gauntlet/config.yml", oneCheck(counts+"; echo after > f"))
	for i, step := range []struct {
		content string
		runs    int
	}{
		{"before\n", 2}, // on this one, and on what it left
		{"after\n", 2},
		{"before\n", 3}, // what it left is proven
		{"after\n", 3},
	} {
		s.write("f", step.content)
		r := s.want(Passed)
		if _, err := os.Stat(r.Gates[0].Log); len(r.Told) > 0 || i%2 == 0 && (r.Gates[0].Outcome != GatePassed || err != nil) {
			t.Errorf("step %d: told %q, and of the log %v", i, r.Told, err)
		}
		if count() != step.runs {
			t.Fatalf("step %d: it ran %d times, want %d", i, count(), step.runs)
		}
	}
}

// Only a gate that ran and passed is proven.
func TestWhatDidNotPassIsNotProven(t *testing.T) {
	for _, outcome := range []Outcome{GateFailed, GateCouldNotRun, GateNotStarted} {
		s := newScene(t, oneCheck("exit 0"))
		s.write("f", "1")
		e := newExecution(s.options())
		v, _, over := e.before(t.Context())
		if over {
			t.Fatal("nothing is to be done")
		}
		job := e.plan.all()[0]
		job.key = e.prover(v, v.tree).key(t.Context(), job)
		if job.key == "" {
			t.Fatal("nothing can be proven here")
		}
		r := Result{Gates: []GateResult{job.result(outcome, "")}}
		e.record(t.Context(), v, &r, nil)
		state := s.ledger()
		if _, proven := state.Proof(job.key, s.now); proven {
			t.Errorf("%s counts as a pass", outcome)
		}
	}
}

// A run in which a gate was not started, or could not run, has not passed.
func TestAllGatesHaveToRunForAPass(t *testing.T) {
	s := newScene(t, oneCheck("exit 0"))
	e := newExecution(s.options())
	job := e.plan.all()[0]
	for outcome, want := range map[Outcome]Status{
		GatePassed:      Passed,
		GateProven:      Passed,
		GateCouldNotRun: InfrastructureError,
		GateNotStarted:  InfrastructureError,
	} {
		r := Result{Gates: []GateResult{job.result(GatePassed, ""), job.result(outcome, "")}}
		if got := e.status(&r, ledger.Conclusion{}); got != want {
			t.Errorf("with a gate that is %s: %s, want %s", outcome, got, want)
		}
		r.Warnings = []string{"w"}
		if got := e.status(&r, ledger.Conclusion{}); got == Passed || want == InfrastructureError && got != want {
			t.Errorf("with a gate that is %s, and a warning: %s", outcome, got)
		}
	}
}

// harms are what can happen to a ledger; what it held is not known afterwards.
var harms = map[string]func(file string) error{
	"damaged": func(file string) error { return os.WriteFile(file, []byte("{}"), 0o600) },
	"unreadable": func(file string) error {
		if err := os.Remove(file); err != nil {
			return err
		}
		return os.Mkdir(file, 0o700)
	},
	"whole": func(string) error { return nil },
}

// harm does one of the harms to the scene's ledger.
func (s *scene) harm(name string) {
	s.t.Helper()
	files, err := filepath.Glob(filepath.Join(s.state, "ledger", "*", "ledger.json"))
	if err != nil || len(files) != 1 {
		s.t.Fatalf("%v: ledgers %q", err, files)
	}
	must(s.t, harms[name](files[0]))
}

// outlasted is the result of a run whose time ends while it waits for another one: not before, however busy the machine is.
func outlasted(t *testing.T, run func(context.Context) Result) (r Result) {
	t.Helper()
	for limit := 100 * time.Millisecond; limit < time.Minute; limit *= 2 {
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		r = run(ctx)
		cancel()
		if r.Status != InfrastructureError { // that is a run that was still looking at the tree
			break
		}
	}
	return r
}

// A ledger that is damaged or cannot be read may have held a failure: the older tool's hook
// lets no agent go for its interval, a cycle or another run, and every gate runs.
func TestWithoutALedgerAFailureMayBeOpen(t *testing.T) {
	for name := range harms {
		t.Run(name, func(t *testing.T) {
			lost := name != "whole"
			s := newScene(t, "stop_hook: {verify_fixes: true}\n"+oneCheck("exit 0"))
			s.write("f", "1")
			s.want(Passed)
			s.harm(name)
			stop := Stop{Options: s.options(), Log: t.Logf, Alone: true}
			stop.Session, stop.Now = "s", func() time.Time { return s.now.Add(time.Minute) }

			active, disabled := stop, stop
			active.Active = true
			disabled.Environ = append(slices.Clip(s.env), "GAUNTLET_STOP_HOOK_ENABLED=false")
			if r := Decide(t.Context(), disabled); r.Status != StopHookDisabled || (len(r.Warnings) > 0) != lost {
				t.Errorf("disabled: %s with the warnings %q", r.Status, r.Warnings)
			}
			lock, err := logsOf(stop.Project).Acquire(s.now)
			must(t, err)
			beside := map[bool]Status{true: Failed, false: LockExists}[lost]
			if r := outlasted(t, func(ctx context.Context) Result { return Decide(ctx, stop) }); r.Status != beside {
				t.Errorf("beside another run: %s", r.Status)
			}
			red := s.options()
			red.Baseline, red.Red = TreeOf(t.Context(), stop.Project, s.state, s.env, stop.Now), true
			if r := outlasted(t, func(ctx context.Context) Result { return Execute(ctx, red) }); (r.Status == Failed) != lost {
				t.Errorf("beside another run, on the tree that it found: %s", r.Status)
			}
			lock.Release()

			if r := Decide(t.Context(), active); (r.Status != StopHookActive) != lost {
				t.Errorf("after a block: %s", r.Status)
			}
			s.harm(name)
			if r := Decide(t.Context(), stop); (r.Status != IntervalNotElapsed) != lost {
				t.Errorf("within the interval: %s", r.Status)
			}
		})
	}
}

// A gate that fails on a tree that it had passed proves that the pass said too much: it does not
// count again after a flaky one.
func TestAFailureTakesAProofBack(t *testing.T) {
	s := newScene(t, "")
	counts, count := s.counter()
	bad := filepath.Join(s.state, "bad")
	s.write(".gauntlet/config.yml", oneCheck(counts+"; test ! -e "+bad))
	s.want(Passed)
	must(t, os.WriteFile(bad, nil, 0o600))
	again := s.options()
	again.NoCache = true
	wantResult(t, Execute(t.Context(), again), Failed)
	must(t, os.Remove(bad))
	s.want(PassedWithWarnings, "flaky")
	s.want(Passed)
	if count() != 4 {
		t.Errorf("it ran %d times", count())
	}
}

// A base that does not exist is an error for the person who named it, and no exit for an agent.
func TestE7ABaseThatDoesNotExist(t *testing.T) {
	s := newScene(t, oneCheck("exit 1"))
	s.write("f", "1")
	for answers, want := range map[bool]Status{true: Failed, false: Error} {
		o := s.options()
		o.Scope, o.Answers = change.Scope{Base: "no-such-ref", Explicit: true}, answers
		wantResult(t, Execute(t.Context(), o), want)
	}
}

func TestWithoutALedgerEveryGateRuns(t *testing.T) {
	for name := range harms {
		t.Run(name, func(t *testing.T) {
			counts, count := (&scene{state: t.TempDir()}).counter()
			s := newScene(t, oneCheck(counts))
			s.write("f", "1")
			s.want(Passed)
			s.git("clean", "-qfd")
			s.harm(name)
			r := s.run()
			if ran := count() == 2; ran != (name != "whole") {
				t.Errorf("with nothing changed it ran: %t, %s: %s", ran, r.Status, r.Message)
			}
		})
	}
}

// What a pass holds for, besides the files that git names.
func TestWhatElseAPassDependsOn(t *testing.T) {
	for name, tt := range map[string]struct {
		more   []string
		before func(*scene)
		change func(*scene)
		again  bool
	}{
		"a script that git ignores": {
			before: func(s *scene) { s.write(".gitignore", ".gauntlet/\n"); s.git("rm", "-qr", "--cached", ".gauntlet") },
			change: func(s *scene) { s.write(".gauntlet/x.sh", "exit 0 # another\n") },
			again:  true,
		},
		"scripts that git ignores, unchanged": {
			before: func(s *scene) { s.write(".gitignore", ".gauntlet/\n"); s.git("rm", "-qr", "--cached", ".gauntlet") },
			change: func(*scene) {},
		},
		"scripts that git ignores and that cannot be read": {
			before: func(s *scene) {
				s.write(".gitignore", ".gauntlet/\n")
				s.git("rm", "-qr", "--cached", ".gauntlet")
				s.pipe(".gauntlet/pipe")
			},
			change: func(*scene) {},
			again:  true,
		},
		"a script outside of the inputs": {
			more:   []string{"inputs: [src]"},
			change: func(s *scene) { s.write(".gauntlet/x.sh", "exit 0 # another\n") },
			again:  true,
		},
		"a tool that cannot say its version": {
			more:   []string{"tools: [tool]"},
			before: func(s *scene) { s.program("tool", "echo 1; exit 1") },
			change: func(*scene) {},
			again:  true,
		},
		"one of two tools that cannot": {
			more:   []string{"tools: [echo 1, tool]"},
			before: func(s *scene) { s.program("tool", "exit 1") },
			change: func(*scene) {},
			again:  true,
		},
		"a tool that says nothing": {
			more:   []string{"tools: [tool]"},
			before: func(s *scene) { s.program("tool", "exit 0") },
			change: func(*scene) {},
		},
		"inputs that cannot be read": {
			more:   []string{"inputs: [src]"},
			before: func(s *scene) { s.pipe("src/pipe") },
			change: func(*scene) {},
			again:  true,
		},
		"files that cannot be read": {
			before: func(s *scene) { s.unreadable() },
			change: func(*scene) {},
			again:  true,
		},
		"a repository within": {
			before: func(s *scene) { s.git("init", "-q", "nested"); s.write("nested/f", "1") },
			change: func(*scene) {},
		},
		"a file in a repository within": {
			before: func(s *scene) { s.git("init", "-q", "nested"); s.write("nested/f", "1") },
			change: func(s *scene) { s.write("nested/f", "12") },
			again:  true,
		},
		"a variable that is set to nothing": {
			more:   []string{"env: [V]"},
			change: func(s *scene) { s.env = append(s.env, "V=") },
			again:  true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, "")
			counts, count := s.counter()
			s.write("src/f", "1")
			s.write(".gauntlet/x.sh", "exit 0\n")
			s.write(".gauntlet/config.yml", oneCheck(counts, tt.more...))
			if tt.before != nil {
				tt.before(s)
			}
			s.want(Passed)
			tt.change(s)
			s.want(Passed)
			if again := count() == 2; again != tt.again {
				t.Errorf("ran again: %t, want %t", again, tt.again)
			}
		})
	}
}

// A check gets the base in a variable: a pass with one base says nothing about another one, even
// at the same commit. The commit counts for a check that asks for the base.
func TestAPassWithAnotherBaseIsNotReused(t *testing.T) {
	s := newScene(t, "")
	counts, count := s.counter()
	s.write(".gauntlet/config.yml", oneCheck(counts))
	s.commit()
	s.git("branch", "one", "main")
	s.git("branch", "two", "main")
	s.write("f", "1")
	run := func(base string, runs int) {
		t.Helper()
		o := s.options()
		o.Scope = change.Scope{Base: base}
		wantResult(t, Execute(t.Context(), o), Passed)
		if count() != runs {
			t.Errorf("from %s: it ran %d times, want %d", base, count(), runs)
		}
	}
	run("one", 1)
	run("one", 1)
	run("two", 2)

	// The same name, at another commit that the work is based on.
	s.git("branch", "-f", "two", "HEAD")
	run("two", 2)
	s.write(".gauntlet/config.yml", oneCheck(counts+"; echo $BASE_BRANCH"))
	run("two", 3)
	s.git("branch", "-f", "two", "HEAD^")
	run("two", 4)
	run("two", 4)
}

// Logs of earlier work that cannot be put away keep no gate from running.
func TestE7WhatCannotBePutAwayIsNoExit(t *testing.T) {
	s := newScene(t, oneCheck("test ! -e bad"))
	s.write("f", "1")
	s.commit()
	s.want(Passed)
	s.git("update-ref", "refs/remotes/origin/main", "HEAD")
	s.write("bad", "")
	s.harm("unreadable")
	if r := s.want(Failed); !strings.Contains(strings.Join(r.Told, "\n"), "cannot archive the logs") {
		t.Errorf("a person is told %q", r.Told)
	}
}
