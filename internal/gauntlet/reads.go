package gauntlet

import (
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/stopgate/stopgate/internal/paths"
	"github.com/stopgate/stopgate/internal/regular"
)

// readsGit reports whether a pass of the job depends on git's state besides the files: the
// gate says so or, where it says nothing, its command or a script of .gauntlet uses git.
func readsGit(job *Job, configDir string) bool {
	if reads := job.Gate().Reads; reads != nil {
		return len(*reads) > 0 // there is nothing else to read yet
	}
	if job.Check == nil {
		return false
	}
	command := job.Check.Command
	return usesGit(command) || strings.Contains(command, paths.GauntletDir) && scriptsUseGit(configDir)
}

var gitWord = regexp.MustCompile(`(^|[^\w.-])git($|[^\w.-])`)

// usesGit reports whether a script has the command git in it.
func usesGit(script string) bool { return gitWord.MatchString(script) }

// scriptsUseGit reports whether a script of .gauntlet does. One that cannot be read may.
func scriptsUseGit(configDir string) (uses bool) {
	const longest = 1 << 20
	err := filepath.WalkDir(configDir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() || isConfiguration(entry.Name()) {
			return err
		}
		if info, err := entry.Info(); err != nil || info.Size() > longest {
			return err // what is so long is a program, not a script
		}
		text, err := regular.ReadNoFollow(path, longest)
		if uses = err != nil || usesGit(string(text)); uses {
			return fs.SkipAll
		}
		return nil
	})
	return uses || err != nil
}

// isConfiguration reports whether a file of .gauntlet is one that we read, not one that
// runs.
func isConfiguration(name string) bool {
	switch filepath.Ext(name) {
	case ".yml", ".yaml", ".md", ".toml", ".hcl", ".json":
		return true
	}
	return false
}
