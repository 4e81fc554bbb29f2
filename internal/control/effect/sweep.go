package effect

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/agents/errand"
	"github.com/stopgate/stopgate/internal/control/engine"
	"github.com/stopgate/stopgate/internal/sys/disk"
)

// sweepAfter is how long the files of commands and agents stay when their owner has ended.
const sweepAfter = 24 * time.Hour

// Sweep removes what is left on disk of commands and agents: of owners that are not known,
// and what is old of owners that have ended. What still runs stays, and so does what is not
// ours. The owner of an id is nil where there is none.
func (e Errands) Sweep(now time.Time, owner func(id string) *engine.Owner) error {
	failed := errand.RemoveRest(filepath.Join(e.StateDir, "errands"))
	for _, name := range e.names("errands", &failed) {
		failed = errors.Join(failed, e.sweepErrand(name, now, owner))
	}
	for _, name := range e.names("agents", &failed) {
		dir := filepath.Join(e.StateDir, "agents", name)
		if !disk.Exists(filepath.Join(e.StateDir, "errands", name)) && older(dir, now) { // a young one is about to get one
			failed = errors.Join(failed, os.RemoveAll(dir))
		}
	}
	return failed
}

// names are the directories of a kind that can be ours: those with the name of an effect or an
// agent.
func (e Errands) names(kind string, failed *error) (names []string) {
	entries, err := disk.List(filepath.Join(e.StateDir, kind))
	*failed = errors.Join(*failed, err)
	for _, entry := range entries {
		if entry.IsDir() && strings.Trim(entry.Name(), "0123456789abcdef-") == "" && strings.Contains(entry.Name(), "-") {
			names = append(names, entry.Name())
		}
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

// Of are the names of the commands and agents of an owner that have files.
func (e Errands) Of(owner string) (names []string, err error) {
	for _, name := range e.names("errands", &err) {
		if id, unread := errand.Owner(filepath.Join(e.StateDir, "errands", name)); unread == nil && id == owner {
			names = append(names, name)
		}
	}
	return names, err
}

// older reports whether nothing was done in a directory for long: an errand's end is.
func older(dir string, now time.Time) bool {
	info, err := os.Lstat(dir)
	return err == nil && now.Sub(info.ModTime()) > sweepAfter
}

// needs reports whether an owner may still ask what became of something, by its key or
// the agent's id: one that has not ended may ask for anything.
func needs(o *engine.Owner, name string) bool {
	if o == nil {
		return false
	}
	for _, e := range o.Effects {
		if e.Key == name || e.Target == name || e.Agent != nil && e.Agent.ID == name {
			return true
		}
	}
	return !o.Terminal()
}

// Usage is what the files of an owner's commands and agents take.
type Usage struct {
	Files int
	Bytes int64
}

// Usage is what is on disk, by owner. Agents are those that owners are known to have had.
func (e Errands) Usage(agents map[string]string) (map[string]Usage, error) {
	all := map[string]Usage{}
	var failed error
	for _, kind := range []string{"errands", "agents"} {
		for _, name := range e.names(kind, &failed) {
			id, known := agents[name]
			if !known {
				id, _ = errand.Owner(filepath.Join(e.StateDir, "errands", name)) // without one it belongs to no owner
			}
			u := all[id]
			failed = errors.Join(failed, u.add(filepath.Join(e.StateDir, kind, name)))
			all[id] = u
		}
	}
	return all, failed
}

// add adds what a directory has. What goes meanwhile needs no counting.
func (u *Usage) add(dir string) error {
	err := filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err == nil && !entry.IsDir() {
			u.Files++
		}
		if err == nil {
			u.Bytes += disk.Used(info)
		}
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
