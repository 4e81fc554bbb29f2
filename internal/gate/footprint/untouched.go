package footprint

import (
	"context"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"github.com/stopgate/stopgate/internal/sys/paths"
)

const (
	// maxTouchable bounds how many files and folders are looked at: about half a second's worth.
	maxTouchable = 200_000
	// fineTick is more than the times of files lag behind the clock, which is a tick of the kernel: 10 ms at most.
	// coarseTick is that where they are whole seconds.
	fineTick   = 15 * time.Millisecond
	coarseTick = 2 * time.Second
)

// device is a file system as the kernel numbers it.
type device uint64

// Untouched reports whether nothing in the working tree at top has changed since a moment, by the times that the
// system keeps of its files and folders and that no program sets: then it is what a session found that began at that
// moment. In doubt it is not. The times have to come from the clock that the moment is from, as those of the
// directory local do: the clock of a share may be another one. Worktrees of the repository that lie in it are trees of their own.
func Untouched(ctx context.Context, top, local string, moment time.Time) bool {
	device, known := deviceOf(local)
	if !known {
		return false
	}
	var apart []string
	if common, _, found := paths.Repository(top); found {
		apart = paths.Worktrees(common)
	}

	seen := 0
	err := filepath.WalkDir(top, func(path string, entry fs.DirEntry, err error) error {
		if seen++; err != nil || ctx.Err() != nil || seen > maxTouchable {
			return fs.ErrInvalid
		}
		if path != top && entry.IsDir() && slices.Contains(apart, path) && paths.IsTop(path) {
			return fs.SkipDir
		}
		if entry.Name() == ".git" && path != top { // what git keeps is not work
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		changed, on := changedAt(path)
		if on != device || path == top && !entry.IsDir() || !isBefore(changed, moment) {
			return fs.ErrInvalid
		}
		return nil
	})
	return err == nil
}

// isBefore reports whether a file that has that time was changed before a moment, whatever the file system rounds.
func isBefore(changed, moment time.Time) bool {
	tick := fineTick
	if changed.Nanosecond() == 0 {
		tick = coarseTick
	}
	return changed.Add(tick).Before(moment)
}
