package doctor

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/gate/need"
	"github.com/stopgate/stopgate/internal/sys/regular"
)

// steered reports whether a variable of a line or of its environment may have a program read
// another manifest.
func (f finder) steered(line string, l need.Lookup) bool {
	return slices.ContainsFunc(l.Unless, func(setting string) bool {
		return strings.Contains(line, setting) ||
			slices.ContainsFunc(f.environ, func(variable string) bool { return strings.HasPrefix(variable, setting) })
	})
}

// hasManifest reports whether a task runner finds its manifest. Make knows by itself how to
// make some files of others.
func (f finder) hasManifest(dir string, n need.Need) bool {
	if _, found := f.manifest(dir, n.Lookup); found {
		return true
	}
	sources, _ := fs.Glob(os.DirFS(dir), strings.TrimSuffix(n.Task, filepath.Ext(n.Task))+".*") // none of a bad pattern
	return n.Task != "" && len(sources) > 0
}

// manifest finds a manifest from a directory upwards: by its name, and by where it really is.
func (f finder) manifest(dir string, l need.Lookup) (file string, found bool) {
	starts := []string{dir}
	if real, err := filepath.EvalSymlinks(dir); err == nil && real != dir {
		starts = append(starts, real)
	}
	for _, dir := range starts {
		for {
			for _, name := range l.Files {
				if file := f.inForce(filepath.Join(dir, name)); exists(file) {
					return file, true
				}
			}
			parent := filepath.Dir(dir)
			if !l.Up || parent == dir {
				break
			}
			dir = parent
		}
	}
	return "", false
}

// hasTask reports whether a manifest may have a task. That there is no manifest is told by the
// need for one.
func (f finder) hasTask(dir string, n need.Need) bool {
	file, found := f.manifest(dir, n.Lookup)
	if !found {
		return true
	}
	text, err := regular.Read(file, 1<<20)
	switch name := filepath.Base(file); {
	case err != nil:
		return true
	case name == "package.json":
		_, found := need.Script(text, n.Task)
		return found
	case strings.HasSuffix(strings.ToLower(name), "makefile"):
		named, open := need.HasTarget(string(text), n.Task)
		return named || open
	}
	return true
}
