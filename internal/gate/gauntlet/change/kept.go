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
	"runtime"
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

// headName is where the list of a tree keeps the commit that HEAD was, settingsName how git writes files, and ownPrefix
// is before the names of files that the session has altered. No file can have these names.
const (
	headName     = ".git"
	settingsName = ".git/settings"
	ownPrefix    = ".git/own/"
)

// Everything stands for all files, where it is not known which of them a session has altered.
const Everything = "."

// keptTree is a tree that was kept: its files and, of it and of the repositories within it, the commits that HEAD was,
// and how git writes files there; and the files that the session had altered until then. A tree that an older program
// kept says nothing about the last two.
type keptTree struct {
	files    []entry
	heads    map[string]string
	settings map[string]settings
	own      map[string]bool
}

// settings say how git writes files into a repository's work tree.
type settings struct{ user, own git.Settings }

// Keep keeps what a tree holds, so that Altered can tell later which of its files are not as they were. A session that
// has kept a tree before goes on from there: with the settings that it found, and with the files that it has altered, to
// which those are added that it has altered since then.
func (w *Worktree) Keep(ctx context.Context, t Tree, before string, altered ...string) error {
	file := w.keptFile(t.Mark())
	if now := time.Now(); before == t.Mark() && os.Chtimes(file, now, now) == nil {
		return nil // it is there, and in use
	}
	var was keptTree
	own := map[string]bool{}
	if before != "" {
		var err error
		if was, err = w.kept(before); err != nil {
			own[Everything] = true
		}
	}
	maps.Copy(own, was.own)
	for _, name := range altered {
		own[name] = true
	}
	there, err := w.kept(t.Mark())
	if err == nil && before == "" && own[Everything] && there.own[Everything] {
		return nil // the session is not known, and every stop comes here
	}
	settings := w.settings(ctx, t, was.settings)
	if err == nil && maps.Equal(there.settings, settings) && maps.Equal(there.own, own) {
		return nil
	}

	entries := make([]entry, 0, len(t.files)+2)
	for _, e := range t.files {
		e.stat = stat{mode: e.stat.mode}
		entries = append(entries, e)
	}
	for name, head := range w.heads(ctx, t.repositories) {
		entries = append(entries, headEntry(path.Join(name, headName), head))
	}
	for name, s := range settings {
		entries = append(entries, settingsEntry(path.Join(name, settingsName), s))
	}
	for name := range own {
		entries = append(entries, entry{path: ownPrefix + name, stat: stat{mode: typeOther}})
	}
	slices.SortFunc(entries, func(a, b entry) int { return strings.Compare(a.path, b.path) })
	if err := storeIndex(file, entries); err != nil {
		return err
	}
	forget(w.keptDir())
	return nil
}

// settings are those of a tree and the repositories within it, as far as git says them: those that are known, and the
// others as they are.
func (w *Worktree) settings(ctx context.Context, t Tree, known map[string]settings) map[string]settings {
	all := map[string]settings{}
	var unknown []string
	for _, name := range append([]string{""}, t.repositories...) {
		if s, is := known[name]; is {
			all[name] = s
		} else {
			unknown = append(unknown, name)
		}
	}

	found := make([]git.ConversionMark, len(unknown))
	errs := make([]error, len(unknown))
	spread(runtime.GOMAXPROCS(0), atOnce, len(unknown), 1, func(i int) { found[i], errs[i] = w.in(unknown[i]).ConversionMark(ctx) })
	for i, name := range unknown {
		if errs[i] == nil {
			all[name] = settings{found[i].User, found[i].Own}
		}
	}
	return all
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

func (w *Worktree) kept(id string) (keptTree, error) {
	now := time.Now()
	_ = os.Chtimes(w.keptFile(id), now, now) // it is in use
	t := keptTree{heads: map[string]string{}, settings: map[string]settings{}, own: map[string]bool{}}
	data, err := regular.Read(w.keptFile(id), maxIndex)
	if err == nil {
		t.files, err = decodeIndex(data)
	}
	if err != nil {
		return keptTree{}, errors.New("what the agent found is not recorded")
	}
	t.files = slices.DeleteFunc(t.files, t.takes)
	return t, nil
}

// takes notes what an entry says that is not a file's.
func (t *keptTree) takes(e entry) bool {
	if name, is := repositoryIn(e.path, headName); is {
		t.heads[name] = e.commit()
		return true
	}
	if name, is := repositoryIn(e.path, settingsName); is {
		t.settings[name] = e.settings()
		return true
	}
	name, is := strings.CutPrefix(e.path, ownPrefix)
	if is {
		t.own[name] = true
	}
	return is
}

// repositoryIn is the repository that an entry is about, where it is one of that name.
func repositoryIn(file, name string) (repository string, is bool) {
	if file == name {
		return "", true
	}
	return strings.CutSuffix(file, "/"+name)
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

// settingsEntry keeps settings likewise.
func settingsEntry(name string, s settings) entry {
	e := entry{path: name, stat: stat{mode: typeOther}}
	copy(e.sum[copy(e.sum[:], s.user[:]):], s.own[:])
	return e
}

func (e *entry) settings() (s settings) {
	copy(s.own[:], e.sum[copy(s.user[:], e.sum[:]):])
	return s
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
