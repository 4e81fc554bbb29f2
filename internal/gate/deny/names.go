package deny

import (
	"path/filepath"
	"slices"

	"github.com/stopgate/stopgate/internal/harness/hook"
	"github.com/stopgate/stopgate/internal/sys/disk"
	"github.com/stopgate/stopgate/internal/sys/paths"
)

// name is a file, and its place relative to the project's root, with slashes.
type name struct{ path, below string }

// names are those of the files that the call names: as they are written, and behind links. A file outside
// of the project has none, unless it is in another worktree of the same repository.
func names(root string, p *hook.PreToolUsePayload) (all []name) {
	add := func(path, below string, found bool) {
		if n := (name{path, filepath.ToSlash(below)}); found && filepath.IsLocal(below) && !slices.Contains(all, n) {
			all = append(all, n)
		}
	}
	for _, path := range p.Files() {
		if !filepath.IsAbs(path) {
			path = filepath.Join(p.CWD, path)
		}
		path = filepath.Clean(path)
		for _, path := range []string{path, resolved(path), paths.Canonical(path)} {
			for _, root := range []string{root, paths.Canonical(root)} {
				below, err := filepath.Rel(root, path)
				add(path, below, err == nil)
			}
			below, found := inWorktree(root, path)
			add(path, below, found)
		}
	}
	return all
}

// resolved is a path whose folder is behind links. Of a new file only the folders that exist can be resolved.
func resolved(path string) string {
	folder, rest := existing(path)
	return filepath.Join(paths.Canonical(folder), rest)
}

// existing is the nearest folder above a path that exists, and the way from there.
func existing(path string) (folder, rest string) {
	folder, rest = filepath.Dir(path), filepath.Base(path)
	for !disk.IsDir(folder) && folder != filepath.Dir(folder) {
		folder, rest = filepath.Dir(folder), filepath.Join(filepath.Base(folder), rest)
	}
	return folder, rest
}

// inWorktree is the place of a file relative to where the project is in the file's own worktree, if that is
// one of the project's repository.
func inWorktree(root, path string) (below string, found bool) {
	ours, project, found := paths.Repository(root)
	if !found {
		return "", false
	}
	folder, rest := existing(path)
	common, within, found := paths.Repository(folder)
	if !found || common != ours {
		return "", false
	}
	below, err := filepath.Rel(filepath.FromSlash(project), filepath.Join(filepath.FromSlash(within), rest))
	return below, err == nil
}
