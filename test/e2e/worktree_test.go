//go:build unix

package e2e

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/test/claudeapi"
)

// committed guards a project whose check fails while a file named red is there, and commits
// all of it but the hooks, which are the user's: this is how people work with worktrees.
func (b *bench) committed() {
	b.t.Helper()
	b.Write(".gauntlet/config.yml", "quiet: true\n"+oneCheck("test ! -e red", ""))
	b.Settings["permissions"] = map[string]any{"allow": []string{"Bash", "Edit", "Write", "Read", "EnterWorktree"}}
	b.Write(".gitignore", "gauntlet_logs\n.claude/worktrees\n")
	b.Stopgate("init", "--yes", "--user").mustPass(b.t)
	b.Commit()
}

func write(path string) claudeapi.Answer {
	return claudeapi.Tool("Write", map[string]any{"file_path": path, "content": "x\n"})
}

// A red tree is red wherever the agent works: in a worktree that the client makes, in one
// that it goes to, in one that it makes itself, and in a project below its directory.
func TestE5ARedTreeBlocksWhereverTheAgentWorks(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		flags  []string
		work   func(b *bench) []claudeapi.Answer
		remove func(b *bench) string // a command
	}{
		"claude --worktree": {
			flags:  []string{"--worktree", "feature"},
			work:   func(b *bench) []claudeapi.Answer { return []claudeapi.Answer{bash("touch red")} },
			remove: func(*bench) string { return "rm red" },
		},
		"the EnterWorktree tool": {
			work: func(b *bench) []claudeapi.Answer {
				return []claudeapi.Answer{claudeapi.Tool("EnterWorktree", map[string]any{"name": "feature"}), bash("touch red")}
			},
			remove: func(*bench) string { return "rm red" },
		},
		"git worktree add": {
			work: func(b *bench) []claudeapi.Answer {
				return []claudeapi.Answer{bash("git worktree add -q ../beside-it && touch ../beside-it/red")}
			},
			remove: func(*bench) string { return "rm ../beside-it/red" },
		},
		"a file in a worktree": {
			work: func(b *bench) []claudeapi.Answer {
				b.Exec("git", "worktree", "add", "-q", "../other").mustPass(b.t)
				return []claudeapi.Answer{write(filepath.Join(b.root, "other", "red"))}
			},
			remove: func(*bench) string { return "rm ../other/red" },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.committed()
			b.API.Script(slices.Concat(tt.work(b), []claudeapi.Answer{claudeapi.Text("Finished."), bash(tt.remove(b)), claudeapi.Text("Fixed.")})...)
			h := b.Run("do it", tt.flags...)
			if h.Code != 0 || h.Reply().Text != "Fixed." {
				t.Errorf("exit %d, %+v\n%s", h.Code, h.Reply(), h.Stderr)
			}
			b.wantFeedback("check:.:build")
			if got := decisions(b.Answers("Stop")); !slices.Equal(got, []string{"block", "allow"}) {
				t.Errorf("answered %q", got)
			}
		})
	}
}

func decisions(answers []record) (all []string) {
	for _, r := range answers {
		all = append(all, r.Decision)
	}
	return all
}

func TestE5AClientThatWasStartedAboveTheProject(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.committed()
	project := b.Project
	b.Project = b.root
	b.API.Script(write(filepath.Join(project, "red")), claudeapi.Text("Finished."), bash("rm "+filepath.Join(project, "red")), claudeapi.Text("Fixed."))
	h := b.Run("do it")
	if h.Reply().Text != "Fixed." {
		t.Errorf("%+v\n%s", h.Reply(), h.Stderr)
	}
	b.wantFeedback("check:.:build")
}

// A question on a red tree, and a plan, change nothing: the red tree is the person's.
func TestE13QuestionsAndPlansAreNotJudged(t *testing.T) {
	t.Parallel()
	for name, flags := range map[string][]string{"a question": nil, "a plan": {"--permission-mode", "plan"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.committed()
			b.Write("red", "a person's own work\n")
			b.API.Script(claudeapi.Text("It is red because of red."))
			h := b.Run("why is it red?", flags...)
			if h.Reply().Text != "It is red because of red." || len(b.API.Requests()) != 1 {
				t.Errorf("%+v", h.Reply())
			}
			b.wantAnswers("Stop", "allow gates:unchanged")
		})
	}
}

// What a person changes while the agent only reads is not its work; what changes while it runs a command may be.
func TestE13WhatAPersonChangesWhileTheAgentReads(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		call func(b *bench) claudeapi.Answer
		want []string
	}{
		"it reads": {
			func(b *bench) claudeapi.Answer {
				return claudeapi.Tool("Read", map[string]any{"file_path": filepath.Join(b.Project, ".gitignore")})
			},
			[]string{"allow gates:unchanged"},
		},
		"it looks with a shell": {
			func(*bench) claudeapi.Answer { return bash("git log --oneline && ls -la") },
			[]string{"allow gates:unchanged"},
		},
		"it runs a command": {
			func(*bench) claudeapi.Answer { return bash("make || true") },
			[]string{"block gates:failed", "allow gates:passed"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.committed()
			b.API.Script(tt.call(b), claudeapi.Func(func(claudeapi.Request) claudeapi.Answer {
				b.Write("red", "a person's own work\n")
				return claudeapi.Text("It is a shop.")
			}), bash("rm red"), claudeapi.Text("It is fixed."))
			b.Run("what is this?")
			b.wantAnswers("Stop", tt.want...)
		})
	}
}

// After /clear the conversation is another, and the work the same.
func TestE13AClearedConversationIsHeldToTheSameWork(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.committed()
	b.API.Script(bash("touch red"), claudeapi.Text("Finished."), claudeapi.Text("I leave it."), claudeapi.Text("I leave it."), claudeapi.Text("I leave it."), claudeapi.Text("Hello."))
	tui := b.TUI()
	tui.Send("do it")
	if !poll(patience, func() bool {
		got := decisions(b.Answers("Stop"))
		return len(got) == 4 && got[3] == "allow"
	}) {
		t.Fatalf("answered %q", decisions(b.Answers("Stop")))
	}
	tui.Clear()
	tui.Send("hello")
	if !poll(patience, func() bool { return len(b.Answers("Stop")) == 5 }) {
		t.Fatal("no further stop")
	}
	last := statuses(b.Answers("Stop"))[4]
	if !strings.Contains(last, "retry_limit_exceeded") {
		t.Errorf("the last stop was answered %q", last)
	}
}
