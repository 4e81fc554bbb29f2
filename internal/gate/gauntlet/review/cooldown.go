package review

import (
	"context"
	"path/filepath"
	"time"

	"github.com/stopgate/stopgate/internal/sys/statefile"
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
	file, _ := statefile.Read[map[string]any](q.path(), 1<<20)
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
	read := func() (map[string]string, error) {
		file := map[string]string{}
		for adapter, until := range q.load(now) {
			file[adapter] = until.Add(-coolDown).UTC().Format(time.RFC3339)
		}
		return file, nil
	}
	lock := statefile.Lock{Path: filepath.Join(q.dir, "reviewers.lock"), Patience: 5 * time.Second}
	return statefile.Update(context.Background(), q.path(), lock, read, func(file *map[string]string) error {
		change(*file)
		return nil
	})
}
