package trust

import (
	"path"
	"slices"
	"strings"
)

// cacheDir is where Python keeps what it compiled.
const cacheDir = "__pycache__"

// isCache reports whether a file is one that programs leave behind by themselves: Python's
// compiled modules and the Finder's notes. They are not approved, and having them is not
// an edit. They can be a way in all the same, as Python runs a planted module in place of
// the script beside it: no command ever sees one, see Content. A .pyc in any other place is
// imported without a source, and so is an edit.
func isCache(name string) bool {
	dir, base := path.Split(name)
	return base == ".DS_Store" || slices.Contains(strings.Split(dir, "/"), cacheDir)
}

// compiled are the caches that can be a way in.
func (s sight) compiled() (names []string) {
	for _, name := range s.caches {
		if base := path.Base(name); base != ".DS_Store" && base != cacheDir {
			names = append(names, name)
		}
	}
	return names
}
