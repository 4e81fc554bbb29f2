//go:build unix

package stop

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/gate/footprint"
	"github.com/stopgate/stopgate/internal/gate/gauntlet"
	"github.com/stopgate/stopgate/internal/gate/gauntlet/ledger"
	"github.com/stopgate/stopgate/internal/gate/guard"
	"github.com/stopgate/stopgate/internal/gate/keeper"
	"github.com/stopgate/stopgate/internal/gate/protect"
	"github.com/stopgate/stopgate/internal/gate/trust"
	"github.com/stopgate/stopgate/internal/harness/hook"
	"github.com/stopgate/stopgate/internal/project/config"
	"github.com/stopgate/stopgate/internal/record/event"
	"github.com/stopgate/stopgate/internal/record/journal"
	"github.com/stopgate/stopgate/internal/record/stops"
	"github.com/stopgate/stopgate/internal/sys/checktest"
	"github.com/stopgate/stopgate/internal/sys/git/gittest"
	"github.com/stopgate/stopgate/internal/sys/paths"
)

// untilGood is a project whose one check fails while a file named red is there.
const untilGood = "quiet: true\nbase_branch: origin/main\nentry_points:\n  - path: .\n    checks:\n      - {name: t, command: test ! -e red}\n"

// newWork is a scene with an approved project in a real repository.
func newWork(t *testing.T) *scene {
	s := newScene(t, "")
	check(t, os.RemoveAll(s.root))
	s.env = gittest.Environ(t)
	s.keepers = []keeper.Keeper{gauntlet.Keeper{StateDir: s.state, Now: func() time.Time { return s.now() }, Log: t.Logf}}
	s.repository(s.root, untilGood)
	s.enforce()
	s.approve()
	return s
}

// repository makes one with a project at its top.
func (s *scene) repository(dir, config string) *gittest.Repo {
	s.t.Helper()
	check(s.t, os.MkdirAll(dir, 0o755))
	r := gittest.At(s.t, dir)
	r.Git("init", "-q", "-b", "main")
	r.Write(".gauntlet/config.yml", config, "f", "1", ".gitignore", "gauntlet_logs\n")
	r.Commit("first")
	r.Git("update-ref", "refs/remotes/origin/main", "HEAD")
	return r
}

func (s *scene) prompt(text string, extra fields) reply {
	s.t.Helper()
	all := fields{"prompt": text}
	for name, value := range extra {
		all[name] = value
	}
	return s.call(hook.UserPromptSubmit, all)
}

func (s *scene) status() (all []string) {
	s.t.Helper()
	for _, tree := range s.answered().Trees {
		all = append(all, strings.TrimPrefix(tree.Root, filepath.Dir(s.root)+"/")+" "+tree.Status)
	}
	return all
}

func (s *scene) wantTrees(want ...string) {
	s.t.Helper()
	if got := s.status(); strings.Join(got, ", ") != strings.Join(want, ", ") {
		s.t.Errorf("judged were %q, want %q", got, want)
	}
}

func TestE1EveryStopIsJudged(t *testing.T) {
	t.Parallel()
	s := newWork(t)
	write(t, s.path("g"), "1")
	wantAllow(t, s.stop(nil))
	s.wantTrees("project passed")
	write(t, s.path("red"), "")
	wantBlock(t, s.stop(nil), "check:.:t")
	wantBlock(t, s.stop(fields{"stop_hook_active": true}), "check:.:t")
}

func TestE1AStopThatIsNotJudgedIsTold(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ key, variable, told string }{
		"interval":       {"run_interval_minutes: 5", "", "not checked: run_interval_minutes, 5 min left"},
		"disabled":       {"enabled: false", "", "not checked: stop_hook.enabled is false"},
		"by a variable":  {"enabled: true", "GAUNTLET_STOP_HOOK_ENABLED=false", "not checked: GAUNTLET_STOP_HOOK_ENABLED=false"},
		"never verified": {"verify_fixes: false", "", "not checked: verify_fixes is false"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newWork(t)
			s.config(untilGood + "stop_hook: {" + tt.key + "}\n")
			s.approve()
			s.stop(nil)
			write(t, s.path("red"), "")
			again := fields{}
			if name == "never verified" {
				wantBlock(t, s.stop(nil), "check:.:t")
				again["stop_hook_active"] = true
			}
			if tt.variable != "" {
				s.env = append(s.env, tt.variable)
			}
			wantAllow(t, s.stop(again), tt.told)
		})
	}
}

func TestE2OnlyStopsCount(t *testing.T) {
	t.Parallel()
	s := newWork(t)
	write(t, s.path("red"), "")
	for range 5 {
		project := Locator{StateDir: s.state, Global: &config.Global{}}.Locate(s.root, true).Project
		r := gauntlet.Execute(t.Context(), gauntlet.Options{
			Project: project, Global: &config.Global{}, StateDir: s.state, Environ: s.env, Now: s.now,
		})
		if r.Status != gauntlet.Failed {
			t.Fatalf("got %s", r.Message)
		}
	}
	r := s.stop(nil)
	wantBlock(t, r, "check:.:t")
	for _, word := range []string{"retr", "tries", "attempt", "limit", "times", "released"} {
		if strings.Contains(strings.ToLower(r.Reason), word) {
			t.Errorf("the agent is told %q:\n%s", word, r.Reason)
		}
	}
}

func TestE3AfterTheLimitAPersonsPromptStartsAnew(t *testing.T) {
	t.Parallel()
	s := newWork(t)
	s.prompt("do it", nil)
	write(t, s.path("red"), "")
	for range 3 {
		wantBlock(t, s.stop(nil), "check:.:t")
	}
	wantAllow(t, s.stop(nil), "retry limit")
	write(t, s.path("red"), "another")
	wantAllow(t, s.stop(nil), "retry limit")
	s.prompt("<task-notification>done</task-notification>", nil)
	wantAllow(t, s.stop(nil), "retry limit")
	s.prompt("Another Claude session sent a message:\n<teammate-message teammate_id=\"zed\">go on</teammate-message>", nil)
	write(t, s.path("red"), "for a teammate")
	wantAllow(t, s.stop(nil), "retry limit")
	s.prompt("go on", nil)
	write(t, s.path("red"), "a third")
	wantBlock(t, s.stop(nil), "check:.:t")
}

// An agent that wakes itself would be held for three stops each time, for ever.
func TestE3APromptThatTheAgentScheduledIsNoPersons(t *testing.T) {
	t.Parallel()
	s := newWork(t)
	s.prompt("do it", nil)
	write(t, s.path("red"), "")
	for range 3 {
		wantBlock(t, s.stop(nil), "check:.:t")
	}
	long := strings.Repeat("look again ", 100)
	crons := []any{
		fields{"id": "1", "schedule": "*/5 * * * *", "recurring": true, "prompt": "Check the build"},
		fields{"id": "2", "schedule": "0 9 * * *", "recurring": false, "prompt": long[:1000] + "… [+100 chars]"},
		fields{"id": "3", "prompt": "… [+1 chars]"}, // not clipped: it must not stand for every prompt
		"of another form",
	}
	wantAllow(t, s.stop(fields{"session_crons": crons}), "retry limit")
	for _, prompt := range []string{"Check the build", long} {
		s.prompt(prompt, nil)
		write(t, s.path("red"), prompt)
		wantAllow(t, s.stop(fields{"session_crons": crons}), "retry limit")
	}
	s.prompt("Check the build again", nil)
	write(t, s.path("red"), "a person wrote that")
	wantBlock(t, s.stop(nil), "check:.:t")
}

func TestE3APromptOfAnAgentOfAPipelineIsNoPersons(t *testing.T) {
	t.Parallel()
	s := newWork(t)
	s.prompt("do it", nil)
	write(t, s.path("red"), "")
	for range 3 {
		wantBlock(t, s.stop(nil), "check:.:t")
	}
	wantAllow(t, s.stop(nil), "retry limit")
	s.env = append(s.env, "STOPGATE_AGENT_ID=a")
	s.prompt("go on", nil)
	write(t, s.path("red"), "another")
	wantAllow(t, s.stop(nil), "retry limit")
}

func TestE3OnlyAPersonsCleanEndsASeries(t *testing.T) {
	t.Parallel()
	for _, person := range []bool{false, true} {
		s := newWork(t)
		write(t, s.path("red"), "")
		for range 3 {
			wantBlock(t, s.stop(nil), "check:.:t")
		}
		wantAllow(t, s.stop(nil), "retry limit")
		_, err := gauntlet.Clean(t.Context(), s.state, s.root, "gauntlet_logs", person, s.now())
		check(t, err)
		if blocked := s.stop(nil).blocks(); blocked != person {
			t.Errorf("cleaned by a person: %t; blocked again: %t", person, blocked)
		}
	}
}

// A new branch, commit or prompt for each attempt does not go on for ever.
func TestE3TheStopHookEndsEveryLoop(t *testing.T) {
	t.Parallel()
	s := newWork(t)
	r := gittest.At(t, s.root)
	blocks := 0
	for i := range 40 {
		name := strings.Repeat("x", i+1)
		r.Git("switch", "-q", "-c", name)
		r.Write("red", name)
		r.Commit(name)
		if stopHook(t, s, fields{"prompt_id": name})["decision"] == "block" {
			blocks++
		}
	}
	if blocks == 0 || blocks > 8 {
		t.Errorf("%d blocks", blocks)
	}
	r.Remove("red")
	if got := stopHook(t, s, nil)["status"]; got != "passed" {
		t.Errorf("got %v", got)
	}
	r.Write("red", "again")
	if got := stopHook(t, s, nil)["status"]; got != "interval_not_elapsed" {
		t.Errorf("the older tool's interval holds: got %v", got)
	}
}

func TestE3AutoCleanKeepsTheSeries(t *testing.T) {
	t.Parallel()
	s := newWork(t)
	r := gittest.At(t, s.root)
	r.Write("red", "")
	for _, branch := range []string{"a", "b", "c"} {
		r.Git("switch", "-q", "-c", branch)
		wantBlock(t, s.stop(nil), "check:.:t")
	}
	r.Git("switch", "-q", "-c", "d")
	wantAllow(t, s.stop(nil), "retry limit")
}

// stopHook calls the older tool's hook.
func stopHook(t *testing.T, s *scene, extra fields) (out fields) {
	t.Helper()
	r := s.service().StopHook(t.Context(), bytes.NewReader(s.payload(hook.Stop, extra)))
	check(t, json.Unmarshal(r.Stdout, &out))
	return out
}

// linked makes a worktree of the scene's project.
func (s *scene) linked(name string) string {
	s.t.Helper()
	dir := filepath.Join(filepath.Dir(s.root), name)
	gittest.At(s.t, s.root).Git("worktree", "add", "-q", "-b", name, dir)
	return dir
}

func TestE5WhereTheSessionWorked(t *testing.T) {
	t.Parallel()
	edit := func(path string) fields {
		return fields{"tool_name": "Write", "tool_input": fields{"file_path": path}, "tool_response": fields{}, "tool_use_id": "u"}
	}
	for name, work := range map[string]func(s *scene) (red string, stop fields){
		"in a worktree that the client was started in": func(s *scene) (string, fields) {
			dir := s.linked("wt")
			s.env = append(s.env, "CLAUDE_PROJECT_DIR="+dir)
			return dir, fields{"cwd": dir}
		},
		"in a worktree that it went to": func(s *scene) (string, fields) {
			dir := s.linked("wt")
			s.env = append(s.env, "CLAUDE_PROJECT_DIR="+s.root)
			return dir, fields{"cwd": dir}
		},
		"in a worktree that it has left": func(s *scene) (string, fields) {
			dir := s.linked("wt")
			s.call(hook.CwdChanged, fields{"old_cwd": s.root, "new_cwd": dir})
			s.call(hook.CwdChanged, fields{"old_cwd": dir, "new_cwd": s.root})
			return dir, nil
		},
		"in a worktree whose files it named": func(s *scene) (string, fields) {
			dir := s.linked("wt")
			s.call(hook.PostToolUse, edit(filepath.Join(dir, "deep", "er", "f.go")))
			return dir, nil
		},
		"in a worktree that it made": func(s *scene) (string, fields) {
			s.prompt("do it", nil)
			dir := s.linked("wt-made")
			transcript := filepath.Join(s.state, "t.jsonl")
			write(s.t, transcript, shell("git worktree add ../wt-made"))
			return dir, fields{"transcript_path": transcript}
		},
		"in another project": func(s *scene) (string, fields) {
			other := filepath.Join(filepath.Dir(s.root), "other")
			s.repository(other, untilGood)
			check(s.t, trust.NewStore(s.state).Approve(other, time.Now()))
			s.call(hook.CwdChanged, fields{"old_cwd": s.root, "new_cwd": filepath.Join(other)})
			return other, nil
		},
		"below the directory of the client": func(s *scene) (string, fields) {
			above := filepath.Dir(s.root)
			s.env = append(s.env, "CLAUDE_PROJECT_DIR="+above)
			s.prompt("do it", fields{"cwd": above})
			s.call(hook.PostToolUse, merge(edit(s.path("f")), fields{"cwd": above}))
			return s.root, fields{"cwd": above}
		},
		"below the directory of the client, by a shell": func(s *scene) (string, fields) {
			above := filepath.Dir(s.root)
			s.env = append(s.env, "CLAUDE_PROJECT_DIR="+above)
			s.prompt("do it", fields{"cwd": above})
			transcript := filepath.Join(s.state, "t.jsonl")
			write(s.t, transcript, shell("(cd project && touch red)"))
			return s.root, fields{"cwd": above, "transcript_path": transcript}
		},
		"in a worktree made below the directory of the client": func(s *scene) (string, fields) {
			above := filepath.Dir(s.root)
			s.env = append(s.env, "CLAUDE_PROJECT_DIR="+above)
			s.prompt("do it", fields{"cwd": above})
			dir := s.linked("wt-made")
			transcript := filepath.Join(s.state, "t.jsonl")
			write(s.t, transcript, shell("git -C project worktree add ../wt-made"))
			return dir, fields{"cwd": above, "transcript_path": transcript}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newWork(t)
			dir, stop := work(s)
			write(t, filepath.Join(dir, "red"), "")
			wantBlock(t, s.stop(stop), "check:.:t")
			wantBlock(t, s.stop(stop), "check:.:t")
			// It is held to it from anywhere.
			wantBlock(t, s.stop(fields{"cwd": s.state}), dir)
			check(t, os.Remove(filepath.Join(dir, "red")))
			wantAllow(t, s.stop(stop))
		})
	}
}

