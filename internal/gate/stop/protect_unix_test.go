//go:build unix

package stop

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/agents/agentdir"
	"github.com/stopgate/stopgate/internal/gate/footprint"
	"github.com/stopgate/stopgate/internal/gate/keeper"
	"github.com/stopgate/stopgate/internal/gate/protect"
	"github.com/stopgate/stopgate/internal/gate/trust"
	"github.com/stopgate/stopgate/internal/harness/hook"
	"github.com/stopgate/stopgate/internal/project/config"
	"github.com/stopgate/stopgate/internal/session/queue"
	"github.com/stopgate/stopgate/internal/sys/git/gittest"
	"github.com/stopgate/stopgate/internal/sys/process"
)

const (
	testA     = "package p\n\nfunc TestA(t *testing.T) {\n\tcheck(t)\n}\n\nfunc TestB(t *testing.T) {\n\tcheck(t)\n}\n"
	withoutB  = "package p\n\nfunc TestA(t *testing.T) {\n\tcheck(t)\n}\n"
	protected = untilGood + "protect: ['**/*_test.go', Makefile, tests]\n"
)

// newProtected is a scene with tests that are protected, and a session that has begun unless
// begun is false.
func newProtected(t *testing.T, more string, begun bool) *scene {
	t.Helper()
	s := newWork(t)
	s.keepers = append(s.keepers, protect.Keeper{StateDir: s.state, Now: func() time.Time { return s.now() }, Log: t.Logf})
	s.config(protected + more)
	s.approve()
	r := gittest.At(t, s.root)
	r.Commit("config")
	r.Git("branch", "old")
	r.Write("p/a_test.go", testA, "Makefile", "COVERAGE_MIN ?= 80\n", "tests/deep/data", "1\n", "src.go", "package p\n")
	r.Commit("tests")
	r.Git("update-ref", "refs/remotes/origin/main", "HEAD")
	if begun {
		s.prompt("do it", nil)
	}
	return s
}

// approvePaths is a person's stopgate approve of files as they are.
func (s *scene) approvePaths(paths ...string) {
	s.t.Helper()
	project := Locator{StateDir: s.state, Global: &config.Global{}}.Locate(s.root, false).Project
	place := protect.Place{Project: project, StateDir: s.state, Environ: s.env, Now: s.now}
	all, err := place.At(s.t.Context(), paths)
	check(s.t, err)
	check(s.t, place.Approve(s.t.Context(), all))
}

const block = "protect_mode: block\n"

