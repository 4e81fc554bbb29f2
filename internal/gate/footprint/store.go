package footprint

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/sys/digest"
	"github.com/stopgate/stopgate/internal/sys/lockfile"
	"github.com/stopgate/stopgate/internal/sys/process"
	"github.com/stopgate/stopgate/internal/sys/statefile"
)

// Store keeps sessions, one file for each, below the state directory.
type Store struct{ dir string }

// NewStore keeps sessions below the state directory.
func NewStore(stateDir string) Store { return Store{filepath.Join(stateDir, "sessions")} }

const (
	// lockPatience is the longest wait for other hooks of the session, each of which holds
	// the lock for the milliseconds of a sync.
	lockPatience = 5 * time.Second
	// maxAge is how long a silent session can still be resumed as itself.
	maxAge = 30 * 24 * time.Hour
	// maxSession is far more than is known of a session with thousands of worktrees.
	maxSession = 32 << 20
)

// Load is what is known of a session; nil where nothing is. One that cannot be read is as
// good as none: then stops are judged that need not be.
func (s Store) Load(id string) *Session {
	if session := s.read(s.path(id)); session != nil && session.ID == id {
		return session
	}
	return nil
}

// Update has change change what is known of a session, and keeps that. One that is not
// known yet goes on from the one before of the same client, or begins anew. No other hook
// writes in between.
func (s Store) Update(id string, by Beginning, now time.Time, change func(*Session)) error {
	if id == "" {
		return errors.New("the session has no id")
	}
	read := func() (*Session, error) {
		if session := s.Load(id); session != nil {
			return session, nil
		}
		return s.begin(id, by, now), nil
	}
	lock := statefile.Lock{Path: s.path(id) + lockfile.Suffix, Patience: lockPatience, What: "the session"}
	return statefile.Update(context.Background(), s.path(id), lock, read, func(session **Session) error {
		(*session).RunBy(by.Caller)
		change(*session)
		return nil
	})
}

// begin is a session that is not known yet.
func (s Store) begin(id string, by Beginning, now time.Time) *Session {
	if before := s.before(by, now); before != nil {
		return before.successor(id)
	}
	return &Session{ID: id, Origin: id, Began: now.UTC(), Whole: by.Whole}
}

// Beginning is what a session is known by that has a new id.
type Beginning struct {
	Caller process.Identity // zero where the system does not tell
	GoesOn bool             // Claude Code says that it goes on from another, as after /clear
	Root   string           // the project that it stands in
	Whole  bool             // the agent has done nothing yet
}

// follows reports whether a session goes on from another: it has the same client, which has
// one conversation at a time. Where no client is known, its word and the project have to do.
func (b Beginning) follows(s *Session) bool {
	if b.Caller.PID > 0 {
		return slices.Contains(s.Callers, b.Caller)
	}
	return b.GoesOn && len(s.Callers) == 0 && b.Root != "" && slices.Contains(s.Roots, b.Root)
}

// Claimed are the projects of other sessions than those of an origin: of those that may be at work, or were heard of since a
// moment.
func (s Store) Claimed(origin string, since time.Time) (roots []string) {
	for _, entry := range s.entries() {
		session := s.read(filepath.Join(s.dir, entry.Name()))
		if session == nil || session.Origin == origin {
			continue
		}
		if info, err := entry.Info(); err == nil && isBefore(info.ModTime(), since) && !session.mayWork() {
			continue
		}
		roots = append(roots, session.Roots...)
	}
	return roots
}

// before is the latest session that one with a new id goes on from.
func (s Store) before(by Beginning, now time.Time) (latest *Session) {
	if by.Caller.PID == 0 && !by.GoesOn {
		return nil
	}
	var at time.Time
	for _, entry := range s.entries() {
		info, err := entry.Info()
		if err != nil || now.Sub(info.ModTime()) > maxAge || !info.ModTime().After(at) {
			continue
		}
		if session := s.read(filepath.Join(s.dir, entry.Name())); session != nil && by.follows(session) {
			latest, at = session, info.ModTime()
		}
	}
	return latest
}

// Prune forgets sessions that have been silent for a month.
func (s Store) Prune(now time.Time) { lockfile.Prune(s.dir, now.Add(-maxAge)) }

// entries are the sessions' files.
func (s Store) entries() (files []fs.DirEntry) {
	all, _ := os.ReadDir(s.dir) // without a directory there are none
	for _, entry := range all {
		if strings.HasSuffix(entry.Name(), ".json") {
			files = append(files, entry)
		}
	}
	return files
}

func (s Store) read(path string) *Session {
	session, err := statefile.Read[Session](path, maxSession)
	if err != nil {
		return nil
	}
	return &session
}

// path is the session's file. The id is Claude Code's, so it is hashed: nothing outside the
// directory is ever touched.
func (s Store) path(id string) string {
	return filepath.Join(s.dir, digest.Hex(id)[:24]+".json")
}
