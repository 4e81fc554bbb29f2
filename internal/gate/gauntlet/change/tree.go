package change

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"sync"
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

	files []entry
}

// Known is the id of an exact tree; empty for any other.
func (t Tree) Known() string {
	if !t.Exact {
		return ""
	}
	return t.ID
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
	names []string
	why   string // what may be missing in it
	err   error
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
	if s.unchanged(found.names) {
		return newTree(s.known, found.why), nil
	}
	files, fault, err := s.read(ctx, found.names)
	if err != nil {
		return Tree{}, err
	}
	if known, changed := s.learn(files); changed {
		w.known = known
		_ = storeIndex(w.indexFile, known) // a cache: without it we only read more
	}
	return newTree(files, cmp.Or(found.why, fault)), nil
}

func newTree(files []entry, why string) Tree {
	if why != "" && len(files) == 0 {
		return Tree{Why: why} // nothing is known of it
	}
	return Tree{ID: identity(files), Exact: why == "", Why: why, files: files}
}

// index is what the private index holds, read once.
func (w *Worktree) index() []entry {
	if !w.loaded {
		w.known, w.loaded = loadIndex(w.indexFile), true
	}
	return w.known
}

// list names every file of the repository that git does not ignore, or every
// file of the project where there is no repository.
func (w *Worktree) list(ctx context.Context, begun func()) listing {
	files, err := w.repo.FilesWhile(ctx, begun)
	switch {
	case w.noRepository(err):
		return w.walk(ctx)
	case ctx.Err() != nil:
		return listing{err: err}
	case err != nil:
		return listing{why: err.Error()}
	}
	w.hidden, w.listed = files.Hidden, true
	found := listing{why: files.Warning}
	found.names = slices.DeleteFunc(merge(files.Untracked, files.Tracked), func(name string) bool {
		nested := strings.HasSuffix(name, "/")
		if nested && found.why == "" {
			found.why = fmt.Sprintf("%q is a separate repository", name)
		}
		return nested || w.logs(name)
	})
	return found
}
