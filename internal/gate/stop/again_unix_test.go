//go:build unix

package stop

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/gate/gauntlet"
	"github.com/stopgate/stopgate/internal/project/config"
	"github.com/stopgate/stopgate/internal/sys/git/gittest"
)

// newWriters is a project whose checks, a line each, may write; $RUNS is a file outside of it.
func newWriters(t *testing.T, more string, checks ...string) *scene {
	t.Helper()
	s := newWork(t)
	s.env = append(s.env, "RUNS="+filepath.Join(t.TempDir(), "runs"))
	s.config("quiet: true\nbase_branch: origin/main\n" + more + "entry_points:\n  - path: .\n    checks:\n      - " + strings.Join(checks, "\n      - ") + "\n")
	s.ready()
	return s
}

// ready commits the project, as a person does who has approved it, and begins a session.
func (s *scene) ready() {
	s.t.Helper()
	r := gittest.At(s.t, s.root)
	r.Commit("gates")
	r.Git("update-ref", "refs/remotes/origin/main", "HEAD")
	s.approve()
	s.prompt("do it", nil)
}

// ran is what gates have written to $RUNS since the last call.
func (s *scene) ran() string {
	s.t.Helper()
	file := strings.TrimPrefix(s.env[len(s.env)-1], "RUNS=")
	text, _ := os.ReadFile(file)
	_ = os.Remove(file)
	return strings.ReplaceAll(string(text), "\n", "")
}

// What was judged is the tree at which the agent stops: a gate that writes does not make it red unseen.
func TestE11AGateThatBreaksTheTreeIsNoExit(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		checks []string
		red    string
	}{
		"after another one": {[]string{"{name: t, command: test ! -e red}", "{name: format, command: touch red}"}, "check:.:t"},
		"beside another one": {[]string{
			"{name: t, command: test ! -e red, parallel: true}", "{name: format, command: sleep 1; touch red, parallel: true}",
		}, "check:.:t"},
		"with a pass that is never reused": {[]string{"{name: t, command: test ! -e red, cache: false}", "{name: format, command: touch red}"}, "check:.:t"},
		"what another one reads":           {[]string{"{name: t, command: test ! -e red, inputs: [red]}", "{name: format, command: touch red}"}, "check:.:t"},
		"its own":                          {[]string{"{name: once, command: test ! -e red && touch red}"}, "check:.:once"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newWriters(t, "", test.checks...)
			write(t, s.path("g"), "1")
			wantBlock(t, s.stop(nil), test.red)
			if got := s.gates()[test.red]; !strings.HasPrefix(got, "failed") {
				t.Errorf("the record says that %s is %q", test.red, got)
			}
			wantBlock(t, s.stop(nil), test.red)
		})
	}
	t.Run("one that had passed before", func(t *testing.T) {
		t.Parallel()
		s := newWriters(t, "", "{name: t, command: test ! -e red, inputs: [red]}", "{name: u, command: test ! -e $RUNS || touch red}")
		write(t, s.path("g"), "1")
		wantAllow(t, s.stop(nil))
		write(t, strings.TrimPrefix(s.env[len(s.env)-1], "RUNS="), "")
		write(t, s.path("g"), "2")
		wantBlock(t, s.stop(nil), "check:.:t")
	})
	t.Run("one that applied to nothing before", func(t *testing.T) {
		t.Parallel()
		s := newWork(t)
		s.config("quiet: true\nbase_branch: origin/main\nentry_points:\n" +
			"  - {path: a, checks: [{name: unit, command: test ! -e red}]}\n  - {path: b, checks: [{name: generate, command: touch ../a/red}]}\n")
		write(t, s.path("a/f"), "1")
		write(t, s.path("b/f"), "1")
		s.ready()
		write(t, s.path("b/f"), "2")
		wantBlock(t, s.stop(nil), "check:a:unit")
	})
}

// A formatter that fixes something costs one more run of the gates that the fix concerns, and nothing is said.
func TestE11WhatAFormatterFixesIsJudgedAtOnce(t *testing.T) {
	t.Parallel()
	s := newWriters(t, "",
		"{name: format, command: echo f >> $RUNS; echo good > g}", "{name: t, command: echo t >> $RUNS; grep -q good g}",
		"{name: other, command: echo o >> $RUNS, inputs: [f]}")
	write(t, s.path("g"), "good")
	wantAllow(t, s.stop(nil))
	if got := s.ran(); got != "ftoft" {
		t.Errorf("the gates ran %q, want both that read the file twice", got)
	}
	for name, outcome := range s.gates() {
		if outcome != "passed" {
			t.Errorf("the record says that %s is %q", name, outcome)
		}
	}
	wantAllow(t, s.stop(nil))
	wantAllow(t, s.stop(fields{"session_id": "s2"}))
	if got := s.ran(); got != "" {
		t.Errorf("the gates ran %q although they have passed on this tree", got)
	}
}

