package git

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/sys/environ"
	"github.com/stopgate/stopgate/internal/sys/paths"
	"github.com/stopgate/stopgate/internal/sys/regular"
)

// Conversion is how git makes files of what commits hold, besides the attributes that commits bring: the ends of
// lines, and the programs that a file goes through. It is kept, so that what is set later does not count.
type Conversion struct {
	Settings   []string `json:"settings,omitempty"`   // name=value, the last one of a name counts
	User       string   `json:"user,omitempty"`       // attributes of all repositories
	Repository string   `json:"repository,omitempty"` // attributes of this one, which are not committed
}

// maxAttributes is far more than what git reads of a file with attributes.
const maxAttributes = 128 << 20

// Conversion reads what is in force in the directory. Without own, the repository's own attributes are left out, and
// its own filters that are not known. Git before 2.26 does not tell them apart: that is an error.
func (r Repo) Conversion(ctx context.Context, own bool) (c Conversion, err error) {
	settings, err := r.conversionSettings(ctx)
	if err != nil {
		return Conversion{}, err
	}
	if !own {
		settings = slices.DeleteFunc(settings, func(s setting) bool { return s.own() && !s.harmless() })
	}
	for _, s := range settings {
		if s.replayed() {
			c.Settings = append(c.Settings, s.String())
		}
	}
	c.Settings = withoutDrivers(c.Settings, func(command string) bool { return isLFS(command) || r.isScript(command) })
	c.User = attributesIn(r.userAttributes(settings))
	if own {
		c.Repository = attributesIn(r.ownAttributes())
	}
	return c, nil
}

// setting is a line of git's configuration.
type setting struct {
	scope, name, value string
	given              bool // it has a value
}

// conversionSettings are all that say how git makes files of what commits hold. It starts one process.
func (r Repo) conversionSettings(ctx context.Context) (all []setting, err error) {
	const wanted = `^(core\.(autocrlf|eol|symlinks|filemode|attributesfile|checkroundtripencoding)|attr\..*|filter\..*)$`
	out, err := r.output(ctx, "config", "-z", "--show-scope", "--get-regexp", wanted)
	if err != nil && code(err) != 1 { // 1: nothing is set
		return nil, err
	}
	fields := slices.Collect(records(out))
	for pair := range slices.Chunk(fields[:len(fields)&^1], 2) {
		s := setting{scope: pair[0]}
		s.name, s.value, s.given = strings.Cut(pair[1], "\n")
		all = append(all, s)
	}
	return all, nil
}

// own reports whether the setting is the repository's.
func (s setting) own() bool { return s.scope == "local" || s.scope == "worktree" }

// decrypts are the other ways of filters that are known.
var decrypts = []string{`"git-crypt" smudge`, "git-crypt smudge"}

// harmless reports whether the setting cannot make a file say something else: the ends of lines, and known filters.
func (s setting) harmless() bool {
	return s.name == "core.autocrlf" || s.name == "core.eol" || slices.Contains(known, s.value) || slices.Contains(decrypts, s.value)
}

// replayed reports whether the setting is one that Conversion keeps. That a filter must not fail is not: the others would
// not be converted either.
func (s setting) replayed() bool {
	if rest, filter := strings.CutPrefix(s.name, "filter."); filter {
		return !strings.HasSuffix(rest, ".required")
	}
	return slices.Contains([]string{"core.autocrlf", "core.eol", "core.checkroundtripencoding"}, s.name)
}

// String is the setting as git takes it on a command line.
func (s setting) String() string {
	if !s.given {
		return s.name
	}
	return s.name + "=" + s.value
}

// isLFS reports whether a filter is that of Git LFS, which would ask its server for what it does not find. See LargeFile.
func isLFS(command string) bool {
	return strings.HasPrefix(command, "git-lfs ") || strings.HasPrefix(command, "git lfs ")
}

// isScript reports whether a filter names a file of the work tree, which anything may have been written into since.
// One that is named from there is not found aside.
func (r Repo) isScript(command string) bool {
	top, found := paths.GitRoot(r.dir)
	if !found {
		return false
	}
	inside := func(text, dir string) bool {
		return strings.Contains(filepath.ToSlash(text), filepath.ToSlash(dir)+"/")
	}
	words := strings.FieldsFunc(command, func(c rune) bool { return strings.ContainsRune(" \t\"';&|()=", c) })
	named := func(word string) bool {
		if strings.HasPrefix(word, "~/") {
			word = r.path(word)
		}
		for dir := word; filepath.IsAbs(dir) && dir != filepath.Dir(dir); dir = filepath.Dir(dir) { // the script itself need not be there yet
			if inside(paths.Canonical(dir)+"/", paths.Canonical(top)) {
				return true
			}
		}
		return false
	}
	return inside(command, top) || inside(command, paths.Canonical(top)) || slices.ContainsFunc(words, named)
}

// withoutDrivers leaves out all settings of the filters that have such a command.
func withoutDrivers(settings []string, such func(command string) bool) []string {
	driver := func(setting string) string {
		name, _, _ := strings.Cut(setting, "=")
		return name[:strings.LastIndex(name, ".")+1]
	}
	out := map[string]bool{}
	for _, setting := range settings {
		if name, command, _ := strings.Cut(setting, "="); strings.HasPrefix(name, "filter.") && such(command) {
			out[driver(setting)] = true
		}
	}
	return slices.DeleteFunc(settings, func(setting string) bool { return out[driver(setting)] })
}

// userAttributes is the file with attributes of all repositories: the one that the settings name, or else the usual one.
func (r Repo) userAttributes(settings []setting) string {
	file := filepath.Join(r.userConfig(), "attributes")
	for _, s := range settings {
		if s.name == "core.attributesfile" {
			file = r.path(s.value)
		}
	}
	return file
}

// ownAttributes is the file with attributes of the repository that are not committed; empty where there is none.
func (r Repo) ownAttributes() string {
	common, _, found := paths.Repository(r.dir)
	if !found {
		return ""
	}
	return filepath.Join(common, "info", "attributes")
}

// userConfig is the folder of the user's files beside ~/.gitconfig.
func (r Repo) userConfig() string {
	if dir := environ.Get(r.env, "XDG_CONFIG_HOME"); dir != "" {
		return filepath.Join(dir, "git")
	}
	return filepath.Join(environ.Get(r.env, "HOME"), ".config", "git")
}

// path is one that a setting names.
func (r Repo) path(name string) string {
	if rest, home := strings.CutPrefix(name, "~/"); home {
		return filepath.Join(environ.Get(r.env, "HOME"), rest)
	}
	if top, found := paths.GitRoot(r.dir); found && !filepath.IsAbs(name) {
		return filepath.Join(top, name)
	}
	return name
}

// attributesIn are none where they cannot be read.
func attributesIn(file string) string {
	if !filepath.IsAbs(file) {
		return "" // without a home there are none
	}
	text, err := regular.Read(file, maxAttributes)
	if err != nil {
		return ""
	}
	return string(text)
}

// LargeFile is the SHA-256 of a file that Git LFS keeps elsewhere, if a content is what it leaves in its place.
func LargeFile(content []byte) (sum string, is bool) {
	const longest = 1024
	text, is := strings.CutPrefix(string(content[:min(len(content), longest)]), "version https://git-lfs.github.com/spec/v1\n")
	if !is || len(content) > longest {
		return "", false
	}
	for line := range strings.Lines(text) {
		if sum, is := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "oid sha256:"); is && len(sum) == 64 && IsID(sum) {
			return sum, true
		}
	}
	return "", false
}
