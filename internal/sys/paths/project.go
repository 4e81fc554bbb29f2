package paths

import (
	"os"
	"path/filepath"
	"slices"

	"github.com/stopgate/stopgate/internal/sys/disk"
)

const (
	// GauntletDir holds a project's configuration.
	GauntletDir = ".gauntlet"
	// ConfigFile is the entry point of that directory.
	ConfigFile = "config.yml"
	// SignersFile and KeysFile of that directory say whose attestations count: keys of ssh, one a line
	// as in git's gpg.ssh.allowedSignersFile, and exported public keys of gpg.
	SignersFile = "allowed_signers"
	KeysFile    = "allowed_signers.asc"
	// RunbooksDir is the folder of that directory with what can be started.
	RunbooksDir = "runbooks"
	// OddjobsDir is the directory of oddjobs, whose runbooks lie in a folder of the same name.
	OddjobsDir = ".oj"
)

// ProjectConfig is the path of the configuration of the project at root.
func ProjectConfig(root string) string {
	return filepath.Join(root, GauntletDir, ConfigFile)
}

// ProjectRoot finds the project that a hook call belongs to: from each start
// in turn it walks up to the git root, and the first directory that isProject
// says is one wins.
//
// Outside a repository the walk goes up to the file system's root, but not
// into a directory that anybody may write to.
func ProjectRoot(isProject func(dir string) bool, starts ...string) (string, bool) {
	dirs := Candidates(starts...)
	if i := slices.IndexFunc(dirs, isProject); i >= 0 {
		return dirs[i], true
	}
	return "", false
}

// Candidates lists the directories that ProjectRoot looks at, each once.
func Candidates(starts ...string) []string {
	var dirs []string
	for i, start := range starts {
		if !filepath.IsAbs(start) || slices.Contains(starts[:i], start) {
			continue // the starts are usually the same
		}
		for dir := range ancestors(filepath.Clean(start)) {
			if !slices.Contains(dirs, dir) {
				dirs = append(dirs, dir)
			}
		}
	}
	return dirs
}

// HasConfig reports whether dir holds .gauntlet/config.yml. One in /tmp itself
// never counts, even with a .git beside it: a stranger can leave both there, and
// agents go to /tmp.
func HasConfig(dir string) bool {
	info, err := os.Stat(ProjectConfig(dir))
	return err == nil && !info.IsDir() && !scratch(dir)
}

// HasRunbooks reports whether dir holds .gauntlet/runbooks or .oj/runbooks, which never count
// in /tmp itself either.
func HasRunbooks(dir string) bool {
	return (disk.IsDir(filepath.Join(dir, GauntletDir, RunbooksDir)) || HasOddjobs(dir)) && !scratch(dir)
}

// HasOddjobs reports whether dir holds runbooks of oddjobs.
func HasOddjobs(dir string) bool { return disk.IsDir(OddjobsRunbooks(dir)) }

// OddjobsRunbooks is the folder of the project at root with runbooks of oddjobs.
func OddjobsRunbooks(root string) string { return filepath.Join(root, OddjobsDir, RunbooksDir) }

// GitRoot is the nearest directory at or above start that holds .git, which is
// a file in linked worktrees and submodules.
func GitRoot(start string) (string, bool) {
	for dir := start; ; dir = filepath.Dir(dir) {
		if disk.Exists(filepath.Join(dir, ".git")) {
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
