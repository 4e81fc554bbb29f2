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
		way, _ := p.way(link)
		for _, name := range way {
			all[name] = link
		}
	}
	return all
}

// way is what a link leads to, step by step; inside is false where that is not a file of the project.
func (p Place) way(link string) (names []string, inside bool) {
	root := paths.Canonical(p.Project.Root)
	path := p.abs(link)
	for range maxLinks {
		target, err := os.Readlink(path)
		if err != nil {
			return nil, false
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(path), target)
		}
		folder, err := filepath.EvalSymlinks(filepath.Dir(target))
		if err != nil {
			return nil, false
		}
		path = filepath.Join(folder, filepath.Base(target))
		rel, err := filepath.Rel(root, path)
		if err != nil || !p.judges(filepath.ToSlash(rel)) {
			return nil, false
		}
		names = append(names, filepath.ToSlash(rel))
		info, err := os.Lstat(path)
		switch {
		case err != nil:
			return nil, false
		case info.Mode().IsRegular():
			return names, true
		}
	}
	return nil, false
}
