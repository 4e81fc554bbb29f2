//go:build unix

package stop

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/gate/protect"
	"github.com/stopgate/stopgate/internal/gate/trust"
	"github.com/stopgate/stopgate/internal/harness/hook"
	"github.com/stopgate/stopgate/internal/sys/git/gittest"
)

// everyday are situations in which people work, and in which an agent that has done nothing
// wrong must be let go. Each gives what the stop says.
var everyday = map[string]func(s *scene) fields{
	// The red tree is a person's.
	"a question on a red tree":              asks(func(s *scene) { write(s.t, s.path("red"), "") }),
	"a question during a rebase":            asks(func(s *scene) { s.conflict("rebase", "main") }),
	"a question during a merge":             asks(func(s *scene) { s.conflict("merge", "main") }),
	"a question during a cherry-pick":       asks(func(s *scene) { s.conflict("cherry-pick", "main") }),
	"a question during a bisect":            asks(func(s *scene) { s.red(); s.git("bisect", "start") }),
	"a question on a detached HEAD":         asks(func(s *scene) { s.red(); s.git("checkout", "-q", "--detach") }),
	"a question with staged work":           asks(func(s *scene) { s.red(); s.git("add", "red") }),
	"a question before the first commit":    asks(func(s *scene) { s.red(); s.orphan() }),
	"a question outside of git":             asks(func(s *scene) { s.red(); check(s.t, os.RemoveAll(s.path(".git"))) }),
	"a question beside a clean submodule":   asks(func(s *scene) { s.submodule(); s.git("-C", "lib", "checkout", "-q", "."); s.commit("x", ""); s.red() }),
	"a question beside an edited submodule": asks(func(s *scene) { s.submodule(); s.red() }),
	"a question beside a clone":             asks(func(s *scene) { s.git("init", "-q", "clone"); write(s.t, s.path("clone/c"), ""); s.red() }),
	"a question beside a pipe": asks(func(s *scene) {
		check(s.t, os.Remove(s.path("f")))
		check(s.t, syscall.Mkfifo(s.path("f"), 0o600))
		s.red()
	}),
	"a question on a red tree, and an update of stopgate, which kept no trees before": func(s *scene) fields {
		s.red()
		s.prompt("what is this?", nil)
		kept, err := filepath.Glob(filepath.Join(s.state, "*", "*", "trees"))
		check(s.t, err)
		if len(kept) == 0 {
			s.t.Fatal("no tree is kept")
		}
		for _, dir := range kept {
			check(s.t, os.RemoveAll(dir))
		}
		return nil
	},
	"a plan without a known beginning":       func(s *scene) fields { s.red(); return fields{"permission_mode": "plan"} },
	"a subagent that stops on a red tree":    func(s *scene) fields { s.red(); return fields{"agent_id": "a1"} },
	"a second question":                      func(s *scene) fields { s.red(); s.prompt("1", nil); s.stop(nil); s.prompt("2", nil); return nil },
	"a person writes after a pass":           after(func(s *scene) { s.red() }),
	"a person commits red work after a pass": after(func(s *scene) { s.commit("red", "") }),
	"a person switches to a red branch": after(func(s *scene) {
		s.git("switch", "-q", "-c", "red-branch")
		s.commit("red", "")
	}),
	"a person pulls red work": after(func(s *scene) {
		s.git("switch", "-q", "-c", "theirs")
		s.commit("red", "")
		s.git("switch", "-q", "main")
		s.git("merge", "-q", "--ff-only", "theirs")
	}),
	"another session's red work in the same tree": func(s *scene) fields {
		s.red()
		s.prompt("what is this?", fields{"session_id": "other"})
		wantBlock(s.t, s.stop(nil), "check:.:t")
		return fields{"session_id": "other"}
	},
	"another session's red worktree": func(s *scene) fields {
		s.prompt("do it", nil)
		dir := s.linked("theirs")
		write(s.t, filepath.Join(dir, "red"), "")
		s.stop(fields{"session_id": "other", "cwd": dir})
		write(s.t, s.path("g"), "")
		return nil
	},
	"another session's work in a worktree within the tree, which nobody has git ignore": func(s *scene) fields {
		s.git("worktree", "add", "-q", ".claude/worktrees/theirs")
		s.red()
		s.prompt("how many are there?", nil)
		write(s.t, s.path(".claude/worktrees/theirs/g"), "")
		s.prompt("do it", fields{"session_id": "other", "cwd": s.path(".claude/worktrees/theirs")})
		return s.runs("python3 count.py")
	},
	"a person's red worktree whose name is a word": func(s *scene) fields {
		s.prompt("please fix the cart", nil)
		write(s.t, filepath.Join(s.linked("fix"), "red"), "")
		transcript := filepath.Join(s.state, "t.jsonl")
		write(s.t, transcript, `{"type":"user","message":{"content":"please fix the cart"}}`+"\n"+
			`{"type":"assistant","message":{"content":[{"type":"tool_use","name":"Bash","input":{"command":"npm run fix; git commit -am 'fix: the cart'"}}]}}`+"\n")
		write(s.t, s.path("g"), "")
		return fields{"transcript_path": transcript}
	},
	"a person's red worktree that the agent has listed, and was told to leave alone": func(s *scene) fields {
		s.prompt("I am at work in ../hotfix, leave that alone", nil)
		dir := s.linked("hotfix")
		write(s.t, filepath.Join(dir, "red"), "")
		transcript := filepath.Join(s.state, "t.jsonl")
		write(s.t, transcript, says("I am at work in ../hotfix, leave that alone")+
			shell("git worktree list")+answers(s.root+" 1234567 [main]\n"+dir+" 1234567 [hotfix]")+shell("touch g"))
		write(s.t, s.path("g"), "")
		return fields{"transcript_path": transcript}
	},
	"a look into a person's older red worktree": func(s *scene) fields {
		dir := s.linked("wip")
		write(s.t, filepath.Join(dir, "red"), "")
		s.later()
		s.prompt("what is in wip?", nil)
		s.call(hook.CwdChanged, fields{"old_cwd": s.root, "new_cwd": dir})
		gittest.At(s.t, dir).Git("status")
		return fields{"cwd": dir}
	},
	"a look into another red project of a person": func(s *scene) fields {
		other := s.another()
		write(s.t, filepath.Join(other, "red"), "")
		s.later()
		s.prompt("what is in other?", nil)
		s.call(hook.CwdChanged, fields{"old_cwd": s.root, "new_cwd": other})
		return nil
	},
	"a look by other tools into a project in which a person works": func(s *scene) fields {
		other := s.another()
		s.later()
		s.prompt("what is in other?", nil)
		write(s.t, filepath.Join(other, "red"), "")
		s.calls("mcp__filesystem__read_file", `{"path":"../other/f"}`)
		s.calls("Write", `{"file_path":"notes","content":"{\"command\":\"cd ../other\"}"}`)
		return s.calls("Task", `{"description":"look","prompt":"Read ../other/f"}`)
	},
	"a question above many red projects of a person": func(s *scene) fields {
		var names []string
		for i := range maxBelow + 4 {
			names = append(names, fmt.Sprintf("app%02d", i))
			dir := filepath.Join(filepath.Dir(s.root), "all", names[i])
			s.repository(dir, untilGood)
			check(s.t, trust.NewStore(s.state).Approve(dir, time.Now()))
			write(s.t, filepath.Join(dir, "red"), "")
		}
		transcript := filepath.Join(s.state, "t.jsonl")
		write(s.t, transcript, shell("touch "+strings.Join(names, "/f ")))
		above := fields{"cwd": filepath.Join(filepath.Dir(s.root), "all"), "transcript_path": transcript}
		s.later()
		s.prompt("list the projects", above)
		return above
	},
	"a build writes into an ignored folder": func(s *scene) fields {
		s.red()
		write(s.t, s.path(".git/info/exclude"), "out/\n")
		s.prompt("build it", nil)
		write(s.t, s.path("out/program"), "")
		return nil
	},
	"a person opens a file in an editor": func(s *scene) fields {
		s.red()
		s.prompt("what is this?", nil)
		write(s.t, s.path(".f.swp"), "1")
		check(s.t, os.Symlink("me@here.1:2", s.path(".#f")))
		return nil
	},
	"a person closes a file in an editor": func(s *scene) fields {
		s.red()
		write(s.t, s.path(".f.swp"), "1")
		s.prompt("what is this?", nil)
		check(s.t, os.Rename(s.path(".f.swp"), s.path("f~")))
		return nil
	},
	"a colleague's red work is pulled while an editor is open": func(s *scene) fields {
		s.colleague("red")
		write(s.t, s.path(".f.swp"), "1")
		s.prompt("pull", nil)
		write(s.t, s.path(".f.swp"), "2")
		s.git("merge", "-q", "--ff-only", "origin/main")
		return nil
	},
	"a person sets up a sparse checkout of a red tree": func(s *scene) fields {
		s.commit("deep/file", "1")
		s.red()
		s.prompt("what is this?", nil)
		s.git("sparse-checkout", "set", "--no-cone", "/*", "!/deep")
		return nil
	},
	"a person ends a sparse checkout of a red tree": func(s *scene) fields {
		s.commit("deep/file", "1")
		s.git("sparse-checkout", "set", "--no-cone", "/*", "!/deep")
		s.red()
		s.prompt("what is this?", nil)
		s.git("sparse-checkout", "disable")
		return nil
	},
	"a pull into a sparse checkout of red work": func(s *scene) fields {
		s.commit("deep/file", "1")
		s.git("sparse-checkout", "set", "--no-cone", "/*", "!/deep")
		s.colleague("deep/file")
		s.red()
		s.prompt("pull", nil)
		s.git("merge", "-q", "--ff-only", "origin/main")
		return nil
	},
	"a file is touched": func(s *scene) fields {
		s.red()
		s.prompt("look", nil)
		check(s.t, os.Chtimes(s.path("f"), time.Now(), time.Now()))
		return nil
	},
	"work that was taken back": func(s *scene) fields {
		s.red()
		s.prompt("try it", nil)
		write(s.t, s.path("f"), "2")
		write(s.t, s.path("f"), "1")
		return nil
	},
	"the agent pulls a colleague's red work, which git converts": func(s *scene) fields {
		s.git("config", "core.autocrlf", "true")
		s.colleague("red")
		s.prompt("pull", nil)
		s.git("merge", "-q", "--ff-only", "origin/main")
		return nil
	},
	"the agent pulls a colleague's red work beside a person's note": func(s *scene) fields {
		s.colleague("red")
		write(s.t, s.path("note"), "")
		s.prompt("pull", nil)
		s.git("merge", "-q", "--ff-only", "origin/main")
		return nil
	},
	"the agent pulls a colleague's red work into a person's edit": func(s *scene) fields {
		s.colleague("red")
		write(s.t, s.path("f"), "a person's")
		s.prompt("pull", nil)
		s.git("merge", "-q", "--ff-only", "origin/main")
		return nil
	},
	"the agent pulls a colleague's red work twice": func(s *scene) fields {
		s.colleague("other")
		s.git("switch", "-q", "theirs")
		s.commit("red", "")
		s.git("update-ref", "refs/remotes/origin/main", "HEAD")
		s.git("switch", "-q", "main")
		write(s.t, s.path("note"), "")
		s.prompt("pull", nil)
		s.git("merge", "-q", "--ff-only", "origin/main~1")
		wantAllow(s.t, s.stop(nil))
		s.prompt("pull again", nil)
		s.git("merge", "-q", "--ff-only", "origin/main")
		return nil
	},
	"the agent checks out a colleague's red branch":     visits(func(s *scene) { s.git("checkout", "-q", "origin/theirs") }),
	"the agent makes a branch of a colleague's red one": visits(func(s *scene) { s.git("switch", "-q", "-c", "review", "origin/theirs") }),
	"the agent checks out a red pull request": visits(func(s *scene) {
		s.git("fetch", "-q", ".", "origin/theirs:pr-1")
		s.git("checkout", "-q", "pr-1")
	}),
	"the agent pulls a colleague's red branch that it is on": visits(func(s *scene) {
		s.git("switch", "-q", "-c", "theirs", "origin/theirs~1")
		s.git("pull", "-q", "--ff-only", ".", "origin/theirs")
	}),
	"the agent merges what a remote has of a branch": visits(func(s *scene) {
		s.git("switch", "-q", "-c", "theirs", "origin/theirs~1")
		s.git("merge", "-q", "--ff-only", "origin/theirs")
	}),
	"the agent fetches into a colleague's red branch that it is on": visits(func(s *scene) {
		s.git("switch", "-q", "-c", "theirs", "origin/theirs~1")
		s.git("fetch", "-q", "--update-head-ok", ".", "refs/remotes/origin/theirs:theirs")
		s.git("reset", "-q", "--hard")
	}),
	"the agent renames the branch that it has made of a colleague's red one": visits(func(s *scene) {
		s.git("switch", "-q", "-c", "review", "origin/theirs")
		s.git("branch", "-m", "look")
	}),
	"the agent commits on a branch of its own, and checks out a red one": visits(func(s *scene) {
		s.git("switch", "-q", "-c", "own")
		s.commit("g", "")
		s.git("checkout", "-q", "origin/theirs")
	}),
	"the agent reverts, picks and applies commits on a branch of its own, and checks out a red one": visits(func(s *scene) {
		s.git("switch", "-q", "-c", "own")
		s.commit("g", "")
		patch := s.git("format-patch", "-1", "-o", s.state)
		s.git("revert", "--no-edit", "HEAD")
		s.git("cherry-pick", "HEAD~1")
		s.git("revert", "--no-edit", "HEAD")
		s.git("am", "-q", patch)
		s.git("checkout", "-q", "origin/theirs")
	}),
	"the agent looks for the commit that broke a red branch": visits(func(s *scene) {
		s.git("checkout", "-q", "origin/theirs")
		s.git("bisect", "start", "HEAD", "HEAD~1")
	}),
	"the agent checks out a red branch, and a person's edit goes along": visits(func(s *scene) {
		s.git("checkout", "-q", "origin/theirs")
	}, func(s *scene) { write(s.t, s.path("f"), "the person's") }),
	"the agent checks out a red branch, and git converts files": visits(func(s *scene) {
		s.git("checkout", "-q", "origin/theirs")
	}, func(s *scene) { s.git("config", "core.autocrlf", "true") }),
	"the agent checks out a red branch after a pass": visits(func(s *scene) {
		s.commit("g", "")
		wantAllow(s.t, s.stop(nil))
		s.prompt("look at their branch", nil)
		s.git("checkout", "-q", "origin/theirs")
	}),
	"the agent checks out a red branch, and resets it to its commit": visits(func(s *scene) {
		s.git("switch", "-q", "-c", "review", "origin/theirs")
		s.git("reset", "-q", "--hard")
	}),
	"the agent checks out a red branch after a reset that passed": visits(func(s *scene) {
		s.git("reset", "-q", "--hard", "origin/theirs~1")
		wantAllow(s.t, s.stop(nil))
		s.prompt("look at their branch", nil)
		s.git("checkout", "-q", "origin/theirs")
	}),
	"the agent checks out a red branch after its work passed and was committed": visits(func(s *scene) {
		write(s.t, s.path("g"), "")
		wantAllow(s.t, s.stop(nil))
		s.commit("g", "")
		s.prompt("look at their branch", nil)
		s.git("checkout", "-q", "origin/theirs")
	}),
	"the agent checks out a red branch where another session's work passed and was committed": visits(func(s *scene) {
		s.git("checkout", "-q", "origin/theirs")
	}, func(s *scene) {
		before := fields{"session_id": "before"}
		s.prompt("do it", before)
		write(s.t, s.path("g"), "")
		wantAllow(s.t, s.stop(before))
		s.commit("g", "")
	}),
	"the agent checks out a red branch, and asks": visits(func(s *scene) {
		s.git("checkout", "-q", "origin/theirs")
		wantAllow(s.t, s.stop(nil))
		s.prompt("and what is this?", nil)
	}),
	"the agent checks out a red branch where no base is known": visits(func(s *scene) {
		s.git("checkout", "-q", "origin/theirs")
	}, func(s *scene) { s.git("update-ref", "-d", "refs/remotes/origin/main") }),
	"the agent checks out a person's older red branch": visits(func(s *scene) { s.git("checkout", "-q", "mine") }, func(s *scene) {
		s.git("branch", "mine", "origin/theirs")
		s.git("update-ref", "-d", "refs/remotes/origin/theirs")
	}),
	"the agent checks out what a colleague pushes meanwhile": visits(func(s *scene) {
		s.pushedByColleague("origin/meanwhile", "origin/theirs")
		s.git("checkout", "-q", "origin/meanwhile")
	}),
	"a new worktree of a colleague's red branch": visits(func(s *scene) {
		s.lookInto("origin/theirs")
	}),
	"a new worktree of a person's older red branch where no base is known": visits(func(s *scene) {
		s.lookInto("mine")
	}, func(s *scene) {
		s.git("branch", "mine", "origin/theirs")
		s.git("update-ref", "-d", "refs/remotes/origin/main")
	}),
	"a new worktree that goes on to a red branch": visits(func(s *scene) {
		s.lookInto("main").Git("checkout", "-q", "origin/theirs")
	}),
	"the agent pulls red work that has no submodule any more": func(s *scene) fields {
		s.withoutSubmodule()
		s.prompt("pull", nil)
		s.git("merge", "-q", "--ff-only", "origin/main")
		return nil
	},
	"the agent pulls red work, and removes the folder of a submodule that went": func(s *scene) fields {
		s.withoutSubmodule()
		s.prompt("pull", nil)
		s.git("merge", "-q", "--ff-only", "origin/main")
		check(s.t, os.RemoveAll(s.path("lib")))
		return nil
	},
	"a question beside very many clones": asks(func(s *scene) {
		for i := range 101 {
			s.git("init", "-q", fmt.Sprintf("clones/%d", i))
			write(s.t, s.path(fmt.Sprintf("clones/%d/c", i)), "")
		}
		s.red()
	}),
	"the agent looks at another branch, and comes back": func(s *scene) fields {
		s.git("config", "core.autocrlf", "true")
		s.colleague("f")
		s.red()
		s.prompt("compare the branches", nil)
		s.git("switch", "-q", "--detach", "origin/main")
		s.git("switch", "-q", "main")
		return nil
	},
	"a colleague force-pushes a protected test": func(s *scene) fields {
		colleague := s.protects("a_test.go", "1\n")
		s.prompt("update the branch", nil)
		colleague.Write("a_test.go", "2\n")
		colleague.Git("commit", "-q", "-a", "--amend", "-m", "anew")
		colleague.Git("push", "-q", "--force", "origin", "main")
		s.git("fetch", "-q")
		s.git("reset", "-q", "--hard", "origin/main")
		return nil
	},
	"a pull below a person's edit of a protected test": func(s *scene) fields {
		colleague := s.protects("a_test.go", "1\n2\n3\n4\n5\n")
		write(s.t, s.path("a_test.go"), "1\n2\n3\n4\nthe person's\n")
		s.prompt("pull", nil)
		colleague.Write("a_test.go", "theirs\n2\n3\n4\n5\n")
		colleague.Commit("theirs")
		colleague.Git("push", "-q", "origin", "main")
		s.git("pull", "-q", "--rebase", "--autostash")
		return nil
	},
	"a pull of a protected test that git converts": func(s *scene) fields {
		colleague := s.protects("a_test.go", "1\n")
		s.git("config", "core.autocrlf", "true")
		s.prompt("pull", nil)
		colleague.Write("a_test.go", "2\n")
		colleague.Commit("theirs")
		colleague.Git("push", "-q", "origin", "main")
		s.git("pull", "-q", "--ff-only")
		return nil
	},
	"an unapproved project": func(s *scene) fields {
		other := filepath.Join(filepath.Dir(s.root), "other")
		s.repository(other, untilGood)
		write(s.t, filepath.Join(other, "red"), "")
		return fields{"cwd": other}
	},
	"changes elsewhere in a large repository": func(s *scene) fields {
		s.config(strings.Replace(untilGood, "path: .", "path: src", 1))
		s.approve()
		s.red()
		return nil
	},
	"a tool that was never there": func(s *scene) fields {
		s.config(strings.Replace(untilGood, "test ! -e red", "no-such-program", 1))
		s.approve()
		write(s.t, s.path("g"), "")
		return nil
	},

	// The tree is green, and unusual.
	"a detached HEAD":          works(func(s *scene) { s.git("checkout", "-q", "--detach") }),
	"before the first commit":  works(func(s *scene) { s.orphan() }),
	"without git":              works(func(s *scene) { check(s.t, os.RemoveAll(s.path(".git"))) }),
	"without a remote":         works(func(s *scene) { s.git("update-ref", "-d", "refs/remotes/origin/main") }),
	"a rebase in progress":     works(func(s *scene) { s.conflict("rebase", "main") }),
	"a stash from before":      works(func(s *scene) { write(s.t, s.path("f"), "2"); s.git("stash", "-q") }),
	"a submodule":              works(func(s *scene) { s.submodule() }),
	"a repository in a folder": works(func(s *scene) { s.repository(s.path("vendor/lib"), "entry_points: []\n") }),
	"a sparse checkout": works(func(s *scene) {
		s.commit("deep/file", "1")
		s.git("sparse-checkout", "set", "--no-cone", "/*", "!/deep")
	}),
	"a shallow clone":                       works(func(s *scene) { s.shallow() }),
	"a huge untracked folder":               works(func(s *scene) { s.many(3000) }),
	"a large file":                          works(func(s *scene) { write(s.t, s.path("large"), strings.Repeat("x\n", 5<<20)) }),
	"names of every kind":                   works(func(s *scene) { write(s.t, s.path("new\nline \"é\" \xff"), "1") }),
	"a link to itself":                      works(func(s *scene) { check(s.t, os.Symlink("loop", s.path("loop"))) }),
	"a link to nowhere":                     works(func(s *scene) { check(s.t, os.Symlink("/nowhere", s.path("gone"))) }),
	"a file that is read-only":              works(func(s *scene) { check(s.t, os.Chmod(s.path("f"), 0o400)) }),
	"a deleted file":                        works(func(s *scene) { check(s.t, os.Remove(s.path("f"))) }),
	"a name in other letters":               works(func(s *scene) { s.git("mv", "f", "F") }),
	"lines that end differently":            works(func(s *scene) { s.git("config", "core.autocrlf", "true"); write(s.t, s.path("f"), "1\r\n") }),
	"a lock that git left":                  works(func(s *scene) { write(s.t, s.path(".git/index.lock"), "") }),
	"a clock that was set back":             works(func(s *scene) { s.now = func() time.Time { return time.Now().Add(-48 * time.Hour) } }),
	"a question, and git tidies up":         during(func(s *scene) { s.git("gc", "-q", "--prune=now"); s.git("pack-refs", "--all") }),
	"a question, and a fetch brings tags":   during(func(s *scene) { s.git("tag", "v9"); s.git("update-ref", "refs/remotes/origin/new", "HEAD") }),
	"a question, and the branch is renamed": during(func(s *scene) { s.git("branch", "-m", "trunk") }),
	"a question, and a person stages":       during(func(s *scene) { s.git("add", "red") }),
	"a question, and Git LFS is set up": during(func(s *scene) {
		s.git("config", "filter.lfs.clean", "git-lfs clean -- %f")
		s.git("config", "filter.lfs.smudge", "git-lfs smudge -- %f")
		s.git("config", "filter.lfs.required", "true")
	}),
	"a question, and the index gets another form": during(func(s *scene) { s.git("update-index", "--index-version", "4", "--split-index", "--untracked-cache") }),
	"a question, and the repository moves out":    during(func(s *scene) { s.git("init", "-q", "--separate-git-dir", filepath.Join(s.state, "git")) }),
	"a question, and a file is saved as it was":   during(func(s *scene) { write(s.t, s.path("f.new"), "1"); check(s.t, os.Rename(s.path("f.new"), s.path("f"))) }),
	"a question, and a backup links files":        during(func(s *scene) { check(s.t, os.Link(s.path("f"), filepath.Join(s.state, "backup"))) }),
	"a question, and the project is restored from a backup": during(func(s *scene) {
		check(s.t, os.CopyFS(s.root+".new", os.DirFS(s.root)))
		check(s.t, os.RemoveAll(s.root))
		check(s.t, os.Rename(s.root+".new", s.root))
	}),
	"a question, and a stash is dropped": func(s *scene) fields {
		write(s.t, s.path("f"), "2")
		s.git("stash", "-q")
		return during(func(s *scene) { s.git("stash", "drop", "-q") })(s)
	},
	"a question, and an old worktree is pruned": func(s *scene) fields {
		dir := filepath.Join(s.state, "old")
		s.git("worktree", "add", "-q", dir)
		return during(func(s *scene) { check(s.t, os.RemoveAll(dir)); s.git("worktree", "prune") })(s)
	},
	"a person amends after a pass":            after(func(s *scene) { s.red(); s.git("add", "-A"); s.git("commit", "-q", "--amend", "--no-edit") }),
	"a person changes how git writes lines":   after(func(s *scene) { s.red(); s.git("config", "core.autocrlf", "true") }),
	"a person is in a rebase after a pass":    after(func(s *scene) { check(s.t, os.Remove(s.path("g"))); s.conflict("rebase", "main"); s.red() }),
	"a person restores a backup after a pass": after(func(s *scene) { s.red(); check(s.t, os.Remove(s.path("f"))); write(s.t, s.path("f"), "1") }),
	"a session goes on after a restart, and a person has worked": after(func(s *scene) {
		s.red()
		s.call(hook.SessionEnd, fields{"reason": "other"})
		s.call(hook.SessionStart, fields{"source": "resume"})
	}),
	"the agent commits what has passed": func(s *scene) fields {
		s.prompt("do it", nil)
		write(s.t, s.path("g"), "")
		wantAllow(s.t, s.stop(nil))
		s.prompt("commit it", nil)
		s.commit("g", "")
		return nil
	},
	"a look by commands into another red project of a person": func(s *scene) fields {
		other := s.another()
		write(s.t, filepath.Join(other, "red"), "")
		s.later()
		s.prompt("what is in other?", nil)
		return s.runs("cat ../other/red")
	},
	"a look by commands into a project in which a person has worked since the last stop": func(s *scene) fields {
		other := s.another()
		s.prompt("do it", nil)
		wantAllow(s.t, s.stop(s.runs("make")))
		write(s.t, filepath.Join(other, "red"), "")
		s.later()
		s.prompt("what is in other?", nil)
		return s.runs("cat ../other/red")
	},
	"a person works in a project into which commands have looked": func(s *scene) fields {
		other := s.another()
		s.later()
		s.prompt("what is in other?", nil)
		wantAllow(s.t, s.stop(s.runs("cat ../other/f")))
		s.prompt("go on here", nil)
		write(s.t, filepath.Join(other, "red"), "")
		return s.runs("make")
	},
	"a look by commands into the main worktree, where a person works": func(s *scene) fields {
		dir := s.linked("wt")
		s.prompt("what is in the other one?", fields{"cwd": dir})
		write(s.t, s.path("red"), "")
		return merge(s.runs("cat ../"+filepath.Base(s.root)+"/f"), fields{"cwd": dir})
	},
	"a look by commands into the main worktree around it, where a person's red work is": func(s *scene) fields {
		write(s.t, s.path(".git/info/exclude"), ".claude\n")
		s.git("worktree", "add", "-q", ".claude/worktrees/wt")
		s.red()
		s.later()
		stand := fields{"cwd": s.path(".claude/worktrees/wt")}
		s.prompt("what is in the other one?", stand)
		write(s.t, s.path(".claude/worktrees/wt/g"), "")
		ahead := s.now().Add(time.Minute)
		check(s.t, os.Chtimes(s.path(".claude/worktrees/wt/g"), ahead, ahead))
		return merge(s.runs("cd "+s.root+" && git log"), stand)
	},
	"work by absolute paths in a worktree within the main one, where a person works": func(s *scene) fields {
		write(s.t, s.path(".git/info/exclude"), ".claude\n")
		s.git("worktree", "add", "-q", ".claude/worktrees/wt")
		stand := fields{"cwd": s.path(".claude/worktrees/wt")}
		s.prompt("do it", stand)
		s.red()
		write(s.t, s.path(".claude/worktrees/wt/g"), "")
		return merge(s.runs("touch "+s.path(".claude/worktrees/wt/g")), stand)
	},
	"a look by commands into an older red worktree of a person": func(s *scene) fields {
		write(s.t, filepath.Join(s.linked("older"), "red"), "")
		s.later()
		s.prompt("what is in older?", nil)
		return s.runs("ls ../older; git -C ../older log; cd ../older && make -n")
	},
	"a look by commands into an older worktree in which a person works": func(s *scene) fields {
		dir := s.linked("older")
		s.prompt("what is in older?", nil)
		write(s.t, filepath.Join(dir, "red"), "")
		return s.runs("ls ../older; git -C ../older log")
	},
	"another session works in an older worktree that this one looks into": func(s *scene) fields {
		dir := s.linked("older")
		s.prompt("what is in older?", nil)
		s.prompt("break it", fields{"session_id": "s2", "cwd": dir})
		write(s.t, filepath.Join(dir, "red"), "")
		return s.runs("cd ../older && make")
	},
	"an older worktree of a person, to which no command leads": func(s *scene) fields {
		dir := s.linked("older")
		s.prompt("do it", nil)
		write(s.t, filepath.Join(dir, "red"), "")
		write(s.t, s.path("g"), "")
		return s.runs("cd src/older && touch older/f older")
	},
	"a file is copied from the main worktree, where a person works": func(s *scene) fields {
		stand := fields{"cwd": s.linked("wt")}
		s.prompt("set it up", stand)
		s.red()
		return merge(s.runs("cp ../project/f . && make setup"), stand)
	},
	"a look by commands into the project above, where a person works": func(s *scene) fields {
		dir := s.path("sub")
		s.repository(dir, untilGood)
		check(s.t, trust.NewStore(s.state).Approve(dir, time.Now()))
		s.prompt("what is above?", fields{"cwd": dir})
		write(s.t, s.path("red"), "")
		return merge(s.runs("cat ../../"+filepath.Base(s.root)+"/f"), fields{"cwd": dir})
	},
	"a look by commands of a session that was heard of late": func(s *scene) fields {
		other := filepath.Join(filepath.Dir(s.root), "other")
		s.repository(other, untilGood)
		check(s.t, trust.NewStore(s.state).Approve(other, time.Now()))
		s.call(hook.SubagentStop, nil)
		s.prompt("what is in other?", nil)
		write(s.t, filepath.Join(other, "red"), "")
		return s.runs("cat ../other/f")
	},
	"another session works in a project that this one looks into": func(s *scene) fields {
		other := s.another()
		s.prompt("what is in other?", nil)
		s.prompt("break it", fields{"session_id": "s2", "cwd": other})
		write(s.t, filepath.Join(other, "red"), "")
		return s.runs("cat ../other/f")
	},
	"another session's turn has just ended in a project that this one looks into": func(s *scene) fields {
		other := s.another()
		earlier := fields{"session_id": "s2", "cwd": other}
		s.prompt("do it", earlier)
		s.prompt("what is in other?", nil)
		write(s.t, filepath.Join(other, "g"), "")
		wantAllow(s.t, s.stop(earlier))
		write(s.t, filepath.Join(other, "red"), "")
		return s.runs("cd ../other && make")
	},
	"another session's worktree of an earlier turn": func(s *scene) fields {
		s.prompt("do it", nil)
		dir := s.linked("theirs")
		earlier := fields{"session_id": "s2", "cwd": dir}
		s.prompt("do it", earlier)
		write(s.t, filepath.Join(dir, "g"), "")
		wantAllow(s.t, s.stop(earlier))
		wantAllow(s.t, s.stop(nil))
		s.later()
		s.prompt("list the worktrees", nil)
		write(s.t, s.path("g"), "")
		return s.runs("git worktree list; cd ../theirs")
	},
	"a look from no project into one in which a person works later": func(s *scene) fields {
		outside := fields{"cwd": s.state}
		s.prompt("what is there?", outside)
		wantAllow(s.t, s.stop(merge(s.runs("cd ../project && make -n"), outside)))
		s.red()
		s.later()
		s.prompt("what is here?", outside)
		return merge(s.runs("ls"), outside)
	},
	"a question above a project in which a person has worked since the last one": func(s *scene) fields {
		above := fields{"cwd": filepath.Dir(s.root)}
		s.prompt("what is there?", above)
		wantAllow(s.t, s.stop(merge(s.runs("ls"), above)))
		s.red()
		s.prompt("what is in project?", above)
		return merge(s.runs("cd project && ls"), above)
	},
	"background work": func(s *scene) fields {
		s.prompt("do it", nil)
		write(s.t, s.path("g"), "")
		return fields{"background_tasks": []fields{{"id": "b", "type": "shell", "status": "running", "description": "d"}}}
	},
}

