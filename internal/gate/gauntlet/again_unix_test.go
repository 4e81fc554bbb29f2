//go:build unix

package gauntlet

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/gate/gauntlet/change"
	"github.com/stopgate/stopgate/internal/project/config"
)

// asks is how often reviewers were asked.
func (s *scene) asks() int {
	text, _ := os.ReadFile(filepath.Join(s.state, "asks"))
	return strings.Count(string(text), "x")
}

// besideReview is a review with a check beside it that writes when the reviewer has been asked.
func besideReview(writes string) string {
	return oneReview + "        parallel: true\n    checks:\n      - {name: format, command: 'until test -s $ASKS; do sleep 0.02; done; " + writes + "', parallel: true}\n"
}

// A review costs money: it is asked once more only where a gate has changed what it was shown.
func TestE11AReviewOfWhatAGateHasChangedIsAskedOnceMore(t *testing.T) {
	for name, test := range map[string]struct {
		writes string
		asks   int
	}{
		"another file":           {"echo x > ../other", 1},
		"one that is not shown":  {"echo x > x.gen", 1},
		"a file of the change":   {"echo good > f.go", 2},
		"a file that it removes": {"rm -f f.go", 1}, // nothing is left to review
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := reviewed(t, besideReview(test.writes))
			s.write("src/g.go", "1")
			s.commit()
			s.git("update-ref", "refs/remotes/origin/main", "HEAD")
			s.write("src/f.go", "worse\n")
			if name == "a file that it removes" {
				s.git("rm", "-q", "--cached", "src/f.go")
				s.git("commit", "-qm", "without it")
				s.git("update-ref", "refs/remotes/origin/main", "HEAD")
			}
			s.answer(allGood)
			r := s.want(Passed)
			if s.asks() != test.asks {
				t.Errorf("the reviewer was asked %d times, want %d", s.asks(), test.asks)
			}
			if len(r.Gates) != 2 || r.Gates[0].Job != "check:src:format" || r.Gates[1].Job != "review:src:r" {
				t.Errorf("the gates are %+v", r.Gates)
			}
		})
	}
}

// A review that found nothing in what was there before a gate wrote does not stand for what is there now.
func TestE11WhatAReviewFindsInWhatAGateHasWritten(t *testing.T) {
	s := reviewed(t, besideReview("grep -q worse f.go || echo worse > f.go")) // once: the second review must not see it half written
	s.program("codex", "echo x >>"+s.state+"/asks; if grep -q worse; then cat "+s.state+"/answer; else echo '"+allGood+"'; fi")
	s.answer(violations("high", "it is worse"))
	r := s.want(Failed, "review:src:r")
	if len(r.Gates) != 2 || len(r.Gates[1].Violations) != 1 || r.Failures != 1 {
		t.Errorf("%+v", r)
	}
	if open := s.ledger().Open; len(open) != 1 || open[0].Tree != r.Tree {
		t.Errorf("open: %+v, and the tree is %s", open, r.Tree)
	}
}

// The journal has each gate once: what it has said last, and what both times have cost.
func TestE11TheSecondResultIsTheGates(t *testing.T) {
	s := newScene(t, "entry_points:\n  - path: .\n    checks:\n      - {name: t, command: \"test ! -e red\"}\n      - {name: format, command: echo out; touch red}\n")
	s.write("f", "1")
	r := s.want(Failed, "check:.:t")
	if len(r.Gates) != 2 || r.Gates[0].Outcome != GateFailed || r.Gates[1].Outcome != GatePassed {
		t.Fatalf("%+v", r.Gates)
	}
	job := &Job{Kind: KindReview, Entry: ".", Review: &config.Review{}}
	first, second := job.result(GatePassed, ""), job.result(GatePassed, "")
	first.Cost.USD, second.Cost.USD = 1, 2
	both := verdicts{gates: []GateResult{first}}
	if newExecution(s.options()).replace(t.Context(), &both, []GateResult{second}); len(both.gates) != 1 || both.gates[0].Cost.USD != 3 {
		t.Errorf("both cost %+v", both.gates)
	}
	stop := Stop{Options: s.options()}
	if gates := stop.Record(&r).Gates; len(gates) != 2 || gates[0].Outcome != string(GateFailed) || gates[0].Log == "" || gates[1].Log == "" {
		t.Errorf("the record is %+v", gates)
	}
	if log := r.Gates[1].Log; filepath.Dir(log) != s.path("gauntlet_logs") {
		t.Errorf("the log is %s", log)
	}
	if text, _ := os.ReadFile(r.Gates[1].Log); strings.Count(string(text), "out") < 1 {
		t.Errorf("the log is %q", text)
	}
	state := s.ledger()
	if len(state.Open) != 1 || state.Open[0].Job != "check:.:t" || state.Open[0].Tree != r.Tree {
		t.Errorf("open: %+v", state.Open)
	}
}

