package launch

import (
	"path/filepath"
	"slices"

	"github.com/stopgate/stopgate/internal/harness/settings"
	"github.com/stopgate/stopgate/internal/sys/statefile"
)

// Touched lists the settings files in which launches have left something: the user's own, if
// our supervisor is in it, and those with a provider's settings.
func Touched(stateDir, user string) (paths []string) {
	for _, f := range settings.Inspect("") {
		if f.Path == user && slices.ContainsFunc(f.Supervisor, settings.Entry.Living) {
			paths = append(paths, user)
		}
	}
	memories, _ := filepath.Glob(filepath.Join(NewRegistry(stateDir).dir, "settings-*.json"))
	for _, file := range memories {
		m, err := statefile.Read[memory](file, maxRecord)
		if err == nil && len(m.Put) > 0 && !slices.Contains(paths, m.Path) {
			paths = append(paths, m.Path)
		}
	}
	return paths
}

// Withdraw takes out of a settings file what launches put there.
func Withdraw(stateDir, path string) error {
	r := NewRegistry(stateDir)
	unlock, err := r.lock(launchLock, launchPatience)
	if err != nil {
		return err
	}
	defer unlock()
	m, err := r.memoryOf(path)
	if err != nil {
		return err
	}
	put, _, err := settings.Apply(path, settings.Change{Remove: true, Living: true, Was: m.Put})
	if err != nil {
		return err
	}
	return m.store(put)
}
