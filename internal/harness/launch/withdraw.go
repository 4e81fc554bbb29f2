package launch

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

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
	dir := NewRegistry(stateDir).dir
	entries, _ := os.ReadDir(dir) // a missing directory means that there were no launches
	for _, entry := range entries {
		if !strings.HasPrefix(entry.Name(), memoryPrefix) || filepath.Ext(entry.Name()) != ".json" {
			continue
		}
		m, err := statefile.Read[memory](filepath.Join(dir, entry.Name()), maxRecord)
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