// An agent must not shorten the time so that gates cannot judge what one of them has written.
func TestE14NoTimeToRunAgainIsRed(t *testing.T) {
	t.Parallel()
	t.Run("it is cut off", func(t *testing.T) {
		t.Parallel()
		s := newScene(t, oneCheck("test ! -e report || exec sleep 600; sleep 5; touch report"))
		s.write("f", "1")
		o := s.options()
		o.Limit.Shortened = 6 * time.Second
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second) // a busy machine needs some of it
		defer cancel()
		wantResult(t, Execute(ctx, o), Failed, "check:.:t")
	})
	for shortened, want := range map[time.Duration]Outcome{0: GatePassed, time.Second: GateFailed} {
		t.Run("it cannot begin, "+string(want), func(t *testing.T) {
			t.Parallel()
			s := newScene(t, oneCheck("exit 0"))
			s.write("f", "1")
			o := s.options()
			o.Limit.Shortened = shortened
			e := newExecution(o)
			v, _, _ := e.before(t.Context())
			s.write("f", "2")
			e.forPerson = nil
			over, cancel := context.WithDeadline(t.Context(), time.Now())
			defer cancel()
			end := e.settled(over, verdicts{v, []GateResult{e.plan.all()[0].result(GatePassed, "")}, nil})
			if len(end.gates) != 1 || end.gates[0].Outcome != want || (len(e.forPerson) > 0) != (want == GatePassed) {
				t.Errorf("%+v, and %q is told", end.gates, e.forPerson)
			}
		})
	}
}

// What one gate makes unreadable is no exit: everything counts as changed then, and runs.
func TestE7ATreeThatAGateMakesUnreadable(t *testing.T) {
	s := newScene(t, "entry_points:\n  - path: .\n    checks:\n      - {name: t, command: \"test ! -e red\"}\n      - {name: u, command: \"touch red; echo broken > .git/index\"}\n")
	s.write("f", "1")
	if r := s.want(Failed, "check:.:t"); strings.Contains(strings.Join(r.Told, "\n"), "undone") {
		t.Errorf("told %q of a tree that nobody has found", r.Told)
	}
}

// A review that a run before has passed is not asked again because a gate has written elsewhere.
func TestE11AProvenReviewIsNotAskedForAnotherFile(t *testing.T) {
	t.Parallel()
	s := reviewed(t, oneReview+"    checks:\n      - {name: report, command: test -e $ASKS.ok && echo x > ../other}\n")
	s.answer(allGood)
	s.want(Failed, "check:src:report")
	must(t, os.WriteFile(filepath.Join(s.state, "asks.ok"), nil, 0o600))
	s.want(Passed)
	if s.asks() != 1 {
		t.Errorf("the reviewer was asked %d times", s.asks())
	}
}

// A gate that passed and could not run again has still passed.
func TestE11APassStandsIfTheGateCannotRunAgain(t *testing.T) {
	t.Parallel()
	s := newScene(t, "entry_points:\n  - path: .\n    checks:\n      - {name: t, command: test ! -e report || exit 127}\n      - {name: u, command: touch report}\n")
	s.write("f", "1")
	r := s.want(Passed)
	if told := strings.Join(r.Told, "\n"); !strings.Contains(told, "not all of them could run again") {
		t.Errorf("told %q", told)
	}
}

// A gate that what another one has written leads to, and that there is no time for, has not failed.
func TestE11TooLittleTimeForAGateThatAppliesOnlyNow(t *testing.T) {
	t.Parallel()
	s := newScene(t, "entry_points:\n  - path: a\n    checks:\n      - {name: late, command: exec sleep 600}\n  - path: b\n    checks:\n      - {name: generate, command: echo x > ../a/made}\n")
	s.write("b/f", "1")
	s.write("a/f", "1")
	s.git("add", "a")
	s.git("commit", "-qm", "a")
	s.git("update-ref", "refs/remotes/origin/main", "HEAD")
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second) // a busy machine needs some of it
	defer cancel()
	r := Execute(ctx, s.options())
	if told := strings.Join(r.Told, "\n"); r.Status != Passed || !strings.Contains(told, "too little time") {
		t.Errorf("%s, told %q", r.Status, told)
	}
}

