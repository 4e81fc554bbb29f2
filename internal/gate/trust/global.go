package trust

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/stopgate/stopgate/internal/project/config"
)

// LoadGlobal reads the user's configuration. Where there is none, or no home to look for it in,
// a person who approved something still wants that only approved content runs: deleting the
// file, or calling without HOME, must not be a way out.
func LoadGlobal(path, stateDir string) (*config.Global, error) {
	global, err := config.LoadGlobal(path)
	if !global.Exists && NewStore(stateDir).any() {
		global.Trust = config.TrustEnforce
	}
	return global, err
}

// EnforceUnlessDecided turns trust on, in the file too, unless a person has decided about it there. It is for
// hooks that no command of ours installed: they would run what is in every project that is opened. A file that
// cannot be written or is not valid does not keep it from being on for this call.
func EnforceUnlessDecided(global *config.Global, path string) {
	if global.Enforces() {
		return
	}
	if path == "" {
		global.Trust = config.TrustEnforce
		return
	}
	if changed, err := config.EnforceTrust(path); changed || err != nil {
		global.Trust = config.TrustEnforce
	}
}

// any reports whether anything is approved. What cannot be read counts; a file in the place
// of the state directory holds nothing.
func (s Store) any() bool {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR)
	}
	return slices.ContainsFunc(entries, func(entry os.DirEntry) bool {
		return s.has(entry.Name(), approvalFile) || s.has(entry.Name(), spareFile)
	})
}

// has reports whether there is a file in the folder of an approval. Not every folder is one: edited
// files that were put aside outlive the last approval.
func (s Store) has(key, name string) bool {
	_, err := os.Lstat(filepath.Join(s.folder(key), name))
	return !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR)
}