// asks is a turn that changes nothing.
func asks(before func(*scene)) func(*scene) fields {
	return func(s *scene) fields {
		before(s)
		s.prompt("what is this?", nil)
		return nil
	}
}

// visits is a turn in which the agent looks at theirs, a colleague's branch that has been red for long.
func visits(look func(*scene), before ...func(*scene)) func(*scene) fields {
	return func(s *scene) fields {
		s.theirs()
		for _, do := range before {
			do(s)
		}
		s.prompt("look at their branch", nil)
		look(s)
		return nil
	}
}

// theirs has a colleague push a red branch, long ago.
func (s *scene) theirs() {
	s.t.Helper()
	s.git("switch", "-q", "-c", "theirs")
	r := gittest.At(s.t, s.root)
	for _, name := range []string{"first", "red"} {
		r.Write(name, "1\n2\n")
		r.Commit(name)
	}
	s.git("update-ref", "refs/remotes/origin/theirs", "HEAD")
	s.git("switch", "-q", "main")
	s.git("branch", "-q", "-D", "theirs")
}

// lookInto makes a worktree of what there is under a name, and goes there.
func (s *scene) lookInto(name string) *gittest.Repo {
	s.t.Helper()
	dir := filepath.Join(filepath.Dir(s.root), "look")
	r := gittest.At(s.t, s.root)
	r.Env = withoutDates(r.Env)
	r.Git("worktree", "add", "-q", "--detach", dir, name)
	s.call(hook.CwdChanged, fields{"old_cwd": s.root, "new_cwd": dir})
	look := gittest.At(s.t, dir)
	look.Env = r.Env
	return look
}