func TestE20TouchedIsTold(t *testing.T) {
	t.Parallel()
	rewrite := func(name, text string) func(*scene) {
		return func(s *scene) { write(s.t, s.path(name), text) }
	}
	committed := func(do func(*scene)) func(*scene) {
		return func(s *scene) {
			do(s)
			r := gittest.At(s.t, s.root)
			r.Commit("weaken")
		}
	}
	remove := func(name string) func(*scene) {
		return func(s *scene) { check(s.t, os.RemoveAll(s.path(name))) }
	}
	for name, tt := range map[string]struct {
		do   func(s *scene)
		told string
	}{
		"changed":                {rewrite("p/a_test.go", testA+"// x\n"), "p/a_test.go changed"},
		"changed and committed":  {committed(rewrite("p/a_test.go", testA+"// x\n")), "p/a_test.go changed"},
		"a test is deleted":      {rewrite("p/a_test.go", withoutB), "deleted test TestB (p/a_test.go:7)"},
		"a skip is added":        {rewrite("p/a_test.go", strings.Replace(testA, "check(t)", "t.Skip()", 1)), "added skip t.Skip (p/a_test.go:4)"},
		"a threshold is lowered": {rewrite("Makefile", "COVERAGE_MIN ?= 10\n"), "lowered threshold 80 → 10 (Makefile:1)"},
		"deleted":                {remove("p/a_test.go"), "p/a_test.go deleted"},
		"deleted with its tests": {remove("p/a_test.go"), "deleted test TestA (p/a_test.go:3)"},
		"deleted and committed":  {committed(remove("p/a_test.go")), "p/a_test.go deleted"},
		"below a folder":         {rewrite("tests/deep/data", "2\n"), "tests/deep/data changed"},
		"renamed": {func(s *scene) {
			check(s.t, os.Rename(s.path("p/a_test.go"), s.path("p/a.txt")))
		}, "p/a_test.go renamed to p/a.txt"},
		"renamed and committed": {committed(func(s *scene) { s.git("mv", "p/a_test.go", "p/a.txt") }), "p/a_test.go renamed to p/a.txt"},
		"renamed in case alone": {func(s *scene) {
			check(s.t, os.Rename(s.path("Makefile"), s.path("makefile")))
		}, "Makefile renamed to makefile"},
		"chmodded": {func(s *scene) { check(s.t, os.Chmod(s.path("Makefile"), 0o755)) }, "Makefile mode changed"},
		"replaced by a link": {func(s *scene) {
			check(s.t, os.Remove(s.path("Makefile")))
			check(s.t, os.Symlink("src.go", s.path("Makefile")))
		}, "Makefile replaced by a link"},
		"replaced by a folder": {func(s *scene) {
			check(s.t, os.Remove(s.path("Makefile")))
			write(s.t, s.path("Makefile/x"), "")
		}, "Makefile deleted"},
		"replaced by a pipe": {func(s *scene) {
			check(s.t, os.Remove(s.path("Makefile")))
			check(s.t, syscall.Mkfifo(s.path("Makefile"), 0o644))
		}, "Makefile made unreadable"},
		"its folder is a link": {func(s *scene) {
			check(s.t, os.RemoveAll(s.path("p")))
			check(s.t, os.Symlink("tests", s.path("p")))
		}, "p/a_test.go deleted"},
		"assume-unchanged": {func(s *scene) {
			s.git("update-index", "--assume-unchanged", "p/a_test.go")
			write(s.t, s.path("p/a_test.go"), withoutB)
		}, "deleted test TestB"},
		"skip-worktree": {func(s *scene) {
			s.git("update-index", "--skip-worktree", "p/a_test.go")
			write(s.t, s.path("p/a_test.go"), withoutB)
		}, "deleted test TestB"},
		"untracked and ignored": {func(s *scene) {
			s.git("rm", "-q", "--cached", "p/a_test.go")
			write(s.t, s.path(".gitignore"), "gauntlet_logs\n*_test.go\n")
			write(s.t, s.path("p/a_test.go"), withoutB)
		}, "deleted test TestB"},
		"a filter that hides it": {func(s *scene) {
			write(s.t, s.path(".git/info/attributes"), "*_test.go filter=hide\n")
			s.git("config", "filter.hide.clean", "git show HEAD:%f")
			write(s.t, s.path("p/a_test.go"), withoutB)
		}, "p/a_test.go changed"},
		"the same size and time": {func(s *scene) {
			info, err := os.Stat(s.path("Makefile"))
			check(s.t, err)
			write(s.t, s.path("Makefile"), "COVERAGE_MIN ?= 10\n")
			check(s.t, os.Chtimes(s.path("Makefile"), info.ModTime(), info.ModTime()))
		}, "lowered threshold 80 → 10"},
		"without the repository": {func(s *scene) {
			check(s.t, os.Rename(s.path(".git"), s.path("tests/git")))
			write(s.t, s.path("Makefile"), "")
		}, "Makefile changed"},
		"with a damaged index": {func(s *scene) {
			write(s.t, s.path(".git/index"), "")
			write(s.t, s.path("Makefile"), "")
		}, "Makefile changed"},
		"a reset to an older commit": {func(s *scene) {
			s.git("reset", "-q", "--hard", "HEAD~1")
		}, "p/a_test.go deleted"},
		"a commit on a branch that is merged": {func(s *scene) {
			s.git("switch", "-q", "-c", "side")
			s.commit("p/a_test.go", withoutB)
			s.git("switch", "-q", "main")
			s.git("merge", "-q", "--ff-only", "side")
		}, "deleted test TestB"},
		"a commit that was pushed": {func(s *scene) {
			s.commit("p/a_test.go", withoutB)
			s.git("update-ref", "refs/remotes/origin/main", "HEAD")
		}, "deleted test TestB"},
		"a commit without a reflog": {func(s *scene) {
			s.git("config", "core.logAllRefUpdates", "false")
			check(s.t, os.RemoveAll(s.path(".git/logs")))
			s.commit("p/a_test.go", withoutB)
		}, "deleted test TestB"},
		"a commit that was pushed, and the reflog is gone": {func(s *scene) {
			s.git("config", "core.logAllRefUpdates", "false")
			check(s.t, os.RemoveAll(s.path(".git/logs")))
			s.commit("p/a_test.go", withoutB)
			s.git("update-ref", "refs/remotes/origin/main", "HEAD")
		}, "deleted test TestB"},
		"a commit made by plumbing": {func(s *scene) {
			r := gittest.At(s.t, s.root)
			r.Env = withoutDates(r.Env)
			r.Write("p/a_test.go", withoutB)
			r.Git("add", "p/a_test.go")
			id := r.Git("commit-tree", "-p", "HEAD", "-m", "x", r.Git("write-tree"))
			r.Git("reset", "-q", "--hard", id)
		}, "deleted test TestB"},
		"an amended commit of a person": {func(s *scene) {
			r := gittest.At(s.t, s.root)
			r.Env = withoutDates(r.Env)
			r.Write("p/a_test.go", withoutB)
			r.Git("commit", "-q", "-a", "--amend", "--no-edit")
		}, "deleted test TestB"},
		"left on a detached HEAD": {func(s *scene) {
			s.git("switch", "-q", "--detach")
			s.commit("p/a_test.go", withoutB)
		}, "deleted test TestB"},
		"after the person's next prompt": {func(s *scene) {
			write(s.t, s.path("p/a_test.go"), withoutB)
			s.stop(nil)
			s.prompt("go on", fields{"prompt_id": "p2"})
		}, "1 protected file not approved yet"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newProtected(t, "", true)
			tt.do(s)
			wantAllow(t, s.stop(nil), tt.told, "stopgate approve")
			s.wantVerdict("protect", "failed", "asks")
		})
	}
}

