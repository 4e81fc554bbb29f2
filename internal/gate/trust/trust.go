// Package trust keeps what a person approved of a project's .gauntlet/
// directory: the hash of every file and a copy of the content. A cloned
// repository runs nothing before somebody looked at it, and an agent that edits
// its own gates changes nothing until somebody looked again.
package trust

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/stopgate/stopgate/internal/sys/digest"
	"github.com/stopgate/stopgate/internal/sys/lockfile"
	"github.com/stopgate/stopgate/internal/sys/paths"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// Store is the directory that holds the approvals, one folder for each project of a
// repository, which all its worktrees share.
type Store struct {
	dir      string
	patience time.Duration // with another process that changes approvals
	tree     string        // that approvals are about, slash-separated; "" is .gauntlet
}

// NewStore keeps approvals below the state directory.
func NewStore(stateDir string) Store {
	// A change takes milliseconds. Hooks wait for one too, before any deadline holds, so a process
	// that hangs in the middle of it must not hang them.
	return Store{dir: filepath.Join(stateDir, "trust"), patience: 3 * time.Second}
}

// Oddjobs are the approvals of the runbooks in .oj/runbooks. They are apart from those of
// .gauntlet: a project may have either, and what was approved of one says nothing about the
// other.
func (s Store) Oddjobs() Store {
	s.tree = paths.OddjobsDir + "/" + paths.RunbooksDir
	return s
}

// live is the directory of the project at root that approvals are about.
func (s Store) live(root string) string {
	return filepath.Join(root, filepath.FromSlash(cmp.Or(s.tree, paths.GauntletDir)))
}

// State says how a project's content stands to what was approved.
type State string

// The states.
const (
	Untrusted State = "untrusted" // never approved
	Approved  State = "approved"  // as it was approved
	Edited    State = "edited"    // approved before, different now
	Damaged   State = "damaged"   // approved before, but what was cannot be told any more
)

// Standing is a project's state, and where the content is that may run.
type Standing struct {
	State      State     `json:"state"`
	Root       string    `json:"root"`
	ID         string    `json:"id,omitempty"`  // of the content that was approved
	Dir        string    `json:"dir,omitempty"` // the content that may run; empty when untrusted
	Changed    []string  `json:"changed,omitempty"`
	Gone       bool      `json:"-"` // the configuration was approved, and is not there
	live       string    // the directory that it is about
	ApprovedAt time.Time `json:"approved_at,omitzero"`
	ApprovedIn string    `json:"-"` // the project's path in the worktree where that was
	// Content runs commands that see what was approved; nil when untrusted.
	Content *Content `json:"-"`
}

// Claims reports whether the project at root was ever approved. An approval that cannot be
// read counts as one.
func (s Store) Claims(root string) bool {
	_, _, err := s.load(root)
	return !errors.Is(err, fs.ErrNotExist)
}

// Gated reports whether a configuration of the project at root was approved, and not only
// runbooks: then its gates hold, whatever became of the file. An approval that cannot be
// read counts as one.
func (s Store) Gated(root string) bool {
	a, _, err := s.load(root)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	return Snapshot{files: a.Files}.Has(paths.ConfigFile)
}

// Roots lists the projects whose .gauntlet has an approval, by the path where it was given.
func (s Store) Roots() (roots []string) {
	folders, _ := os.ReadDir(s.dir) // without any there is none
	for _, folder := range folders {
		a, err := s.read(folder.Name())
		if err == nil && a.Tree == s.tree && !slices.Contains(roots, a.Root) {
			roots = append(roots, a.Root)
		}
	}
	return roots
}

