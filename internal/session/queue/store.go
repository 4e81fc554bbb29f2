package queue

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/sys/atomicfile"
	"github.com/stopgate/stopgate/internal/sys/disk"
	"github.com/stopgate/stopgate/internal/sys/lockfile"
	"github.com/stopgate/stopgate/internal/sys/regular"
)

// Store keeps the queues of all sessions, a file each.
type Store struct{ dir string }

// NewStore keeps the queues below the state directory.
func NewStore(stateDir string) Store {
	return Store{filepath.Join(stateDir, "logs", "queues")}
}

const (
	// lockPatience is the longest wait for other hooks of the session, each of which
	// holds the lock for milliseconds.
	lockPatience = 5 * time.Second
	// maxSize bounds a queue's file. The results of its commands are in it.
	maxSize = 64 << 20
	// kept is how many older files of one name stay.
	kept = 9
)

var (
	// ErrNone says that the session has no queue.
	ErrNone = errors.New("this session has no queue")
	// ErrExists says that the session has a queue already.
	ErrExists = errors.New("this session already has a queue")
)

// CorruptError is a queue's file that could not be understood, and was set aside.
type CorruptError struct {
	Session string
	Path    string // where the file is now
	Err     error
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("the queue of session %s was damaged (%v) and is now %s", e.Session, e.Err, e.Path)
}

func (e *CorruptError) Unwrap() error { return e.Err }

// Path is the file of a session's queue.
func (s Store) Path(session string) string { return s.path(session, "") }

// DriverLock is the file whose lock belongs to whoever types into the session.
func (s Store) DriverLock(session string) string { return s.name(session) + ".driver.lock" }

// WatchLock is the file whose lock belongs to the process that watches over all queues.
func (s Store) WatchLock() string { return filepath.Join(s.dir, "watch"+lockfile.Suffix) }

// Exists reports whether a session has a queue. It costs next to nothing.
func (s Store) Exists(session string) bool { return disk.Exists(s.Path(session)) }

// Load reads a session's queue.
func (s Store) Load(session string) (Queue, error) { return load(s.Path(session)) }

// Create gives a session its queue. The one that it has must be gone.
func (s Store) Create(session string, q Queue) error {
	if err := q.check(); err != nil {
		return err
	}
	release, err := s.lock(session)
	if err != nil {
		return err
	}
	defer release()
	if s.Exists(session) {
		return ErrExists
	}
	return s.save(session, q, atomicfile.Write)
}

// Change applies something to a session's queue, while nobody else does. When that
// ends the queue, tell is called with the name that the file is about to get. Only
// when it has returned without an error does the file get that name: who dies in
// between leaves the rest to the next one. That is why it is no statefile.Change: the lock also covers
// what is told and the new name, once the queue is written.
func (s Store) Change(session string, apply func(Queue) Transition, tell func(o Transition, path string) error) (Transition, error) {
	release, err := s.lock(session)
	if err != nil {
		return Transition{}, err
	}
	defer release()

	q, err := s.Load(session)
	switch {
	case errors.Is(err, ErrNone):
		return Transition{}, err
	case errors.Is(err, errDamaged):
		return Transition{}, s.setAside(session, err)
	case err != nil:
		return Transition{}, err
	}

	o := apply(q)
	if o.Changed {
		// A machine that loses power loses the terminals too, and with them how far the queue
		// came. What is still to be typed stays: the file is never without its content.
		if err := s.save(session, o.Queue, atomicfile.Exchange); err != nil {
			return o, err
		}
	}

	ending, ended := o.Ended()
	if !ended {
		return o, nil
	}
	last := s.path(session, ending.Kind.suffix())
	if err := tell(o, last); err != nil {
		return o, err
	}
	return o, rotate(s.Path(session), last)
}

// suffix is the part of the file's name that tells how the queue ended.
func (k EndKind) suffix() string {
	if k == Complete {
		return "done"
	}
	return "stale"
}

// Listed is a queue among others.
type Listed struct {
	Session string
	Path    string
	Queue   Queue
	Err     error // it cannot be read
}

