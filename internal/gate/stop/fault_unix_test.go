//go:build unix

package stop

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/gate/gauntlet/ledger"
	"github.com/stopgate/stopgate/internal/gate/gauntlet/logdir"
	"github.com/stopgate/stopgate/internal/sys/git/gittest"
)

// Whatever keeps us from looking at the tree, a red tree is red.
func TestE7AnErrorWhileLookingIsNoExit(t *testing.T) {
	t.Parallel()
	for name, harm := range map[string]func(*scene){
		"an empty index":          func(s *scene) { write(s.t, s.path(".git/index"), "") },
		"a damaged index":         func(s *scene) { write(s.t, s.path(".git/index"), "DIRC nonsense") },
		"a lock on the index":     func(s *scene) { write(s.t, s.path(".git/index.lock"), "") },
		"damaged packed refs":     func(s *scene) { write(s.t, s.path(".git/packed-refs"), "nonsense\n") },
		"a damaged HEAD":          func(s *scene) { write(s.t, s.path(".git/HEAD"), "nonsense\n") },
		"a damaged configuration": func(s *scene) { write(s.t, s.path(".git/config"), "[core\n") },
		"an unknown extension":    func(s *scene) { gittest.At(s.t, s.root).Git("config", "extensions.unknown", "1") },
		"no objects":              func(s *scene) { check(s.t, os.RemoveAll(s.path(".git/objects"))) },
		"a pipe among the files":  func(s *scene) { pipe(s.t, s.path("pipe")) },
		"a folder without access": func(s *scene) { check(s.t, os.Mkdir(s.path("closed"), 0)) },
		"no base":                 func(s *scene) { gittest.At(s.t, s.root).Git("update-ref", "-d", "refs/remotes/origin/main") },
		"a file for the logs":     func(s *scene) { write(s.t, s.path("gauntlet_logs"), "") },
		"a loop for the logs":     func(s *scene) { check(s.t, os.Symlink("gauntlet_logs", s.path("gauntlet_logs"))) },
		"a junk lock file":        func(s *scene) { write(s.t, s.path("gauntlet_logs/.gauntlet-run.lock"), "4711") },
		"a folder for the lock":   func(s *scene) { check(s.t, os.MkdirAll(s.path("gauntlet_logs/.gauntlet-run.lock"), 0o755)) },
		"a pipe for the lock": func(s *scene) {
			check(s.t, os.Mkdir(s.path("gauntlet_logs"), 0o755))
			pipe(s.t, s.path("gauntlet_logs/.gauntlet-run.lock"))
		},
		"a damaged ledger":     func(s *scene) { write(s.t, ledgerFile(s), "nonsense") },
		"git is not installed": func(s *scene) { s.env = append(s.env, "PATH="+onlyShell(s.t)) },
		"a pipe as git's log": func(s *scene) {
			check(s.t, os.Remove(s.path(".git/logs/HEAD")))
			pipe(s.t, s.path(".git/logs/HEAD"))
		},
		"a pipe as the client's settings": func(s *scene) {
			check(s.t, os.MkdirAll(s.path(".claude"), 0o755))
			pipe(s.t, s.path(".claude/settings.json"))
		},
		"an unknown repository":    func(s *scene) { write(s.t, s.path("sub/.git"), "gitdir: /nonsense\n") },
		"a repository as it forms": func(s *scene) { check(s.t, os.RemoveAll(s.path(".git/refs"))) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newWork(t)
			write(t, s.path("red"), "")
			harm(s)
			wantBlock(t, s.stop(nil), "check:.:t")
			check(t, os.Remove(s.path("red")))
			if r := s.stop(nil); r.blocks() {
				t.Errorf("a green tree is blocked: %s", r.Stdout)
			}
		})
	}
}

func pipe(t *testing.T, path string) {
	t.Helper()
	check(t, syscall.Mkfifo(path, 0o644))
}