func withoutDates(env []string) (out []string) {
	for _, e := range env {
		if !strings.Contains(e, "_DATE=") {
			out = append(out, e)
		}
	}
	return out
}

func TestE20WhatIsNotTouched(t *testing.T) {
	t.Parallel()
	theirs := func(s *scene, name, text string) { // a commit of a colleague, fetched
		r := gittest.At(s.t, s.root)
		r.Env = withoutDates(r.Env)
		dir := filepath.Join(filepath.Dir(s.root), "colleague")
		r.Git("worktree", "add", "-q", "--detach", dir, "refs/remotes/origin/main")
		other := gittest.At(s.t, dir)
		other.Env = r.Env
		other.Write(name, text)
		r.Git("update-ref", "refs/remotes/origin/main", other.Commit("theirs"))
		r.Git("worktree", "remove", "--force", dir)
	}
	for name, do := range map[string]func(s *scene){
		"nothing":            func(*scene) {},
		"another file":       func(s *scene) { write(s.t, s.path("src.go"), "package q\n") },
		"new tests are free": func(s *scene) { write(s.t, s.path("p/b_test.go"), testA) },
		"a new test that changes again": func(s *scene) {
			write(s.t, s.path("p/b_test.go"), testA)
			s.stop(nil)
			write(s.t, s.path("p/b_test.go"), withoutB)
		},
		"touched and written again": func(s *scene) {
			text, err := os.ReadFile(s.path("p/a_test.go"))
			check(s.t, err)
			write(s.t, s.path("p/a_test.go"), "x")
			write(s.t, s.path("p/a_test.go"), string(text))
		},
		"reverted by git": func(s *scene) {
			write(s.t, s.path("p/a_test.go"), withoutB)
			s.git("checkout", "-q", "p/a_test.go")
		},
		"committed and reverted": func(s *scene) {
			s.commit("p/a_test.go", withoutB)
			s.git("revert", "--no-edit", "HEAD")
		},
		"pulled": func(s *scene) {
			theirs(s, "p/a_test.go", withoutB)
			s.git("merge", "-q", "--ff-only", "refs/remotes/origin/main")
		},
		"merged": func(s *scene) {
			theirs(s, "p/a_test.go", withoutB)
			s.commit("src.go", "package q\n")
			s.git("merge", "-q", "--no-edit", "refs/remotes/origin/main")
		},
		"a merge under way": func(s *scene) {
			theirs(s, "p/a_test.go", withoutB)
			s.commit("src.go", "package q\n")
			s.git("merge", "-q", "--no-commit", "refs/remotes/origin/main")
		},
		"rebased": func(s *scene) {
			theirs(s, "p/a_test.go", withoutB)
			s.commit("src.go", "package q\n")
			s.git("rebase", "-q", "refs/remotes/origin/main")
		},
		"another branch": func(s *scene) {
			s.git("switch", "-q", "old")
		},
		"a touch of the file's times": func(s *scene) {
			now := time.Now()
			check(s.t, os.Chtimes(s.path("Makefile"), now, now))
		},
		"stashed and taken back": func(s *scene) {
			write(s.t, s.path("src.go"), "package q\n")
			s.git("stash", "-q")
			s.git("stash", "pop", "-q")
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newProtected(t, block, true)
			do(s)
			transcript := filepath.Join(s.state, "transcript.jsonl") // it does not speak of a colleague's worktree
			write(t, transcript, "{}\n")
			wantAllow(t, s.stop(fields{"transcript_path": transcript}))
			s.wantVerdict("protect", "passed", "untouched")
		})
	}
}

// A file that would take longer to read than a hook has is not read.
func TestE20SomethingHugeInTheFilesPlace(t *testing.T) {
	t.Parallel()
	s := newProtected(t, block, true)
	s.keepers = s.keepers[1:]
	check(t, os.Truncate(s.path("Makefile"), 1<<40))
	wantBlock(t, s.stop(nil), "Makefile made unreadable")
}