// Created is when the queue was made. The file of one that was written by hand does not say: then it is
// when that was changed.
func (l Listed) Created() time.Time {
	if l.Queue.Stopgate != nil && !l.Queue.Stopgate.CreatedAt.IsZero() {
		return l.Queue.Stopgate.CreatedAt.Time
	}
	info, err := os.Lstat(l.Path)
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// List gives the queues that are not at their end, by session.
func (s Store) List() ([]Listed, error) {
	entries, err := disk.List(s.dir)
	if err != nil {
		return nil, err
	}
	var all []Listed
	for _, entry := range entries {
		session, isQueue := sessionOf(entry.Name())
		if !isQueue {
			continue
		}
		path := filepath.Join(s.dir, entry.Name())
		q, err := load(path)
		if errors.Is(err, ErrNone) {
			continue // it has just come to its end
		}
		if q.Stopgate != nil && q.Stopgate.Session != "" {
			session = q.Stopgate.Session
		}
		all = append(all, Listed{Session: session, Path: path, Queue: q, Err: err})
	}
	return all, nil
}

// Sweep removes what is left of queues that ended more than a month ago, and of writers
// that were killed. Locks stay: one that is removed no longer locks.
func (s Store) Sweep(now time.Time) {
	disk.Prune(s.dir, now.Add(-30*24*time.Hour), func(name string) bool {
		_, living := sessionOf(name)
		return living || strings.HasSuffix(name, lockfile.Suffix)
	})
}

func (s Store) lock(session string) (release func(), err error) {
	return lockfile.Acquire(context.Background(), s.name(session)+".lock", lockPatience)
}

func (s Store) save(session string, q Queue, write func(string, []byte, os.FileMode) error) error {
	text, err := q.encode()
	if err != nil {
		return err
	}
	if len(text) > maxSize {
		return fmt.Errorf("the queue of session %s is too large: %d bytes", session, len(text))
	}
	return write(s.Path(session), text, 0o600)
}

// setAside gives a damaged file another name: the session goes on without it.
func (s Store) setAside(session string, why error) error {
	aside := s.path(session, "corrupt")
	if err := rotate(s.Path(session), aside); err != nil {
		return err
	}
	return &CorruptError{Session: session, Path: aside, Err: why}
}

// errDamaged says that a file is no queue.
var errDamaged = errors.New("invalid queue file")

func load(path string) (Queue, error) {
	text, err := regular.ReadNoFollow(path, maxSize)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Queue{}, ErrNone
	case errors.Is(err, regular.ErrNotRegular):
		return Queue{}, fmt.Errorf("%w: not a regular file", errDamaged)
	case errors.Is(err, regular.ErrTooLarge):
		return Queue{}, fmt.Errorf("%w: more than %d bytes", errDamaged, maxSize)
	case err != nil:
		return Queue{}, err
	}
	return Parse(text)
}

// check refuses what no queue of ours can be, and what a slip of a hand would make of
// one.
func (q *Queue) check() error {
	if len(q.Commands) == 0 {
		return errors.New("it has no commands")
	}
	if q.Status != "" && q.Status != Cancelled {
		return fmt.Errorf("unknown status %q", q.Status)
	}

	ids := make(map[int]bool, len(q.Commands))
	var open *Command // the first that is not at its end
	for i := range q.Commands {
		c := &q.Commands[i]
		if err := c.check(); err != nil {
			return err
		}
		if ids[c.ID] {
			return fmt.Errorf("two commands have the id %d", c.ID)
		}
		ids[c.ID] = true

		if open != nil && c.Status != Pending {
			return fmt.Errorf("command %d is %s before command %d is done", c.ID, c.Status, open.ID)
		}
		if open == nil && (c.Status == Active || c.Status == Pending) {
			open = c
		}
	}
	return nil
}

func (c *Command) check() error {
	if !slices.Contains([]Status{Pending, Active, Done, Failed}, c.Status) {
		return fmt.Errorf("command %d has unknown status %q", c.ID, c.Status)
	}
	if !slices.Contains([]DeliveryState{Waiting, Typing, Entered, Confirmed}, c.delivery().State) {
		return fmt.Errorf("the delivery of command %d has unknown state %q", c.ID, c.Stopgate.State)
	}
	if c.Awaits.Hook == "" {
		return fmt.Errorf("command %d does not name the hook that it awaits", c.ID)
	}
	return nil
}

// rotate gives a file a name that others had before it, which are kept under numbers.
func rotate(from, to string) error {
	base := strings.TrimSuffix(to, ".json")
	numbered := func(n int) string { return base + "." + strconv.Itoa(n) + ".json" }
	if disk.Exists(to) {
		for n := kept; n > 1; n-- {
			_ = os.Rename(numbered(n-1), numbered(n)) // an old one in the way costs another old one at most
		}
		if err := os.Rename(to, numbered(1)); err != nil {
			return err
		}
	}
	return os.Rename(from, to)
}

func (s Store) path(session, suffix string) string {
	if suffix != "" {
		suffix = "." + suffix
	}
	return s.name(session) + suffix + ".json"
}

func (s Store) name(session string) string {
	return filepath.Join(s.dir, prefix+fileName(session))
}

// HasKey reports whether a queue of the session delivers the message with this key.
func (s Store) HasKey(session, key string) bool {
	_, found := s.Find(session, key)
	return found
}

// Find is the queue of the session that delivers the message with this key: the one that
// it has, or one that is at its end and still there.
func (s Store) Find(session, key string) (Queue, bool) {
	suffixes := []string{"", "done", "stale"}
	for n := 1; n <= kept; n++ {
		suffixes = append(suffixes, "done."+strconv.Itoa(n), "stale."+strconv.Itoa(n))
	}
	for _, suffix := range suffixes {
		if q, err := load(s.path(session, suffix)); err == nil && q.Stopgate != nil && q.Stopgate.Key == key {
			return q, true
		}
	}
	return Queue{}, false
}
