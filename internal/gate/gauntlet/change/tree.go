package change

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/stopgate/stopgate/internal/sys/git"
	"github.com/stopgate/stopgate/internal/sys/paths"
)

// Tree is the content of the working tree at one moment: the names, bytes,
// executable bits and link targets of all files that git does not ignore,
// whether or not they are staged or committed. Two trees with the same id are
// the same, if both are Exact.
type Tree struct {
	ID string // empty where nothing is known of the tree
	// Exact means that nothing in the tree was left out. Only then does the id
	// prove anything.
	Exact bool
	Why   string // the first reason why it is not

	files        []entry
	repositories []string // folders within the tree that are repositories; their files are among its own
	blind        bool     // there is more than files say
	holding      holding
}

// holding is what git lists of the project: a repository around it may ignore all of it, see errIgnored.
type holding int

const (
	unlisted holding = iota // git listed nothing at all
	something
	nothing
)

// Known is the id of an exact tree; empty for any other.
func (t Tree) Known() string {
	if !t.Exact {
		return ""
	}
	return t.ID
}

// Mark tells the tree from others that an agent may leave. Unlike Known it is there where some of the tree cannot be
// read, as the folder of a database that runs as another user: then it has the stat of that. It proves nothing. It is
// empty where not even the names are known.
func (t Tree) Mark() string {
	switch {
	case t.Exact:
		return t.ID
	case t.ID == "" || t.blind:
		return ""
	}
	return "~" + t.ID
}

// Has reports whether the tree holds a file of the project.
func (t Tree) Has(name string) bool {
	_, found := slices.BinarySearchFunc(t.files, name, func(e entry, name string) int { return strings.Compare(e.path, name) })
	return found
}

// Tree looks at the working tree of the whole repository. What was written
// before the call is seen. An error means that ctx ended or the root is gone; all
// else that goes wrong makes the tree inexact.
func (w *Worktree) Tree(ctx context.Context) (Tree, error) {
	return w.snapshot(ctx, true, w.list)
}

// identity is a hash of files with their content.
func identity(files []entry) string {
	h := sha256.New()
	buf := make([]byte, 0, 64<<10)
	for i := range files {
		f := &files[i]
		buf = append(buf, f.path...)
		buf = append(buf, 0, f.stat.kind())
		buf = append(buf, f.sum[:]...)
		if len(buf) > cap(buf)-8<<10 {
			h.Write(buf)
			buf = buf[:0]
		}
	}
	h.Write(buf)
	return hex.EncodeToString(h.Sum(nil))
}

// kind is what counts of a file beside its name and content.
func (s stat) kind() byte {
	switch {
	case s.isA(typeLink):
		return 'l'
	case s.mode&0o111 != 0:
		return 'x'
	}
	return 'f'
}

// listing is a list of files, sorted and each once.
type listing struct {
	names  []string
	nested []string // folders that git does not look into
	why    string   // what may be missing in it
	unread []string // folders that are missing in it
	blind  bool     // more than those is missing
	of     holding
	err    error
}

// snapshot reads the files that list names. If ahead is set, what is known is
// looked up while list is at work; it must be about the same files.
func (w *Worktree) snapshot(ctx context.Context, ahead bool, list func(ctx context.Context, begun func()) listing) (Tree, error) {
	w.mu.Lock()
	defer w.mu.Unlock()

	dir, err := openFolder(w.root)
	if err != nil {
		return Tree{}, err
	}
	defer dir.close()
	s := &snapshot{dir: dir, at: w.now()}

	listed := make(chan listing, 1)
	begun := make(chan struct{})
	begin := sync.OnceFunc(func() { close(begun) })
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer begin()
		defer func() {
			if r := recover(); r != nil {
				listed <- listing{err: fmt.Errorf("list the working tree: %v", r)}
			}
		}()
		listed <- list(ctx, begin)
	}()

	s.known = w.index()
	if ahead {
		<-begun // git takes longest, and would have to fight for a core to get started
		s.lookUp(ctx, ended)
	}

	found := <-listed
	if found.err != nil {
		return Tree{}, found.err
	}
	var repositories []string
	if ahead {
		if found, repositories = w.unfold(ctx, s, found); found.err != nil {
			return Tree{}, found.err
		}
	}

	odd := s.unread(found.unread)
	if s.unchanged(found.names) {
		return newTree(with(s.known, odd), found, repositories), nil
	}
	files, faults, err := s.read(ctx, found.names)
	if err != nil {
		return Tree{}, err
	}
	for _, fault := range faults {
		found.why = cmp.Or(found.why, reason(fault.name, fault.err))
		found.blind = found.blind || errors.Is(fault.err, errMoving)
		odd = append(odd, s.unread([]string{fault.name})...)
	}

	if known, changed := s.learn(files); changed {
		w.known = known
		_ = storeIndex(w.indexFile, known) // a cache: without it we only read more
	}
	return newTree(with(files, odd), found, repositories), nil
}

