//go:build unix

package footprint

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/sys/checktest"
	"github.com/stopgate/stopgate/internal/sys/git/gittest"
)

func TestE13WhatNothingHasTouched(t *testing.T) {
	long := time.Now().Add(-24 * time.Hour)
	for name, touch := range map[string]func(top string) error{
		"":                     func(string) error { return nil },
		"git's own files":      func(top string) error { return os.WriteFile(filepath.Join(top, ".git", "index"), nil, 0o600) },
		"where a module's is":  func(top string) error { return os.WriteFile(filepath.Join(top, "a", ".git"), []byte("2"), 0o600) },
		"a file is written":    func(top string) error { return os.WriteFile(filepath.Join(top, "a", "b", "f"), []byte("2"), 0o600) },
		"a file is new":        func(top string) error { return os.WriteFile(filepath.Join(top, "a", "g"), nil, 0o600) },
		"a file is deleted":    func(top string) error { return os.Remove(filepath.Join(top, "a", "b", "f")) },
		"a folder is new":      func(top string) error { return os.Mkdir(filepath.Join(top, "c"), 0o700) },
		"a file is renamed":    func(top string) error { return os.Rename(filepath.Join(top, "a", "b", "f"), filepath.Join(top, "f")) },
		"a mode is changed":    func(top string) error { return os.Chmod(filepath.Join(top, "a", "b", "f"), 0o700) },
		"its time is set back": func(top string) error { return os.Chtimes(filepath.Join(top, "a", "b", "f"), long, long) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			top, local := t.TempDir(), t.TempDir()
			for _, dir := range []string{".git", filepath.Join("a", "b")} {
				check(t, os.MkdirAll(filepath.Join(top, dir), 0o700))
			}
			check(t, os.WriteFile(filepath.Join(top, "a", "b", "f"), []byte("1"), 0o600))
			check(t, os.WriteFile(filepath.Join(top, "a", ".git"), []byte("1"), 0o600))
			moment := time.Now().Add(2 * fineTick)
			checktest.Eventually(t, "the session has begun", func() bool { return time.Now().After(moment.Add(fineTick)) })
			check(t, touch(top))
			if got, want := Untouched(t.Context(), top, local, moment), name == "" || name == "git's own files" || name == "where a module's is"; got != want {
				t.Errorf("untouched: %t", got)
			}
		})
	}
}

// What is done in a worktree says nothing about another one of the repository that it lies in.
func TestE13AWorktreeWithinTouchesNothing(t *testing.T) {
	r := gittest.New(t)
	r.Write("f", "", ".w/old/f", "")
	r.Commit("first")
	r.Git("worktree", "add", "-q", ".w/wt")
	moment := time.Now().Add(2 * fineTick)
	checktest.Eventually(t, "the session has begun", func() bool { return time.Now().After(moment.Add(fineTick)) })
	check(t, os.WriteFile(r.Path(".w/wt/f"), []byte("2"), 0o600))
	if !Untouched(t.Context(), r.Dir, t.TempDir(), moment) {
		t.Error("touched by what was done in the worktree")
	}
}

func TestE13AFolderIsNoWorktreeBecauseGitsFileSaysSo(t *testing.T) {
	r := gittest.New(t)
	r.Write("f", "", "old/f", "")
	r.Commit("first")
	r.Git("worktree", "add", "-q", filepath.Join(gittest.Dir(t), "wt"))
	check(t, os.WriteFile(r.Path(".git/worktrees/wt/gitdir"), []byte(r.Path("old/.git")+"\n"), 0o600))
	moment := time.Now().Add(2 * fineTick)
	checktest.Eventually(t, "the session has begun", func() bool { return time.Now().After(moment.Add(fineTick)) })
	if !Untouched(t.Context(), r.Dir, t.TempDir(), moment) {
		t.Error("nothing was touched")
	}
	check(t, os.WriteFile(r.Path("old/f"), []byte("2"), 0o600))
	if Untouched(t.Context(), r.Dir, t.TempDir(), moment) {
		t.Error("the folder was left out")
	}
}

func TestE13InDoubtATreeWasTouched(t *testing.T) {
	top, later := t.TempDir(), time.Now().Add(time.Hour)
	link := filepath.Join(t.TempDir(), "link")
	check(t, os.Symlink(top, link))
	if Untouched(t.Context(), link, top, later) {
		t.Error("a link says nothing about the tree")
	}
	if !Untouched(t.Context(), top, top, later) {
		t.Error("nothing was touched")
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if Untouched(ended, top, top, later) {
		t.Error("there was no time to look")
	}
	if Untouched(t.Context(), top, "/proc", later) {
		t.Error("its clock may be another one")
	}
	if Untouched(t.Context(), filepath.Join(top, "gone"), top, later) {
		t.Error("it is gone")
	}
	if second := later.Truncate(time.Second); isBefore(second, second.Add(time.Second)) || !isBefore(second.Add(1), second.Add(time.Second)) {
		t.Error("a file system that rounds to seconds")
	}
}
