package queue

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Last is the queue of a session that came to its end last, however that was.
func (s Store) Last(session string) (Listed, error) {
	path, newest := "", os.FileInfo(nil)
	for _, suffix := range []string{"done", "stale"} {
		candidate := s.path(session, suffix)
		if info, err := os.Lstat(candidate); err == nil && (newest == nil || info.ModTime().After(newest.ModTime())) {
			path, newest = candidate, info
		}
	}
	if newest == nil {
		return Listed{}, ErrNone
	}
	q, err := load(path)
	if errors.Is(err, ErrNone) {
		return Listed{}, err // another one takes its name right now
	}
	return Listed{Session: session, Path: path, Queue: q, Err: err}, nil
}

// Sessions are those that have a queue or had one, as far as the names of files tell.
func (s Store) Sessions() []string {
	entries, _ := os.ReadDir(s.dir) // none: no session ever had one
	var all []string
	for _, entry := range entries {
		name, _, _ := strings.Cut(entry.Name(), ".")
		if session, isQueue := sessionOf(name + filepath.Ext(entry.Name())); isQueue {
			all = append(all, session)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