func ledgerFile(s *scene) string {
	s.t.Helper()
	l := ledger.Open(s.state, s.root)
	check(s.t, l.Update(s.t.Context(), func(state *ledger.State) error { state.Damaged = true; return nil }))
	files, err := filepath.Glob(filepath.Join(s.state, "ledger", "*", "*.json"))
	check(s.t, err)
	if len(files) != 1 {
		s.t.Fatalf("ledgers: %q", files)
	}
	return files[0]
}

// onlyShell is a PATH with a shell and nothing else.
func onlyShell(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	check(t, os.Symlink("/bin/sh", filepath.Join(dir, "sh")))
	return dir
}

// Another run holds the lock: the hook waits for it, then judges.
func TestE8TheHookWaitsForTheLock(t *testing.T) {
	t.Parallel()
	s := newWork(t)
	write(t, s.path("red"), "")
	lock, err := logdir.At(s.path("gauntlet_logs")).Acquire(time.Now())
	check(t, err)
	replies := make(chan reply, 1)
	go func() { replies <- s.stop(nil) }()
	eventually(t, "the hook has the call", func() bool { return len(s.records()) > 0 })
	select {
	case r := <-replies:
		t.Fatalf("it did not wait: %s", r.Stdout)
	case <-time.After(200 * time.Millisecond): // it cannot be seen to wait; too short would only hide a fault
	}
	check(t, lock.Release())
	wantBlock(t, <-replies, "check:.:t")
}

func TestE8AtTheDeadline(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		work   func(*scene)
		blocks bool
	}{
		"something is open":                 {func(s *scene) { write(s.t, s.path("red"), ""); s.stop(nil) }, true},
		"the tree has left its baseline":    {func(s *scene) { s.prompt("do it", nil); write(s.t, s.path("g"), "") }, true},
		"what the agent found is not known": {func(s *scene) { write(s.t, s.path("g"), "") }, true},
		"the tree is as the agent found it": {func(s *scene) { write(s.t, s.path("red"), ""); s.prompt("what is this?", nil) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newWork(t)
			s.config(untilGood + "stop_hook: {deadline: 10}\n")
			s.approve()
			tt.work(s)
			before := series(s)
			lock, err := logdir.At(s.path("gauntlet_logs")).Acquire(time.Now())
			check(t, err)
			defer lock.Release()
			r := s.stop(nil)
			if r.blocks() != tt.blocks {
				t.Errorf("got %s", r.Stdout)
			}
			if tt.blocks && !strings.Contains(r.Reason, "in progress") {
				t.Errorf("the agent is told %s", r.Reason)
			}
			if after := series(s); after != before {
				t.Errorf("%d failing runs after %d: waiting is no retry", after, before)
			}
		})
	}
}

// A gate may start an agent, which stops in the same project: to wait for the run would be to wait for oneself. No other
// run's mark, and no lock that tells nobody, frees anybody.
func TestE8AStopWithinAGateDoesNotWaitForItsRun(t *testing.T) {
	t.Parallel()
	s := newWork(t)
	s.config(untilGood + "stop_hook: {deadline: 2}\n")
	s.approve()
	write(t, s.path("red"), "")
	wantBlock(t, s.stop(nil), "check:.:t")
	lock, err := logdir.At(s.path("gauntlet_logs")).Acquire(time.Now())
	check(t, err)
	env := s.env
	s.env = append(slices.Clone(env), "STOPGATE_RUN="+lock.Owner.Mark())
	wantAllow(t, s.stop(nil), "has started this session")
	s.env = append(slices.Clone(env), "STOPGATE_RUN=x")
	wantBlock(t, s.stop(nil), "in progress")
	write(t, logdir.At(s.path("gauntlet_logs")).LockFile(), "")
	s.env = append(slices.Clone(env), "STOPGATE_RUN="+logdir.Owner{}.Mark())
	wantBlock(t, s.stop(nil), "in progress")
	check(t, lock.Release())
	s.env = append(slices.Clone(env), "STOPGATE_RUN="+lock.Owner.Mark())
	wantBlock(t, s.stop(nil), "check:.:t")
}