// After /clear the work is the same.
func TestE20TheSessionAfterClear(t *testing.T) {
	t.Parallel()
	s := newProtected(t, block, true)
	client := process.Identity{PID: 4242}
	for _, id := range []string{"s1", "s2", "s3"} {
		check(t, footprint.NewStore(s.state).Update(id, footprint.Beginning{Caller: client}, time.Now(), func(*footprint.Session) {}))
	}
	write(t, s.path("Makefile"), "")
	s.prompt("go on", fields{"session_id": "s2"})
	wantBlock(t, s.stop(fields{"session_id": "s2"}), "Makefile changed")
	wantAllow(t, s.stop(fields{"session_id": "s3"}), "Makefile changed")
}

// What a person has not committed when the session begins is not the agent's.
func TestE20ThePersonsOwnEdits(t *testing.T) {
	t.Parallel()
	s := newProtected(t, block, false)
	write(t, s.path("p/a_test.go"), withoutB)
	write(t, s.path("p/new_test.go"), testA)
	check(t, os.Remove(s.path("Makefile")))
	s.prompt("do it", nil)
	write(t, s.path("src.go"), "package q\n")
	wantAllow(t, s.stop(nil))

	// Going back to the commit undoes the person's work.
	s.git("checkout", "-q", "p/a_test.go")
	wantBlock(t, s.stop(nil), "p/a_test.go changed")
	write(t, s.path("p/a_test.go"), withoutB)
	wantAllow(t, s.stop(nil))

	// And a file that was untracked then is one that the agent found.
	write(t, s.path("p/new_test.go"), withoutB)
	wantBlock(t, s.stop(nil), "deleted test TestB (p/new_test.go:7)")
}

func TestE20WithoutAPromptTheMergeBaseCounts(t *testing.T) {
	t.Parallel()
	s := newProtected(t, block, false)
	s.git("switch", "-q", "-c", "work")
	s.commit("p/a_test.go", withoutB)
	wantBlock(t, s.stop(nil), "deleted test TestB")
	wantAllow(t, s.stop(nil), "stopgate approve")
	s.commit("p/a_test.go", testA)
	wantAllow(t, s.stop(nil))
	write(t, s.path("Makefile"), "")
	wantBlock(t, s.stop(nil), "Makefile changed")
}

func TestE20NewFiles(t *testing.T) {
	t.Parallel()
	s := newProtected(t, block+"protect_new: true\n", false)
	write(t, s.path("p/before_test.go"), testA)
	s.prompt("do it", nil)
	wantAllow(t, s.stop(nil))
	write(t, s.path("p/b_test.go"), testA)
	wantBlock(t, s.stop(nil), "p/b_test.go added")
	check(t, os.Remove(s.path("p/b_test.go")))
	wantAllow(t, s.stop(nil))
	s.commit("tests/c", "")
	wantBlock(t, s.stop(nil), "tests/c added")
}

func TestE20BlocksOncePerContent(t *testing.T) {
	t.Parallel()
	s := newProtected(t, block, true)
	told := s.notify()
	text, err := os.ReadFile(s.global)
	check(t, err)
	write(t, s.global, "trust: enforce\n"+string(text))
	write(t, s.path("p/a_test.go"), withoutB)
	r := s.stop(nil)
	wantBlock(t, r, "Revert them, or ask a person to review them with `stopgate approve`")
	if len(r.Reason) > 600 {
		t.Errorf("%d bytes", len(r.Reason))
	}
	s.wantVerdict("protect", "failed", "touched")
	for range 3 {
		wantAllow(t, s.stop(fields{"stop_hook_active": true}), "stopgate approve")
		s.wantVerdict("protect", "failed", "needs_person")
	}
	if text, _ := os.ReadFile(told); strings.Count(string(text), "\n1|") > 1 || !strings.Contains(string(text), "p/a_test.go") {
		t.Errorf("a person heard %q", text)
	}

	// Another content is blocked once more, and so is another file.
	write(t, s.path("p/a_test.go"), withoutB+"\n")
	wantBlock(t, s.stop(nil), "p/a_test.go changed")
	write(t, s.path("Makefile"), "")
	wantBlock(t, s.stop(nil), "Makefile changed")
	wantAllow(t, s.stop(nil), "Makefile changed", "p/a_test.go changed")
	wantAllow(t, s.stop(nil), "2 protected files not approved yet")

	// A revert ends it.
	s.git("checkout", "-q", ".")
	wantAllow(t, s.stop(nil))
	s.wantVerdict("protect", "passed", "untouched")
}

