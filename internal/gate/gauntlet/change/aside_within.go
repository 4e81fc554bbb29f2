package change

import (
	"context"
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
	outer := w.common(p) + string(filepath.Separator)
	users := slices.DeleteFunc(w.ruleFiles(p), func(file string) bool { return strings.HasPrefix(file, outer) })
	var ignored []string
	for _, name := range t.repositories {
		common, _, found := paths.Repository(w.abs(name))
		if !found || !w.holds(name) {
			continue
		}
		if newer(stashLog(common), since) {
			all = append(all, "a stash in "+list([]string{name})+" (git stash list)")
		}
		if !slices.ContainsFunc(append(w.rulesWithin(common, w.abs(name)), users...), func(file string) bool { return newer(file, since) }) {
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

// StampWithin changes when AsideWithin may say something else although the tree is the same.
func (w *Worktree) StampWithin(t Tree) (stamp string) {
	for _, name := range t.repositories {
		if common, _, found := paths.Repository(w.abs(name)); found {
			stamp += stampOf(append(w.rulesWithin(common, w.abs(name)), stashLog(common)))
		}
	}
	return stamp
}
