// Package owner keeps stopgate out of directories that belong to other users, as git's
// safe.directory does: the owner of a repository's files could run commands as every user
// who enters it.
package owner

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/sys/git"
	"github.com/stopgate/stopgate/internal/sys/paths"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// Check returns an error where the project at root, or the repository that it is in, belongs to
// another user than the caller or root, unless the caller's own git configuration says that
// the directory is safe. Links are not followed: an agent could make one that leads to
// another user's files, so that its own project is not entered.
func Check(root string, environ []string) error {
	return check(root, environ, func(place string) (string, bool) { return foreign(place, environ) })
}

func check(root string, environ []string, foreign func(place string) (who string, foreign bool)) error {
	top, inRepository := paths.GitRoot(root)
	places := []string{root, filepath.Join(root, paths.GauntletDir), filepath.Join(root, paths.OddjobsDir)}
	if inRepository {
		places = append(places, top, filepath.Join(top, ".git"))
		if gitDir, found := paths.GitDir(root); found && paths.Canonical(paths.WorktreeOf(gitDir)) == paths.Canonical(top) {
			// A worktree, whose repository leads back: no agent can write that into another user's.
			common, _, _ := paths.Repository(root)
			places = append(places, gitDir, common)
		}
	} else {
		top = root
	}
	for _, place := range places {
		if who, foreign := foreign(place); foreign && !safe(top, environ) {
			return &Error{Place: place, Owner: who, Top: top}
		}
	}
	return nil
}

// Error says whose a place is, and what helps.
type Error struct {
	Place string
	Owner string
	Top   string // the directory to declare safe
}

func (e *Error) Error() string {
	return fmt.Sprintf("%s belongs to %s, so nothing in it is read or run", plain.Name(e.Place), e.Owner)
}

// Hint is the command by which a person says that the place may be entered.
func (e *Error) Hint() string {
	return "git config --global --add safe.directory " + shellWord(e.Top)
}

func shellWord(word string) string {
	return "'" + strings.ReplaceAll(plain.Line(word), "'", `'\''`) + "'"
}

// safe reports whether the caller's configuration lists the directory. The repository's own does
// not count.
func safe(dir string, environ []string) bool {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	entries, err := git.At(string(filepath.Separator), environ).SafeDirectories(ctx)
	if err != nil {
		return false
	}
	listed := false
	for _, entry := range entries {
		switch {
		case entry == "":
			listed = false // an empty entry takes back those before it
		case !listed:
			listed = covers(entry, dir)
		}
	}
	return listed
}

// covers knows what git takes: a path, a path with /* for all below it, and * for everything.
func covers(entry, dir string) bool {
	if entry == "*" {
		return true
	}
	above, all := strings.CutSuffix(entry, "/*")
	if above == "" {
		above = string(filepath.Separator) // what "/*" is of
	}
	above, dir = paths.Canonical(above), paths.Canonical(dir)
	if !filepath.IsAbs(above) {
		return false
	}
	if all {
		return strings.HasPrefix(dir, strings.TrimSuffix(above, string(filepath.Separator))+string(filepath.Separator))
	}
	return above == dir
}
