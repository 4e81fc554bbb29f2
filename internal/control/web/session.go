package web

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/control/nudge"
	"github.com/stopgate/stopgate/internal/sys/statefile"
)

const (
	// longestSession and idleSession are after how long a browser has to sign in again: since it did so,
	// and since it was here last.
	longestSession = 30 * 24 * time.Hour
	idleSession    = 7 * 24 * time.Hour
	// mostSessions are kept: those that were here last.
	mostSessions = 64
	// seenEvery is how often the file is written because a browser was here.
	seenEvery = time.Hour
)

// record is what the site leaves for its next life, in the state directory.
type record struct {
	// Loopback is the address on this machine, kept when it is off, so that it stays the same.
	Loopback string `json:"loopback,omitempty"`
	On       bool   `json:"on,omitempty"`
	// Remote is where it can be reached from other machines.
	Remote *remote `json:"remote,omitempty"`
	// Key signs the links of notifications. A new one makes all of them worthless.
	Key []byte `json:"key,omitempty"`
	// PushKey is what push services know us by, Subscribed the browsers that are told through them.
	PushKey    []byte       `json:"push_key,omitempty"`
	Subscribed []subscribed `json:"subscribed,omitempty"`
	Sessions   []session    `json:"sessions,omitempty"`
}

// remote is a listener for other machines, which has TLS.
type remote struct {
	Address string `json:"address"`
	Cert    string `json:"cert,omitempty"` // the paths of a person's own; else ours
	Key     string `json:"key,omitempty"`
}

// session is a browser that has signed in. Its cookie is not kept, only the cookie's hash.
type session struct {
	Hash    string    `json:"hash"`
	Door    string    `json:"door"` // it came in by: local or remote; it may not use the other one
	Created time.Time `json:"created"`
	Seen    time.Time `json:"seen"`
}

// expired reports whether a session has ended by itself. A clock that was set back ends none early, and one
// that was set forward lets none live longer than from now on.
func (s session) expired(now time.Time) bool {
	return now.Sub(s.Created) > longestSession || now.Sub(s.Seen) > idleSession || s.Created.Sub(now) > longestSession
}

// book keeps the record.
type book struct {
	path string
	now  func() time.Time

	mu   sync.Mutex
	rec  record
	live map[string]session // by hash
	gone nudge.Bell         // sessions were ended: streams look whether theirs is there
}

func openBook(stateDir string, now func() time.Time) (*book, error) {
	b := &book{path: daemonapi.PageFile(stateDir), now: now, live: map[string]session{}}
	rec, err := b.read()
	for _, s := range rec.Sessions {
		b.live[s.Hash] = s
	}
	b.rec = rec
	return b, err
}

// read reads the file. One that is damaged counts as none: then browsers sign in again.
func (b *book) read() (record, error) {
	rec, err := statefile.Read[record](b.path, daemonapi.MaxPageFile)
	if errors.Is(err, fs.ErrNotExist) || statefile.IsDamaged(err) {
		return record{}, nil
	}
	return rec, err
}

// change changes the record, on disk first.
func (b *book) change(ctx context.Context, change func(rec *record, live map[string]session)) error {
	b.mu.Lock()
	defer b.mu.Unlock()

	rec, live := b.rec, maps.Clone(b.live)
	change(&rec, live)

	now := b.now()
	maps.DeleteFunc(live, func(_ string, s session) bool { return s.expired(now) })
	rec.Sessions = slices.SortedFunc(maps.Values(live), func(a, b session) int { return b.Seen.Compare(a.Seen) })
	for _, s := range rec.Sessions[min(len(rec.Sessions), mostSessions):] {
		delete(live, s.Hash)
	}
	rec.Sessions = rec.Sessions[:min(len(rec.Sessions), mostSessions)]
	rec.Subscribed = slices.DeleteFunc(slices.Clone(rec.Subscribed), func(s subscribed) bool {
		_, still := live[s.Session]
		return !still
	})

	lock := statefile.Lock{Path: b.path + ".lock", Patience: 5 * time.Second, What: "the web page's sessions"}
	err := statefile.Update(ctx, b.path, lock, b.read, func(onDisk *record) error {
		*onDisk = rec // the daemon alone writes it
		return nil
	})
	if err == nil {
		b.rec, b.live = rec, live
	}
	return err
}

// enter makes a session, and returns its cookie.
func (b *book) enter(ctx context.Context, door string) (cookie string, err error) {
	cookie = secret()
	now := b.now()
	s := session{Hash: hash(cookie), Door: door, Created: now, Seen: now}
	return cookie, b.change(ctx, func(_ *record, live map[string]session) { live[s.Hash] = s })
}

// find reports whether a cookie is that of a session that came in by a door.
func (b *book) find(ctx context.Context, cookie, door string) bool {
	now := b.now()
	b.mu.Lock()
	s, known := b.live[hash(cookie)]
	known = known && s.Door == door && !s.expired(now)
	stale := known && now.Sub(s.Seen) > seenEvery
	b.mu.Unlock()
	if stale {
		_ = b.change(ctx, func(_ *record, live map[string]session) { // else with the next request
			if s, still := live[s.Hash]; still {
				s.Seen = now
				live[s.Hash] = s
			}
		})
	}
	return known
}

// leave ends one session.
func (b *book) leave(ctx context.Context, cookie string) error {
	err := b.change(ctx, func(_ *record, live map[string]session) { delete(live, hash(cookie)) })
	b.gone.Ring()
	return err
}

// leaveAll ends all sessions, and returns how many there were. It may change the record besides.
func (b *book) leaveAll(ctx context.Context, besides func(rec *record)) (ended int, err error) {
	err = b.change(ctx, func(rec *record, live map[string]session) {
		ended = len(live)
		clear(live)
		besides(rec)
	})
	b.gone.Ring()
	return ended, err
}

func (b *book) get() record {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.rec
}

// secret is 32 random bytes, for addresses and cookies.
func secret() string {
	var b [32]byte
	rand.Read(b[:]) // never fails
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// hash is what is kept of a secret. Comparing hashes tells nothing about secrets by its time.
func hash(text string) string {
	sum := sha256.Sum256([]byte("stopgate web\n" + text))
	return hex.EncodeToString(sum[:])
}

// csrfOf is the token that the forms of a session have, which no other page can know.
func csrfOf(cookie string) string {
	sum := sha256.Sum256([]byte("stopgate web form\n" + cookie))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}