// pushedByColleague has a colleague push a commit to a branch just now.
func (s *scene) pushedByColleague(branch, from string) {
	s.t.Helper()
	r := gittest.At(s.t, s.root)
	r.Env = append(withoutDates(r.Env), "GIT_COMMITTER_EMAIL=colleague@example.com")
	commit := r.Git("commit-tree", "-m", "theirs", "-p", from, from+"^{tree}")
	s.git("update-ref", "refs/remotes/"+branch, commit)
}

// during is a question on a red tree, and what happens until it is answered.
func during(meanwhile func(*scene)) func(*scene) fields {
	return func(s *scene) fields {
		s.red()
		s.prompt("what is this?", nil)
		meanwhile(s)
		return nil
	}
}

// runs is the stop of a session whose transcript now ends with a shell command.
func (s *scene) runs(command string) fields {
	return s.calls("Bash", fmt.Sprintf(`{"command":%q}`, command))
}

// calls is a stop after the agent has called a tool.
func (s *scene) calls(tool, input string) fields {
	path := filepath.Join(s.state, "runs.jsonl")
	before, _ := os.ReadFile(path) // there is none at first
	write(s.t, path, string(before)+toolUse(tool, input))
	return fields{"transcript_path": path}
}

// toolUse is a line of a transcript with a call of a tool.
func toolUse(tool, input string) string {
	return fmt.Sprintf(`{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t","name":%q,"input":%s}]}}`+"\n", tool, input)
}

