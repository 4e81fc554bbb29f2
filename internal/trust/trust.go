// Package trust keeps what a person approved of a project's .gauntlet/
// directory: the hash of every file and a copy of the content. A cloned
// repository runs nothing before somebody looked at it, and an agent that edits
// its own gates changes nothing until somebody looked again.
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

	"github.com/gofrs/flock"

	"github.com/stopgate/stopgate/internal/atomicfile"
	"github.com/stopgate/stopgate/internal/paths"
)

// Store is the directory that holds the approvals, one folder per project.
type Store struct{ dir string }

// NewStore keeps approvals below the state directory.
func NewStore(stateDir string) Store { return Store{filepath.Join(stateDir, "trust")} }

// State says how a project's content stands to what was approved.
type State string

// The states.
const (
	Untrusted State = "untrusted" // never approved
	Approved  State = "approved"  // as it was approved
	Edited    State = "edited"    // approved before, different now
)

// Standing is a project's state, and where the content is that may run.
type Standing struct {
	State      State     `json:"state"`
	Root       string    `json:"root"`
	Dir        string    `json:"dir,omitempty"` // the content that may run; empty when untrusted
	Changed    []string  `json:"changed,omitempty"`
	ApprovedAt time.Time `json:"approved_at,omitzero"`
}

// approval is what is written down about a project. The copy of the content
// lies beside it, in a folder named after the hash.
type approval struct {
	Version int       `json:"v"`
	Root    string    `json:"root"`
	Hash    string    `json:"hash"`
	Time    time.Time `json:"approved_at"`
	Files   []file    `json:"files"`
}

const approvalFile = "approval.json"

// Claims reports whether the project at root was ever approved.
func (s Store) Claims(root string) bool {
	_, err := os.Stat(filepath.Join(s.folder(root), approvalFile))
	return err == nil
}

// Gated reports whether a configuration of the project at root was ever approved, and not
// only runbooks: then its gates hold, whatever became of the file. An approval that cannot
// be read counts as one.
func (s Store) Gated(root string) bool {
	if !s.Claims(root) {
		return false
	}
	a, err := s.load(root)
	return err != nil || Snapshot{files: a.Files}.Has(paths.ConfigFile)
}

// Standing compares the project's content with what was approved.
func (s Store) Standing(root string) (Standing, error) {
	for {
		standing, err := s.standing(root)
		if err == nil {
			return standing, nil
		}
		// Approvals that were given just now may have removed the copy that we
		// were reading. Then there is a newer one.
		if a, gone := s.load(root); gone != nil || s.copyDir(root, a.Hash) == standing.Dir {
			return standing, err
		}
	}
}

func (s Store) standing(root string) (Standing, error) {
	standing := Standing{State: Untrusted, Root: root}
	a, err := s.load(root)
	if errors.Is(err, fs.ErrNotExist) {
		return standing, nil
	}
	if err != nil {
		return standing, err
	}
	standing.ApprovedAt = a.Time
	standing.Dir = s.copyDir(root, a.Hash)
	copied, err := readTree(standing.Dir)
	if err != nil {
		return standing, err
	}
	if hashTree(copied) != a.Hash {
		return standing, fmt.Errorf("the approved copy of %s is damaged; approve it again with: stopgate trust", root)
	}
	standing.State = Approved
	live, err := readTree(filepath.Join(root, paths.GauntletDir))
	switch {
	case err != nil:
		standing.State, standing.Changed = Edited, []string{err.Error()}
	case hashTree(live) != a.Hash:
		standing.State, standing.Changed = Edited, changes(a.Files, live)
	}
	return standing, nil
}

// Snapshot is a project's content at one moment. What is shown of it is what is
// approved, whatever an agent writes meanwhile.
type Snapshot struct {
	root  string
	files []file
}

// Take reads the content of the project at root.
func Take(root string) (Snapshot, error) {
	files, err := readTree(filepath.Join(root, paths.GauntletDir))
	if err != nil {
		return Snapshot{}, fmt.Errorf("approve %s: %w", filepath.Join(root, paths.GauntletDir), err)
	}
	return Snapshot{root, files}, nil
}

// Has reports whether there is a file, by its slash-separated path below
// .gauntlet/.
func (s Snapshot) Has(path string) bool {
	return slices.ContainsFunc(s.files, func(f file) bool { return f.Path == path })
}

// Copy writes the content into a folder.
func (s Snapshot) Copy(dir string) error { return writeFiles(dir, s.files) }

