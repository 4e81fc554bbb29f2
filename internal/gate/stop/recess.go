package stop

import (
	"path/filepath"
	"time"

	"github.com/stopgate/stopgate/internal/gate/trust"
	"github.com/stopgate/stopgate/internal/sys/disk"
	"github.com/stopgate/stopgate/internal/sys/statefile"
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
	return statefile.Write(recessPath(stateDir, r.Root), r)
}

// EndRecess ends the recess that is on in the project, if there is one.
func EndRecess(stateDir, root string) error {
	return disk.Remove(recessPath(stateDir, root))
}

// InRecess is the recess that is on in the project now. A clock that stands
// before the recess began was set back: then the recess is over, for otherwise
// it might never end.
func InRecess(stateDir, root string, now time.Time) (Recess, bool) {
	r, err := statefile.Read[Recess](recessPath(stateDir, root), maxKept)
	if err != nil || now.Before(r.Since) || !now.Before(r.Until) {
		return Recess{}, false
	}
	return r, true
}

func recessPath(stateDir, root string) string {
	return filepath.Join(stateDir, "off", trust.ProjectKey(root)+".json")
}