func series(s *scene) int {
	s.t.Helper()
	state, err := ledger.Open(s.state, s.root).Read()
	check(s.t, err)
	return state.Series.Failures
}

func TestE8TheOlderHookLetsGoUnlessSomethingIsOpen(t *testing.T) {
	t.Parallel()
	s := newWork(t)
	s.config(untilGood + "stop_hook: {run_interval_minutes: 0, deadline: 10}\n")
	s.approve()
	write(t, s.path("g"), "")
	hold := func() func() error {
		lock, err := logdir.At(s.path("gauntlet_logs")).Acquire(time.Now())
		check(t, err)
		return lock.Release
	}
	release := hold()
	if got := stopHook(t, s, nil)["status"]; got != "lock_exists" {
		t.Errorf("got %v", got)
	}
	check(t, release())
	write(t, s.path("red"), "")
	if got := stopHook(t, s, nil)["status"]; got != "failed" {
		t.Errorf("got %v", got)
	}
	defer hold()()
	if got := stopHook(t, s, nil)["status"]; got != "failed" {
		t.Errorf("with something open: %v", got)
	}
}

func TestE15TheDeadlineFollowsTheHooksTimeout(t *testing.T) {
	t.Parallel()
	// Long enough for a busy machine to start the gate in.
	cut := strings.Replace(untilGood, "test ! -e red", "test ! -e slow || exec sleep 600", 1)
	t.Run("never ended in time", func(t *testing.T) {
		t.Parallel()
		s := newWork(t)
		s.config(cut)
		s.approve()
		install(t, s, `,"timeout":20`)
		write(t, s.path("slow"), "")
		wantAllow(t, s.stop(nil), "check:.:t", "cut off", "has never finished in time", "raise the hook's timeout")
		s.wantVerdict("gates", "could_not_run", "deadline")
	})
	t.Run("ended in time before", func(t *testing.T) {
		t.Parallel()
		s := newWork(t)
		s.config(cut)
		s.approve()
		install(t, s, `,"timeout":20`)
		write(t, s.path("g"), "")
		wantAllow(t, s.stop(nil))
		write(t, s.path("slow"), "")
		wantBlock(t, s.stop(nil), "check:.:t")
	})
	t.Run("the configuration only shortens it", func(t *testing.T) {
		t.Parallel()
		s := newWork(t)
		s.config(cut + "stop_hook: {deadline: 15}\n")
		s.approve()
		write(t, s.path("slow"), "")
		wantAllow(t, s.stop(nil), "raise stop_hook.deadline (15s)")
	})
}

func TestE21AGateThatVanishedHasFailed(t *testing.T) {
	t.Parallel()
	for _, code := range []string{"126", "127"} {
		s := newWork(t)
		s.config(strings.Replace(untilGood, "test ! -e red", "test ! -e gone || exit "+code, 1))
		s.approve()
		write(t, s.path("gone"), "")
		wantAllow(t, s.stop(nil), "could not run")
		check(t, os.Remove(s.path("gone")))
		write(t, s.path("g"), "")
		wantAllow(t, s.stop(nil))
		write(t, s.path("gone"), "")
		wantBlock(t, s.stop(nil), "it ran here before")

		// In every worktree of the repository.
		dir := s.linked("wt")
		write(t, filepath.Join(dir, "gone"), "")
		wantBlock(t, s.stop(fields{"session_id": "s2", "cwd": dir}), "it ran here before")
	}
	t.Run("with its folder", func(t *testing.T) {
		s := newWork(t)
		s.config(strings.Replace(untilGood, "command: test ! -e red", "working_directory: sub, command: 'true'", 1))
		s.approve()
		write(t, s.path("sub/f"), "")
		wantAllow(t, s.stop(nil))
		check(t, os.RemoveAll(s.path("sub")))
		wantBlock(t, s.stop(nil), "it ran here before")
	})
	t.Run("with the folder of its entry point, so that it runs elsewhere", func(t *testing.T) {
		s := newWork(t)
		s.config(strings.NewReplacer("path: .", "path: sub", "test ! -e red", "sh -c './tool'").Replace(untilGood))
		s.approve()
		write(t, s.path("sub/tool"), "#!/bin/sh\n")
		check(t, os.Chmod(s.path("sub/tool"), 0o700))
		wantAllow(t, s.stop(nil))
		check(t, os.RemoveAll(s.path("sub")))
		write(t, s.path("sub"), "")
		wantBlock(t, s.stop(nil), "it ran here before")
	})
}