// Approve approves the project's content as it stands.
func (s Store) Approve(root string, now time.Time) error {
	snapshot, err := Take(root)
	if err != nil {
		return err
	}
	return s.ApproveSnapshot(snapshot, now)
}

// ApproveSnapshot approves what was read before. An empty .gauntlet/ has nothing
// to approve: the approval is taken back.
func (s Store) ApproveSnapshot(snapshot Snapshot, now time.Time) error {
	root, live := snapshot.root, snapshot.files
	if len(live) == 0 {
		return s.Revoke(root)
	}
	unlock, err := s.lock()
	if err != nil {
		return err
	}
	defer unlock()
	before := "" // its copy stays: a hook may be running from it
	if old, err := s.load(root); err == nil {
		before = old.Hash
	}
	a := approval{Version: 1, Root: canonical(root), Hash: hashTree(live), Time: now.UTC(), Files: live}
	if err := s.store(root, a.Hash, live); err != nil {
		return fmt.Errorf("keep a copy of %s: %w", root, err)
	}
	text, err := json.MarshalIndent(a, "", "  ")
	if err != nil {
		return err
	}
	// The approval names the copy, so it is written last; a copy that no
	// approval names is rubbish for the next call to remove.
	if err := atomicfile.Write(filepath.Join(s.folder(root), approvalFile), append(text, '\n'), 0o600); err != nil {
		return err
	}
	return s.sweep(root, a.Hash, before)
}

// Revoke takes an approval back.
func (s Store) Revoke(root string) error {
	unlock, err := s.lock()
	if err != nil {
		return err
	}
	defer unlock()
	// First what names the copy: an approval without one would be damaged.
	if err := os.Remove(filepath.Join(s.folder(root), approvalFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.RemoveAll(s.folder(root))
}

// lock keeps changes apart. Each removes the copies that it does not name, so
// two at once could remove each other's.
func (s Store) lock() (unlock func() error, err error) {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return nil, err
	}
	lock := flock.New(filepath.Join(s.dir, "lock"), flock.SetPermissions(0o600))
	if err := lock.Lock(); err != nil {
		return nil, fmt.Errorf("lock the approvals: %w", err)
	}
	return lock.Close, nil
}

func (s Store) load(root string) (*approval, error) {
	path := filepath.Join(s.folder(root), approvalFile)
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var a approval
	if err := json.Unmarshal(text, &a); err != nil || a.Version != 1 || !isHash(a.Hash) {
		return nil, fmt.Errorf("%s is damaged or of another version; approve again with: stopgate trust", path)
	}
	return &a, nil
}

// store writes the copy under its hash. A sound copy that is there already
// stays, so that a hook reading it now is not disturbed.
func (s Store) store(root, hash string, files []file) error {
	target := s.copyDir(root, hash)
	if old, err := readTree(target); err == nil && hashTree(old) == hash {
		return nil
	}
	folder := s.folder(root)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	tmp, err := os.MkdirTemp(folder, ".copy-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	if err := writeFiles(tmp, files); err != nil {
		return err
	}
	if err := os.RemoveAll(target); err != nil {
		return err
	}
	return os.Rename(tmp, target)
}

func writeFiles(dir string, files []file) error {
	for _, f := range files {
		mode := os.FileMode(0o600)
		if f.Exec {
			mode = 0o700
		}
		if err := atomicfile.Write(filepath.Join(dir, filepath.FromSlash(f.Path)), f.data, mode); err != nil {
			return err
		}
	}
	return nil
}

// sweep removes all copies but those to keep, and what calls that were killed
// left.
func (s Store) sweep(root string, keep ...string) error {
	entries, err := os.ReadDir(s.folder(root))
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if entry.Name() != approvalFile && !slices.Contains(keep, entry.Name()) {
			if err := os.RemoveAll(filepath.Join(s.folder(root), entry.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s Store) folder(root string) string { return filepath.Join(s.dir, ProjectKey(root)) }

func (s Store) copyDir(root, hash string) string { return filepath.Join(s.folder(root), hash) }

// ProjectKey names a project in the state directory.
func ProjectKey(root string) string {
	sum := sha256.Sum256([]byte(canonical(root)))
	return hex.EncodeToString(sum[:16])
}

// canonical is the one path of a project, however it was reached.
func canonical(root string) string {
	if real, err := filepath.EvalSymlinks(root); err == nil {
		return real
	}
	return filepath.Clean(root)
}

func isHash(s string) bool {
	_, err := hex.DecodeString(s)
	return err == nil && len(s) == hex.EncodedLen(sha256.Size)
}
