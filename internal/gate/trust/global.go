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
