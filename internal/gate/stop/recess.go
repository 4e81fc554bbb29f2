package stop

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/stopgate/stopgate/internal/gate/trust"
	"github.com/stopgate/stopgate/internal/sys/atomicfile"
	"github.com/stopgate/stopgate/internal/sys/regular"
)

// Recess is a time in which stopgate stands aside in one project.
type Recess struct {
	Root  string    `json:"root"`
	Since time.Time `json:"since"`
	Until time.Time `json:"until"`
	Why   string    `json:"why,omitempty"`
}

// Begin writes the recess down.
func (r Recess) Begin(stateDir string) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return atomicfile.Write(recessPath(stateDir, r.Root), append(text, '\n'), 0o600)
}

// EndRecess ends the recess that is on in the project, if there is one.
func EndRecess(stateDir, root string) error {
	if err := os.Remove(recessPath(stateDir, root)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
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
