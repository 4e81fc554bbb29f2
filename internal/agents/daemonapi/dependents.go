package daemonapi

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/stopgate/stopgate/internal/sys/disk"
	"github.com/stopgate/stopgate/internal/sys/statefile"
)

// dependents is what a daemon leaves for those who ask while none runs: the projects in which nothing
// starts by itself then.
type dependents struct {
	Projects []string `json:"projects"`
}

// most is far above what any number of projects takes.
const mostDependents = 1 << 20

func dependentsPath(stateDir string) string { return filepath.Join(stateDir, "dependents.json") }

// NoteDependents leaves the roots of the projects that need a daemon.
func NoteDependents(stateDir string, roots []string) error {
	if known, err := Dependents(stateDir); err == nil && slices.Equal(known, roots) {
		return nil
	}
	if len(roots) == 0 {
		return disk.Remove(dependentsPath(stateDir))
	}
	return statefile.Write(dependentsPath(stateDir), dependents{roots})
}

// Dependents are the roots of the projects that need a daemon: they have schedules that are on, or
// workers.
func Dependents(stateDir string) ([]string, error) {
	known, err := statefile.Read[dependents](dependentsPath(stateDir), mostDependents)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return known.Projects, err
}
