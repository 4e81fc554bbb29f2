package launch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/harness/hook"
	"github.com/stopgate/stopgate/internal/sys/atomicfile"
	"github.com/stopgate/stopgate/internal/sys/lockfile"
	"github.com/stopgate/stopgate/internal/sys/process"
	"github.com/stopgate/stopgate/internal/sys/statefile"
)

// IDVariable tells the hooks of a supervised client which launch they belong to.
const IDVariable = "STOPGATE_LAUNCH"

const (
	// launchPatience is the longest wait for other launches: each holds the lock while it
	// changes a settings file, and a hundred at once were seen to take more than 30 s on a
	// busy machine. The lock of one that was killed is free at once.
	launchPatience = 2 * time.Minute
	launchLock     = "lock"
	// followPatience is that of a hook, for other hooks.
	followPatience = 5 * time.Second
	followLock     = "sessions.lock"
	// maxRecord is far more than any file of a launch has.
	maxRecord = 1 << 20
)

// Registry keeps, on disk, the supervised clients that we started and the session
// that each of them is in.
type Registry struct{ dir string }

// NewRegistry keeps the records below the state directory.
func NewRegistry(stateDir string) Registry { return Registry{filepath.Join(stateDir, "launches")} }

// record is one supervised launch.
type record struct {
	Claude   process.Identity `json:"client"`
	Host     string           `json:"host,omitempty"`
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

// Nested reports whether the Claude Code that called this hook is not the launched one
// but was started inside it: an agent's own client inherits the launch's id. It is
// known on Linux only; what is not known is no.
func (r Registry) Nested(id string) bool {
	rec, err := r.load(id)
	return err == nil && process.NestedCaller(rec.Claude.PID)
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

// tidy sweeps in one launch of many: a record that nobody asks for does no harm.
// The caller holds the launch lock.
func (r Registry) tidy() {
	const many = 32
	if rand.N(many) == 0 {
		r.sweep()
	}
}

// sweep removes the records of clients that are gone, and returns the others. The
// caller holds the launch lock.
func (r Registry) sweep() (living []record) {
	entries, _ := os.ReadDir(r.dir) // a missing directory means that there were no launches
	for _, entry := range entries {
		id, isRecord := strings.CutSuffix(entry.Name(), ".json")
		if !isRecord || validID(id) != nil {
			continue
		}
		rec, err := r.load(id)
		switch {
		case err == nil && rec.lives():
			living = append(living, rec)
		case err == nil || errors.Is(err, errRecord):
			r.remove(id)
		}
	}
	return living
}

// abroad is how long a client on another machine is taken to live, where the home is
// shared: nobody here can look.
const abroad = 7 * 24 * time.Hour

func (rec record) lives() bool {
	if rec.Host != "" && rec.Host != hostname() {
		return time.Since(rec.Since) < abroad
	}
	return rec.Claude.Lives()
}

func hostname() string {
	name, _ := os.Hostname() // "" is the same everywhere
	return name
}

// errRecord says that a file is no record.
var errRecord = errors.New("not the record of a launch")

func (r Registry) load(id string) (record, error) {
	if err := validID(id); err != nil {
		return record{}, err
	}
	rec, err := statefile.Read[record](r.path(id), maxRecord)
	if statefile.IsDamaged(err) {
		err = fmt.Errorf("%s: %w: %w", r.path(id), errRecord, err)
	}
	return rec, err
}

// create stores a new record. Nobody asks for it before Claude Code runs, and one that
// is half written when we are killed is swept.
func (r Registry) create(id string, rec record) error {
	err := os.WriteFile(r.path(id), rec.text(), 0o600)
	if err != nil {
		r.remove(id)
	}
	return err
}

// store does not wait for the disk: a machine that loses power loses Claude Code
// too.
func (r Registry) store(id string, rec record) error {
	return atomicfile.Replace(r.path(id), rec.text(), 0o600)
}

// text is the record as load reads it. It is written out: what encoding/json would
// have to find out about the types takes longer than the file.
func (rec record) text() []byte {
	return fmt.Appendf(nil, `{"client":{"pid":%d,"start":%s,"boot":%s},"host":%s,"settings":%s,"since":%s,"session":%s,"confirmed":%t}`+"\n",
		rec.Claude.PID, quoted(rec.Claude.Start), quoted(rec.Claude.Boot), quoted(rec.Host), quoted(rec.Settings),
		quoted(rec.Since.Format(time.RFC3339Nano)), quoted(rec.Session), rec.Confirmed)
}

func quoted(text string) []byte {
	literal, _ := json.Marshal(text) // a string always encodes
	return literal
}

func (r Registry) remove(id string) { _ = os.Remove(r.path(id)) } // the next launch tries again

func (r Registry) path(id string) string { return filepath.Join(r.dir, id+".json") }

func (r Registry) lock(name string, patience time.Duration) (unlock func(), err error) {
	return lockfile.Acquire(context.Background(), filepath.Join(r.dir, name), patience)
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
