package paths

import (
	"os"
	"path/filepath"
)

const (
	// GauntletDir holds a project's configuration.
	GauntletDir = ".gauntlet"
	// ConfigFile is the entry point of that directory.
	ConfigFile = "config.yml"
)

// ProjectConfig is the path of the configuration of the project at root.
func ProjectConfig(root string) string {
	return filepath.Join(root, GauntletDir, ConfigFile)
}

// ProjectRoot finds the project that a hook call belongs to: from each start
// in turn it walks up to the git root, and the first directory that is a
// project wins. A directory is one when it holds .gauntlet/config.yml or when
// claimed says so (a project whose approved configuration was deleted is still
// that project).
//
// Outside a repository the walk goes up to the file system's root, but not
// into a directory that anybody may write to. A config.yml in /tmp itself never
// counts, wherever the walk began and even with a .git beside it: a stranger can
// leave both there, and agents go to /tmp.
func ProjectRoot(claimed func(dir string) bool, starts ...string) (string, bool) {
	for _, start := range starts {
		if !filepath.IsAbs(start) {
			continue
		}
		for dir := range ancestors(filepath.Clean(start)) {
			if isFile(ProjectConfig(dir)) && !scratch(dir) || claimed(dir) {
				return dir, true
			}
		}
	}
	return "", false
}

// GitRoot is the nearest directory at or above start that holds .git, which is
// a file in linked worktrees and submodules.
func GitRoot(start string) (string, bool) {
	for dir := start; ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return dir, true
		}
		if dir == filepath.Dir(dir) {
			return "", false
		}
	}
}

func ancestors(start string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		root, inRepository := GitRoot(start)
		for dir := start; ; dir = filepath.Dir(dir) {
			if !inRepository && dir != start && worldWritable(dir) {
				return
			}
			if !yield(dir) || dir == root || dir == filepath.Dir(dir) {
				return
			}
		}
	}
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}