func TestE20AnAgentThatWritesAnotherContentEachTimeIsLetGo(t *testing.T) {
	t.Parallel()
	s := newProtected(t, block, true).onStage()
	s.give("/gsd:a", "/gsd:b")
	blocks := 0
	for i := range 8 {
		write(t, s.path("Makefile"), strings.Repeat("#", i+1))
		if s.call(hook.Stop, fields{"stop_hook_active": i > 0}).blocks() {
			blocks++
		}
	}
	if blocks != 5 || s.driven > 0 {
		t.Errorf("%d blocks; the queue went on %d times", blocks, s.driven)
	}
	s.wantVerdict("protect", "failed", "gave_up")
}

// Neither its retries nor its room are used up by blocks for protected files.
func TestE20RedGatesComeFirstAndKeepTheirRetries(t *testing.T) {
	t.Parallel()
	s := newProtected(t, block+"max_retries: 6\n", true)
	for i := range 5 {
		write(t, s.path("Makefile"), strings.Repeat("#", i+1))
		wantBlock(t, s.stop(fields{"stop_hook_active": i > 0}), "Makefile changed")
	}
	write(t, s.path("red"), "")
	for range 6 {
		wantBlock(t, s.stop(fields{"stop_hook_active": true}), "check:.:t")
	}
	wantAllow(t, s.stop(fields{"stop_hook_active": true}), "retry limit", "Makefile")
}

func TestE20ApprovalIsPerPathAndContent(t *testing.T) {
	t.Parallel()
	s := newProtected(t, block, true)
	write(t, s.path("p/a_test.go"), withoutB)
	check(t, os.Remove(s.path("Makefile")))
	wantBlock(t, s.stop(nil), "Makefile deleted")
	s.approvePaths("p/a_test.go", "Makefile")
	wantAllow(t, s.stop(nil))
	s.wantVerdict("protect", "passed", "untouched")

	// In another worktree of the repository as well.
	dir := s.linked("wt")
	s.prompt("do it", fields{"cwd": dir, "session_id": "s2"})
	write(t, filepath.Join(dir, "p/a_test.go"), withoutB)
	wantAllow(t, s.stop(fields{"cwd": dir, "session_id": "s2"}))

	// Another content of the file was not approved, nor the same content of another file.
	write(t, s.path("p/a_test.go"), withoutB+"\n")
	wantBlock(t, s.stop(nil), "p/a_test.go changed")
	s.git("checkout", "-q", "p/a_test.go")
	check(t, os.Remove(s.path("tests/deep/data")))
	wantBlock(t, s.stop(nil), "tests/deep/data deleted")
}

func TestE20Observing(t *testing.T) {
	t.Parallel()
	s := newProtected(t, block+"mode: observe\n", true)
	write(t, s.path("p/a_test.go"), withoutB)
	for range 2 {
		wantAllow(t, s.stop(nil), "would have been", "p/a_test.go")
		s.wantVerdict("protect", "failed", "would_block")
	}
	s.config(protected + block)
	s.approve()
	wantBlock(t, s.stop(nil), "p/a_test.go changed")
}

// A project that only observes frees no other one.
func TestE20ObservingIsPerProject(t *testing.T) {
	t.Parallel()
	s := newProtected(t, block, true)
	other := filepath.Join(filepath.Dir(s.root), "other")
	s.repository(other, untilGood+"mode: observe\n")
	check(t, trust.NewStore(s.state).Approve(other, time.Now()))
	write(t, s.path("Makefile"), "")
	wantBlock(t, s.stop(fields{"cwd": other}), s.root)
}

func TestE20OtherWorktreesOfTheSession(t *testing.T) {
	t.Parallel()
	s := newProtected(t, block, true)
	dir := s.linked("wt")
	s.call(hook.CwdChanged, fields{"old_cwd": s.root, "new_cwd": dir})
	write(t, filepath.Join(dir, "p/a_test.go"), withoutB)
	wantBlock(t, s.stop(nil), dir)
	wantAllow(t, s.stop(nil), dir)
}

func TestE20PatternsThatComeLater(t *testing.T) {
	t.Parallel()
	s := newProtected(t, block, true)
	write(t, s.path("src.go"), "package q\n")
	wantAllow(t, s.stop(nil))
	s.config(strings.Replace(protected, "tests]", "tests, src.go]", 1) + block)
	s.approve()
	wantBlock(t, s.stop(nil), "src.go changed")
	s.config(strings.Replace(protected, "Makefile, tests]", "tests]", 1) + block)
	s.approve()
	check(t, os.Remove(s.path("Makefile")))
	wantAllow(t, s.stop(nil))
}

