package stop

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/stopgate/stopgate/internal/atomicfile"
	"github.com/stopgate/stopgate/internal/regular"
	"github.com/stopgate/stopgate/internal/trust"
)

// Recess is a time in which stopgate stands aside in one project.
type Recess struct {
	Root  string    `json:"root"`
	Since time.Time `json:"since"`
	Until time.Time `json:"until"`
	Why   string    `json:"why,omitempty"`
}

// Begin writes the recess down. One that is over already ends the present one.
func (r Recess) Begin(stateDir string) error {
	path := recessPath(stateDir, r.Root)
	if !r.Until.After(r.Since) {
		if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return atomicfile.Write(path, append(text, '\n'), 0o600)
}

// InRecess is the recess that is on in the project now. A clock that stands
// before the recess began was set back: then the recess is over, for otherwise
// it might never end.
func InRecess(stateDir, root string, now time.Time) (Recess, bool) {
	text, err := regular.Read(recessPath(stateDir, root), maxKept)
	if err != nil {
		return Recess{}, false
	}
	var r Recess
	if json.Unmarshal(text, &r) != nil || now.Before(r.Since) || !now.Before(r.Until) {
		return Recess{}, false
	}
	return r, true
}

func recessPath(stateDir, root string) string {
	return filepath.Join(stateDir, "off", trust.ProjectKey(root)+".json")
}
