package review

import (
	"context"
	"encoding/json"
	"path/filepath"
	"time"

	"github.com/stopgate/stopgate/internal/sys/atomicfile"
	"github.com/stopgate/stopgate/internal/sys/lockfile"
	"github.com/stopgate/stopgate/internal/sys/regular"
)

// coolDown is how long a reviewer that has used up its quota is left alone.
// Quotas come back after hours, and asking costs a start of the reviewer.
const coolDown = time.Hour

// quotas remembers, for all projects of a user, when a reviewer last said that
// its quota was used up. The file is replaced in one step, so a reader needs no
// lock and a killed writer leaves the old one.
type quotas struct{ dir string }

func (q quotas) path() string { return filepath.Join(q.dir, "reviewers.json") }

// until is when the reviewer may be asked again; the zero time if it may be now.
func (q quotas) until(adapter string, now time.Time) time.Time {
	return q.load(now)[adapter]
}

// load is every reviewer that is cooling down. What is damaged, and what claims
// to have happened in the future, counts as not there: asking once too often is
// the lesser harm.
func (q quotas) load(now time.Time) map[string]time.Time {
	var file map[string]any
	text, err := regular.Read(q.path(), 1<<20)
	if err != nil || json.Unmarshal(text, &file) != nil {
		return nil
	}
	cooling := map[string]time.Time{}
	for adapter, value := range file {
		stamp, _ := value.(string)
		used, err := time.Parse(time.RFC3339, stamp)
		if age := now.Sub(used); err == nil && age >= 0 && age < coolDown {
			cooling[adapter] = used.Add(coolDown)
		}
	}
	return cooling
}

// usedUp remembers that the reviewer has said so now.
func (q quotas) usedUp(adapter string, now time.Time) error {
	return q.update(now, func(file map[string]string) { file[adapter] = now.UTC().Format(time.RFC3339) })
}

// back forgets it: the reviewer has answered.
func (q quotas) back(adapter string, now time.Time) error {
	if q.until(adapter, now).IsZero() {
		return nil
	}
	return q.update(now, func(file map[string]string) { delete(file, adapter) })
}

func (q quotas) update(now time.Time, change func(file map[string]string)) error {
	unlock, err := lockfile.Acquire(context.Background(), filepath.Join(q.dir, "reviewers.lock"), lockPatience)
	if err != nil {
		return err
	}
	defer unlock()
	file := map[string]string{}
	for adapter, until := range q.load(now) {
		file[adapter] = until.Add(-coolDown).UTC().Format(time.RFC3339)
	}
	change(file)
	text, err := json.Marshal(file)
	if err != nil {
		return err
	}
	return atomicfile.Write(q.path(), append(text, '\n'), 0o600)
}

// lockPatience is the longest wait for other writers, each of which holds the
// lock for the milliseconds of a sync.
const lockPatience = 5 * time.Second