// shell is a line of a transcript with a shell command.
func shell(command string) string { return toolUse("Bash", fmt.Sprintf(`{"command":%q}`, command)) }

// answers is a line of a transcript with what the tool has answered that was called before.
func answers(text string) string {
	return fmt.Sprintf(`{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":%q}]}}`+"\n", text)
}

// says is a line of a transcript with what a person has written.
func says(text string) string {
	return fmt.Sprintf(`{"type":"user","message":{"role":"user","content":%q}}`+"\n", text)
}

// another is another approved project, beside this one.
func (s *scene) another() string {
	other := filepath.Join(filepath.Dir(s.root), "other")
	s.repository(other, untilGood)
	check(s.t, trust.NewStore(s.state).Approve(other, time.Now()))
	return other
}

// after is a question after a pass, since which a person has worked.
func after(meanwhile func(*scene)) func(*scene) fields {
	return func(s *scene) fields {
		s.prompt("do it", nil)
		write(s.t, s.path("g"), "")
		wantAllow(s.t, s.stop(nil))
		meanwhile(s)
		s.prompt("what is this?", nil)
		return nil
	}
}

// works is a turn that changes something and leaves the tree green.
func works(before func(*scene)) func(*scene) fields {
	return func(s *scene) fields {
		s.prompt("do it", nil)
		before(s)
		write(s.t, s.path("g"), "")
		return nil
	}
}

