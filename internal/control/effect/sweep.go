package effect

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/stopgate/stopgate/internal/agents/errand"
	"github.com/stopgate/stopgate/internal/control/engine"
)

// sweepAfter is how long the files of commands and agents stay that nobody needs any more.
const sweepAfter = 24 * time.Hour

// Sweep removes what is left on disk of commands and agents: of owners that are not known,
// and what is old and no owner needs. What still runs stays. The owner of an id is nil
// where there is none.
func (e Errands) Sweep(now time.Time, owner func(id string) *engine.Owner) error {
	var failed error
	for _, name := range e.names("errands", &failed) {
		failed = errors.Join(failed, e.sweepErrand(name, now, owner))
	}
	for _, name := range e.names("agents", &failed) {
		dir := filepath.Join(e.StateDir, "agents", name)
		_, err := os.Lstat(filepath.Join(e.StateDir, "errands", name))
		if errors.Is(err, fs.ErrNotExist) && older(dir, now) { // a young one is about to get one
			failed = errors.Join(failed, os.RemoveAll(dir))
		}
	}
	return failed
}

func (e Errands) names(kind string, failed *error) (names []string) {
	entries, err := os.ReadDir(filepath.Join(e.StateDir, kind))
	if !errors.Is(err, fs.ErrNotExist) {
		*failed = errors.Join(*failed, err)
	}
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}

func (e Errands) sweepErrand(name string, now time.Time, owner func(id string) *engine.Owner) error {
	dir := filepath.Join(e.StateDir, "errands", name)
	id, err := errand.Owner(dir)
	o := owner(id)
	unknown := err == nil && o == nil
	if !unknown && (!older(dir, now) || needs(o, name)) {
		return nil
	}
	removed, err := errand.Remove(dir)
	if err != nil || !removed {
		return err
	}
	return os.RemoveAll(filepath.Join(e.StateDir, "agents", name))
}

// older reports whether nothing was done in a directory for long: an errand's end is.
func older(dir string, now time.Time) bool {
	info, err := os.Lstat(dir)
	return err == nil && now.Sub(info.ModTime()) > sweepAfter
}

// needs reports whether an owner may still ask what became of something, by its key or
// the agent's id.
func needs(o *engine.Owner, name string) bool {
	if o == nil {
		return false
	}
	for _, e := range o.Effects {
		if e.Key == name || e.Target == name || e.Agent != nil && e.Agent.ID == name {
			return true
		}
	}
	return !o.Terminal() && (o.Shell != nil && o.Shell.Key == name || o.Agent != nil && o.Agent.ID == name)
}