// A gate of parent/* is the same gate in every folder: what could run in one of them can run.
func TestE21AGateThatVanishedInAnotherFolderHasFailed(t *testing.T) {
	t.Parallel()
	s := newWork(t)
	s.config(strings.NewReplacer("path: .", "path: packages/*", "test ! -e red", "sh -c './tool'").Replace(untilGood))
	s.approve()
	write(t, s.path("packages/b/f"), "")
	wantAllow(t, s.stop(nil), "could not run")
	write(t, s.path("packages/a/tool"), "#!/bin/sh\n")
	check(t, os.Chmod(s.path("packages/a/tool"), 0o700))
	check(t, os.RemoveAll(s.path("packages/b")))
	wantAllow(t, s.stop(nil))
	check(t, os.Rename(s.path("packages/a"), s.path("packages/c")))
	check(t, os.Chmod(s.path("packages/c/tool"), 0o600))
	wantBlock(t, s.stop(nil), "it ran here before")
}

// A folder that is there has a history of its own: what its sibling has, it may never have had.
func TestE21AFolderThatIsThereHasItsOwnHistory(t *testing.T) {
	t.Parallel()
	s := newWork(t)
	s.config(strings.NewReplacer("path: .", "path: packages/*", "test ! -e red", "sh -c './tool'").Replace(untilGood))
	s.approve()
	write(t, s.path("packages/a/tool"), "#!/bin/sh\n")
	check(t, os.Chmod(s.path("packages/a/tool"), 0o700))
	wantAllow(t, s.stop(nil))
	write(t, s.path("packages/b/f"), "")
	wantAllow(t, s.stop(nil), "could not run")
}

// The runner of another gauntlet is a gate, too.
func TestE21ARunnerThatVanishedHasFailed(t *testing.T) {
	t.Parallel()
	for name, vanish := range map[string]func(s *scene){
		"deleted":        func(s *scene) { check(s.t, os.Remove(s.path("tool"))) },
		"not executable": func(s *scene) { check(s.t, os.Chmod(s.path("tool"), 0o600)) },
		"exits with 127": func(s *scene) { write(s.t, s.path("tool"), "#!/bin/sh\nexit 127\n") },
		"hangs":          func(s *scene) { write(s.t, s.path("tool"), "#!/bin/sh\nexec sleep 600\n") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newWork(t)
			s.config("quiet: true\nstop_hook: {runner: [./tool], deadline: 15}\nentry_points: []\n")
			s.approve()
			write(t, s.path("g"), "")
			wantAllow(t, s.stop(nil), "runner")
			write(t, s.path("tool"), "#!/bin/sh\n")
			check(t, os.Chmod(s.path("tool"), 0o700))
			wantAllow(t, s.stop(nil))
			vanish(s)
			wantBlock(t, s.stop(nil), "runner")
		})
	}
}

