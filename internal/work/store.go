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

	"github.com/stopgate/stopgate/internal/atomicfile"
	"github.com/stopgate/stopgate/internal/lockfile"
	"github.com/stopgate/stopgate/internal/process"
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
)

// Load is what is known of a session; nil where nothing is. One that cannot be read is as
// good as none: then stops are judged that need not be.
func (s Store) Load(id string) *Session {
	text, err := os.ReadFile(s.path(id))
	if err != nil {
		return nil
	}
	var session Session
	if json.Unmarshal(text, &session) != nil || session.ID != id {
		return nil
	}
	return &session
}

// Update has change change what is known of a session, and keeps that. One that is not
// known yet goes on from the one before of the same client, or begins anew. No other hook
// writes in between.
func (s Store) Update(id string, client process.Identity, now time.Time, change func(*Session)) error {
	if id == "" {
		return errors.New("a session without an id")
	}
	release, err := lockfile.Acquire(context.Background(), s.path(id)+".lock", lockPatience)
	if err != nil {
		return fmt.Errorf("lock the session: %w", err)
	}
	defer release()

	session := s.Load(id)
	if session == nil {
		session = s.begin(id, client, now)
	}
	session.RunBy(client)
	change(session)
	text, err := json.Marshal(session)
	if err != nil {
		return err
	}
	return atomicfile.Write(s.path(id), append(text, '\n'), 0o600)
}

// begin is a session of which nothing is known.
func (s Store) begin(id string, client process.Identity, now time.Time) *Session {
	if before := s.before(client, now); before != nil {
		return before.successor(id)
	}
	return &Session{ID: id, Origin: id, Began: now.UTC()}
}

// before is the latest session of the same client process, which a new id of that client
// goes on from: the client has one conversation at a time.
func (s Store) before(client process.Identity, now time.Time) (latest *Session) {
	if client.PID == 0 {
		return nil
	}
	var at time.Time
	for _, entry := range s.entries() {
		info, err := entry.Info()
		if err != nil || now.Sub(info.ModTime()) > maxAge || !info.ModTime().After(at) {
			continue
		}
		if session := s.read(entry.Name()); session != nil && slices.Contains(session.Clients, client) {
			latest, at = session, info.ModTime()
		}
	}
	return latest
}

// Prune forgets sessions that have been silent for a month.
func (s Store) Prune(now time.Time) {
	for _, entry := range s.entries() {
		if info, err := entry.Info(); err == nil && now.Sub(info.ModTime()) > maxAge {
			_ = os.Remove(filepath.Join(s.dir, entry.Name()))
			_ = os.Remove(filepath.Join(s.dir, entry.Name()+".lock"))
		}
	}
}

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

func (s Store) read(name string) *Session {
	text, err := os.ReadFile(filepath.Join(s.dir, name))
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