func merge(all ...fields) fields {
	out := fields{}
	for _, one := range all {
		for name, value := range one {
			out[name] = value
		}
	}
	return out
}

// Worktrees of other sessions are theirs.
func TestE5OthersWorktreesAreNotThisAgents(t *testing.T) {
	t.Parallel()
	s := newWork(t)
	s.prompt("do it", nil)
	write(t, filepath.Join(s.linked("wt-other"), "red"), "")
	transcript := filepath.Join(s.state, "t.jsonl")
	write(t, transcript, says("nothing of that")+shell("touch not-wt-other"))
	write(t, s.path("g"), "")
	told := s.stop(fields{"transcript_path": transcript})
	wantAllow(t, told, "wt-other (created during this session, but never used in it)")
	s.wantTrees("project passed")
	write(t, s.path("g"), "more")
	wantAllow(t, s.stop(fields{"transcript_path": transcript})) // told once

	// Nor is one that is spoken of, if another session works there.
	s.call(hook.PostToolUse, fields{"session_id": "s2", "cwd": filepath.Join(filepath.Dir(s.root), "wt-other"), "tool_name": "Bash", "tool_input": fields{}, "tool_response": fields{}, "tool_use_id": "u"})
	write(t, transcript, shell("ls ../wt-other"))
	write(t, s.path("g"), "and more")
	wantAllow(t, s.stop(fields{"transcript_path": transcript}))
	s.wantTrees("project passed")
}

// A worktree is the agent's if the transcript has it as a place, whatever its name is.
func TestE5AWorktreeWhoseNameIsAWord(t *testing.T) {
	t.Parallel()
	for text, blocks := range map[string]bool{
		says("please fix the cart"):                                         false,
		says("cd ../fix && touch red"):                                      false,
		shell("git worktree list") + answers("/w/001/fix 1a2b3c [fix]\n"):   false,
		toolUse("Read", `{"file_path":"f"}`) + answers("cd ../fix\n"):       false,
		toolUse("Agent", `{"isolation":"worktree"}`) + answers("in ../fix"): true,
		shell("make feature") + answers("../fix\n"):                         true,
		shell("git commit -m 'fix the cart'"):                               false,
		shell("git worktree add -q -b fix fix"):                             true,
		shell("N=fix; git worktree add ../$N"):                              true,
		shell("git wt fix && cd fix && touch red"):                          true,
		shell("claude --worktree fix -p 'touch red'"):                       true,
		toolUse("EnterWorktree", `{"name":"fix"}`):                          true,
		toolUse("Write", `{"content":"name=fix; git worktree add $name"}`):  true,
		`{"message":{"content":[{"type":"tool_use","input":"cd ../fix `:     true, // half written
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			s := newWork(t)
			s.prompt("do it", nil)
			dir := s.linked("fix")
			write(t, filepath.Join(dir, "red"), "")
			transcript := filepath.Join(s.state, "t.jsonl")
			write(t, transcript, text)
			write(t, s.path("g"), "")
			if r := s.stop(fields{"transcript_path": transcript}); blocks {
				wantBlock(t, r, dir)
			} else {
				wantAllow(t, r, "fix (created during this session, but never used in it)")
			}
		})
	}
}

// A worktree that Claude Code keeps in the tree is not part of it, so its work is judged there.
func TestE5AWorktreeWithinTheTreeIsJudgedByItself(t *testing.T) {
	t.Parallel()
	s := newWork(t)
	s.prompt("do it", nil)
	s.git("worktree", "add", "-q", ".claude/worktrees/mine")
	write(t, s.path(".claude/worktrees/mine/red"), "")
	transcript := filepath.Join(s.state, "t.jsonl")
	write(t, transcript, shell("git worktree add .claude/worktrees/mine && touch .claude/worktrees/mine/red"))
	wantBlock(t, s.stop(fields{"transcript_path": transcript}), s.path(".claude/worktrees/mine"))
	s.wantTrees("project unchanged", "project/.claude/worktrees/mine failed")
}

// A worktree is known by its own name, not by that of the project's place in it, which is in
// every transcript.
func TestE5AWorktreeOfANestedProjectIsKnownByItsOwnName(t *testing.T) {
	t.Parallel()
	s := newWork(t)
	above := filepath.Dir(s.root)
	r := gittest.At(t, filepath.Join(above, "mono"))
	check(t, os.Mkdir(r.Dir, 0o755))
	r.Git("init", "-q", "-b", "main")
	r.Write("packages/app/.gauntlet/config.yml", untilGood, "packages/app/.gitignore", "gauntlet_logs\n")
	r.Commit("first")
	r.Git("update-ref", "refs/remotes/origin/main", "HEAD")
	s.root = r.Path("packages/app")
	s.approve()
	s.prompt("do it", nil)

	theirs := filepath.Join(above, "theirs")
	r.Git("worktree", "add", "-q", "-b", "theirs", theirs)
	write(t, filepath.Join(theirs, "packages", "app", "red"), "another session's")
	transcript := filepath.Join(s.state, "t.jsonl")
	write(t, transcript, shell("cd packages/app && touch g"))
	write(t, s.path("g"), "")
	wantAllow(t, s.stop(fields{"transcript_path": transcript}), "never used in it")
	write(t, transcript, shell("git worktree add ../theirs"))
	wantBlock(t, s.stop(fields{"transcript_path": transcript}), theirs)
}

// A client that was started in a repository, above the project in it, names the repository in
// every transcript.
func TestE5AProjectBelowTheClientIsKnownByItsPlace(t *testing.T) {
	t.Parallel()
	s := newWork(t)
	r := gittest.At(t, filepath.Join(filepath.Dir(s.root), "mono"))
	check(t, os.Mkdir(r.Dir, 0o755))
	r.Git("init", "-q", "-b", "main")
	r.Write("packages/app/.gauntlet/config.yml", untilGood, "packages/app/.gitignore", "gauntlet_logs\n")
	r.Commit("first")
	r.Git("update-ref", "refs/remotes/origin/main", "HEAD")
	s.root = r.Path("packages/app")
	s.approve()
	s.env = append(s.env, "CLAUDE_PROJECT_DIR="+r.Dir)
	s.prompt("do it", fields{"cwd": r.Dir})
	write(t, s.path("red"), "")
	transcript := filepath.Join(s.state, "t.jsonl")
	stop := fields{"cwd": r.Dir, "transcript_path": transcript}
	write(t, transcript, says("the app in mono")+strings.Replace(shell("make mono"), "{", `{"cwd":"`+r.Dir+`",`, 1))
	wantAllow(t, s.stop(stop))
	write(t, transcript, strings.Replace(shell("touch packages/app/red"), "{", `{"cwd":"`+r.Dir+`",`, 1))
	wantBlock(t, s.stop(stop), "check:.:t")
}

// git can keep the places of worktrees by the way to them.
func TestE5AWorktreeWithARelativePlaceIsFollowed(t *testing.T) {
	t.Parallel()
	s := newWork(t)
	dir := s.linked("wt")
	write(t, filepath.Join(dir, "red"), "")
	wantBlock(t, s.stop(fields{"cwd": dir}), "check:.:t")
	gittest.At(t, s.root).Git("worktree", "move", dir, dir+"-2")
	write(t, s.path(".git/worktrees/wt/gitdir"), "../../../../wt-2/.git\n")
	wantBlock(t, s.stop(nil), dir+"-2")
}

// What is gone is not looked at for ever.
func TestTreesThatAreGoneAreForgotten(t *testing.T) {
	t.Parallel()
	s := newWork(t)
	dir := s.linked("wt")
	s.prompt("do it", nil)
	write(t, filepath.Join(dir, "g"), "")
	wantAllow(t, s.stop(fields{"cwd": dir}))
	known := func() bool {
		_, known := footprint.NewStore(s.state).Load("s1").Trees[dir]
		return known
	}
	if !known() {
		t.Fatal("the worktree was not looked at")
	}
	s.prompt("go on", nil)
	if !known() {
		t.Error("a worktree that is there was forgotten")
	}
	gittest.At(t, s.root).Git("worktree", "remove", "--force", dir)
	s.prompt("go on", nil)
	if known() {
		t.Error("a worktree that is gone is still known")
	}
}

// A prompt waits once for all that is remembered of trees, and no longer than the client
// waits for the hook.
func TestE13AHangingGitHoldsNoPrompt(t *testing.T) {
	t.Parallel()
	s := newWork(t)
	s.config(untilGood + "protect: [f]\n")
	s.approve()
	bin := t.TempDir()
	write(t, filepath.Join(bin, "git"), "#!/bin/sh\nexec sleep 600\n")
	check(t, os.Chmod(filepath.Join(bin, "git"), 0o755))
	working := s.env
	s.env = append([]string{"PATH=" + bin + ":" + os.Getenv("PATH")}, slices.DeleteFunc(slices.Clone(s.env), func(e string) bool { return strings.HasPrefix(e, "PATH=") })...)
	s.timeout = time.Second
	start := time.Now()
	s.prompt("do it", nil)
	if took := time.Since(start); took > 8*time.Second {
		t.Errorf("the prompt waited for %v", took)
	}
	s.env, s.timeout = working, 0
	write(t, s.path("red"), "")
	wantBlock(t, s.stop(nil), "check:.:t") // the baseline is not known
}

// A transcript that cannot be read must not make the hook wait, and says nothing.
func TestE5ATranscriptThatIsAPipe(t *testing.T) {
	t.Parallel()
	s := newWork(t)
	s.prompt("do it", nil)
	dir := s.linked("wt")
	write(t, filepath.Join(dir, "red"), "")
	transcript := filepath.Join(s.state, "t.jsonl")
	pipe(t, transcript)
	wantBlock(t, s.stop(fields{"transcript_path": transcript}), "check:.:t")
}

func TestE5AMovedWorktreeIsFollowed(t *testing.T) {
	t.Parallel()
	s := newWork(t)
	dir, theirs := s.linked("wt"), s.linked("theirs")
	write(t, filepath.Join(dir, "red"), "")
	write(t, filepath.Join(theirs, "red"), "another session's")
	wantBlock(t, s.stop(fields{"cwd": dir}), "check:.:t")
	gittest.At(t, s.root).Git("worktree", "move", dir, dir+"-2")
	wantBlock(t, s.stop(nil), dir+"-2")
	gittest.At(t, s.root).Git("worktree", "remove", "--force", dir+"-2")
	if r := s.stop(nil); r.blocks() {
		t.Errorf("a worktree that is gone, or another's, blocks: %s", r.Stdout)
	}
}

// Reading is not working.
func TestE5WhatAToolOnlyReadsIsNotTheAgents(t *testing.T) {
	t.Parallel()
	s := newWork(t)
	other := filepath.Join(filepath.Dir(s.root), "other")
	s.repository(other, untilGood)
	check(t, trust.NewStore(s.state).Approve(other, time.Now()))
	write(t, filepath.Join(other, "red"), "the person's")
	s.prompt("do it", nil)
	for tool, blocks := range map[string]bool{"Read": false, "Grep": false, "mcp__fs__read_file": false, "mcp__fs__list_directory": false, "mcp__fs__write_file": true} {
		session := fields{"session_id": tool}
		write(t, s.path("g"), tool)
		s.call(hook.PostToolUse, merge(session, fields{
			"tool_name": tool, "tool_input": fields{"path": filepath.Join(other, "f"), "file_path": filepath.Join(other, "f")}, "tool_response": fields{}, "tool_use_id": "u",
		}))
		if got := s.stop(session).blocks(); got != blocks {
			t.Errorf("%s: blocked %t", tool, got)
		}
	}
}

func TestE5TheFirstRedTreeAnswers(t *testing.T) {
	t.Parallel()
	s := newWork(t)
	dir := s.linked("wt")
	s.call(hook.CwdChanged, fields{"old_cwd": s.root, "new_cwd": dir})
	write(t, filepath.Join(dir, "red"), "")
	write(t, s.path("red"), "")
	r := s.stop(nil)
	wantBlock(t, r, "check:.:t")
	if strings.Contains(r.Reason, dir) {
		t.Error("the tree that it stands in comes first")
	}
	s.wantTrees("project failed")
	check(t, os.Remove(s.path("red")))
	wantBlock(t, s.stop(nil), dir)
	s.wantTrees("project passed", "wt failed")
}

// What another session does in a project inside the client's own is not this agent's because a
// transcript names it.
func TestE5AProjectInsideTheClientsOwnMayBeAnothers(t *testing.T) {
	t.Parallel()
	s := newWork(t)
	inner := s.path("inner")
	s.repository(inner, untilGood)
	check(t, trust.NewStore(s.state).Approve(inner, time.Now()))
	transcript := filepath.Join(s.state, "t.jsonl")
	write(t, transcript, shell("ls inner"))
	s.prompt("do it", nil)
	write(t, s.path("g"), "")
	write(t, filepath.Join(inner, "red"), "by another session")
	s.prompt("do it", fields{"session_id": "s2", "cwd": inner})
	wantAllow(t, s.stop(fields{"transcript_path": transcript}))
	s.wantTrees("project passed")
}

