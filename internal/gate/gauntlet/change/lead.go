package change

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/stopgate/stopgate/internal/sys/paths"
)

// lead is a link, and the name of what it leads to, which is absolute outside of the project.
type lead struct{ link, to string }

// follow adds to a listing what its links lead to, and lists them. A link that ends nowhere, or at a folder, leads
// to nothing that could be read.
func (w *Worktree) follow(all *listing) (leads []lead) {
	dir, err := openFolder(w.root)
	if err != nil {
		return nil // nor can the files be read
	}
	defer dir.close()
	root := paths.Canonical(w.root)
	for _, name := range all.names {
		if s, err := dir.lstat(name); err != nil || !s.isA(typeLink) {
			continue
		}
		info, err := os.Stat(w.abs(name))
		if leadsNowhere(err) || err == nil && info.IsDir() {
			continue
		}
		end, err := filepath.EvalSymlinks(w.abs(name))
		if err != nil {
			all.why = cmp.Or(all.why, reason(name, err))
			continue
		}
		leads = append(leads, lead{name, nameBelow(root, end)})
	}

	for _, l := range leads {
		all.names = append(all.names, l.to)
	}
	slices.Sort(all.names)
	all.names = slices.Compact(all.names)
	return leads
}

// leadsNowhere reports whether that is why a link could not be followed. In a circle it does.
func leadsNowhere(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ELOOP)
}

// nameBelow is the name of a file below root; of any other file it is the path.
func nameBelow(root, path string) string {
	name, err := filepath.Rel(root, path)
	if err != nil || !filepath.IsLocal(name) {
		return filepath.ToSlash(path)
	}
	return filepath.ToSlash(name)
}

// followed is the tree with the content of what its links lead to under the name of the link, wherever
// that is: the same on any machine. names are those that the tree has by itself.
func (t Tree) followed(leads []lead, names []string) Tree {
	read := make(map[string]entry, len(t.files))
	for _, e := range t.files {
		read[e.path] = e
	}
	files := slices.DeleteFunc(slices.Clone(t.files), func(e entry) bool {
		_, own := slices.BinarySearch(names, e.path)
		return !own
	})
	for _, l := range leads {
		if e, found := read[l.to]; found {
			e.path = l.link + "/" // no file has such a name
			files = append(files, e)
		}
	}
	slices.SortFunc(files, func(a, b entry) int { return strings.Compare(a.path, b.path) })
	t.files, t.ID = files, identity(files)
	return t
}
