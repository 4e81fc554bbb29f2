package change

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/sys/git"
	"github.com/stopgate/stopgate/internal/sys/paths"
)

// AsideWithin is Aside for the repositories within a tree: a stash, and files that new rules make git ignore.
func (w *Worktree) AsideWithin(ctx context.Context, t Tree, p Position, since time.Time) (all []string) {
	if since.IsZero() || len(t.repositories) == 0 {
		return nil
	}
	var ignored []string
	for _, name := range t.repositories {
		common, _, found := paths.Repository(w.abs(name))
		if !found || !w.holds(name) {
			continue
		}
		if newer(stashLog(common), since) {
			all = append(all, "a stash in "+list([]string{name})+" (git stash list)")
		}
		if !slices.ContainsFunc(w.rulesWithin(common, p), func(file string) bool { return newer(file, since) }) {
			continue
		}
		places, _ := git.At(w.abs(name), w.environ).IgnoredPlaces(ctx) // it is only told
		for _, place := range places {
			if newer(w.abs(name+"/"+place), since) {
				ignored = append(ignored, name+"/"+place)
			}
		}
	}
	if len(ignored) > 0 {
		all = append(all, "files that git ignores by a new rule ("+list(ignored)+")")
	}
	return all
}

// rulesWithin may say what git ignores in a repository within the tree: its own files, and the user's.
func (w *Worktree) rulesWithin(common string, p Position) []string {
	outer := w.common(p) + string(filepath.Separator)
	users := slices.DeleteFunc(w.ruleFiles(p), func(file string) bool { return strings.HasPrefix(file, outer) })
	return append(users, filepath.Join(common, "info", "exclude"), filepath.Join(common, "config"))
}

// StampWithin changes when AsideWithin may say something else although the tree is the same.
func (w *Worktree) StampWithin(t Tree) (stamp string) {
	for _, name := range t.repositories {
		common, _, found := paths.Repository(w.abs(name))
		if !found {
			continue
		}
		for _, file := range []string{stashLog(common), filepath.Join(common, "info", "exclude"), filepath.Join(common, "config")} {
			if info, err := os.Stat(file); err == nil {
				stamp += fmt.Sprint(info.Size(), info.ModTime().UnixNano(), " ")
			}
		}
	}
	return stamp
}

func stashLog(common string) string { return filepath.Join(common, "logs", "refs", "stash") }