// The approval of a tree that the agent has left in red is damaged: that frees it there as
// little as where it stands.
func TestE6ADamagedApprovalHoldsInAnotherTreeToo(t *testing.T) {
	t.Parallel()
	s := newWork(t)
	other := filepath.Join(filepath.Dir(s.root), "other")
	s.repository(other, untilGood)
	check(t, trust.NewStore(s.state).Approve(other, time.Now()))
	s.prompt("do it", nil)
	s.call(hook.CwdChanged, fields{"old_cwd": s.root, "new_cwd": other})
	write(t, filepath.Join(other, "red"), "")
	wantBlock(t, s.stop(nil), "check:.:t")
	s.damage()
	wantBlock(t, s.stop(nil), "Ask a person to approve")
	s.wantVerdict("trust", "failed", "damaged_approval")
}

func TestE13ATurnThatChangesNothingIsNotJudged(t *testing.T) {
	t.Parallel()
	s := newWork(t)
	write(t, s.path("red"), "the person's own work")
	s.prompt("what is this?", nil)
	wantAllow(t, s.stop(nil))
	s.wantTrees("project unchanged")
	s.prompt("change something", nil)
	write(t, s.path("g"), "")
	wantBlock(t, s.stop(nil), "check:.:t")
	// What it was refused for is not forgotten when the tree is as it was.
	check(t, os.Remove(s.path("g")))
	wantBlock(t, s.stop(nil), "check:.:t")
}

// The journal says since when an unchanged tree is so: gates may never have passed on it.
func TestE13SinceWhenATreeIsUnchanged(t *testing.T) {
	t.Parallel()
	s := newWork(t)
	want := func(since, headline string) {
		t.Helper()
		wantAllow(t, s.stop(nil))
		all := s.records()
		last := all[len(all)-1]
		if got := last.Trees[0]; got.Status != "unchanged" || got.Since != since {
			t.Errorf("%s since %q, want unchanged since %q", got.Status, got.Since, since)
		}
		if got := stops.Of(&last).Headline(); got != headline {
			t.Errorf("%q, want %q", got, headline)
		}
	}
	write(t, s.path("red"), "the person's own work")
	s.prompt("what is this?", nil)
	want(event.SinceStart, "Allowed: nothing has changed here since the session began")
	s.prompt("fix it", nil)
	check(t, os.Remove(s.path("red")))
	write(t, s.path("g"), "")
	wantAllow(t, s.stop(nil))
	s.wantTrees("project passed")
	s.prompt("what was it?", nil)
	want(event.SincePass, "Allowed: nothing has changed here since the gates passed")
	write(t, s.path("red"), "by the person")
	s.prompt("and this?", nil)
	want(event.SincePrompt, "Allowed: nothing has changed here since the last prompt")
}

func TestE13TheBaselineMoves(t *testing.T) {
	t.Parallel()
	t.Run("to a person's work after a judged stop", func(t *testing.T) {
		s := newWork(t)
		s.prompt("do it", nil)
		write(t, s.path("g"), "")
		wantAllow(t, s.stop(nil))
		write(t, s.path("red"), "by the person")
		s.prompt("what is this?", nil)
		wantAllow(t, s.stop(nil))
		s.wantTrees("project unchanged")
	})
	t.Run("to a person's work after a turn that changed nothing", func(t *testing.T) {
		s := newWork(t)
		s.prompt("what is this?", nil)
		wantAllow(t, s.stop(nil))
		s.wantTrees("project unchanged")
		write(t, s.path("red"), "by the person")
		s.prompt("and this?", nil)
		wantAllow(t, s.stop(nil))
		s.wantTrees("project unchanged")
	})
	t.Run("not after a stop that was not judged", func(t *testing.T) {
		s := newWork(t)
		s.config(untilGood + "stop_hook: {run_interval_minutes: 5}\n")
		s.approve()
		s.prompt("do it", nil)
		write(t, s.path("g"), "")
		wantAllow(t, s.stop(nil))
		write(t, s.path("red"), "")
		wantAllow(t, s.stop(nil), "not checked: run_interval_minutes")
		s.later()
		s.prompt("and now?", nil)
		wantBlock(t, s.stop(nil), "check:.:t")
	})
	t.Run("not while background work may have changed it", func(t *testing.T) {
		s := newWork(t)
		s.prompt("do it", nil)
		write(t, s.path("g"), "")
		wantAllow(t, s.stop(fields{"background_tasks": []fields{{"id": "b1", "type": "shell", "status": "running", "description": "d"}}}))
		write(t, s.path("red"), "by the task")
		s.prompt("and now?", nil)
		wantBlock(t, s.stop(nil), "check:.:t")
	})
	t.Run("not at a prompt of the client's own", func(t *testing.T) {
		s := newWork(t)
		s.prompt("do it", nil)
		write(t, s.path("g"), "")
		wantAllow(t, s.stop(nil))
		write(t, s.path("red"), "by the task")
		s.prompt("<task-notification>done</task-notification>", nil)
		wantBlock(t, s.stop(nil), "check:.:t")
	})
	t.Run("not at a prompt after a turn without a stop", func(t *testing.T) {
		s := newWork(t)
		s.prompt("do it", nil)
		write(t, s.path("red"), "by the agent, which was interrupted")
		s.prompt("go on", nil)
		wantBlock(t, s.stop(nil), "check:.:t")
	})
}

// A stop that was refused ends no turn: what the agent did until it was interrupted is its own,
// whichever keeper refused it.
// What the session has written and not committed is its own also after a pass, when a pull makes it red.
func TestE13WorkOfAnEarlierTurnCountsAfterAPull(t *testing.T) {
	for name, prompts := range map[string]bool{"a prompt that looked": true, "a beginning that is not known": false} {
		t.Run(name, func(t *testing.T) {
			s := newWork(t)
			s.colleague("red")
			if prompts {
				s.prompt("do it", nil)
			}
			write(t, s.path("g"), "")
			if r := s.stop(nil); r.blocks() {
				t.Fatalf("got %s", r.Stdout)
			}
			s.prompt("pull", nil)
			s.git("merge", "-q", "--ff-only", "origin/main")
			wantBlock(t, s.stop(nil), "check:.:t")
		})
	}
}

func TestE13TheBaselineStaysAfterARefusedStop(t *testing.T) {
	t.Parallel()
	s := newProtected(t, block, true)
	write(t, s.path("Makefile"), "")
	wantBlock(t, s.stop(nil), "Makefile changed")
	s.wantTrees("project passed")
	write(t, s.path("red"), "by the agent, which was interrupted")
	s.prompt("go on", nil)
	wantBlock(t, s.stop(nil), "check:.:t")
}

// An agent that is let go after its last retry has not passed: it still answers for the tree,
// from the tree that it found.
func TestE13TheRetryLimitIsNoPass(t *testing.T) {
	t.Parallel()
	s := newWork(t)
	write(t, s.path("red"), "the person's own work")
	s.prompt("do it", nil)
	known := func() footprint.Tree { return footprint.NewStore(s.state).Load("s1").Trees[paths.Canonical(s.root)] }
	found := known().Baseline
	write(t, s.path("g"), "")
	for range 3 {
		wantBlock(t, s.stop(nil), "check:.:t")
	}
	wantAllow(t, s.stop(nil), "retry limit")
	s.wantTrees("project retry_limit_exceeded")
	if tree := known(); found == "" || tree.Baseline != found || !tree.Red {
		t.Errorf("known is %+v, found was %q", tree, found)
	}
	check(t, os.Remove(s.path("g")))
	wantAllow(t, s.stop(nil), "retry limit")
	s.wantTrees("project retry_limit_exceeded")
}

// A session that is resumed is the latest one, and the one that a /clear after it goes on from.
func TestE13AResumedSessionIsTheLatest(t *testing.T) {
	t.Parallel()
	s := newTwoSessions(t)
	s.call(hook.SessionStart, fields{"session_id": "s1", "source": "resume"})
	s.wantClearedFrom("s1")
}

// Where no client is known, a conversation goes on from the one that was cleared, and not from that of another terminal.
func TestE13AClearedSessionIsTheLatest(t *testing.T) {
	t.Parallel()
	s := newTwoSessions(t)
	s.call(hook.SessionEnd, fields{"session_id": "s1", "reason": "clear"})
	s.call(hook.SessionEnd, fields{"session_id": "s2", "reason": "other"})
	s.wantClearedFrom("s1")
}

// newTwoSessions is a project in which a session s2 was heard of after s1.
func newTwoSessions(t *testing.T) *scene {
	t.Helper()
	s := newWork(t)
	for i, id := range []string{"s1", "s2"} {
		s.prompt("do it", fields{"session_id": id})
		s.backdate(id, time.Duration(2-i)*time.Hour)
	}
	return s
}

// wantClearedFrom begins a session after a /clear and checks which one it goes on from.
func (s *scene) wantClearedFrom(id string) {
	s.t.Helper()
	s.call(hook.SessionStart, fields{"session_id": "s3", "source": "clear"})
	if got := footprint.NewStore(s.state).Load("s3").Origin; got != id {
		s.t.Errorf("it goes on from %s", got)
	}
}

// backdate makes a session one that was last heard of so long ago.
func (s *scene) backdate(id string, ago time.Duration) {
	s.t.Helper()
	sum := sha256.Sum256([]byte(id))
	then := time.Now().Add(-ago)
	check(s.t, os.Chtimes(filepath.Join(s.state, "sessions", hex.EncodeToString(sum[:12])+".json"), then, then))
}

// The baseline moves; where the session began in the reflog does not.
func TestE12TheReflogOfTheBeginningStays(t *testing.T) {
	t.Parallel()
	s := newWork(t)
	s.prompt("do it", nil)
	known := func() footprint.Tree { return footprint.NewStore(s.state).Load("s1").Trees[paths.Canonical(s.root)] }
	first := known()
	s.commit("g", "")
	wantAllow(t, s.stop(nil))
	s.prompt("go on", nil)
	if now := known(); first.Reflog.Size == 0 || now.Reflog != first.Reflog || now.Baseline == first.Baseline {
		t.Errorf("known was %+v, is %+v", first, now)
	}
}

func TestE13WithoutABaselineAStopIsJudged(t *testing.T) {
	t.Parallel()
	s := newWork(t)
	write(t, s.path("red"), "")
	wantBlock(t, s.stop(nil), "check:.:t")
}

// What a session found in a tree that it only visits is known by the times of its files, if the session is known
// from its beginning. From then on it is its baseline.
func TestE13WhatAVisitFinds(t *testing.T) {
	t.Parallel()
	visit := func(s *scene) (dir string) {
		dir = s.linked("wip")
		write(t, filepath.Join(dir, "red"), "the person's")
		return dir
	}
	t.Run("nothing has changed", func(t *testing.T) {
		s := newWork(t)
		dir := visit(s)
		s.later()
		s.prompt("do it", nil)
		s.call(hook.CwdChanged, fields{"old_cwd": s.root, "new_cwd": dir})
		wantAllow(t, s.stop(nil))
		s.wantTrees("project unchanged", "wip unchanged")
		write(t, filepath.Join(dir, "g"), "")
		wantBlock(t, s.stop(nil), dir)
	})
	t.Run("something has changed", func(t *testing.T) {
		s := newWork(t)
		dir := visit(s)
		s.prompt("do it", nil)
		write(t, filepath.Join(dir, "red"), "the agent's")
		past := time.Now().Add(-time.Hour)
		check(t, os.Chtimes(filepath.Join(dir, "red"), past, past))
		s.call(hook.CwdChanged, fields{"old_cwd": s.root, "new_cwd": dir})
		wantBlock(t, s.stop(nil), dir)
	})
	t.Run("something has changed behind a link", func(t *testing.T) {
		s := newWork(t)
		dir := visit(s)
		link := filepath.Join(t.TempDir(), "link")
		check(t, os.Symlink(dir, link))
		s.later()
		s.prompt("do it", nil)
		s.now = func() time.Time { return time.Now().Add(2 * time.Hour) }
		ahead := time.Now().Add(90 * time.Minute)
		check(t, os.Chtimes(filepath.Join(dir, "red"), ahead, ahead))
		s.call(hook.CwdChanged, fields{"old_cwd": s.root, "new_cwd": link})
		wantBlock(t, s.stop(fields{"cwd": link}), "check:.:t")
	})
	t.Run("another commit was checked out", func(t *testing.T) {
		s := newWork(t)
		s.theirs()
		dir := s.linked("wip")
		s.prompt("do it", nil)
		r := gittest.At(t, dir)
		r.Env = withoutDates(r.Env)
		r.Git("checkout", "-q", "origin/theirs")
		s.call(hook.CwdChanged, fields{"old_cwd": s.root, "new_cwd": dir})
		wantBlock(t, s.stop(nil), dir)
	})
	t.Run("no prompt was seen", func(t *testing.T) {
		s := newWork(t)
		dir := visit(s)
		s.later()
		s.call(hook.CwdChanged, fields{"old_cwd": s.root, "new_cwd": dir})
		wantBlock(t, s.stop(nil), dir)
	})
	t.Run("the beginning was not seen", func(t *testing.T) {
		s := newWork(t)
		dir := visit(s)
		s.later()
		s.call(hook.CwdChanged, fields{"old_cwd": s.state, "new_cwd": s.root})
		s.prompt("do it", nil)
		s.call(hook.CwdChanged, fields{"old_cwd": s.root, "new_cwd": dir})
		wantBlock(t, s.stop(nil), dir)
	})
}