func TestNothingIsBlockedByMistake(t *testing.T) {
	t.Parallel()
	for name, situation := range everyday {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newWork(t)
			stop := situation(s)
			event := hook.Stop
			if stop["agent_id"] != nil {
				event = hook.SubagentStop
			}
			if r := s.call(event, stop); r.blocks() || r.Code != 0 {
				t.Errorf("got %s", r.Stdout)
			}
		})
	}
	if len(everyday) < 30 {
		t.Errorf("%d situations", len(everyday))
	}
}

func (s *scene) git(args ...string) string {
	s.t.Helper()
	return gittest.At(s.t, s.root).Git(args...)
}

func (s *scene) red() { write(s.t, s.path("red"), "") }

// later lets time pass, so that what there is was there long before.
func (s *scene) later() { s.now = func() time.Time { return time.Now().Add(time.Hour) } }

// colleague has pushed a file.
func (s *scene) colleague(name string) {
	s.t.Helper()
	s.git("switch", "-q", "-c", "theirs")
	s.commit(name, "1\n2\n")
	s.git("update-ref", "refs/remotes/origin/main", "HEAD")
	s.git("switch", "-q", "main")
}

// protects protects tests, and a colleague has pushed one of them: the clone is the colleague's.
func (s *scene) protects(name, text string) *gittest.Repo {
	s.t.Helper()
	s.keepers = append(s.keepers, protect.Keeper{StateDir: s.state, Now: func() time.Time { return s.now() }, Log: s.t.Logf})
	s.config(protected + block)
	s.approve()
	s.commit(name, text)
	bare, clone := gittest.New(s.t, "--bare"), gittest.At(s.t, filepath.Join(gittest.Dir(s.t), "clone"))
	s.git("remote", "add", "origin", bare.Dir)
	s.git("push", "-q", "--set-upstream", "origin", "main")
	bare.Git("clone", "-q", bare.Dir, clone.Dir)
	return clone
}

