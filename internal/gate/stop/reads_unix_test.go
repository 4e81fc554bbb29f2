//go:build unix

package stop

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stopgate/stopgate/internal/gate/protect"
	"github.com/stopgate/stopgate/internal/harness/hook"
	"github.com/stopgate/stopgate/internal/record/event"
	"github.com/stopgate/stopgate/internal/record/stops"
	"github.com/stopgate/stopgate/internal/sys/git/gittest"
)

// conversation is a session's transcript, as Claude Code writes it.
type conversation struct {
	s    *scene
	path string
}

func (s *scene) conversation() conversation {
	return conversation{s, filepath.Join(s.state, "conversation.jsonl")}
}

// add writes a line with a block of the agent's.
func (c conversation) add(block string) {
	c.s.t.Helper()
	before, _ := os.ReadFile(c.path) // there is none at first
	write(c.s.t, c.path, string(before)+fmt.Sprintf(`{"type":"assistant","message":{"role":"assistant","content":[%s]}}`+"\n", block))
}

func (c conversation) uses(tool string) { c.usesOn(tool, c.s.path("x")) }

func (c conversation) usesOn(tool, file string) {
	c.add(fmt.Sprintf(`{"type":"tool_use","id":"t","name":%q,"input":{"file_path":%q}}`, tool, file))
}

// says writes the agent's last words, and gives the stop after them.
func (c conversation) says(text string) fields {
	c.add(fmt.Sprintf(`{"type":"text","text":%q}`, text))
	return fields{"transcript_path": c.path, "last_assistant_message": text}
}

func (c conversation) prompt(text string) {
	c.s.t.Helper()
	c.s.prompt(text, fields{"transcript_path": c.path})
}

// worked is a conversation in which the agent has changed something, and then was allowed to stop.
func (s *scene) worked() conversation {
	s.t.Helper()
	c := s.conversation()
	c.prompt("do it")
	c.uses("Edit")
	write(s.t, s.path("g"), "")
	wantAllow(s.t, s.stop(c.says("It is done.")))
	return c
}

// An agent that has called no tool that could change anything has not changed what a person or another session changes
// in its tree meanwhile.
func TestE13WhatOthersChangeWhileTheAgentReads(t *testing.T) {
	t.Parallel()
	s := newWork(t)
	c := s.worked()
	s.wantTrees("project passed")

	c.prompt("what is this?")
	c.uses("Read")
	c.uses("Grep")
	write(t, s.path("red"), "by another session")
	wantAllow(t, s.stop(c.says("It is a shop.")))
	s.wantTrees("project unchanged")
	all := s.records()
	last := all[len(all)-1]
	if got, want := stops.Of(&last).Headline(), "Allowed: the agent only read"; got != want || last.Trees[0].Since != event.SinceReads {
		t.Errorf("%q since %q, want %q", got, last.Trees[0].Since, want)
	}

	c.prompt("and this?")
	wantAllow(t, s.stop(c.says("A cart.")))
	c.prompt("change it")
	c.uses("Edit")
	write(t, s.path("g"), "2")
	wantBlock(t, s.stop(c.says("It is changed.")), "check:.:t")
	c.prompt("why is it red?")
	wantBlock(t, s.stop(c.says("Because of the cart.")), "check:.:t") // it has something to answer for
}

// The same holds where it only looks, in a worktree in which it was not seen before.
func TestE13WhatOthersChangeWhereTheAgentLooks(t *testing.T) {
	t.Parallel()
	s := newWork(t)
	dir := s.linked("wip")
	c := s.conversation()
	c.prompt("what is in wip?")
	c.add(`{"type":"tool_use","id":"t","name":"Bash","input":{"command":"cd ../wip && git log"}}`)
	s.call(hook.CwdChanged, fields{"old_cwd": s.root, "new_cwd": dir})
	write(t, filepath.Join(dir, "red"), "by a person")
	wantAllow(t, s.stop(c.says("A fix.")))
	s.wantTrees("project unchanged", "wip unchanged")

	c.prompt("go on there")
	c.uses("Edit")
	write(t, filepath.Join(dir, "g"), "")
	wantBlock(t, s.stop(c.says("It is done.")), dir)
}

// In plan mode the agent writes its plan with the tool for edits, and elsewhere what it wants to remember.
func TestE13WhatClaudeCodeKeepsForItselfIsNoWork(t *testing.T) {
	for name, tt := range map[string]struct {
		tool, file string
		judged     bool
	}{
		"a plan":                       {"Write", "home/.claude/plans/a.md", false},
		"a memory":                     {"Edit", "home/.claude/projects/p/memory/a.md", false},
		"a transcript":                 {"Edit", "home/.claude/projects/p/s.jsonl", true},
		"settings":                     {"Write", "home/.claude/settings.json", true},
		"what only looks like a plan":  {"Write", "home/.claude/plans/../x", true},
		"a plan of another tool":       {"mcp__files__write", "home/.claude/plans/a.md", true},
		"a link to the project":        {"Write", "home/.claude/plans/link/x", true},
		"a link to another repository": {"Write", "home/.claude/plans/other/x", true},
		"a plan beside another call":   {"Bash", "home/.claude/plans/a.md", true},
		"no file":                      {"Write", "", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newWork(t)
			home, other := filepath.Join(s.state, "home"), gittest.Dir(t)
			s.env = append(s.env, "HOME="+home)
			check(t, os.MkdirAll(filepath.Join(home, ".claude", "plans"), 0o700))
			check(t, os.Symlink(s.root, filepath.Join(home, ".claude", "plans", "link")))
			check(t, os.Mkdir(filepath.Join(other, ".git"), 0o700))
			check(t, os.Symlink(other, filepath.Join(home, ".claude", "plans", "other")))
			c := s.conversation()
			c.prompt("plan it")
			file := ""
			if tt.file != "" {
				file = s.state + "/" + tt.file
			}
			c.usesOn(tt.tool, file)
			s.red()
			if stop := s.stop(c.says("That is the plan.")); tt.judged {
				wantBlock(t, stop, "check:.:t")
			} else {
				wantAllow(t, stop)
				s.wantTrees("project unchanged")
			}
		})
	}
}

