package protect

import (
	"os"
	"path/filepath"

	"github.com/stopgate/stopgate/internal/sys/paths"
)

// maxLinks is how many links in a row are followed, as by the system.
const maxLinks = 40

// targets finds what protected links lead to, by name, each with its link: the file at the end, and the
// links on the way. Editing one of them changes what is read by the protected name. What lies outside of the
// project is not among them, nor is a folder: a link among test data can lead to all of the code.
func (p Place) targets(links []string) map[string]string {
	all := map[string]string{}
	for _, link := range links {
		way, inside := p.way(link)
		if !inside {
			continue
		}
		for _, name := range way {
			all[name] = link
		}
	}
	return all
}

// way is what a link leads to, step by step, as far as it stays in the project; inside is false where that is not a
// file of it, or not any more.
func (p Place) way(link string) (names []string, inside bool) {
	root := paths.Canonical(p.Project.Root)
	path := filepath.Join(root, filepath.FromSlash(link))
	for range maxLinks {
		target, err := os.Readlink(path)
		if err != nil {
			return names, false
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(path), target)
		}
		path = target
		if folder, err := filepath.EvalSymlinks(filepath.Dir(target)); err == nil { // else it is deleted, too
			path = filepath.Join(folder, filepath.Base(target))
		}

		rel, err := filepath.Rel(root, path)
		if err != nil || !p.judges(filepath.ToSlash(rel)) {
			return names, false
		}
		names = append(names, filepath.ToSlash(rel))

		info, err := os.Lstat(path)
		switch {
		case err != nil:
			return names, false
		case info.Mode().IsRegular():
			return names, true
		}
	}
	return names, false
}