// orphan makes a branch without a commit.
func (s *scene) orphan() {
	s.t.Helper()
	s.git("switch", "-q", "--orphan", "fresh")
	s.git("checkout", "-q", "main", "--", ".")
	s.git("rm", "-rq", "--cached", ".")
	s.git("update-ref", "-d", "refs/remotes/origin/main")
}

// conflict stops a command of git in the middle, with what it is about red.
func (s *scene) conflict(command, onto string) {
	s.t.Helper()
	s.git("switch", "-q", "-c", "side")
	s.commit("f", "side")
	s.git("switch", "-q", onto)
	s.commit("f", "main")
	s.git("switch", "-q", "side")
	if out, err := gittest.At(s.t, s.root).Try(command, onto); err == nil {
		s.t.Fatalf("no conflict: %s", out)
	}
	if command != "rebase" {
		s.red()
	}
}

func (s *scene) submodule() {
	s.t.Helper()
	lib := filepath.Join(filepath.Dir(s.root), "lib")
	check(s.t, os.MkdirAll(lib, 0o755))
	r := gittest.At(s.t, lib)
	r.Git("init", "-q", "-b", "main")
	r.Write("l", "1")
	r.Commit("lib")
	s.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", lib, "lib")
	write(s.t, s.path("lib/l"), "2")
}

// withoutSubmodule has a submodule that a colleague's red work has not.
func (s *scene) withoutSubmodule() {
	s.t.Helper()
	s.submodule()
	s.git("-C", "lib", "checkout", "-q", ".")
	s.commit("x", "")
	s.git("switch", "-q", "-c", "theirs")
	s.git("rm", "-q", "lib")
	s.commit("red", "")
	s.git("update-ref", "refs/remotes/origin/main", "HEAD")
	s.git("switch", "-q", "main")
	s.git("submodule", "-q", "update", "--init")
}

// shallow makes the project a clone without history, approved as it is.
func (s *scene) shallow() {
	s.t.Helper()
	s.commit("f", "2")
	clone := filepath.Join(filepath.Dir(s.root), "clone")
	gittest.At(s.t, filepath.Dir(s.root)).Git("clone", "-q", "--depth=1", "file://"+s.root, clone)
	s.root = clone
	s.approve()
}

func (s *scene) many(files int) {
	s.t.Helper()
	for i := range files {
		write(s.t, s.path(fmt.Sprintf("node_modules/%d/index.js", i)), "1")
	}
}