func TestE20WithoutARepositoryItIsToldOnce(t *testing.T) {
	t.Parallel()
	s := newProtected(t, "", false)
	check(t, os.RemoveAll(s.path(".git")))
	s.prompt("do it", nil)
	wantAllow(t, s.stop(nil), "protect needs a git repository")
	s.wantVerdict("protect", "could_not_run", "no_git")
	if r := s.stop(nil); strings.Contains(r.Message, "protect") {
		t.Errorf("told again: %q", r.Message)
	}
}

func TestE20BeforeTheFirstCommit(t *testing.T) {
	t.Parallel()
	s := newProtected(t, block, false)
	check(t, os.RemoveAll(s.path(".git")))
	s.git("init", "-q", "-b", "main")
	s.prompt("do it", nil)
	wantAllow(t, s.stop(nil))
	write(t, s.path("p/a_test.go"), withoutB)
	gittest.At(t, s.root).Commit("first")
	wantBlock(t, s.stop(nil), "deleted test TestB")
}

// A file that a sparse checkout leaves out is not deleted.
func TestE20SparseCheckout(t *testing.T) {
	t.Parallel()
	for _, begun := range []bool{true, false} {
		s := newProtected(t, block, false)
		s.git("sparse-checkout", "set", "--no-cone", "/*", "!/p/")
		if exists(s.path("p/a_test.go")) {
			t.Fatal("it is checked out")
		}
		if begun {
			s.prompt("do it", nil)
		}
		wantAllow(t, s.stop(nil))
		check(t, os.Remove(s.path("Makefile")))
		wantBlock(t, s.stop(nil), "Makefile deleted")
	}
}

func TestE20Submodules(t *testing.T) {
	t.Parallel()
	s := newProtected(t, block, false)
	inner := gittest.New(t)
	inner.Write("x_test.go", testA)
	inner.Commit("one")
	s.git("submodule", "--quiet", "add", inner.Dir, "lib")
	gittest.At(t, s.root).Commit("lib")
	s.git("update-ref", "refs/remotes/origin/main", "HEAD")
	s.prompt("do it", nil)
	wantAllow(t, s.stop(nil))
	write(t, s.path("lib/x_test.go"), withoutB)
	wantBlock(t, s.stop(nil), "lib/x_test.go changed")
	gittest.At(t, s.path("lib")).Git("checkout", "-q", ".")
	wantAllow(t, s.stop(nil))
}

func TestE20ARebaseUnderWay(t *testing.T) {
	t.Parallel()
	s := newProtected(t, block, false)
	r := gittest.At(t, s.root)
	r.Git("switch", "-q", "-c", "work")
	r.Write("p/a_test.go", testA+"\nfunc TestC(t *testing.T) {}\n")
	r.Commit("c")
	r.Write("src.go", "package ours\n")
	r.Commit("conflict")
	r.Write("p/a_test.go", testA+"\nfunc TestC(t *testing.T) {}\n\nfunc TestD(t *testing.T) {}\n")
	r.Commit("d")
	r.Git("switch", "-q", "main")
	r.Write("src.go", "package theirs\n")
	r.Commit("theirs")
	r.Git("update-ref", "refs/remotes/origin/main", "HEAD")
	r.Git("switch", "-q", "work")
	s.prompt("rebase", nil)
	if out, err := r.Try("rebase", "refs/remotes/origin/main"); err == nil {
		t.Fatalf("no conflict: %s", out)
	}
	wantAllow(t, s.stop(nil))
	r.Git("checkout", "--ours", "src.go")
	r.Git("add", "src.go")
	r.Git("-c", "core.editor=true", "rebase", "--skip")
	wantAllow(t, s.stop(nil))
}

func TestE20TheQueueDoesNotAdvance(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{block, "", block + "mode: observe\n"} {
		scene := newProtected(t, mode, true)
		write(t, scene.path("Makefile"), "")
		s := scene.onStage()
		s.give("/gsd:a", "/gsd:b")
		stop := fields{"last_assistant_message": "done"}
		if mode != block { // it is told, and nothing more
			wantAllow(t, s.call(hook.Stop, stop), "Makefile changed")
			s.wantQueue("done active")
			continue
		}
		wantBlock(t, s.call(hook.Stop, stop), "Makefile changed")
		s.wantQueue("active pending")
		wantAllow(t, s.call(hook.Stop, stop), "Makefile changed")
		if _, err := queue.NewStore(s.state).Load(session); err == nil || s.driven > 0 {
			t.Errorf("the queue goes on: %v, driven %d times", err, s.driven)
		}
		s.wantWakes(1)
		last, err := queue.NewStore(s.state).Last(session)
		check(t, err)
		if left := last.Queue.Remaining(); len(left) != 1 || left[0] != "/gsd:b" || !strings.Contains(last.Queue.Stopgate.Ending.Why, "stopgate approve") {
			t.Errorf("left is %q, it ended with %+v", left, last.Queue.Stopgate.Ending)
		}
	}
}