func TestE13PlanMode(t *testing.T) {
	t.Parallel()
	s := newWork(t)
	write(t, s.path("red"), "")
	wantAllow(t, s.stop(fields{"permission_mode": "plan"}))
	s.wantTrees("project unchanged")
	s.prompt("plan it", fields{"session_id": "s2"})
	wantAllow(t, s.stop(fields{"permission_mode": "plan", "session_id": "s2"}))
	write(t, s.path("g"), "")
	wantBlock(t, s.stop(fields{"permission_mode": "plan", "session_id": "s2"}), "check:.:t")
}

// A stop in plan mode in a tree of which nobody knows what the agent found leaves that unknown: what it has changed there is its own.
func TestE13APlanMakesNoBaseline(t *testing.T) {
	t.Parallel()
	plan := fields{"permission_mode": "plan"}
	t.Run("where it went", func(t *testing.T) {
		s := newWork(t)
		dir := s.linked("wt")
		s.prompt("do it", nil)
		s.call(hook.CwdChanged, fields{"old_cwd": s.root, "new_cwd": dir})
		write(t, filepath.Join(dir, "red"), "")
		wantAllow(t, s.stop(merge(plan, fields{"cwd": dir})))
		s.wantTrees("wt unchanged", "project unchanged")
		s.prompt("good, go on", fields{"cwd": dir})
		wantBlock(t, s.stop(fields{"cwd": dir}), "check:.:t")
	})
	t.Run("where its commands lead", func(t *testing.T) {
		s := newWork(t)
		other := s.another()
		s.prompt("do it", nil)
		write(t, filepath.Join(other, "red"), "")
		wantAllow(t, s.stop(merge(plan, s.runs("cd ../other && touch red"))))
		s.wantTrees("project unchanged", "other unchanged")
		s.prompt("good, go on", nil)
		wantBlock(t, s.stop(s.runs("true")), other)
	})
}

func TestE13AnExternalRunnerIsNotAskedEither(t *testing.T) {
	t.Parallel()
	s := newWork(t)
	s.config("stop_hook: {runner: [sh, -c, 'exit 1']}\n")
	s.approve()
	s.prompt("what is this?", nil)
	wantAllow(t, s.stop(nil))
	s.wantTrees("project unchanged")

	write(t, s.path(".f.swp"), "") // an editor's, which comes and goes
	wantAllow(t, s.stop(nil))
	check(t, os.Remove(s.path(".f.swp")))
	wantAllow(t, s.stop(nil))

	write(t, s.path("g"), "")
	wantBlock(t, s.stop(nil), "runner")
}

func TestAPassIsOneLineForThePerson(t *testing.T) {
	t.Parallel()
	s := newWork(t)
	s.config(strings.ReplaceAll(untilGood, "quiet: true\n", ""))
	s.approve()
	write(t, s.path("g"), "")
	passed := s.stop(nil)
	wantAllow(t, passed, "stopgate: t ✓ ")
	if !regexp.MustCompile(`^stopgate: t ✓ \d+\.\ds$`).MatchString(passed.Message) {
		t.Errorf("told %q", passed.Message)
	}
	write(t, s.global, "trust: enforce\nquiet: true\n")
	write(t, s.path("h"), "")
	wantAllow(t, s.stop(nil))
}

func TestE23ObservingBlocksNothing(t *testing.T) {
	t.Parallel()
	for _, who := range []string{"project", "user"} {
		t.Run(who, func(t *testing.T) {
			s := newWork(t)
			s.keepers = append(s.keepers, guard.Guard{})
			text := untilGood + "hooks:\n  Stop:\n    - {run: exit 1, on_failure: block}\n  PreToolUse:\n    - {run: exit 1, on_failure: block}\n"
			if who == "project" {
				text += "mode: observe\n"
			} else {
				write(t, s.global, "trust: enforce\nmode: observe\n")
			}
			s.config(text)
			s.approve()
			write(t, s.path("red"), "")
			for range 5 { // and no retry is counted
				wantAllow(t, s.stop(nil), "would have been", "check:.:t")
				s.wantVerdict("gates", "failed", "would_block")
				s.wantVerdict("guard", "failed", "would_block")
				s.wantTrees("project failed")
			}
			if r := s.call(hook.PreToolUse, nil); strings.Contains(string(r.Stdout), "deny") {
				t.Errorf("got %s", r.Stdout)
			}
			if got := stopHook(t, s, nil)["decision"]; got != "approve" {
				t.Errorf("stop-hook: %v", got)
			}
			write(t, s.global, "trust: enforce\n")
			s.config(strings.Replace(text, "mode: observe\n", "", 1))
			s.approve()
			wantBlock(t, s.stop(nil), "check:.:t")
		})
	}
}

// What no keeper may look at is observed like the rest: a red tree that is gone, an approval that cannot be read.
func TestE23ObservingHoldsNobody(t *testing.T) {
	t.Parallel()
	for _, who := range []string{"project", "user"} {
		t.Run(who+", a red tree is gone", func(t *testing.T) {
			s := newWork(t)
			if who == "project" {
				s.config(untilGood + "mode: observe\n")
				s.approve()
				s.git("add", "-A")
				s.git("commit", "-qm", "observe")
			} else {
				write(t, s.global, "trust: enforce\nmode: observe\n")
			}
			dir := s.linked("wt")
			write(t, filepath.Join(dir, "red"), "")
			wantAllow(t, s.stop(fields{"cwd": dir}), "would have been")
			check(t, os.RemoveAll(dir))
			for range 2 {
				wantAllow(t, s.stop(nil), "would have been", "no longer exists")
			}
			if got := stopHook(t, s, nil)["decision"]; got != "approve" {
				t.Errorf("stop-hook: %v", got)
			}
		})
	}

	t.Run("project, it belongs to another user", func(t *testing.T) {
		if os.Geteuid() != 0 {
			t.Skip("only root can give files away")
		}
		s := newWork(t)
		s.config(untilGood + "mode: observe\n")
		s.approve()
		write(t, s.path("red"), "")
		wantAllow(t, s.stop(nil), "would have been")
		check(t, os.Lchown(s.root, 54321, -1))
		for range 2 {
			wantAllow(t, s.stop(nil), "would have been", "belongs to user 54321")
		}
	})

	t.Run("user, a damaged approval", func(t *testing.T) {
		s := newWork(t)
		write(t, s.path("red"), "")
		wantBlock(t, s.stop(nil), "check:.:t")
		write(t, s.global, "trust: enforce\nmode: observe\n")
		s.damage()
		wantAllow(t, s.stop(nil), "would have been")
		if got := stopHook(t, s, nil)["decision"]; got != "approve" {
			t.Errorf("stop-hook: %v", got)
		}
		write(t, s.global, "trust: enforce\n")
		wantBlock(t, s.stop(nil), "Ask a person to approve")
	})
}

// Some frameworks want folders that are called [id]. In a path of the configuration that is a name, and not only a pattern.
func TestABracketedFolderIsNamedAsItIs(t *testing.T) {
	t.Parallel()
	t.Run("path", func(t *testing.T) {
		t.Parallel()
		s := newWork(t)
		s.config(strings.Replace(untilGood, "path: .", "path: 'app/[id]'", 1))
		s.approve()
		write(t, s.path("app/[id]/deep/page"), "")
		wantAllow(t, s.stop(nil))
		write(t, s.path("app/[id]/red"), "")
		wantBlock(t, s.stop(nil), "check:app/[id]:t")
	})
	for _, pattern := range []string{"app/[id]", "app/[id]/page", "app/[id]/*", "app/**/[id]/**"} {
		t.Run("inputs "+pattern, func(t *testing.T) {
			t.Parallel()
			s := newWork(t)
			s.config(strings.Replace(untilGood, "test ! -e red", `"! grep -q red app/*/page", inputs: ['`+pattern+`']`, 1))
			s.approve()
			write(t, s.path("app/[id]/page"), "")
			wantAllow(t, s.stop(nil))
			write(t, s.path("app/[id]/page"), "red")
			wantBlock(t, s.stop(nil), "check:.:t")
		})
		t.Run("protect "+pattern, func(t *testing.T) {
			t.Parallel()
			s := newWork(t)
			s.keepers = append(s.keepers, protect.Keeper{StateDir: s.state, Now: s.now})
			s.config(untilGood + "protect: ['" + pattern + "']\n")
			s.commit("app/[id]/page", "")
			s.approve()
			s.prompt("do it", nil)
			write(t, s.path("app/[id]/page"), "x")
			wantAllow(t, s.stop(nil), "app/[id]/page changed")
		})
	}
}

// A project that only observes frees no other one.
func TestE23ObservingIsPerProject(t *testing.T) {
	t.Parallel()
	s := newWork(t)
	other := filepath.Join(filepath.Dir(s.root), "other")
	s.repository(other, untilGood+"mode: observe\n")
	check(t, trust.NewStore(s.state).Approve(other, time.Now()))
	write(t, s.path("red"), "")
	write(t, filepath.Join(other, "red"), "")
	wantBlock(t, s.stop(nil), "check:.:t")
	wantBlock(t, s.stop(fields{"cwd": other}), s.root)
	s.wantTrees("other failed", "project failed")
}

func TestOffInOneProjectFreesNoOther(t *testing.T) {
	t.Parallel()
	s := newWork(t)
	other := filepath.Join(filepath.Dir(s.root), "other")
	s.repository(other, untilGood)
	check(t, trust.NewStore(s.state).Approve(other, time.Now()))
	write(t, s.path("red"), "")
	wantBlock(t, s.stop(nil), "check:.:t")
	check(t, Recess{Root: other, Since: time.Now().Add(-time.Minute), Until: time.Now().Add(time.Hour)}.Begin(s.state))
	wantBlock(t, s.stop(fields{"cwd": other}), s.root)
}

// commit makes a commit in the scene's project, now.
func (s *scene) commit(name, content string) {
	s.t.Helper()
	r := gittest.At(s.t, s.root)
	r.Env = slices.DeleteFunc(r.Env, func(e string) bool { return strings.Contains(e, "_DATE=") })
	r.Write(name, content)
	r.Commit(name)
}

// Commands say where they work in their own words alone.
func TestWorkInAnotherProjectByCommands(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"cd ../other && touch red", "git -C ../other add -A", `touch "$(dirname "$PWD")"/other/red`} {
		for _, looked := range []bool{false, true} {
			s := newWork(t)
			other := s.another()
			if looked {
				s.later()
			}
			s.prompt("do it", nil)
			if looked {
				wantAllow(t, s.stop(s.runs("cd ../other && make -n")))
			}
			write(t, filepath.Join(other, "red"), "")
			wantBlock(t, s.stop(s.runs(command)), other)
			wantBlock(t, s.stop(s.runs("true")), other) // it is red, whatever is said of it
			check(t, os.Remove(filepath.Join(other, "red")))
			wantAllow(t, s.stop(s.runs("true")))
		}
	}
}

// Bash is not the only shell.
func TestE5WorkInAnotherProjectByOtherShells(t *testing.T) {
	t.Parallel()
	for tool, input := range map[string]string{
		"mcp__shell__execute":          `{"command":"cd ../other && touch red"}`,
		"mcp__terminal__run":           `{"cmd":["sh","-c","touch ../other/red"]}`,
		"mcp__codex__exec":             `{"command":["touch","red"],"workdir":"../other/"}`,
		"mcp__jupyter__executeCode":    `{"code":"open('../other/red', 'w')"}`,
		"mcp__jupyter__executePython":  `{"code":"file = '../other/red'\nopen(file, 'w')"}`,
		"PowerShell":                   `{"command":"New-Item ../other/red"}`,
		"mcp__desktop__start_process2": `{"program":"touch","args":["../other/red"]}`,
	} {
		t.Run(tool, func(t *testing.T) {
			s := newWork(t)
			other := s.another()
			s.prompt("do it", nil)
			write(t, filepath.Join(other, "red"), "")
			wantBlock(t, s.stop(s.calls(tool, input)), other)
		})
	}
}

// A path may lead to the repository of which the project is a folder.
func TestWorkInAFolderOfAnotherRepositoryByCommands(t *testing.T) {
	t.Parallel()
	s := newWork(t)
	mono := gittest.At(t, filepath.Join(filepath.Dir(s.root), "mono"))
	check(t, os.Mkdir(mono.Dir, 0o755))
	mono.Git("init", "-q", "-b", "main")
	mono.Write("app/.gauntlet/config.yml", untilGood, "app/.gitignore", "gauntlet_logs\n")
	mono.Commit("first")
	check(t, trust.NewStore(s.state).Approve(mono.Path("app"), time.Now()))
	s.prompt("do it", nil)
	write(t, mono.Path("app/red"), "")
	wantBlock(t, s.stop(s.runs("cd ../mono && touch app/red")), mono.Path("app"))
}

// A worktree that is older than the session is one of the places to which commands may lead.
func TestE5WorkInAnOlderWorktreeByCommands(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ stand, other, command string }{
		"beside the project":         {"", "../older", "touch ../older/red && git -C ../older commit -qam x"},
		"it goes there":              {"", "../older", "cd ../older && touch red"},
		"where the client makes one": {"", ".claude/worktrees/older", "cd .claude/worktrees/older && touch red"},
		"the main one":               {"../own", "", "touch ../project/red"},
		"the main one, around it":    {".claude/worktrees/own", "", "touch ../../../../project/red"},
		"from one to another":        {"../own", ".claude/worktrees/older", "cd ../project/.claude/worktrees/older && touch red"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newWork(t)
			write(t, s.path(".git/info/exclude"), ".claude\n")
			for _, dir := range []string{tt.stand, tt.other} {
				if dir != "" {
					s.git("worktree", "add", "-q", dir)
				}
			}
			stand, other := fields{"cwd": s.path(tt.stand)}, s.path(tt.other)
			s.prompt("do it", stand)
			write(t, filepath.Join(other, "red"), "")
			wantAllow(t, s.stop(merge(s.runs("cat "+other+"/f"), stand)))
			wantBlock(t, s.stop(merge(s.runs(tt.command), stand)), other)
			wantBlock(t, s.stop(merge(s.runs("true"), stand)), other)
			check(t, os.Remove(filepath.Join(other, "red")))
			wantAllow(t, s.stop(merge(s.runs("true"), stand)))
		})
	}
}

