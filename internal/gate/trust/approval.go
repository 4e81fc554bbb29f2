package trust

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/stopgate/stopgate/internal/sys/atomicfile"
	"github.com/stopgate/stopgate/internal/sys/digest"
	"github.com/stopgate/stopgate/internal/sys/disk"
	"github.com/stopgate/stopgate/internal/sys/paths"
	"github.com/stopgate/stopgate/internal/sys/statefile"
)

// approval is what is written down about a project: names, hashes and content. The copy that
// lies beside it, in a folder named after the hash, can be made from it.
type approval struct {
	Version int       `json:"v"`
	Root    string    `json:"root"`
	Hash    string    `json:"hash"`
	Time    time.Time `json:"approved_at"`
	Files   []file    `json:"files"`
	// Real is the directory that .gauntlet led to where it was a link, relative to the project unless
	// it is outside: commands may name it.
	Real string `json:"real,omitempty"`
	// Tree is the directory that it is about, where that is not .gauntlet.
	Tree string `json:"tree,omitempty"`
	// Second means that this one stands in for the repository's, where that is damaged or
	// the repository is gone.
	Second bool `json:"second,omitempty"`
	// For is the repository's key that it stands in for.
	For string `json:"for,omitempty"`
}

const (
	approvalFile    = "approval.json"
	spareFile       = "spare.json" // the same once more, for when that is damaged or gone
	approvalVersion = 2
)

// maxApproval bounds what is read: an approval has the content of all its files, in base64.
const maxApproval = 2*maxBytes + maxFiles<<12

func newApproval(root string, files []file, now time.Time) *approval {
	return &approval{Version: approvalVersion, Root: paths.Canonical(root), Hash: hashTree(files), Time: now.UTC(), Files: files}
}

// keys name the folders of a project's approval, the one that counts first: its place in
// the repository, then its path. The second has the approval where there is no repository,
// or no longer one, and is there when the first is damaged.
func keys(root string) []string {
	shared, own := RepositoryKey(root), ProjectKey(root)
	if shared == own {
		return []string{own}
	}
	return []string{shared, own}
}

// keys are the project's in a store of its own for each directory that approvals are about.
func (s Store) keys(root string) []string {
	all := keys(root)
	for i, key := range all {
		if s.tree != "" {
			all[i] = digest.Hex(key + "\x00" + s.tree)[:len(key)]
		}
	}
	return all
}

// load finds the approval of a project, and the key that it lies under. Without any the
// error is fs.ErrNotExist; a damaged one is an error only if no other is there.
func (s Store) load(root string) (a *approval, key string, err error) {
	names := s.keys(root)
	first := names[0]
	if a, err = s.read(first); err == nil || len(names) == 1 {
		return a, first, err
	}
	second, other := s.read(names[1])
	revoked := other == nil && second.Second && second.For == first && errors.Is(err, fs.ErrNotExist)
	if other != nil || revoked { // else the repository is another one now, in the same place
		return nil, "", err
	}
	return second, names[1], nil
}

// read reads an approval, or its spare.
func (s Store) read(key string) (*approval, error) {
	a, err := s.readFile(key, approvalFile)
	if err == nil {
		return a, nil
	}
	if spare, other := s.readFile(key, spareFile); other == nil {
		return spare, nil
	}
	return nil, err
}

func (s Store) readFile(key, name string) (*approval, error) {
	path := filepath.Join(s.folder(key), name)
	a, err := statefile.Read[approval](path, maxApproval)
	switch {
	case err != nil && !statefile.IsDamaged(err):
		return nil, fmt.Errorf("%s: %w", name, err)
	case err != nil || !a.sound():
		return nil, fmt.Errorf("%s is damaged or from another version; approve again with: stopgate trust", path)
	}
	return &a, nil
}

// sound reports whether an approval is one that was written by us, whole.
func (a *approval) sound() bool {
	return a.Version == approvalVersion && isHash(a.Hash) && hashTree(a.Files) == a.Hash &&
		!slices.ContainsFunc(a.Files, func(f file) bool { return digest.Hex(f.Data) != f.Hash })
}

// save writes an approval and its copy. The approval names the copy, so it is written
// last; a copy that no approval names is rubbish for the next call to remove.
func (s Store) save(key string, a *approval) error {
	before := "" // its copy stays: a hook may be running from it
	if old, err := s.read(key); err == nil {
		before = old.Hash
	}
	if err := s.makeCopy(key, a); err != nil {
		return err
	}
	text, err := json.MarshalIndent(a, "", "  ")
	if err != nil {
		return err
	}
	for _, name := range []string{approvalFile, spareFile} {
		if err := atomicfile.Write(filepath.Join(s.folder(key), name), append(text, '\n'), 0o600); err != nil {
			return err
		}
	}
	return s.sweep(key, a.Hash, before)
}

// remove takes an approval away: first what names the copy, since an approval without one
// would look damaged.
func (s Store) remove(key string) error {
	for _, name := range []string{spareFile, approvalFile} {
		if err := disk.Remove(filepath.Join(s.folder(key), name)); err != nil {
			return err
		}
	}
	return os.RemoveAll(s.folder(key))
}

func (s Store) folder(key string) string { return filepath.Join(s.dir, key) }

func isHash(s string) bool {
	_, err := hex.DecodeString(s)
	return err == nil && len(s) == hex.EncodedLen(sha256.Size)
}