// An agent of a pipeline that has signalled is let go, and the record by which the daemon
// makes a decision of it says what is not approved.
func TestE20APipelineAsks(t *testing.T) {
	t.Parallel()
	for mode, status := range map[string]string{"": protect.Asks, block: protect.NeedsPerson} {
		s := newProtected(t, mode, true)
		s.env = append(s.env, agentdir.Variable+"="+agentID)
		s.keepers = append(s.keepers, s.lifecycle())
		check(t, s.agent().WriteConfig(agentdir.Signal))
		check(t, s.agent().SetSession(agentdir.Session{ID: "s1"}))
		newFakeDaemon(t, s.state).says("complete")
		write(t, s.path("Makefile"), "")
		if mode == block {
			wantBlock(t, s.stop(nil), "Makefile changed")
		}
		wantAllow(t, s.stop(nil), "Makefile changed")
		s.wantVerdict("protect", "failed", status)
		s.wantVerdict("lifecycle", "passed", "signaled")
		for _, v := range s.answered().Verdicts {
			if v.Keeper == protect.Name && (v.Blocked || !strings.Contains(v.Message, "Makefile changed") || !strings.Contains(v.Message, "stopgate approve")) {
				t.Errorf("the person is asked about %+v", v)
			}
		}
	}
}

// A stop whose protected files are as they were asks git nothing, and where new files count
// one thing.
func TestE20WhatItAsksGit(t *testing.T) {
	t.Parallel()
	for more, want := range map[string]int{block: 0, block + "protect_new: true\n": 1} {
		s := newProtected(t, more, true)
		s.keepers = s.keepers[1:]
		wantAllow(t, s.stop(nil))
		env, calls := gittest.Counted(t, s.env)
		s.env = env
		wantAllow(t, s.stop(nil))
		s.wantVerdict("protect", "passed", "untouched")
		if got := calls(); len(got) != want {
			t.Errorf("%q, want %d", got, want)
		}
	}
}

// A kill between the block and its answer must not block for ever, nor must a memory that
// cannot be written.
func TestE20WhatCannotBeRememberedIsNotBlocked(t *testing.T) {
	t.Parallel()
	s := newProtected(t, block, true)
	dirs, err := filepath.Glob(filepath.Join(s.state, "protect", "sessions", "*"))
	check(t, err)
	check(t, os.Mkdir(filepath.Join(dirs[0], "memory.json"), 0o700))
	write(t, s.path("Makefile"), "")
	wantAllow(t, s.stop(nil), "Makefile changed")
	s.wantVerdict("protect", "failed", "needs_person")
}

// Nothing is paid for where nothing is protected.
func TestE20AProjectWithoutItIsNotLookedAt(t *testing.T) {
	t.Parallel()
	s := newWork(t)
	s.keepers = []keeper.Keeper{protect.Keeper{StateDir: s.state, Now: s.now, Log: t.Logf}}
	s.prompt("do it", nil)
	wantAllow(t, s.stop(nil))
	if exists(filepath.Join(s.state, "protect")) || len(s.answered().Verdicts) > 0 {
		t.Errorf("it was: %+v", s.answered().Verdicts)
	}
}

// What cannot be compared is not what was compared: a repository that is broken frees nothing.
func TestE7ProtectedFilesThatCannotBeCompared(t *testing.T) {
	t.Parallel()
	for name, tear := range map[string]func(*scene){
		"an empty index": func(s *scene) { write(s.t, s.path(".git/index"), "") },
		"an empty HEAD":  func(s *scene) { write(s.t, s.path(".git/HEAD"), "") },
		"no repository any more": func(s *scene) {
			check(s.t, os.Rename(s.path(".git"), s.state+"/git"))
		},
		"no git any more": func(s *scene) { s.env = append(s.env, "PATH="+s.state) },
	} {
		t.Run(name, func(t *testing.T) {
			s := newProtected(t, block+"protect_new: true\n", true)
			s.keepers = s.keepers[1:]
			write(t, s.path("p/b_test.go"), testA)
			tear(s)
			r := s.stop(nil)
			wantBlock(t, r, "protected files cannot be compared: list new files: ")
			wantBlock(t, r, "; repair the repository, or ask a person")
			s.wantVerdict("protect", "failed", "touched")
			for range 2 {
				wantAllow(t, s.stop(fields{"stop_hook_active": true}), "protected files cannot be compared", "repair the repository")
				s.wantVerdict("protect", "failed", "needs_person")
			}

			// What the session found is compared whatever git says.
			write(t, s.path("Makefile"), "")
			r = s.stop(nil)
			wantBlock(t, r, "Makefile changed")
			wantBlock(t, r, "protected files cannot be compared")
			wantAllow(t, s.stop(nil), "Makefile changed", "protected files cannot be compared")
		})
	}
}