// Another project may have worktrees, too.
func TestE5WorkInAWorktreeOfAnotherProjectByCommands(t *testing.T) {
	t.Parallel()
	s := newWork(t)
	other := s.another()
	dir := filepath.Join(filepath.Dir(s.root), "other-wt")
	gittest.At(t, other).Git("worktree", "add", "-q", dir)
	s.prompt("do it", nil)
	write(t, filepath.Join(dir, "red"), "")
	wantBlock(t, s.stop(s.runs("cd ../other-wt && touch red")), dir)
}

// Where another session has worked, and its turn has ended before this one's began, this one may be at work.
func TestE13WhereASessionHasEndedAnotherOneWorks(t *testing.T) {
	t.Parallel()
	s := newWork(t)
	other := s.another()
	earlier := fields{"session_id": "s2", "cwd": other}
	s.prompt("do it", earlier)
	write(t, filepath.Join(other, "g"), "")
	wantAllow(t, s.stop(earlier))
	began := time.Now()
	checktest.Eventually(t, "that was before", func() bool { return time.Since(began) > 50*time.Millisecond })

	s.prompt("do it", nil)
	write(t, filepath.Join(other, "red"), "")
	wantBlock(t, s.stop(s.runs("cd ../other && touch red")), other)
}

// It is known whose a worktree is in which another session's work has ended.
func TestE5AWorktreeOfASessionThatHasEndedIsNotTold(t *testing.T) {
	t.Parallel()
	s := newWork(t)
	s.prompt("do it", nil)
	dir := s.linked("theirs")
	earlier := fields{"session_id": "s2", "cwd": dir}
	s.prompt("do it", earlier)
	write(t, filepath.Join(dir, "g"), "")
	wantAllow(t, s.stop(earlier))
	wantAllow(t, s.stop(s.runs("make")))

	s.later()
	s.prompt("go on", nil)
	write(t, s.path("g"), "")
	if r := s.stop(s.runs("make")); r.blocks() || strings.Contains(r.Message, "theirs") {
		t.Errorf("got %s", r.Stdout)
	}
}

// A client may be started where no project is, above all or beside them.
func TestE5AClientThatWasStartedInNoProject(t *testing.T) {
	t.Parallel()
	for place, command := range map[string]string{
		"scratch":     "cd ../project && touch red",
		"scratch/far": "touch ../../project/red",
		".":           "cd project && touch red",
	} {
		t.Run(place, func(t *testing.T) {
			t.Parallel()
			s := newWork(t)
			dir := filepath.Join(filepath.Dir(s.root), place)
			check(t, os.MkdirAll(dir, 0o755))
			stand := fields{"cwd": dir}
			s.call(hook.SessionStart, merge(stand, fields{"source": "startup"}))
			s.prompt("do it", stand)
			wantAllow(t, s.stop(merge(s.runs("make"), stand)))
			s.prompt("now", stand)
			s.red()
			wantBlock(t, s.stop(merge(s.runs(command), stand)), s.root)
			check(t, os.Remove(s.path("red")))
			wantAllow(t, s.stop(merge(s.runs("true"), stand)))
		})
	}
}

// What is in a submodule, or in a clone that git does not ignore, is part of the project around it.
func TestE5WorkInARepositoryWithinAnotherProject(t *testing.T) {
	t.Parallel()
	for name, work := range map[string]func(s *scene, dir string) fields{
		"an edit tool": func(s *scene, dir string) fields {
			s.call(hook.PostToolUse, fields{"tool_name": "Write", "tool_input": fields{"file_path": dir + "/deep/f"}, "tool_response": fields{}, "tool_use_id": "u"})
			return nil
		},
		"it goes there": func(s *scene, dir string) fields {
			s.call(hook.CwdChanged, fields{"old_cwd": s.root, "new_cwd": dir})
			return nil
		},
		"it stands there": func(_ *scene, dir string) fields { return fields{"cwd": dir} },
	} {
		for _, kind := range []string{"submodule", "clone", "ignored", "within a clone"} {
			t.Run(name+", "+kind, func(t *testing.T) {
				t.Parallel()
				s := newWork(t)
				s.env = append(s.env, "CLAUDE_PROJECT_DIR="+s.root)
				here := s.root
				s.root = s.another()
				s.config(strings.Replace(untilGood, "! -e red", "! -e lib/broken", 1))
				s.approve()
				switch kind {
				case "submodule":
					s.submodule()
				case "ignored":
					write(t, s.path(".gitignore"), "gauntlet_logs\nlib/\n")
				}
				if kind != "submodule" {
					s.repository(s.path("lib"), "entry_points: []\n")
				}
				dir := s.path("lib")
				if kind == "within a clone" {
					dir = s.path("lib/inner")
					s.repository(dir, "entry_points: []\n")
				}
				other := s.root
				s.root = here

				s.prompt("do it", nil)
				write(t, filepath.Join(other, "lib", "broken"), "")
				r := s.stop(work(s, dir))
				if kind == "ignored" {
					wantAllow(t, r)
				} else {
					wantBlock(t, r, other)
				}
			})
		}
	}
}

// Claude Code may be started in a submodule or a clone, which is no project itself.
func TestE5AClientThatWasStartedInARepositoryWithinAProject(t *testing.T) {
	t.Parallel()
	for kind, blocks := range map[string]bool{"submodule": true, "clone": true, "ignored": false} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := newWork(t)
			s.config(strings.Replace(untilGood, "! -e red", "! -e lib/broken", 1))
			s.approve()
			if kind == "submodule" {
				s.submodule()
			} else {
				gittest.At(t, s.root).Write("lib/f", "")
				gittest.At(t, s.path("lib")).Git("init", "-q")
			}
			if kind == "ignored" {
				write(t, s.path(".gitignore"), "gauntlet_logs\nlib/\n")
			}
			s.env = append(s.env, "CLAUDE_PROJECT_DIR="+s.path("lib"))
			stand := fields{"cwd": s.path("lib")}

			s.call(hook.SessionStart, merge(stand, fields{"source": "startup"}))
			write(t, s.path("lib/broken"), "the person's")
			s.prompt("what is this?", stand)
			wantAllow(t, s.stop(stand))
			s.prompt("do it", stand)
			write(t, s.path("lib/g"), "by the shell")
			if r := s.stop(stand); r.blocks() != blocks {
				t.Errorf("blocked %t, want %t: %s", r.blocks(), blocks, r.Stdout)
			}
		})
	}
}

// Packages of a repository may be approved each on its own.
func TestE5WorkInAPackageByCommands(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ top, stand, command string }{
		"from the top":                  {"mono", ".", "cd packages/a && touch red"},
		"from the top of a worktree":    {"wt", ".", "cd packages/a && touch red"},
		"from a folder":                 {"mono", "packages", "cd a && touch red"},
		"from a folder of a worktree":   {"wt", "packages", "cd a && touch red"},
		"from another package":          {"mono", "packages/b", "cd ../a && touch red"},
		"from another package's folder": {"mono", "packages/b", "cd src && touch ../../a/red"},
		"in a worktree":                 {"wt", "packages/b", "cd ../a && touch red"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newWork(t)
			above := filepath.Dir(s.root)
			r := gittest.At(t, filepath.Join(above, "mono"))
			check(t, os.Mkdir(r.Dir, 0o755))
			r.Git("init", "-q", "-b", "main")
			for _, name := range []string{"packages/a", "packages/b"} {
				r.Write(name+"/.gauntlet/config.yml", untilGood, name+"/.gitignore", "gauntlet_logs\n", name+"/src/f", "")
				check(t, trust.NewStore(s.state).Approve(r.Path(name), time.Now()))
			}
			r.Commit("first")
			r.Git("update-ref", "refs/remotes/origin/main", "HEAD")
			r.Git("worktree", "add", "-q", "../wt")

			top := filepath.Join(above, tt.top)
			stand := fields{"cwd": filepath.Join(top, tt.stand)}
			s.prompt("do it", stand)
			write(t, filepath.Join(top, "packages", "a", "red"), "")
			wantBlock(t, s.stop(merge(s.runs(tt.command), stand)), filepath.Join(top, "packages", "a"))
		})
	}
}

func TestE12WorkThatLeftTheTree(t *testing.T) {
	t.Parallel()
	git := func(s *scene, args ...string) { gittest.At(s.t, s.root).Git(args...) }
	pushed := func(s *scene) { git(s, "update-ref", "refs/remotes/origin/main", "HEAD") }
	t.Run("a commit that was pushed still counts", func(t *testing.T) {
		s := newWork(t)
		s.prompt("do it", nil)
		s.commit("red", "")
		pushed(s)
		wantBlock(t, s.stop(nil), "check:.:t")
	})
	t.Run("also where git writes no reflog", func(t *testing.T) {
		s := newWork(t)
		git(s, "config", "core.logAllRefUpdates", "false")
		check(t, os.RemoveAll(s.path(".git/logs")))
		s.prompt("do it", nil)
		s.commit("red", "")
		pushed(s)
		wantBlock(t, s.stop(nil), "check:.:t")
	})
	t.Run("also without a known beginning in the reflog", func(t *testing.T) {
		s := newWork(t)
		other := filepath.Join(filepath.Dir(s.root), "other")
		s.repository(other, untilGood)
		s.prompt("do it", fields{"cwd": other})
		s.commit("red", "")
		pushed(s)
		wantBlock(t, s.stop(nil), "check:.:t")
	})
	t.Run("commits by others never do", func(t *testing.T) {
		s := newWork(t)
		git(s, "switch", "-q", "-c", "theirs")
		s.commit("red", "")
		git(s, "switch", "-q", "main")
		s.prompt("pull", nil)
		git(s, "pull", "-q", "--ff-only", ".", "theirs")
		pushed(s)
		wantAllow(t, s.stop(nil))
		s.wantTrees("project no_applicable_gates")
	})
	t.Run("commits that were merged from a worktree that is gone", func(t *testing.T) {
		for _, stopped := range []bool{false, true} {
			s := newWork(t)
			s.prompt("do it", nil)
			dir := s.linked("feat")
			r := gittest.At(t, dir)
			r.Env = withoutDates(r.Env)
			r.Write("red", "")
			r.Commit("red")
			if stopped {
				wantBlock(t, s.stop(fields{"cwd": dir}), "check:.:t")
				git(s, "pull", "-q", "--ff-only", ".", "feat") // it is known whose it is
			} else {
				git(s, "merge", "-q", "--ff-only", "feat")
			}
			git(s, "worktree", "remove", "--force", dir)
			pushed(s)
			wantBlock(t, s.stop(nil), "check:.:t")
		}
	})
	t.Run("commits on another branch are told", func(t *testing.T) {
		s := newWork(t)
		s.prompt("do it", nil)
		git(s, "switch", "-q", "-c", "hidden")
		s.commit("red", "")
		git(s, "switch", "-q", "main")
		write(t, s.path("g"), "")
		wantAllow(t, s.stop(nil), "no gate has seen commits on hidden")
	})
	t.Run("commits that only a remote or a tag has are told", func(t *testing.T) {
		for name, keep := range map[string][]string{"origin/hidden": {"update-ref", "refs/remotes/origin/hidden", "HEAD"}, "wip": {"tag", "wip"}} {
			s := newWork(t)
			s.prompt("do it", nil)
			git(s, "switch", "-q", "--detach")
			s.commit("red", "")
			git(s, keep...)
			git(s, "switch", "-q", "main")
			wantAllow(t, s.stop(nil), "no gate has seen commits on "+name)
		}
	})
	t.Run("commits that have passed are not told", func(t *testing.T) {
		for _, later := range []bool{false, true} {
			s := newWork(t)
			s.prompt("do it", nil)
			git(s, "switch", "-q", "-c", "feature")
			if write(t, s.path("green"), ""); later {
				wantAllow(t, s.stop(nil))
				s.prompt("commit it", nil)
			}
			s.commit("green", "")
			wantAllow(t, s.stop(nil))
			s.prompt("and now something else", nil)
			git(s, "switch", "-q", "main")
			wantAllow(t, s.stop(nil))
			s.prompt("go back and go on", nil)
			git(s, "switch", "-q", "feature")
			s.commit("red", "")
			git(s, "switch", "-q", "main")
			wantAllow(t, s.stop(nil), "no gate has seen commits on feature")
		}
	})
	t.Run("a commit that has passed only beside what was not committed is told", func(t *testing.T) {
		s := newWork(t)
		s.prompt("do it", nil)
		git(s, "switch", "-q", "-c", "feature")
		s.commit("red", "")
		check(t, os.Remove(s.path("red")))
		write(t, s.path("f"), "2")
		wantAllow(t, s.stop(nil))
		s.prompt("and now something else", nil)
		git(s, "checkout", "-q", "-f", "main")
		wantAllow(t, s.stop(nil), "no gate has seen commits on feature")
	})
	t.Run("a stash is told", func(t *testing.T) {
		s := newWork(t)
		s.prompt("do it", nil)
		write(t, s.path("f"), "2")
		git(s, "stash", "-q")
		write(t, s.path("g"), "")
		wantAllow(t, s.stop(nil), "no gate has seen a stash")
	})
	t.Run("a stash without a log is told", func(t *testing.T) {
		s := newWork(t)
		s.prompt("do it", nil)
		write(t, s.path("f"), "2")
		git(s, "update-ref", "refs/stash", gittest.At(t, s.root).Git("stash", "create"))
		git(s, "reset", "-q", "--hard")
		wantAllow(t, s.stop(nil), "no gate has seen a stash")
	})
	t.Run("what new rules ignore is told", func(t *testing.T) {
		for _, rules := range []string{".gitignore", ".git/info/exclude"} {
			s := newWork(t)
			s.now = func() time.Time { return time.Now().Add(-time.Second) }
			s.prompt("do it", nil)
			write(t, s.path("g"), "")
			write(t, s.path(rules), "gauntlet_logs\nhidden.go\n")
			write(t, s.path("hidden.go"), "")
			wantAllow(t, s.stop(nil), "hidden.go")
		}
	})
	t.Run("what a rule ignores that passed is told", func(t *testing.T) {
		s := newWork(t)
		s.now = func() time.Time { return time.Now().Add(-time.Second) }
		s.prompt("do it", nil)
		write(t, s.path(".gitignore"), "gauntlet_logs\nhidden.go\n")
		wantAllow(t, s.stop(nil))
		s.prompt("more", nil)
		write(t, s.path("hidden.go"), "")
		wantAllow(t, s.stop(nil), "no gate has seen files that git ignores by a new rule (hidden.go)")
	})
	t.Run("what a rule ignores that ignores itself is told", func(t *testing.T) {
		s := newWork(t)
		s.now = func() time.Time { return time.Now().Add(-time.Second) }
		s.commit("lib/a", "")
		s.prompt("do it", nil)
		write(t, s.path("g"), "")
		wantAllow(t, s.stop(nil))
		s.prompt("more", nil)
		write(t, s.path("lib/.gitignore"), "*\n")
		write(t, s.path("lib/hidden.go"), "")
		wantAllow(t, s.stop(nil), "by a new rule (lib/.gitignore, lib/hidden.go)")
	})
	t.Run("what a new rule ignores in a new worktree is told, a build is not", func(t *testing.T) {
		s := newWork(t)
		s.now = func() time.Time { return time.Now().Add(-time.Second) }
		s.commit(".gitignore", "gauntlet_logs\ndist\n")
		s.prompt("do it", nil)
		dir := s.linked("wt")
		write(t, filepath.Join(dir, ".gitignore"), "gauntlet_logs\ndist\nhidden.go\n")
		write(t, filepath.Join(dir, "dist"), "")
		wantAllow(t, s.stop(fields{"cwd": dir}))
		write(t, filepath.Join(dir, "hidden.go"), "")
		wantAllow(t, s.stop(fields{"cwd": dir}), "by a new rule (hidden.go)")
	})
	t.Run("nothing is told of a build after a push", func(t *testing.T) {
		s := newWork(t)
		s.commit(".gitignore", "gauntlet_logs\ndist/\n")
		s.prompt("build it", nil)
		git(s, "config", "branch.main.remote", "origin")
		write(t, s.path("dist/program"), "")
		wantAllow(t, s.stop(nil))
	})
	t.Run("nothing is told of what was there before", func(t *testing.T) {
		s := newWork(t)
		write(t, s.path("f"), "2")
		git(s, "stash", "-q")
		write(t, s.path(".git/info/exclude"), "hidden.go\n")
		write(t, s.path("hidden.go"), "")
		past := time.Now().Add(-time.Hour)
		for _, name := range []string{".git/logs/refs/stash", ".git/refs/stash", ".git/info/exclude", "hidden.go"} {
			check(t, os.Chtimes(s.path(name), past, past))
		}
		s.prompt("do it", nil)
		write(t, s.path("g"), "")
		wantAllow(t, s.stop(nil))
	})
}