// Standing compares the project's content with what was approved for its place in the
// repository, in whichever worktree that was.
func (s Store) Standing(root string) (Standing, error) {
	standing := Standing{State: Untrusted, Root: root, live: s.live(root)}
	a, key, err := s.load(root)
	if errors.Is(err, fs.ErrNotExist) {
		return standing, nil
	}
	if err != nil {
		standing.State = Damaged
		return standing, err
	}
	standing.ApprovedAt, standing.ApprovedIn = a.Time, a.Root
	standing.ID = a.Hash
	if standing.Dir, err = s.copyOf(key, a); err != nil {
		standing.State = Damaged
		return standing, fmt.Errorf("the approved copy of %s is damaged; approve it again with: stopgate trust: %w", root, err)
	}

	standing.State, standing.Content = Approved, s.content(root, a)
	live, err := readTree(standing.live)
	if err != nil {
		standing.State, standing.Changed = Edited, []string{plain.Line(err.Error())}
	} else if standing.Changed = changes(a.Files, live); len(standing.Changed) > 0 {
		standing.State = Edited
		standing.Gone = Snapshot{files: a.Files}.Has(paths.ConfigFile) && !Snapshot{files: live}.Has(paths.ConfigFile)
	}
	if left := standing.Content.left(); len(left) > 0 {
		standing.State, standing.Changed = Edited, append(standing.Changed, left...)
	}
	return standing, nil
}

// Snapshot is a project's content at one moment. What is shown of it is what is
// approved, whatever an agent writes meanwhile.
type Snapshot struct {
	root  string
	files []file
	real  string // see approval
}

// Take reads the content of the project at root.
func (s Store) Take(root string) (Snapshot, error) {
	files, err := readTree(s.live(root))
	if err != nil {
		return Snapshot{}, fmt.Errorf("approve %s: %w", s.live(root), err)
	}
	return Snapshot{root, files, linkedDir(root, s.live(root))}, nil
}

// ID names the content, as an approval of it would.
func (s Snapshot) ID() string { return hashTree(s.files) }

// Has reports whether there is a file, by its slash-separated path below the directory.
func (s Snapshot) Has(path string) bool {
	return slices.ContainsFunc(s.files, func(f file) bool { return f.Path == path })
}

// Copy writes the content into a folder.
func (s Snapshot) Copy(dir string) error { return writeFiles(dir, s.files, 0o600) }

// Approve approves the project's content as it stands.
func (s Store) Approve(root string, now time.Time) error {
	snapshot, err := s.Take(root)
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
	a := newApproval(root, live, now)
	a.Tree, a.Real = s.tree, snapshot.real
	for _, key := range s.keys(root) {
		if err := s.save(key, a); err != nil {
			return fmt.Errorf("keep a copy of %s: %w", root, err)
		}
		a.Second, a.For = true, key
	}
	return nil
}

// Revoke takes an approval back.
func (s Store) Revoke(root string) error {
	unlock, err := s.lock()
	if err != nil {
		return err
	}
	defer unlock()
	var failed []error
	for _, key := range s.keys(root) {
		failed = append(failed, s.remove(key))
	}
	return errors.Join(failed...)
}

// lock keeps changes apart. Each removes the copies that it does not name, so
// two at once could remove each other's.
func (s Store) lock() (unlock func(), err error) {
	unlock, err = lockfile.Acquire(context.Background(), filepath.Join(s.dir, "lock"), s.patience)
	if err != nil {
		return nil, fmt.Errorf("lock the approvals: %w", err)
	}
	return unlock, nil
}

// ProjectKey names a project in the state directory.
func ProjectKey(root string) string {
	return digest.Hex(paths.Canonical(root))[:32]
}

// RepositoryKey names what the worktrees of a repository have in common of a project: its
// place in the repository. Outside a repository, and beside the worktrees of a bare one, it is the ProjectKey.
func RepositoryKey(root string) string {
	common, within, found := paths.Repository(root)
	if !found || paths.BesideWorktrees(root) {
		return ProjectKey(root)
	}
	return repositoryKey(common, within)
}

func repositoryKey(common, within string) string {
	return digest.Hex("repository\x00" + common + "\x00" + within)[:32]
}
