package gauntlet

import (
	"errors"
	"io/fs"
	"iter"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/gate/need"
	"github.com/stopgate/stopgate/internal/sys/lazyregexp"
	"github.com/stopgate/stopgate/internal/sys/paths"
	"github.com/stopgate/stopgate/internal/sys/regular"
)

// readsGit reports whether a pass of the job depends on git's state besides the files: the
// gate says so or, where it says nothing, its command or a script of .gauntlet that it runs
// uses git.
func (p *prover) readsGit(job *Job) bool {
	if reads := job.Gate().Reads; reads != nil {
		return len(*reads) > 0 // there is nothing else to read yet
	}
	if job.Check == nil {
		return false
	}
	if usesGit(job.Check.Command) {
		return true
	}
	base, scripts := p.leadsTo(job)
	return base || scripts && scriptsUseGit(p.Project.ConfigDir)
}

var gitWord = lazyregexp.New(`(^|[^\w.-])git($|[^\w.-])`)

// usesGit reports whether a script has the command git in it, or the base that we tell gates:
// only git knows what that is.
func usesGit(script string) bool {
	return gitWord.Get().MatchString(script) || strings.Contains(script, baseVariable)
}

// baseVariable tells a check what changes are counted from.
const baseVariable = "BASE_BRANCH"

// leadsTo reports what a check comes to by the files that its command runs: the base that we
// tell it, and scripts of .gauntlet. That they use git otherwise does not count: many a Makefile
// asks for the version, and every commit would run its gates again.
func (p *prover) leadsTo(job *Job) (base, scripts bool) {
	dir, command := filepath.Join(p.Project.Root, filepath.FromSlash(job.Dir)), job.Check.Command
	scripts = strings.Contains(command, paths.GauntletDir) || strings.Contains(dir+"/", "/"+paths.GauntletDir+"/")
	words := slices.Collect(wordsOf(command))
	manifests := need.Manifests()
	for _, tool := range slices.Sorted(maps.Keys(manifests)) {
		if slices.Contains(words, tool) {
			words = append(words, manifests[tool].Files...)
		}
	}
	seen := map[string]bool{}
	for read := 0; len(words) > 0 && read < mostRead; words = words[1:] {
		file := words[0]
		if !filepath.IsAbs(file) {
			file = filepath.Join(dir, file)
		}
		if seen[file] {
			continue
		}
		seen[file] = true
		if text, err := regular.Read(file, maxScript); err == nil {
			read++
			base = base || strings.Contains(string(text), baseVariable)
			scripts = scripts || strings.Contains(string(text), paths.GauntletDir)
			words = append(words, namedIn(string(text))...)
		}
	}
	return base, scripts
}

// wordsOf are what may be a file's name in a line of a shell, or in a file that such a line leads to.
func wordsOf(text string) iter.Seq[string] {
	return strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune(" \t\n;&|()\"'`$={}<>", r) })
}

// namedIn are the words of a script that look like the name of another one, without texts for people; the first of many.
func namedIn(script string) (names []string) {
	for word := range wordsOf(script) {
		if len(names) == mostRead {
			break
		}
		text := slices.Contains([]string{".md", ".txt", ".lock"}, filepath.Ext(word))
		if strings.ContainsAny(word, "./") && !text && len(word) < 200 && !slices.Contains(names, word) {
			names = append(names, word)
		}
	}
	return names
}

// mostRead is how many files are read for one gate, and how many names are looked at in each.
const mostRead = 64

// maxScript is the longest script. What is longer is a program.
const maxScript = 1 << 20

// scriptsUseGit reports whether a script of .gauntlet does. One that cannot be read may.
func scriptsUseGit(configDir string) (uses bool) {
	err := filepath.WalkDir(configDir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() || isConfiguration(configDir, path) {
			return err
		}
		text, err := regular.Read(path, maxScript)
		if uses = err == nil && usesGit(string(text)) || err != nil && !errors.Is(err, regular.ErrTooLarge); uses {
			return fs.SkipAll
		}
		return nil
	})
	return uses || err != nil
}

// isConfiguration reports whether a file of .gauntlet is one that we read, not one that
// runs.
func isConfiguration(configDir, path string) bool {
	rel, err := filepath.Rel(configDir, path)
	if err != nil {
		return false
	}
	if slices.Contains([]string{paths.ConfigFile, paths.SignersFile, paths.KeysFile}, rel) {
		return true
	}
	folder, _, _ := strings.Cut(filepath.ToSlash(rel), "/")
	return slices.Contains([]string{"checks", "reviews", paths.RunbooksDir}, folder) &&
		slices.Contains([]string{".yml", ".yaml", ".md", ".toml", ".hcl"}, filepath.Ext(rel))
}