// A session that only goes to commits of others has not made them, see everyday. As soon as it does more, or made them elsewhere,
// all that is not in the base counts.
func TestE12WorkOnCommitsOfOthersCounts(t *testing.T) {
	t.Parallel()
	elsewhere := func(s *scene, do func(r *gittest.Repo)) {
		dir := s.linked("gone")
		r := gittest.At(s.t, dir)
		r.Env = withoutDates(r.Env)
		r.Write("red", "")
		r.Commit("red")
		do(r)
		s.git("worktree", "remove", "--force", dir)
	}
	for name, work := range map[string]func(s *scene){
		"an edit":        func(s *scene) { s.git("checkout", "-q", "origin/theirs"); write(s.t, s.path("g"), "") },
		"a commit":       func(s *scene) { s.git("checkout", "-q", "origin/theirs"); s.commit("g", "") },
		"a deleted file": func(s *scene) { s.git("checkout", "-q", "origin/theirs"); check(s.t, os.Remove(s.path("f"))) },
		"an amended one": func(s *scene) { s.git("checkout", "-q", "origin/theirs"); s.git("commit", "-q", "--amend", "-m", "x") },
		"a merge":        func(s *scene) { s.commit("g", ""); s.git("merge", "-q", "-m", "m", "origin/theirs") },
		"a rebase": func(s *scene) {
			s.git("switch", "-q", "-c", "x")
			s.commit("g", "")
			s.git("rebase", "-q", "origin/theirs")
		},
		"a local merge": func(s *scene) { s.git("branch", "x", "origin/theirs"); s.git("merge", "-q", "x") },
		"what is pushed meanwhile, where nobody says who the agent is": func(s *scene) {
			s.pushedByColleague("origin/meanwhile", "origin/theirs")
			r := gittest.At(s.t, s.root)
			r.Env = append(withoutDates(r.Env), "GIT_COMMITTER_EMAIL=")
			r.Git("checkout", "-q", "origin/meanwhile")
		},
		"a local pull": func(s *scene) {
			s.git("branch", "x", "origin/theirs")
			s.git("pull", "-q", "--ff-only", ".", "x")
		},
		"a reset": func(s *scene) { s.git("reset", "-q", "--hard", "origin/theirs") },
		"a moved branch": func(s *scene) {
			s.git("update-ref", "refs/heads/main", "origin/theirs")
			s.git("reset", "-q", "--hard")
		},
		"an edit kept": func(s *scene) { write(s.t, s.path("f"), "mine"); s.git("checkout", "-q", "origin/theirs") },
		"a later edit": func(s *scene) {
			s.git("checkout", "-q", "origin/theirs")
			wantAllow(s.t, s.stop(nil))
			s.prompt("go on", nil)
			write(s.t, s.path("g"), "")
		},
		"a look at what was left behind": func(s *scene) {
			s.git("switch", "-q", "-c", "own")
			s.commit("red", "")
			s.git("switch", "-q", "main")
			wantAllow(s.t, s.stop(nil), "no gate has seen commits on own")
			s.prompt("go back to it", nil)
			s.git("switch", "-q", "own")
		},
		"commits of a worktree that is gone": func(s *scene) {
			elsewhere(s, func(*gittest.Repo) {})
			s.git("checkout", "-q", "gone")
		},
		"also pushed ones": func(s *scene) {
			elsewhere(s, func(r *gittest.Repo) { r.Git("update-ref", "refs/remotes/origin/gone", "HEAD") })
			s.git("checkout", "-q", "origin/gone")
		},
		"an empty commit": func(s *scene) {
			s.git("checkout", "-q", "origin/theirs")
			s.git("commit", "-q", "--allow-empty", "-m", "x")
		},
		"a branch that no log has": func(s *scene) {
			s.git("branch", "x", "origin/theirs")
			s.git("checkout", "-q", "--detach")
			s.git("read-tree", "-m", "-u", "main", "x")
			write(s.t, s.path(".git/HEAD"), "ref: refs/heads/x\n")
		},
		"a log that was thrown away": func(s *scene) {
			check(s.t, os.RemoveAll(s.path(".git/logs")))
			r := gittest.At(s.t, s.root)
			r.Env = withoutDates(r.Env)
			r.Git("checkout", "-q", "origin/theirs")
		},
		"commits without a log": func(s *scene) {
			s.git("checkout", "-q", "origin/theirs")
			check(s.t, os.RemoveAll(s.path(".git/logs")))
		},
		"what is fetched from a clone with another name": func(s *scene) {
			clone := gittest.At(s.t, filepath.Join(gittest.Dir(s.t), "clone"))
			clone.Env = append(withoutDates(clone.Env), "GIT_COMMITTER_EMAIL=other@example.com")
			s.git("clone", "-q", ".", clone.Dir)
			clone.Write("red", "")
			clone.Commit("red")
			s.git("fetch", "-q", clone.Dir, "main:again")
			s.git("checkout", "-q", "again")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newWork(t)
			s.theirs()
			s.prompt("do it", nil)
			work(s)
			wantBlock(t, s.stop(nil), "check:.:t")
		})
	}
}

// The same goes for a worktree that the session makes of such commits.
func TestE12WorkInANewWorktreeCounts(t *testing.T) {
	t.Parallel()
	for name, work := range map[string]func(s *scene, r *gittest.Repo){
		"an edit":        func(_ *scene, r *gittest.Repo) { r.Write("f", "2") },
		"a new file":     func(_ *scene, r *gittest.Repo) { r.Write("g", "") },
		"a deleted file": func(_ *scene, r *gittest.Repo) { r.Remove("first") },
		"a mode": func(_ *scene, r *gittest.Repo) {
			r.Git("config", "core.fileMode", "false")
			check(t, os.Chmod(r.Path("f"), 0o755))
		},
		"a file that is left out": func(_ *scene, r *gittest.Repo) { r.Git("sparse-checkout", "set", "--no-cone", "/*", "!/first") },
		"a commit":                func(_ *scene, r *gittest.Repo) { r.Write("g", ""); r.Commit("g") },
		"a merge": func(_ *scene, r *gittest.Repo) {
			r.Git("branch", "x")
			r.Git("checkout", "-q", "--detach", "main")
			r.Git("merge", "-q", "x")
		},
		"a hidden edit": func(_ *scene, r *gittest.Repo) {
			r.Git("update-index", "--assume-unchanged", "f")
			r.Write("f", "2")
		},
		"line ends that git would convert": func(_ *scene, r *gittest.Repo) {
			r.Git("config", "core.autocrlf", "true")
			r.Write("first", "1\r\n2\r\n")
			r.Git("add", "-A")
		},
		"an edit after a stop": func(s *scene, r *gittest.Repo) {
			wantAllow(s.t, s.stop(nil))
			r.Write("g", "")
		},
		"a block": func(s *scene, r *gittest.Repo) {
			r.Write("g", "")
			wantBlock(s.t, s.stop(nil), r.Dir)
			r.Remove("g")
		},
		"a block that the ledger has lost": func(s *scene, r *gittest.Repo) {
			r.Write("g", "")
			wantBlock(s.t, s.stop(nil), r.Dir)
			r.Remove("g")
			check(s.t, os.RemoveAll(filepath.Dir(ledger.Open(s.state, r.Dir).IndexFile())))
		},
		"no log": func(s *scene, r *gittest.Repo) { check(t, os.RemoveAll(s.path(".git/worktrees/look/logs"))) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newWork(t)
			s.theirs()
			s.prompt("do it", nil)
			r := s.lookInto("origin/theirs")
			work(s, r)
			wantBlock(t, s.stop(nil), r.Dir)
		})
	}
}

// A rebase or merge that has stopped keeps what was uncommitted where neither the tree nor a stash shows it.
func TestE12AnAutostashIsTold(t *testing.T) {
	t.Parallel()
	for name, stopped := range map[string]func(r *gittest.Repo){
		"rebase": func(r *gittest.Repo) {
			r.Env = append(r.Env, "GIT_SEQUENCE_EDITOR=sed -i 1s/pick/edit/")
			r.Git("rebase", "-q", "-i", "--autostash", "HEAD~1")
		},
		"rebase --apply": func(r *gittest.Repo) {
			_, _ = r.Try("rebase", "-q", "--apply", "--autostash", "theirs")
		},
		"pull --rebase": func(r *gittest.Repo) {
			_, _ = r.Try("pull", "-q", "--rebase", "--autostash", ".", "theirs")
		},
		"merge": func(r *gittest.Repo) {
			_, _ = r.Try("merge", "-q", "--autostash", "--no-ff", "--no-commit", "theirs")
		},
	} {
		for _, linked := range []bool{false, true} {
			s := newWork(t)
			dir := s.root
			if linked {
				dir = s.linked("wt")
			}
			r := gittest.At(t, dir)
			r.Git("branch", "theirs")
			r.Write("both", "ours")
			r.Commit("ours")
			ours := r.Git("rev-parse", "--abbrev-ref", "HEAD")
			r.Git("switch", "-q", "theirs")
			r.Write("both", "theirs")
			r.Commit("theirs")
			r.Git("switch", "-q", ours)
			at := fields{"cwd": dir}
			s.prompt("do it", at)

			r.Write("f", "red")
			stopped(r)
			wantAllow(t, s.stop(at), "no gate has seen an autostash of a rebase or merge in progress (git status)")
			if t.Failed() {
				t.Fatalf("%s, in a linked worktree: %t", name, linked)
			}
		}
	}
	t.Run("one from before is not told, nor one that was taken back", func(t *testing.T) {
		s := newWork(t)
		r := gittest.At(t, s.root)
		r.Env = append(r.Env, "GIT_SEQUENCE_EDITOR=echo break >")
		for range 2 {
			r.Git("commit", "-q", "--allow-empty", "-m", "one more")
		}
		rebase := func() {
			r.Write("f", "2")
			r.Git("rebase", "-q", "-i", "--autostash", "HEAD~1")
		}
		rebase()
		past := time.Now().Add(-time.Hour)
		check(t, os.Chtimes(s.path(".git/rebase-merge/autostash"), past, past))
		s.prompt("do it", nil)
		write(t, s.path("g"), "")
		wantAllow(t, s.stop(nil))

		r.Git("rebase", "--continue")
		rebase()
		r.Git("rebase", "--continue")
		wantAllow(t, s.stop(nil))
	})
}

