package notify

import (
	"path/filepath"
	"strings"

	"github.com/stopgate/stopgate/internal/project/config"
)

// Route are the ways for a project: those of the first entry whose path is its root or
// above it, over those in general.
func Route(c config.Notify, home, project string) config.Ways {
	root := resolve(project)
	for _, p := range c.Projects {
		if project != "" && above(resolve(expand(p.Path, home)), root) {
			return p.Override(c.Ways)
		}
	}
	return c.Ways
}

// above reports whether a directory is another, or holds it.
func above(dir, other string) bool {
	below, err := filepath.Rel(dir, other)
	return err == nil && filepath.IsLocal(below)
}

// expand is a path of the configuration as a whole one.
func expand(path, home string) string {
	if rest, found := strings.CutPrefix(filepath.ToSlash(path), "~"); found && home != "" && (rest == "" || rest[0] == '/') {
		return filepath.Join(home, rest)
	}
	return path
}

// resolve is a path without links, as far as it exists: a project may be gone while
// something of it still waits.
func resolve(path string) string {
	path = filepath.Clean(path)
	for dir, rest := path, ""; ; {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			return filepath.Join(real, rest)
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return path
		}
		dir, rest = parent, filepath.Join(filepath.Base(dir), rest)
	}
}