// Another state of a repository is blocked once more, and a repaired one is compared.
func TestE7ARepositoryThatIsRepaired(t *testing.T) {
	t.Parallel()
	s := newProtected(t, block+"protect_new: true\n", true)
	write(t, s.path("p/b_test.go"), testA)
	index, err := os.ReadFile(s.path(".git/index"))
	check(t, err)
	write(t, s.path(".git/index"), "")
	wantBlock(t, s.stop(nil), "cannot be compared")
	check(t, os.Rename(s.path(".git/HEAD"), s.path(".git/head")))
	wantBlock(t, s.stop(nil), "cannot be compared")
	wantAllow(t, s.stop(nil), "cannot be compared")
	check(t, os.Rename(s.path(".git/head"), s.path(".git/HEAD")))
	write(t, s.path(".git/index"), string(index))
	wantBlock(t, s.stop(nil), "p/b_test.go added")
	check(t, os.Remove(s.path("p/b_test.go")))
	wantAllow(t, s.stop(nil))
	s.wantVerdict("protect", "passed", "untouched")
}

// Where no prompt was seen there is no base, and where git is broken none can be made up.
func TestE7ABaseThatCannotBeMadeUp(t *testing.T) {
	t.Parallel()
	for _, file := range []string{".git/HEAD", ".git/index"} {
		s := newProtected(t, block, false)
		s.keepers = s.keepers[1:]
		write(t, s.path(file), "")
		wantBlock(t, s.stop(nil), "protected files cannot be compared")
		wantAllow(t, s.stop(nil), "protected files cannot be compared")
		s.wantVerdict("protect", "failed", "needs_person")
	}
}

// The patterns that the base has are compared, although it cannot be made wider.
func TestE7PatternsThatComeLaterWithoutGit(t *testing.T) {
	t.Parallel()
	s := newProtected(t, block, true)
	s.keepers = s.keepers[1:]
	s.config(strings.Replace(protected, "tests]", "tests, src.go]", 1) + block)
	s.approve()
	check(t, os.Rename(s.path(".git"), s.state+"/git"))
	write(t, s.path("Makefile"), "")
	r := s.stop(nil)
	wantBlock(t, r, "Makefile changed")
	wantBlock(t, r, "protected files cannot be compared")
}

func TestE7AQueueDoesNotAdvancePastABrokenRepository(t *testing.T) {
	t.Parallel()
	scene := newProtected(t, block+"protect_new: true\n", true)
	scene.keepers = scene.keepers[1:]
	write(t, scene.path("p/b_test.go"), testA)
	write(t, scene.path(".git/index"), "")
	s := scene.onStage()
	s.give("/gsd:a", "/gsd:b")
	stop := fields{"last_assistant_message": "done"}
	wantBlock(t, s.call(hook.Stop, stop), "cannot be compared")
	s.wantQueue("active pending")
	wantAllow(t, s.call(hook.Stop, stop), "cannot be compared")
	if _, err := queue.NewStore(s.state).Load(session); err == nil || s.driven > 0 {
		t.Errorf("the queue goes on: %v, driven %d times", err, s.driven)
	}
}

// In ask mode it is told, and a pipeline asks.
func TestE7CannotBeComparedIsAsked(t *testing.T) {
	t.Parallel()
	s := newProtected(t, "protect_new: true\n", true)
	write(t, s.path(".git/index"), "")
	for range 2 {
		wantAllow(t, s.stop(nil), "protected files cannot be compared: list new files: ", "; repair the repository")
		s.wantVerdict("protect", "failed", "asks")
	}
}

func TestE7ObservingABrokenRepository(t *testing.T) {
	t.Parallel()
	s := newProtected(t, block+"protect_new: true\nmode: observe\n", true)
	s.keepers = s.keepers[1:]
	write(t, s.path(".git/index"), "")
	wantAllow(t, s.stop(nil), "would have been blocked: protected files cannot be compared")
	s.wantVerdict("protect", "failed", "would_block")
}

// A protected file that a person has changed in a worktree is not the agent's because it looks there.
func TestE20WhatAVisitFindsIsNotTouched(t *testing.T) {
	t.Parallel()
	s := newProtected(t, block, false)
	dir := s.linked("wip")
	write(t, filepath.Join(dir, "Makefile"), "the person's")
	s.later()
	s.prompt("what is in wip?", nil)
	s.call(hook.CwdChanged, fields{"old_cwd": s.root, "new_cwd": dir})
	wantAllow(t, s.stop(nil))
	write(t, filepath.Join(dir, "Makefile"), "the agent's")
	wantBlock(t, s.stop(nil), "Makefile changed")
}
