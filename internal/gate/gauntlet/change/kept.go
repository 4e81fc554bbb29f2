package change

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/sys/git"
	"github.com/stopgate/stopgate/internal/sys/regular"
)

// Of the trees of a project, and of the rules in them, the last few are kept in any case, and as many more as fit into some room: every
// stop that passes keeps one, and a session may go back to what it found long before those of others. A tree of 5,000
// files takes half a megabyte.
const (
	leastKept = 8
	maxKept   = 256
	maxRoom   = 64 << 20
)

// headName is where the list of a tree keeps the commit that HEAD was. No file can have this name.
const headName = ".git"

// Baseline is a tree as a session has found it, or left it behind.
type Baseline struct {
	Session string // what tells it from others; empty: not known
	Tree    string // its Mark; empty: not known
}

// keptTree is a tree that was kept: its files and, of it and of the repositories within it, the commits that HEAD was, for
// the session or, where it did not say so, when the tree was first kept; and what the session knew.
type keptTree struct {
	files []entry
	heads map[string]string
	knowledge
}

// Keep keeps what a tree holds, so that Altered can tell later which of its files are not as they were. A session that
// has kept a tree before goes on from there: with the settings that it found, and with the files that it has altered, to
// which those are added that it has altered since then.
func (w *Worktree) Keep(ctx context.Context, t Tree, before Baseline, altered ...string) error {
	if err := w.keepFiles(ctx, t); err != nil {
		return err
	}
	return w.learn(ctx, t, before, altered)
}

// keepFiles keeps a tree for all sessions.
func (w *Worktree) keepFiles(ctx context.Context, t Tree) error {
	file := w.keptFile(t.Mark())
	if now := time.Now(); os.Chtimes(file, now, now) == nil {
		return nil // it is there, and in use
	}
	entries := make([]entry, 0, len(t.files)+1)
	for _, e := range t.files {
		e.stat = stat{mode: e.stat.mode}
		entries = append(entries, e)
	}
	for name, head := range w.heads(ctx, t.repositories) {
		entries = append(entries, headEntry(path.Join(name, headName), head))
	}
	slices.SortFunc(entries, func(a, b entry) int { return strings.Compare(a.path, b.path) })
	if err := storeIndex(file, entries); err != nil {
		return err
	}
	forget(w.keptDir())
	return nil
}

// in is a repository within the tree; without a name the tree's own.
func (w *Worktree) in(name string) git.Repo {
	if name == "" {
		return w.repo
	}
	return git.At(w.abs(name), w.environ)
}

// forget removes the files of a directory that were not used for longest.
func forget(dir string) {
	entries, _ := os.ReadDir(dir)
	var kept []os.FileInfo
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			kept = append(kept, info)
		}
	}
	slices.SortFunc(kept, func(a, b os.FileInfo) int { return b.ModTime().Compare(a.ModTime()) })
	room := int64(maxRoom)
	for i, one := range kept {
		if room -= one.Size(); i >= maxKept || i >= leastKept && room < 0 {
			_ = os.Remove(filepath.Join(dir, one.Name()))
		}
	}
}

func (w *Worktree) keptDir() string { return filepath.Join(filepath.Dir(w.indexFile), "trees") }

func (w *Worktree) keptFile(id string) string { return filepath.Join(w.keptDir(), id) }

// heads are the commits that HEAD is, in the tree and in the repositories within it.
func (w *Worktree) heads(ctx context.Context, repositories []string) map[string]string {
	heads := map[string]string{"": w.repo.Head(ctx)}
	for _, name := range repositories {
		heads[name] = w.in(name).Head(ctx)
	}
	return heads
}

func (w *Worktree) kept(b Baseline) (keptTree, error) {
	file, now := w.keptFile(b.Tree), time.Now()
	_ = os.Chtimes(file, now, now) // it is in use
	t := keptTree{heads: map[string]string{}, knowledge: w.knows(b)}
	data, err := regular.Read(file, maxIndex)
	if err == nil {
		t.files, err = decodeIndex(data)
	}
	if err != nil {
		return keptTree{}, errors.New("what the agent found is not recorded")
	}
	t.files = slices.DeleteFunc(t.files, t.takes)
	maps.Copy(t.heads, t.Heads)
	return t, nil
}

// takes notes the commit that an entry says, if it is not a file's.
func (t *keptTree) takes(e entry) bool {
	if e.path == headName {
		t.heads[""] = e.commit()
		return true
	}
	name, is := strings.CutSuffix(e.path, "/"+headName)
	if is {
		t.heads[name] = e.commit()
	}
	return is
}

// headEntry keeps a commit as a file is kept. Its id has 20 or 32 bytes.
func headEntry(name, commit string) entry {
	e := entry{path: name, stat: stat{mode: typeOther}}
	id, _ := hex.DecodeString(commit)
	e.stat.size = int64(copy(e.sum[:], id))
	return e
}

func (e *entry) commit() string {
	return hex.EncodeToString(e.sum[:min(e.stat.size, int64(len(e.sum)))])
}

// pair is a file as it was in one tree and is in another. One that does not exist has no path.
type pair struct{ was, is entry }

func (p pair) name() string { return cmp.Or(p.is.path, p.was.path) }

// differing lists the files in which two trees differ.
func differing(was, is []entry) (pairs []pair) {
	for len(was) > 0 || len(is) > 0 {
		switch order := compareFirst(was, is); {
		case order < 0:
			pairs, was = append(pairs, pair{was: was[0]}), was[1:]
		case order > 0:
			pairs, is = append(pairs, pair{is: is[0]}), is[1:]
		default:
			if was[0].sum != is[0].sum || was[0].stat.kind() != is[0].stat.kind() {
				pairs = append(pairs, pair{was[0], is[0]})
			}
			was, is = was[1:], is[1:]
		}
	}
	return pairs
}

// compareFirst says which of two lists has the next name; 0: both.
func compareFirst(a, b []entry) int {
	switch {
	case len(a) == 0:
		return 1
	case len(b) == 0:
		return -1
	}
	return strings.Compare(a[0].path, b[0].path)
}