// Only the agent's own words of the turn tell that it changed nothing.
func TestE13WhoMayHaveChangedSomethingIsJudged(t *testing.T) {
	for name, turn := range map[string]func(s *scene, c conversation) fields{
		"a shell":       func(_ *scene, c conversation) fields { c.uses("Bash"); return c.says("Answered.") },
		"a subagent":    func(_ *scene, c conversation) fields { c.uses("Task"); return c.says("Answered.") },
		"another tool":  func(_ *scene, c conversation) fields { c.uses("mcp__shell__run"); return c.says("Answered.") },
		"after reading": func(_ *scene, c conversation) fields { c.uses("Read"); c.uses("Write"); return c.says("Answered.") },
		"a tool that is called beside words": func(_ *scene, c conversation) fields {
			c.add(`{"type":"text","text":"I do it."},{"type":"tool_use","id":"t","name":"Bash","input":{}}`)
			return c.says("Answered.")
		},
		"a line that nobody can read": func(s *scene, c conversation) fields {
			before, _ := os.ReadFile(c.path)
			write(s.t, c.path, string(before)+`{"type":"assistant","message":{"content":[{"type":"tool_use","name":"Bash"`+"\n")
			return c.says("Answered.")
		},
		"a background task": func(_ *scene, c conversation) fields {
			stop := c.says("Answered.")
			stop["background_tasks"] = []any{fields{"id": "b1", "type": "shell", "status": "running", "description": "make"}}
			return stop
		},
		"a transcript that lacks its last words": func(_ *scene, c conversation) fields {
			return fields{"transcript_path": c.path, "last_assistant_message": "Answered."}
		},
		"a stop without words": func(_ *scene, c conversation) fields {
			return fields{"transcript_path": c.path, "last_assistant_message": nil}
		},
		"another transcript": func(s *scene, c conversation) fields {
			stop := c.says("Answered.")
			text, err := os.ReadFile(c.path)
			check(s.t, err)
			stop["transcript_path"] = filepath.Join(s.state, "fork.jsonl")
			write(s.t, filepath.Join(s.state, "fork.jsonl"), string(text))
			return stop
		},
		"a transcript that was made again": func(s *scene, c conversation) fields {
			check(s.t, os.Truncate(c.path, 0))
			return c.says("Yes.")
		},
		"a turn that was interrupted before": func(_ *scene, c conversation) fields {
			c.uses("Bash")
			c.prompt("what is this?")
			return c.says("Answered.")
		},
		"the end of a background task": func(_ *scene, c conversation) fields {
			c.uses("Bash")
			c.prompt("<task-notification>it ended</task-notification>")
			return c.says("Answered.")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newWork(t)
			c := s.conversation()
			c.prompt("hello")
			wantAllow(t, s.stop(c.says("Hello, what can I do for you today?")))
			c.prompt("what is this?")
			write(t, s.path("red"), "")
			wantBlock(t, s.stop(turn(s, c)), "check:.:t")
		})
	}
}

// What it left failing is still its work after a stop that was allowed all the same, whatever it reads then.
func TestE13WhatWasLeftFailingIsNotOthersWork(t *testing.T) {
	t.Parallel()
	s := newWork(t)
	c := s.conversation()
	c.prompt("do it")
	c.uses("Edit")
	write(t, s.path("red"), "")
	for range 3 {
		wantBlock(t, s.stop(c.says("It is done.")), "check:.:t")
	}
	wantAllow(t, s.stop(c.says("I cannot.")), "retry limit")
	c.prompt("why?")
	write(t, s.path("g"), "")
	wantBlock(t, s.stop(c.says("Because of red.")), "check:.:t")
}

// Protected files that change while the agent only reads are not its work either.
func TestE20WhatOthersChangeWhileTheAgentReads(t *testing.T) {
	t.Parallel()
	s := newWork(t)
	s.config(untilGood + "protect: [f]\nprotect_mode: block\n")
	s.approve()
	s.keepers = append(s.keepers, protect.Keeper{StateDir: s.state, Now: s.now, Log: t.Logf})
	c := s.conversation()
	c.prompt("what is this?")
	write(t, s.path("f"), "by a person")
	wantAllow(t, s.stop(c.says("A shop.")))
	s.wantVerdict(protect.Name, "passed", protect.Untouched)
	c.prompt("do it")
	c.uses("Bash")
	wantBlock(t, s.stop(c.says("It is done.")), "f")
	wantAllow(t, s.stop(c.says("I leave it.")), "f changed")
	c.prompt("why?")
	wantAllow(t, s.stop(c.says("Because.")), "not approved yet")
	s.wantVerdict(protect.Name, "failed", "needs_person") // it has something to answer for
}
