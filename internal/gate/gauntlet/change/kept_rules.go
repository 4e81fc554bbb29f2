package change

import (
	"encoding/json"
	"errors"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"

	"github.com/stopgate/stopgate/internal/sys/atomicfile"
	"github.com/stopgate/stopgate/internal/sys/digest"
	"github.com/stopgate/stopgate/internal/sys/paths"
	"github.com/stopgate/stopgate/internal/sys/regular"
)

// rules are the texts by which git ignored files at one moment: those of .gitignore files by their names in the
// tree, others by their paths.
type rules map[string]string

const (
	ignoreFile = ".gitignore"
	// maxRules is the size of the largest file of rules that is read.
	maxRules = 1 << 20
)

// KeepRules keeps the rules by which git ignores files of a tree, so that Aside can tell later which of them are new. They
// are known by the id.
func (w *Worktree) KeepRules(t Tree) (id string, err error) {
	found := rules{}
	for _, name := range slices.Concat(t.ignoreFiles(), w.unlistedRules(t)) {
		found[name] = textOf(w.abs(name))
	}
	for _, s := range w.sources(t) {
		found[sourceKey(s.file)] = textOf(s.file)
	}
	text, err := json.Marshal(found)
	if err != nil {
		return "", err
	}

	id = path.Join(filepath.Base(filepath.Dir(w.indexFile)), "rules", digest.Hex(text)[:32])
	file := w.rulesFile(id)
	if now := time.Now(); os.Chtimes(file, now, now) == nil {
		return id, nil // it is there, and in use
	}
	if err := atomicfile.Replace(file, text, 0o600); err != nil {
		return "", err
	}
	forget(filepath.Dir(file))
	return id, nil
}

// keptRules are those that a session found, and whether they are known.
func (w *Worktree) keptRules(id string) (found rules, known bool) {
	if id == "" || !filepath.IsLocal(id) {
		return nil, false
	}
	file, now := w.rulesFile(id), time.Now()
	_ = os.Chtimes(file, now, now) // it is in use
	text, err := regular.Read(file, maxIndex)
	return found, errors.Join(err, json.Unmarshal(text, &found)) == nil && found != nil
}

// rulesFile is where rules are kept. Those that another worktree keeps are found by the same id.
func (w *Worktree) rulesFile(id string) string {
	return filepath.Join(filepath.Dir(filepath.Dir(w.indexFile)), filepath.FromSlash(id))
}

// ignoreFiles are the .gitignore files of a tree. Git follows no link to one.
func (t Tree) ignoreFiles() (names []string) {
	for i := range t.files {
		if e := &t.files[i]; path.Base(e.path) == ignoreFile && e.stat.isA(typeRegular) {
			names = append(names, e.path)
		}
	}
	return names
}

// unlistedRules are the .gitignore files of folders in which the tree has files, that are not in the tree themselves: they
// ignore themselves. A cache that does has no files in the tree.
func (w *Worktree) unlistedRules(t Tree) (names []string) {
	dir, err := openFolder(w.root)
	if err != nil {
		return nil
	}
	defer dir.close()
	for folder := range t.folders() {
		name := path.Join(folder, ignoreFile)
		if s, err := dir.lstat(name); err == nil && s.isA(typeRegular) && !t.Has(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// folders are those that a tree's files are in, at any depth.
func (t Tree) folders() map[string]bool {
	all := map[string]bool{}
	for i := range t.files {
		for folder := path.Dir(t.files[i].path); !all[folder]; folder = path.Dir(folder) {
			all[folder] = true
		}
	}
	return all
}

// sources are the other files of rules for a tree and the repositories within it.
func (w *Worktree) sources(t Tree) []source {
	all := w.ruleFiles().sources
	for _, name := range t.repositories {
		for _, s := range w.rulesWithin(w.abs(name)).sources {
			s.in = name
			all = append(all, s)
		}
	}
	return all
}

// sourceKey names a file of rules outside of the tree. A link to it counts as itself: it may come to lead elsewhere.
func sourceKey(file string) string {
	return filepath.Join(paths.Canonical(filepath.Dir(file)), filepath.Base(file))
}

// textOf is the text of a file of rules; empty where git has none either.
func textOf(file string) string {
	text, err := regular.Read(file, maxRules)
	if err != nil {
		return ""
	}
	return string(text)
}