func TestE11ATreeThatGatesAlwaysChangeIsTold(t *testing.T) {
	t.Parallel()
	const always = "{name: report, command: echo r >> $RUNS; echo r >> report}"
	s := newWriters(t, "", always, "{name: t, command: echo t >> $RUNS}")
	write(t, s.path("g"), "1")
	wantAllow(t, s.stop(nil), "the tree changed while the gates ran (report), and again", "let git ignore")
	if got := s.ran(); got != "rtrt" {
		t.Errorf("the gates ran %q, want twice each", got)
	}

	t.Run("nobody reads it", func(t *testing.T) {
		s := newWriters(t, "", strings.Replace(always, "}", ", inputs: [g]}", 1), "{name: t, command: echo t >> $RUNS, inputs: [g]}")
		write(t, s.path("g"), "1")
		wantAllow(t, s.stop(nil))
		if got := s.ran(); got != "rt" {
			t.Errorf("the gates ran %q, want once each", got)
		}
	})
	t.Run("nobody reads it, but a formatter writes, too", func(t *testing.T) {
		s := newWriters(t, "", "{name: format, command: echo good > g, inputs: [g]}", strings.Replace(always, "}", ", inputs: [g]}", 1))
		write(t, s.path("g"), "1")
		wantAllow(t, s.stop(nil))
		if got := s.ran(); got != "rr" {
			t.Errorf("the gate ran %q, want twice", got)
		}
	})
	t.Run("git ignores it", func(t *testing.T) {
		s := newWriters(t, "", always, "{name: t, command: echo t >> $RUNS}")
		write(t, s.path(".gitignore"), "gauntlet_logs\nreport\n")
		s.git("commit", "-qam", "ignore")
		write(t, s.path("g"), "1")
		wantAllow(t, s.stop(fields{"session_id": "s2"}))
		if got := s.ran(); got != "rt" {
			t.Errorf("the gates ran %q, want once each", got)
		}
	})
	t.Run("an editor's", func(t *testing.T) {
		s := newWriters(t, "", "{name: t, command: echo t >> $RUNS; touch .g.swp}")
		write(t, s.path("g"), "1")
		wantAllow(t, s.stop(nil))
		if got := s.ran(); got != "t" {
			t.Errorf("the gate ran %q, want once", got)
		}
	})
}

// A gate that takes the work away passes without it.
func TestE11WorkThatAGateTakesAwayIsTold(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ command, told string }{
		"stash":    {"git stash -qu", "a stash"},
		"clean":    {"git clean -qfd", "red disappeared"},
		"reset":    {"git clean -qfd; git reset -q --hard", "all that the agent had changed was undone"},
		"checkout": {"git stash -qu; git checkout -q --detach HEAD^", "HEAD moved from main ("},
		"branch":   {"git stash -qu; git checkout -qb other", " to other ("},
		"commit":   {"git add red; git commit -qm red; git checkout -q --detach HEAD^", "commits on main"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newWriters(t, "", `{name: t, command: "test ! -e red || { `+test.command+`; }; test ! -e red"}`)
			s.red()
			write(t, s.path("f"), "2")
			wantAllow(t, s.stop(nil), test.told)
		})
	}
	t.Run("a file that was made and removed meanwhile", func(t *testing.T) {
		t.Parallel()
		s := newWriters(t, "", "{name: t, command: touch report; rm report}")
		write(t, s.path("g"), "1")
		wantAllow(t, s.stop(nil))
	})
}

// The run's own deadline holds for both times. A gate that cannot end a second time has not failed.
func TestE11TooLittleTimeToRunAgainIsTold(t *testing.T) {
	t.Parallel()
	t.Run("none is begun", func(t *testing.T) {
		t.Parallel()
		s := newWriters(t, "stop_hook: {deadline: 24}\n", "{name: t, command: echo t >> $RUNS; sleep 13; touch report}")
		write(t, s.path("g"), "1")
		wantAllow(t, s.stop(nil), "too little time to run them again", "raise stop_hook.deadline (24s)")
		if got := s.ran(); got != "t" {
			t.Errorf("the gate ran %q, want once", got)
		}
		wantAllow(t, s.stop(nil))
		if got := s.ran(); got != "t" {
			t.Errorf("at the next stop the gate ran %q, want once", got)
		}
	})
	t.Run("one is cut off", func(t *testing.T) {
		t.Parallel()
		s := newWriters(t, "stop_hook: {deadline: 10}\n", "{name: t, command: test ! -e report || exec sleep 600; touch report}")
		write(t, s.path("g"), "1")
		wantAllow(t, s.stop(nil), "too little time to run them again")
		if got := s.gates()["check:.:t"]; got != "passed" {
			t.Errorf("the record says %q", got)
		}
		wantBlock(t, s.stop(nil), "check:.:t") // it has the time of a run of its own, and that is too short
	})
}

// The older tool's hook judges what it finds, and no more; a run by hand answers no stop.
func TestE11OnlyAStopIsJudgedAsItEnds(t *testing.T) {
	t.Parallel()
	s := newWriters(t, "", "{name: t, command: echo t >> $RUNS; echo r >> report}")
	write(t, s.path("g"), "1")
	stopHook(t, s, nil)
	if got := s.ran(); got != "t" {
		t.Errorf("with stop-hook the gate ran %q, want once", got)
	}
	project := Locator{StateDir: s.state, Global: &config.Global{}}.Locate(s.root, true).Project
	gauntlet.Execute(t.Context(), gauntlet.Options{Project: project, Global: &config.Global{}, StateDir: s.state, Environ: s.env, Now: s.now})
	if got := s.ran(); got != "t" {
		t.Errorf("by hand the gate ran %q, want once", got)
	}
}

// A run in which nothing changes looks at the tree before and after, as it always did.
func TestE11ARunThatChangesNothingAsksGitNoMore(t *testing.T) {
	t.Parallel()
	s := newWriters(t, "", "{name: t, command: echo t >> $RUNS}")
	write(t, s.path("g"), "1")
	wantAllow(t, s.stop(nil))
	write(t, s.path("g"), "2")
	since := s.gitCalls()
	wantAllow(t, s.stop(nil))
	calls := since()
	looks := 0
	for _, call := range calls {
		if strings.Contains(call, "ls-files") {
			looks++
		}
	}
	if looks != 2 {
		t.Errorf("git was asked %d times:\n%s", looks, strings.Join(calls, ""))
	}
}