// A cherry-pick, revert or am that has stopped keeps what it has still to apply where neither the tree nor a branch shows it.
func TestE12WhatWaitsInACherryPickIsTold(t *testing.T) {
	t.Parallel()
	const waits = "no gate has seen commits that wait in an unfinished cherry-pick, revert or am (git status)"
	for name, tt := range map[string]struct {
		stopped func(r *gittest.Repo)
		told    []string
	}{
		"cherry-pick": {func(r *gittest.Repo) { _, _ = r.Try("cherry-pick", "theirs~", "theirs") }, []string{waits}},
		"revert":      {func(r *gittest.Repo) { _, _ = r.Try("revert", "--no-edit", "theirs~", "theirs") }, []string{waits}},
		"am": {func(r *gittest.Repo) {
			r.Git("format-patch", "-q", "-o", ".git/p", "main..theirs")
			_, _ = r.Try("am", "-q", ".git/p/0001-both.patch", ".git/p/0002-red.patch")
		}, []string{waits}},
		"cherry-pick of one":      {func(r *gittest.Repo) { _, _ = r.Try("cherry-pick", "theirs~") }, nil},
		"cherry-pick, at the end": {func(r *gittest.Repo) { _, _ = r.Try("cherry-pick", "theirs", "theirs~") }, nil},
		"am of one": {func(r *gittest.Repo) {
			r.Git("format-patch", "-q", "-o", ".git/p", "main..theirs~")
			_, _ = r.Try("am", "-q", ".git/p/0001-both.patch")
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := newWork(t)
			r := gittest.At(t, s.root)
			r.Git("switch", "-q", "-c", "theirs")
			r.Write("both", "theirs")
			r.Commit("both")
			r.Write("good", "")
			r.Commit("red")
			r.Git("switch", "-q", "main")
			r.Write("both", "ours")
			r.Commit("ours")
			r.Git("update-ref", "refs/remotes/origin/main", "HEAD")
			s.prompt("do it", nil)

			tt.stopped(r)
			r.Write("both", "solved")
			wantAllow(t, s.stop(nil), tt.told...)
		})
	}
	t.Run("one from before is not told", func(t *testing.T) {
		s := newWork(t)
		for _, n := range []string{"1", "2", "3"} {
			s.commit("f", n)
		}
		r := gittest.At(t, s.root)
		_, _ = r.Try("revert", "--no-edit", "HEAD~", "HEAD~2")
		past := time.Now().Add(-time.Hour)
		check(t, os.Chtimes(s.path(".git/sequencer/todo"), past, past))
		s.prompt("do it", nil)
		write(t, s.path("f"), "4")
		wantAllow(t, s.stop(nil))
	})
}

// received counts the calls that have come.
func (s *scene) received() (n int) {
	s.t.Helper()
	for _, r := range s.records() {
		if r.Kind == event.Received {
			n++
		}
	}
	return n
}

// Two entries that are not written alike are called at once for one stop.
func TestE14ASecondCallForTheSameStopAdoptsTheAnswer(t *testing.T) {
	t.Parallel()
	s := newWork(t)
	ran, both := filepath.Join(s.state, "ran"), filepath.Join(s.state, "both")
	s.config(strings.Replace(untilGood, "test ! -e red", "echo x >>"+ran+"; until test -e "+both+"; do sleep 0.01; done; test ! -e red", 1))
	s.approve()
	write(t, s.path("red"), "")
	said := fields{"stop_hook_active": true}
	for n := 1; n <= 3; n++ {
		replies := make([]reply, 2)
		var calls sync.WaitGroup
		for i := range replies {
			calls.Go(func() { replies[i] = s.stop(said) })
		}
		eventually(t, "both calls have come", func() bool { return s.received() == 2*n })
		write(t, both, "")
		calls.Wait()
		check(t, os.Remove(both))
		for _, r := range replies {
			wantBlock(t, r, "check:.:t")
		}
		text, err := os.ReadFile(ran)
		check(t, err)
		if got := strings.Count(string(text), "x"); got != n {
			t.Fatalf("the gate ran %d times after %d stops", got, n)
		}
	}
	write(t, both, "")
	wantAllow(t, s.stop(said), "retry limit") // three were counted, not six
}

// When a second call's time is over while the first one still judges, it holds an agent that
// has something to answer for, counts nothing, and moves nothing.
func TestE8AStopThatAnotherCallStillJudges(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		work   func(s *scene)
		fields fields
		blocks bool
	}{
		"nothing changed":                    {func(*scene) {}, nil, false},
		"something changed":                  {func(s *scene) { write(s.t, s.path("g"), "") }, nil, true},
		"something changed, but it observes": {func(s *scene) { write(s.t, s.path("g"), ""); write(s.t, s.global, "trust: enforce\nmode: observe\n") }, nil, false},
		"a plan changes nothing":             {func(*scene) {}, fields{"session_id": "planner", "permission_mode": "plan"}, false},
		"the baseline is not known":          {func(*scene) {}, fields{"session_id": "another"}, true},
		"red before": {func(s *scene) {
			write(s.t, s.path("red"), "")
			wantBlock(s.t, s.stop(nil), "check:.:t")
			check(s.t, os.Remove(s.path("red")))
		}, nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := newWork(t).onStage()
			s.give("/gsd:a", "/gsd:b")
			s.prompt("/gsd:a", nil)
			tt.work(s.scene)
			judging, judged := make(chan struct{}), make(chan struct{})
			s.keepers = append([]keeper.Keeper{stub{"slow", func(context.Context, *keeper.Call) keeper.Verdict {
				close(judging) // a second time would panic
				<-judged
				return keeper.Verdict{}
			}}}, s.keepers...)
			first := make(chan reply)
			go func() { first <- s.call(hook.Stop, tt.fields) }()
			<-judging
			s.timeout = 4 * time.Second // half of it to wait, the rest to look
			before, err := NewCounter(s.state).Blocks(Turn{Session: "s1", Prompt: "p1"})
			check(t, err)
			if r := s.call(hook.Stop, tt.fields); r.blocks() != tt.blocks || !strings.Contains(r.Reason+r.Message, "still checking") {
				t.Errorf("got %s", r.Stdout)
			}
			after, err := NewCounter(s.state).Blocks(Turn{Session: "s1", Prompt: "p1"})
			check(t, err)
			if !maps.Equal(before, after) {
				t.Errorf("blocks %v became %v", before, after)
			}
			if s.driven > 0 || len(s.answered().Effects) > 0 {
				t.Errorf("driven %d times, effects %q", s.driven, s.answered().Effects)
			}
			s.wantQueue("active pending")
			close(judged)
			<-first
		})
	}
}

func TestAnswersToSilentSessionsAreForgotten(t *testing.T) {
	t.Parallel()
	s := newWork(t)
	wantAllow(t, s.stop(nil))
	old := filepath.Join(s.state, "answers", "old.json")
	past := time.Now().Add(-31 * 24 * time.Hour)
	for _, path := range []string{old, old + ".lock"} {
		write(t, path, "{}")
		check(t, os.Chtimes(path, past, past))
	}
	s.call(hook.SessionEnd, fields{"reason": "other"})
	left, err := filepath.Glob(filepath.Join(s.state, "answers", "*"))
	check(t, err)
	if len(left) != 2 || exists(old) {
		t.Errorf("left are %q", left)
	}
}

// A stop that looks like the one before is judged, however soon it comes.
// An answer belongs to one payload, and to calls that had begun before it was given.
func TestE14AnAnswerIsAdoptedForItsOwnPayload(t *testing.T) {
	t.Parallel()
	file, noon := filepath.Join(t.TempDir(), "answer.json"), time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	(&turn{file: file, now: given{Payload: "a"}}).keep("block", []byte("{}"), journal.Position{}, noon)
	for _, tt := range []struct {
		payload string
		begun   time.Time
		want    bool
	}{{"a", noon.Add(-1), true}, {"b", noon.Add(-1), false}, {"a", noon, false}} {
		if _, found := (&turn{file: file, now: given{Payload: tt.payload}}).adopted(tt.begun, noon); found != tt.want {
			t.Errorf("%+v: adopted %t", tt, found)
		}
	}
}

// The client calls each entry once for a stop, so an answer that was just given to another entry is this stop's,
// also when this call began after it. The next stop is judged, by whichever entry comes first.
func TestIssue19AnotherEntryAdoptsWhatWasJustAnswered(t *testing.T) {
	t.Parallel()
	file, noon := filepath.Join(t.TempDir(), "answer.json"), time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	of := func(caller string) *turn {
		return &turn{file: file, now: given{Payload: "a", Callers: []string{caller}}}
	}
	adopts := func(caller string, after time.Duration, want bool) {
		t.Helper()
		if _, found := of(caller).adopted(noon.Add(after), noon.Add(after)); found != want {
			t.Errorf("%s, %v later: adopted %t", caller, after, found)
		}
	}
	of("settings").keep("block", []byte("{}"), journal.Position{}, noon)
	adopts("settings", time.Second, false)
	adopts("plugin", together, false)
	adopts("plugin", time.Second, true)
	adopts("plugin", time.Second, false)

	of("plugin").keep("block", []byte("{}"), journal.Position{}, noon.Add(time.Minute))
	adopts("settings", time.Minute+1, true)
	adopts("settings", time.Minute+2, false)
}

// An entry that adopts what was allowed just before still looks at the work: it may be another one by now.
func TestIssue19AnAllowIsNotAdoptedForOtherWork(t *testing.T) {
	t.Parallel()
	s := newWork(t)
	write(t, s.path("g"), "")
	s.caller = "by hand"
	wantAllow(t, s.stop(nil))
	s.caller = "settings"
	wantAllow(t, s.stop(nil))
	s.wantVerdict("chain", "passed", "adopted")
	write(t, s.path("red"), "")
	s.caller = "plugin"
	wantBlock(t, s.stop(nil), "check:.:t")
	s.caller = "by hand"
	wantBlock(t, s.stop(nil), "check:.:t")
	s.wantVerdict("chain", "passed", "adopted") // it is not counted again
}

// An entry whose own look could not run says so: what was allowed just before is no longer known to hold.
func TestE14AnAllowIsNotAdoptedWithoutALook(t *testing.T) {
	t.Parallel()
	s := newWork(t)
	s.config(strings.Replace(untilGood, "test ! -e red", "sh -c './tool'", 1))
	s.approve()
	write(t, s.path("g"), "")
	s.caller = "by hand"
	s.stop(nil)
	write(t, s.path("h"), "")
	s.caller = "settings"
	wantAllow(t, s.stop(nil), "could not run")
	s.wantVerdict("gates", "could_not_run", "infrastructure_error")
}

// What a session did before we heard of it is not known: its first prompt is no beginning.
func TestE13ASessionThatIsHeardOfLateHasNoBeginning(t *testing.T) {
	t.Parallel()
	for event, whole := range map[hook.Event]bool{hook.SessionStart: true, hook.UserPromptSubmit: true, hook.SubagentStop: false} {
		s := newWork(t)
		s.call(event, nil)
		s.prompt("do it", nil)
		if got := !footprint.NewStore(s.state).Load("s1").Prompted.IsZero(); got != whole {
			t.Errorf("%s: %t", event, got)
		}
	}
}

func TestE14AnotherStopIsJudgedAgain(t *testing.T) {
	t.Parallel()
	s := newWork(t)
	write(t, s.path("red"), "")
	wantBlock(t, s.stop(nil), "check:.:t")
	check(t, os.Remove(s.path("red")))
	write(t, s.path("g"), "")
	wantAllow(t, s.stop(nil))
	s.wantTrees("project passed")
}

// An agent can write settings that give the hook less time than it was installed with.
func TestE14WhatIsNotDoneInAShortenedTimeIsRed(t *testing.T) {
	t.Parallel()
	s := newWork(t)
	s.config(strings.Replace(untilGood, "test ! -e red", "test ! -e slow || exec sleep 600", 1))
	s.approve()
	self, err := os.Executable()
	check(t, err)
	write(t, s.path(".claude/settings.local.json"), `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"`+self+` hook Stop --timeout 20m","timeout":20}]}]}}`)
	s.timeout = 20 * time.Minute
	write(t, s.path("slow"), "")
	r := s.stop(nil)
	wantBlock(t, r, "remove what shortens the hook's timeout to 20s")
	check(t, os.Remove(s.path("slow")))
	wantAllow(t, s.stop(nil), "only 20s")
}

// Newer clients take settings.local.json from the main worktree, too.
func TestE14TheMainWorktreeCanShortenTheTime(t *testing.T) {
	t.Parallel()
	s := newWork(t)
	self, err := os.Executable()
	check(t, err)
	write(t, s.path(".claude/settings.local.json"), `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"`+self+` hook Stop --timeout 20m","timeout":20}]}]}}`)
	s.timeout = 20 * time.Minute
	dir := s.linked("wt")
	write(t, filepath.Join(dir, "f"), "changed")
	s.env = append(s.env, "CLAUDE_PROJECT_DIR="+dir)
	wantAllow(t, s.stop(fields{"cwd": dir}), "only 20s")
}