func newTree(files []entry, found listing, repositories []string) Tree {
	if found.why != "" && len(files) == 0 {
		return Tree{Why: found.why, holding: found.of} // nothing is known of it
	}
	return Tree{
		ID: identity(files), Exact: found.why == "", Why: found.why,
		files: files, repositories: repositories, blind: found.blind, holding: found.of,
	}
}

// unread stands for what cannot be read: its stat tells most changes of it.
func (s *snapshot) unread(names []string) (odd []entry) {
	for _, name := range names {
		now, err := s.dir.lstat(name)
		odd = append(odd, entry{path: name, stat: now, sum: sha256.Sum256(fmt.Append(nil, now, err))})
	}
	return odd
}

// with adds entries to sorted ones, which stay as they are.
func with(files, odd []entry) []entry {
	if len(odd) == 0 {
		return files
	}
	all := slices.Concat(files, odd)
	slices.SortFunc(all, func(a, b entry) int { return strings.Compare(a.path, b.path) })
	return slices.CompactFunc(all, func(a, b entry) bool { return a.path == b.path })
}

// index is what the private index holds, read once.
func (w *Worktree) index() []entry {
	if !w.loaded {
		w.known, w.loaded = loadIndex(w.indexFile), true
	}
	return w.known
}

// list names every file of the repository that git does not ignore, or every
// file of the project where there is no repository, or one that has nothing of it.
func (w *Worktree) list(ctx context.Context, begun func()) listing {
	files, err := w.repo.FilesWhile(ctx, begun)
	switch {
	case w.noRepository(err):
		return w.walk(ctx)
	case ctx.Err() != nil:
		return listing{err: err}
	case err != nil:
		return listing{why: err.Error(), blind: true}
	}
	w.hidden, w.listed = files.Hidden, true
	up := w.up()
	if up != "" && !files.HasBelow() {
		found := w.walk(ctx) // see errIgnored
		found.of = nothing
		return found
	}
	files.Untracked = w.withoutWorktrees(files.Untracked)
	found := w.listing(files, "", up)
	found.of = something
	return found
}

// up is the way from the root to the top of the work tree: "", "../", …
func (w *Worktree) up() string {
	top, _ := paths.GitRoot(w.root)
	rel, err := filepath.Rel(w.root, top)
	if err != nil || rel == "." {
		return ""
	}
	return filepath.ToSlash(rel) + "/"
}

// listing is a list of git's for the folder that the prefix names. It names folders that git cannot read from the top
// that up leads to.
func (w *Worktree) listing(files git.Listing, prefix, up string) listing {
	found := listing{why: files.Warning, blind: files.Blind}
	for _, folder := range files.Unread {
		found.unread = append(found.unread, prefix+up+folder)
	}
	names := merge(files.Untracked, files.Tracked)
	if prefix != "" {
		for i := range names {
			names[i] = prefix + names[i]
		}
	}
	found.names = slices.DeleteFunc(names, func(name string) bool {
		folder, nested := strings.CutSuffix(name, "/")
		if nested && !w.logs(folder) {
			found.nested = append(found.nested, folder)
		}
		return nested || w.logs(name)
	})
	return found
}