// Where the gates could not judge what one of them has written, the session goes on from the tree that they did judge, and
// what the gate has written is not taken for the session's.
func TestE11TheSessionGoesOnFromWhatWasJudged(t *testing.T) {
	const once = "test -e $ONCE || { touch $ONCE; echo 2 >../b/report; }"
	for name, test := range map[string]struct {
		checks, told string
		others       bool
	}{
		"it could not run again": {"{name: t, command: test $(cat ../b/report) = 1 || exit 127}\n      - {name: u, command: '" + once + "'}", "not all of them could run again", false},
		"too little time":        {"{name: t, command: '" + once + "'}", "too little time", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, "")
			command, count := s.counter()
			s.env = append(s.env, "ONCE="+filepath.Join(s.state, "once"))
			s.write(".gauntlet/config.yml", "entry_points:\n  - path: a\n    checks:\n      - "+test.checks+"\n  - path: b\n    checks:\n      - {name: c, command: '"+command+"'}\n")
			s.write("a/f", "1\n")
			s.write("b/f", "1\n")
			s.commit()
			s.git("update-ref", "refs/remotes/origin/main", "HEAD")
			s.write("theirs", "1\n")
			s.commit()
			s.git("branch", "theirs")
			s.git("reset", "-q", "--hard", "HEAD~1")
			s.write("b/report", "1\n") // the person's, and not committed
			o := s.options()
			o.Baseline = KeepTree(t.Context(), o.Project, s.state, s.env, o.Now, change.Baseline{}).Tree

			s.write("a/f", "2\n")
			if test.others {
				s.took("check:a:t", 40*time.Second)
			}
			o.Others = test.others
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			first := Execute(ctx, o)
			if told := strings.Join(first.Told, "\n"); first.Status != Passed || !strings.Contains(told, test.told) {
				t.Fatalf("%s, told %q", first.Status, told)
			}
			before := count()

			// A pull, and nothing by the session.
			s.write("b/report", "1\n")
			s.git("merge", "-q", "--ff-only", "theirs")
			s.git("update-ref", "refs/remotes/origin/main", "HEAD")
			o = s.options()
			o.Baseline = first.Tree
			wantResult(t, Execute(t.Context(), o), Passed)
			if more := count() - before; more != 0 {
				t.Errorf("the gate of a file that the session has not touched ran %d times", more)
			}
		})
	}
}

// Half of the time that is left is for the other trees of a stop.
func TestE11OtherTreesNeedTime(t *testing.T) {
	t.Parallel()
	s := newScene(t, oneCheck("touch report"))
	s.write("f", "1")
	s.took("check:.:t", 40*time.Second)
	o := s.options()
	o.Others = true
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if r := Execute(ctx, o); !strings.Contains(strings.Join(r.Told, "\n"), "too little time") {
		t.Errorf("%+v", r)
	}
}

// Gates that run beside each other take as long as the slowest, and others as long as all of them.
func TestE11HowLongGatesTakeThatRunAgain(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		parallel, allowed bool
		left              time.Duration
		late              bool
	}{
		"one after the other":            {false, true, time.Minute, true},
		"beside each other":              {true, true, time.Minute, false},
		"beside each other, not in time": {true, true, 30 * time.Second, true},
		"the project allows it not":      {true, false, time.Minute, true},
		"with time":                      {false, false, 2 * time.Minute, false},
	} {
		check := func(name string) string {
			return fmt.Sprintf("      - {name: %s, command: exit 0, parallel: %t}\n", name, test.parallel)
		}
		s := newScene(t, fmt.Sprintf("allow_parallel: %t\nentry_points:\n  - path: .\n    checks:\n%s%s", test.allowed, check("t"), check("u")))
		s.took("check:.:t", 40*time.Second)
		s.took("check:.:u", 40*time.Second)
		e := newExecution(s.options())
		ctx, cancel := context.WithTimeout(t.Context(), test.left)
		if got := e.tooLate(ctx, verdicts{}, e.plan.all()); got != test.late {
			t.Errorf("%s: too late is %t", name, got)
		}
		cancel()
	}
}

// What a reviewer costs that could say nothing the second time is paid as well.
func TestE11WhatSaysNothingCostsToo(t *testing.T) {
	s := newScene(t, oneCheck("exit 0"))
	job := &Job{Kind: KindReview, Entry: ".", Review: &config.Review{}}
	first, second := job.result(GatePassed, "passed"), job.result(GateCouldNotRun, "")
	first.Cost.USD, second.Cost.USD = 1, 2
	both := verdicts{gates: []GateResult{first}}
	unfinished := newExecution(s.options()).replace(t.Context(), &both, []GateResult{second})
	if !unfinished || len(both.gates) != 1 || both.gates[0].Outcome != GatePassed || both.gates[0].Cost.USD != 3 {
		t.Errorf("unfinished is %t: %+v", unfinished, both.gates)
	}
}

// A pass names no console log that a gate has removed.
func TestE7APassNamesNoLogThatIsGone(t *testing.T) {
	t.Parallel()
	s := newScene(t, oneCheck("rm -rf gauntlet_logs"))
	s.write("f", "1")
	r := s.want(Passed)
	if info, err := os.Stat(r.ConsoleLogPath); r.ConsoleLogPath != "" && (err != nil || !info.Mode().IsRegular()) {
		t.Errorf("it names %s", r.ConsoleLogPath)
	}
}
