package launch

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/stopgate/stopgate/internal/atomicfile"
	"github.com/stopgate/stopgate/internal/hook"
	"github.com/stopgate/stopgate/internal/process"
)

// IDVariable tells the hooks of a supervised client which launch they belong to.
const IDVariable = "STOPGATE_LAUNCH"

const (
	// launchPatience is the longest wait for other launches, each of which holds the
	// lock while it changes a settings file.
	launchPatience = 30 * time.Second
	launchLock     = "lock"
	// followPatience is that of a hook, for other hooks.
	followPatience = 5 * time.Second
	followLock     = "sessions.lock"
)

// Registry keeps, on disk, the supervised clients that we started and the session
// that each of them is in.
type Registry struct{ dir string }

// NewRegistry keeps the records below the state directory.
func NewRegistry(stateDir string) Registry { return Registry{filepath.Join(stateDir, "launches")} }

// record is one supervised launch.
type record struct {
	Client   process.Identity `json:"client"`
	Settings string           `json:"settings"` // the file with our entry, links resolved
	Since    time.Time        `json:"since"`
	claim
}

// Session is the session that a launched client is in; not known while it is in
// none that we know of.
func (r Registry) Session(id string) (session string, known bool) {
	rec, err := r.load(id)
	return rec.Session, err == nil && rec.Session != ""
}

// Nested reports whether the client that called this hook is not the launched one
// but was started inside it: an agent's own client inherits the launch's id. It is
// known on Linux only; what is not known is no.
func (r Registry) Nested(id string) bool {
	rec, err := r.load(id)
	return err == nil && nested(rec.Client.PID)
}

// Follow keeps the session of a launch current, by what its client's hooks see. An
// id that names no launch is an error that is fs.ErrNotExist.
func (r Registry) Follow(id string, e hook.Event, source, session string) error {
	rec, err := r.load(id)
	if err != nil || rec.claim.after(e, source, session) == rec.claim {
		return err // most calls change nothing, and wait for nobody
	}
	unlock, err := r.lock(followLock, followPatience)
	if err != nil {
		return err
	}
	defer unlock()
	if rec, err = r.load(id); err != nil {
		return err
	}
	next := rec.claim.after(e, source, session)
	if next == rec.claim {
		return nil
	}
	rec.claim = next
	return r.store(id, rec)
}

// supervises reports whether a supervised client with that settings file still
// lives.
func (r Registry) supervises(settings string) bool {
	return slices.ContainsFunc(r.sweep(), func(rec record) bool { return rec.Settings == settings })
}

// sweep removes the records of clients that are gone, and returns the others. The
// caller holds the launch lock.
func (r Registry) sweep() (living []record) {
	entries, _ := os.ReadDir(r.dir) // none: nobody was launched
	for _, entry := range entries {
		id, isRecord := strings.CutSuffix(entry.Name(), ".json")
		if !isRecord || validID(id) != nil {
			continue
		}
		rec, err := r.load(id)
		if err != nil || !rec.Client.Lives() {
			r.remove(id)
			continue
		}
		living = append(living, rec)
	}
	return living
}

func (r Registry) load(id string) (record, error) {
	if err := validID(id); err != nil {
		return record{}, err
	}
	text, err := os.ReadFile(r.path(id))
	if err != nil {
		return record{}, err
	}
	var rec record
	if err := json.Unmarshal(text, &rec); err != nil {
		return record{}, fmt.Errorf("%s: %w", r.path(id), err)
	}
	return rec, nil
}

// store does not wait for the disk: a machine that loses power loses the client
// too.
func (r Registry) store(id string, rec record) error {
	text, err := json.Marshal(rec)
	if err != nil {
		return err
	}
	return atomicfile.Replace(r.path(id), append(text, '\n'), 0o600)
}

func (r Registry) remove(id string) { _ = os.Remove(r.path(id)) } // the next launch tries again

func (r Registry) path(id string) string { return filepath.Join(r.dir, id+".json") }

// lock waits in the kernel, which wakes one after the other. Three hundred launches
// that ask again every millisecond leave no time to the one that has the lock: many
// of them gave up after 30 s, where all are done in 4 s so.
func (r Registry) lock(name string, patience time.Duration) (unlock func() error, err error) {
	if err := os.MkdirAll(r.dir, 0o700); err != nil {
		return nil, err
	}
	path := filepath.Join(r.dir, name)
	lock := flock.New(path, flock.SetPermissions(0o600))
	locked := make(chan error, 1)
	go func() { locked <- lock.Lock() }()
	select {
	case err = <-locked:
	case <-time.After(patience):
		err = fmt.Errorf("others held it for %s", patience) // the wait ends with this process
	}
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	return lock.Close, nil
}

// validID refuses what is no ULID. The id comes from the environment and becomes the
// name of a file.
func validID(id string) error {
	const digits, length = "0123456789ABCDEFGHJKMNPQRSTVWXYZ", 26
	if len(id) != length || strings.Trim(id, digits) != "" {
		return fmt.Errorf("%s is not the id of a launch", IDVariable)
	}
	return nil
}
