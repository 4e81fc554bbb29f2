package work

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/sys/atomicfile"
	"github.com/stopgate/stopgate/internal/sys/lockfile"
	"github.com/stopgate/stopgate/internal/sys/process"
	"github.com/stopgate/stopgate/internal/sys/regular"
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
	session := s.read(s.path(id))
	if session == nil || session.ID != id {
		return nil
	}
	return session
}

// Update has change change what is known of a session, and keeps that. One that is not
// known yet goes on from the one before of the same client, or begins anew. No other hook
// writes in between.
func (s Store) Update(id string, by Beginning, now time.Time, change func(*Session)) error {
	if id == "" {
		return errors.New("a session without an id")
	}
	release, err := lockfile.Acquire(context.Background(), s.path(id)+lockfile.Suffix, lockPatience)
	if err != nil {
		return fmt.Errorf("lock the session: %w", err)
	}
	defer release()

	session := s.Load(id)
	if session == nil {
		session = s.begin(id, by, now)
	}
	session.RunBy(by.Client)
	change(session)
	text, err := json.Marshal(session)
	if err != nil {
		return err
	}
	return atomicfile.Write(s.path(id), append(text, '\n'), 0o600)
}

// begin is a session that is not known yet.
func (s Store) begin(id string, by Beginning, now time.Time) *Session {
	if before := s.before(by, now); before != nil {
		return before.successor(id)
	}
	return &Session{ID: id, Origin: id, Began: now.UTC()}
}

// Beginning is what a session is known by that has a new id.
type Beginning struct {
	Client process.Identity // zero where the system does not tell
	GoesOn bool             // the client says that it goes on from another, as after /clear
	Root   string           // the project that it stands in
}

// follows reports whether a session goes on from another: it has the same client, which has
// one conversation at a time. Where no client is known, its word and the project have to do.
func (b Beginning) follows(s *Session) bool {
	if b.Client.PID > 0 {
		return slices.Contains(s.Clients, b.Client)
	}
	return b.GoesOn && len(s.Clients) == 0 && b.Root != "" && slices.Contains(s.Roots, b.Root)
}

// Roots are the projects in which other sessions than those of an origin have worked.
func (s Store) Roots(origin string) (roots []string) {
	for _, entry := range s.entries() {
		if session := s.read(filepath.Join(s.dir, entry.Name())); session != nil && session.Origin != origin {
			roots = append(roots, session.Roots...)
		}
	}
	return roots
}

// before is the latest session that one with a new id goes on from.
func (s Store) before(by Beginning, now time.Time) (latest *Session) {
	if by.Client.PID == 0 && !by.GoesOn {
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

func (Store) read(path string) *Session {
	text, err := regular.Read(path, maxSession)
	var session Session
	if err != nil || json.Unmarshal(text, &session) != nil {
		return nil
	}
	return &session
}

// path is the session's file. The id is the client's, so it is hashed: nothing outside the
// directory is ever touched.
func (s Store) path(id string) string {
	sum := sha256.Sum256([]byte(id))
	return filepath.Join(s.dir, hex.EncodeToString(sum[:12])+".json")
}