// A gate that there was no time to start is cut off like one that was started, and a gate that could not run keeps no
// other one from it.
func TestE15AGateThatWasNotStartedHasFailed(t *testing.T) {
	t.Parallel()
	const gates = "quiet: true\nallow_parallel: false\nbase_branch: origin/main\nstop_hook: {deadline: 15}\nentry_points:\n  - path: .\n    checks:\n" +
		"      - {name: watch, command: test ! -e slow || exec sleep 600}\n      - {name: t, command: test ! -e red}\n"
	t.Run("it has finished in time before", func(t *testing.T) {
		t.Parallel()
		s := newWork(t)
		s.config(strings.Replace(gates, "name: watch, command: test ! -e slow ||", "name: watch, command: test -e quick && exit 127 ||", 1))
		s.approve()
		write(t, s.path("quick"), "")
		wantAllow(t, s.stop(nil), "could not run")
		check(t, os.Remove(s.path("quick")))
		wantBlock(t, s.stop(nil), "was not started")
	})
	t.Run("it never has", func(t *testing.T) {
		t.Parallel()
		s := newWork(t)
		s.config(gates)
		s.approve()
		write(t, s.path("slow"), "")
		wantAllow(t, s.stop(nil), "cut off")
	})
	t.Run("fail_fast on a gate that cannot run", func(t *testing.T) {
		t.Parallel()
		s := newWork(t)
		s.config(strings.Replace(gates, "test ! -e slow || exec sleep 600", "no-such-program, fail_fast: true, parallel: false", 1))
		s.approve()
		write(t, s.path("red"), "")
		wantBlock(t, s.stop(nil), "check:.:t")
	})
}

// A gate that removes the log directory keeps no other one from running. The logs lie where they would, if they can.
func TestE7AGateThatRemovesTheLogDirectory(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ command, told string }{
		"clean":            {command: "git clean -fdxq gauntlet_logs"},
		"a file for it":    {command: "rm -r gauntlet_logs; touch gauntlet_logs", told: "the logs of this run are in"},
		"a link that ends": {command: "rm -r gauntlet_logs; ln -s nowhere gauntlet_logs", told: "the logs of this run are in"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newWork(t)
			s.config(strings.Replace(untilGood, "checks:\n", "checks:\n      - {name: clean, parallel: false, command: "+test.command+"}\n", 1))
			s.approve()
			write(t, s.path("red"), "")
			for range 2 {
				blocked := s.stop(nil)
				wantBlock(t, blocked, "check:.:t")
				for _, log := range regexp.MustCompile("`(/[^`]*[.]log)`").FindAllStringSubmatch(blocked.Reason, -1) {
					if !exists(log[1]) {
						t.Errorf("there is no %s", log[1])
					}
				}
				if logs, _ := filepath.Glob(s.path("gauntlet_logs/check_._t.*.log")); (len(logs) > 0) != (test.told == "") {
					t.Errorf("logs in the project: %q", logs)
				}
			}
			check(t, os.Remove(s.path("red")))
			wantAllow(t, s.stop(nil), test.told)
		})
	}
}

// A command that a person approved in place of another one has not run here yet. One that an agent
// writes does not count.
func TestE21AnotherCommandHasNotRunHere(t *testing.T) {
	t.Parallel()
	const line = "command: test ! -e red"
	for name, other := range map[string]string{
		"another command": "command: no-such-linter",
		"another folder":  line + ", working_directory: nowhere",
	} {
		t.Run(name, func(t *testing.T) {
			s := newWork(t)
			s.config(untilGood)
			s.approve()
			write(t, s.path("g"), "")
			wantAllow(t, s.stop(nil))

			write(t, s.path("red"), "")
			s.config(strings.Replace(untilGood, line, other, 1))
			wantBlock(t, s.stop(nil), "check:.:t")
			check(t, os.Remove(s.path("red")))
			wantAllow(t, s.stop(nil), "the approved files run instead")

			write(t, s.path("h"), "")
			s.approve()
			wantAllow(t, s.stop(nil), "could not run")
		})
	}
}

// A variable does not take a gate away that is red.
func TestE7CIFreesNoOpenFailure(t *testing.T) {
	t.Parallel()
	s := newWork(t)
	s.config(strings.Replace(untilGood, "{name: t,", "{name: t, run_in_ci: false,", 1))
	s.approve()
	write(t, s.path("red"), "")
	wantBlock(t, s.stop(nil), "check:.:t")
	before := s.env
	s.env = append(slices.Clone(before), "CI=true")
	wantBlock(t, s.stop(nil), "check:.:t")
	s.env = before
	wantBlock(t, s.stop(nil), "check:.:t")
}
