package supervisor

import (
	"errors"
	"io/fs"
	"os"
)

// Sessions lists the sessions that there is a state of.
func (d Dir) Sessions() (ids []string, err error) {
	entries, err := os.ReadDir(d.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, entry := range entries {
		if id, ok := cut(entry.Name(), statePrefix, stateSuffix); ok && CheckSession(id) == nil {
			ids = append(ids, id)
		}
	}
	return ids, err
}