// An agent that edited a gate learns why the old one failed all the same, and what helps.
func TestE6TheAgentIsToldThatItsEditDidNotRun(t *testing.T) {
	t.Parallel()
	s := newWork(t)
	write(t, s.path("red"), "")
	const advice = "`.gauntlet` is not as approved ("
	if r := s.stop(nil); !r.blocks() || strings.Contains(r.Reason, advice) {
		t.Errorf("nothing was edited: %s", r.Stdout)
	}
	s.config(strings.Replace(untilGood, "test ! -e red", "true", 1))
	wantBlock(t, s.stop(nil), advice+"config.yml), so the approved files ran")
	wantBlock(t, s.stop(nil), "restore it with `stopgate trust --restore`, or ask a person to approve it.")
}

// A project that is red and moves away, with its repository, holds the agent back once, and then
// a person is told.
func TestE5ARedProjectThatMovesAwayIsMissed(t *testing.T) {
	t.Parallel()
	for name, link := range map[string]bool{"moved": false, "moved, with a link in its place": true} {
		t.Run(name, func(t *testing.T) {
			s := newWork(t)
			write(t, s.path("red"), "")
			wantBlock(t, s.stop(nil), "check:.:t")
			away := s.root + "-2"
			check(t, os.Rename(s.root, away))
			if link {
				check(t, os.Symlink(away, s.root))
			}
			wantBlock(t, s.stop(fields{"cwd": away}), "Restore it and stop again")
			wantAllow(t, s.stop(fields{"cwd": away}), "no gate has checked the work since")
			check(t, os.RemoveAll(s.root))
			check(t, os.Rename(away, s.root))
			wantBlock(t, s.stop(nil), "check:.:t")
			check(t, os.Rename(s.root, away)) // gates have looked since, so it is not the same leave
			wantBlock(t, s.stop(fields{"cwd": away}), "Restore it and stop again")
		})
	}
}

// A red tree that is gone without git's knowledge holds the agent back once as well, however it went, and is
// judged again when it is back.
func TestE5ARedTreeThatIsGoneIsMissed(t *testing.T) {
	t.Parallel()
	move := func(s *scene, from, to string) { check(s.t, os.Rename(from, to)) }
	for name, leave := range map[string]func(s *scene, dir string) (back func()){
		"a worktree, moved by hand": func(s *scene, dir string) func() {
			move(s, dir, dir+"-2")
			return func() { move(s, dir+"-2", dir) }
		},
		"a worktree, moved with the folder that it is in": func(s *scene, dir string) func() {
			above := filepath.Dir(dir)
			move(s, above, above+"-2")
			return func() { move(s, above+"-2", above) }
		},
		"a worktree, with an empty folder in its place": func(s *scene, dir string) func() {
			move(s, dir, dir+"-2")
			check(s.t, os.Mkdir(dir, 0o755))
			return func() { check(s.t, os.Remove(dir)); move(s, dir+"-2", dir) }
		},
		"a worktree, with a link to the project in its place": func(s *scene, dir string) func() {
			move(s, dir, dir+"-2")
			check(s.t, os.Symlink(s.root, dir))
			return func() { check(s.t, os.Remove(dir)); move(s, dir+"-2", dir) }
		},
		"a worktree, with a clone in its place": func(s *scene, dir string) func() {
			move(s, dir, dir+"-2")
			s.git("clone", "-q", ".", dir)
			return func() { check(s.t, os.RemoveAll(dir)); move(s, dir+"-2", dir) }
		},
		"a worktree, deleted by hand": func(s *scene, dir string) func() {
			check(s.t, os.RemoveAll(dir))
			return func() {
				s.git("worktree", "prune")
				s.git("worktree", "add", "-q", "-f", dir, "wt")
				write(s.t, filepath.Join(dir, "red"), "")
			}
		},
		"a worktree that git's records no longer have": func(s *scene, dir string) func() {
			records, aside := s.path(".git/worktrees/wt"), s.path(".git/aside")
			move(s, records, aside)
			return func() { check(s.t, os.MkdirAll(filepath.Dir(records), 0o755)); move(s, aside, records) }
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newWork(t)
			dir := filepath.Join(filepath.Dir(s.root), "trees", "wt")
			s.git("worktree", "add", "-q", "-b", "wt", dir)
			write(t, filepath.Join(dir, "red"), "")
			wantBlock(t, s.stop(fields{"cwd": dir}), "check:.:t")
			back := leave(s, dir)
			wantBlock(t, s.stop(nil), "Restore it and stop again")
			wantAllow(t, s.stop(nil), dir, "no gate has checked the work since")
			wantAllow(t, s.stop(nil), dir, "no gate has checked the work since")
			back()
			wantBlock(t, s.stop(nil), "check:.:t")
			check(t, os.Remove(filepath.Join(dir, "red")))
			wantAllow(t, s.stop(nil))
		})
	}
}

// A red worktree that makes room for another one is told like one that git removed, and the other one is judged.
func TestE5ARedWorktreeThatIsReplacedIsTold(t *testing.T) {
	t.Parallel()
	for name, replace := range map[string]func(s *scene, dir string){
		"by a new one of the same branch": func(s *scene, dir string) {
			s.git("worktree", "remove", "--force", dir)
			s.git("worktree", "add", "-q", dir, "wt")
		},
		"by a new one of another branch": func(s *scene, dir string) {
			s.git("worktree", "remove", "--force", dir)
			s.git("worktree", "add", "-q", "-b", "other", dir)
		},
		"after it was moved by hand": func(s *scene, dir string) {
			check(s.t, os.Rename(dir, dir+"-2"))
			s.git("worktree", "prune")
			s.git("worktree", "add", "-q", dir, "wt")
		},
		"by force, after it was moved by hand": func(s *scene, dir string) {
			check(s.t, os.Rename(dir, dir+"-2"))
			s.git("worktree", "add", "-q", "-f", "-b", "other", dir)
		},
		"by one that git has under another name": func(s *scene, dir string) {
			s.git("worktree", "remove", "--force", dir)
			s.git("worktree", "add", "-q", "--detach", filepath.Join(s.state, "wt"))
			s.git("worktree", "add", "-q", dir, "wt")
		},
		"by another one that is moved there": func(s *scene, dir string) {
			s.git("worktree", "add", "-q", "-b", "other", dir+"-2")
			s.git("worktree", "remove", "--force", dir)
			s.git("worktree", "move", dir+"-2", dir)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newWork(t)
			dir := filepath.Join(filepath.Dir(s.root), "trees", "wt")
			check(t, os.MkdirAll(filepath.Dir(dir), 0o755))
			s.git("worktree", "add", "-q", "-b", "wt", dir)
			write(t, filepath.Join(dir, "red"), "")
			wantBlock(t, s.stop(fields{"cwd": dir}), "check:.:t")
			replace(s, dir)
			wantAllow(t, s.stop(nil), dir+" was removed")
			wantAllow(t, s.stop(nil))

			write(t, filepath.Join(dir, "red"), "")
			wantBlock(t, s.stop(nil), "check:.:t")
			s.git("worktree", "remove", "--force", dir)
			wantAllow(t, s.stop(nil), dir+" was removed")
		})
	}
}

// What git does to a worktree that stays is not a replacement.
func TestE5ARedWorktreeThatStaysIsJudged(t *testing.T) {
	t.Parallel()
	for name, leave := range map[string]func(s *scene, dir string){
		"moved": func(s *scene, dir string) { s.git("worktree", "move", dir, dir+"-2") },
		"repaired": func(s *scene, dir string) {
			check(s.t, os.Rename(dir, dir+"-2"))
			s.git("worktree", "repair", dir+"-2")
		},
		"locked": func(s *scene, dir string) { s.git("worktree", "lock", dir) },
		"collected": func(s *scene, dir string) {
			s.git("worktree", "repair")
			s.git("worktree", "prune")
			s.git("gc", "-q", "--prune=now")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newWork(t)
			dir := s.linked("wt")
			write(t, filepath.Join(dir, "red"), "")
			wantBlock(t, s.stop(fields{"cwd": dir}), "check:.:t")
			leave(s, dir)
			wantBlock(t, s.stop(nil), "check:.:t")
		})
	}
}

func TestE5ARedProjectThatIsGoneIsMissed(t *testing.T) {
	t.Parallel()
	for name, project := range map[string]func(s *scene) (dir string){
		"without a repository": func(s *scene) string {
			dir := filepath.Join(filepath.Dir(s.root), "plain")
			write(s.t, filepath.Join(dir, ".gauntlet/config.yml"), untilGood)
			return dir
		},
		"a folder of a repository": func(s *scene) string {
			r := gittest.At(s.t, filepath.Join(filepath.Dir(s.root), "mono"))
			check(s.t, os.Mkdir(r.Dir, 0o755))
			r.Git("init", "-q", "-b", "main")
			r.Write("packages/app/.gauntlet/config.yml", untilGood, "packages/app/.gitignore", "gauntlet_logs\n")
			r.Commit("first")
			r.Git("update-ref", "refs/remotes/origin/main", "HEAD")
			return r.Path("packages/app")
		},
		"with its git directory elsewhere": func(s *scene) string {
			dir := filepath.Join(filepath.Dir(s.root), "apart")
			s.repository(dir, untilGood)
			gittest.At(s.t, dir).Git("init", "-q", "--separate-git-dir="+dir+".git")
			return dir
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newWork(t)
			dir := project(s)
			check(t, trust.NewStore(s.state).Approve(dir, time.Now()))
			write(t, filepath.Join(dir, "red"), "")
			wantBlock(t, s.stop(fields{"cwd": dir}), "check:.:t")
			check(t, os.Rename(dir, dir+"-2"))
			wantBlock(t, s.stop(nil), "Restore it and stop again")
			wantAllow(t, s.stop(nil), dir, "no gate has checked the work since")
			check(t, os.Rename(dir+"-2", dir))
			wantBlock(t, s.stop(nil), "check:.:t")
		})
	}
}

// A worktree that was moved by hand is the same one where the agent goes on in it.
func TestE5AWorktreeThatWasMovedByHandIsFollowed(t *testing.T) {
	t.Parallel()
	for name, follow := range map[string]func(s *scene, dir, now string) fields{
		"the agent stops there":      func(_ *scene, _, now string) fields { return fields{"cwd": now} },
		"the agent tells git":        func(s *scene, _, now string) fields { s.git("worktree", "repair", now); return nil },
		"a link stands in its place": func(s *scene, dir, now string) fields { check(s.t, os.Symlink(now, dir)); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newWork(t)
			dir := s.linked("wt")
			now := dir + "-2"
			write(t, filepath.Join(dir, "red"), "")
			wantBlock(t, s.stop(fields{"cwd": dir}), "check:.:t")
			check(t, os.Rename(dir, now))
			stop := follow(s, dir, now)
			wantBlock(t, s.stop(stop), "check:.:t")
			wantBlock(t, s.stop(merge(stop, fields{"permission_mode": "plan"})), "check:.:t")
			check(t, os.Remove(filepath.Join(now, "red")))
			wantAllow(t, s.stop(stop))
			check(t, os.RemoveAll(dir))
			s.git("worktree", "repair", now)
			s.git("worktree", "remove", "--force", now)
			wantAllow(t, s.stop(nil))
		})
	}
}

// What git was told to remove has its commits in the repository. It may also have been moved before that, so a
// person is told, once.
func TestE5ARedWorktreeThatGitRemovedIsTold(t *testing.T) {
	t.Parallel()
	for name, leave := range map[string]func(s *scene, dir string){
		"removed": func(s *scene, dir string) { s.git("worktree", "remove", "--force", dir) },
		"deleted and pruned": func(s *scene, dir string) {
			check(s.t, os.RemoveAll(dir))
			s.git("worktree", "prune", "--expire=now")
		},
		"moved and pruned": func(s *scene, dir string) {
			check(s.t, os.Rename(dir, dir+"-2"))
			s.git("worktree", "prune", "--expire=now")
		},
		"missed, and then pruned": func(s *scene, dir string) {
			check(s.t, os.Rename(dir, dir+"-2"))
			wantBlock(s.t, s.stop(nil), "Restore it and stop again")
			s.git("worktree", "prune", "--expire=now")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newWork(t)
			dir := s.linked("wt")
			write(t, filepath.Join(dir, "red"), "")
			wantBlock(t, s.stop(fields{"cwd": dir}), "check:.:t")
			leave(s, dir)
			wantAllow(t, s.stop(nil), dir, "was removed")
			wantAllow(t, s.stop(nil))
			if name == "removed" {
				s.git("worktree", "add", "-q", "--detach", dir)
				write(t, filepath.Join(dir, "red"), "")
				wantBlock(t, s.stop(fields{"cwd": dir}), "check:.:t")
				leave(s, dir)
				wantAllow(t, s.stop(nil), dir, "was removed")
			}
		})
	}
}

// Projects below one that is approved itself, and many of them.
func TestE5ApprovedProjectsBelowTheClient(t *testing.T) {
	t.Parallel()
	s := newWork(t)
	var last string
	for i := range maxBelow + 4 {
		last = s.path(fmt.Sprintf("pk/app%02d", i))
		write(t, filepath.Join(last, ".gauntlet/config.yml"), untilGood)
		check(t, trust.NewStore(s.state).Approve(last, time.Now()))
	}
	gittest.At(t, s.root).Git("add", "-A")
	s.commit("f", "2")
	s.prompt("do it", nil)
	transcript := filepath.Join(s.state, "t.jsonl")
	for i := range maxBelow + 4 {
		name := fmt.Sprintf("pk/app%02d", i)
		write(t, s.path(name+"/red"), "")
		write(t, transcript, shell("touch "+name+"/red"))
		stop := fields{"transcript_path": transcript, "prompt_id": name}
		wantBlock(t, s.stop(stop), name)
		check(t, os.Remove(s.path(name+"/red")))
		wantAllow(t, s.stop(stop))
	}
}
