package change

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/sys/environ"
	"github.com/stopgate/stopgate/internal/sys/paths"
	"github.com/stopgate/stopgate/internal/sys/regular"
)

// ruleFiles may say what git ignores, besides the .gitignore files of the tree: files with rules, and
// the configuration that names them. Git is not asked for them: every stop needs them, and reading
// a few short files takes less time than starting a process.
func (w *Worktree) ruleFiles() ruleSet {
	r := w.rulesWithin(w.root)
	if gitDir, found := paths.GitDir(w.root); found {
		r.config(filepath.Join(gitDir, "config.worktree"))
	}

	r.everywhere = true
	user := environ.Get(w.environ, "XDG_CONFIG_HOME")
	if r.home != "" {
		r.config(filepath.Join(r.home, ".gitconfig"))
		if user == "" {
			user = filepath.Join(r.home, ".config")
		}
	}
	if user != "" {
		r.exclude(filepath.Join(user, "git", "ignore"))
		r.config(filepath.Join(user, "git", "config"))
	}
	r.config(environ.Get(w.environ, "GIT_CONFIG_GLOBAL"))
	r.config(environ.Get(w.environ, "GIT_CONFIG_SYSTEM"))
	if filepath.Separator == '/' {
		r.config("/etc/gitconfig")
	}
	return r
}

// rulesWithin may say what git ignores in the repository of a directory, besides the user's files: those that its own
// configuration names.
func (w *Worktree) rulesWithin(dir string) ruleSet {
	r := ruleSet{home: environ.Get(w.environ, "HOME")}
	r.top, _ = paths.GitRoot(dir)
	if common, _, found := paths.Repository(dir); found {
		r.exclude(filepath.Join(common, "info", "exclude"))
		r.config(filepath.Join(common, "config"))
	}
	return r
}

// ruleSet collects files of rules.
type ruleSet struct {
	home, top  string
	files      []string // and of configuration
	sources    []source
	by         []string // the configuration that is being read, with those that include it
	everywhere bool     // what follows is the user's
}

// source is a file of rules.
type source struct {
	file       string
	by         []string // the configuration that leads to it
	in         string   // the repository within the tree whose it is; empty: the tree's own
	everywhere bool     // it holds in all repositories
}

// exclude takes a file of rules.
func (r *ruleSet) exclude(file string) {
	if file != "" {
		r.add(file)
		r.sources = append(r.sources, source{file: file, by: slices.Clone(r.by), everywhere: r.everywhere})
	}
}

func (r *ruleSet) add(file string) (fresh bool) {
	if file == "" || slices.Contains(r.files, file) {
		return false
	}
	r.files = append(r.files, file)
	return true
}

// config takes a configuration file, with those that it includes, on whatever condition.
func (r *ruleSet) config(file string) {
	const most = 100 // one may include others without end
	if len(r.files) > most || !r.add(file) {
		return
	}
	r.by = append(r.by, file)
	defer func() { r.by = r.by[:len(r.by)-1] }()
	for _, s := range settingsIn(file) {
		switch s.name {
		case "core.excludesfile":
			r.exclude(r.path(r.top, s.value))
		case "include.path", "includeif.path":
			r.config(r.path(filepath.Dir(file), s.value))
		}
	}
}

// path is one that a configuration names.
func (r *ruleSet) path(dir, name string) string {
	rest, home := strings.CutPrefix(name, "~/")
	switch {
	case name == "":
		return ""
	case home:
		return filepath.Join(r.home, rest)
	case filepath.IsAbs(name):
		return filepath.Clean(name)
	}
	return filepath.Join(dir, name)
}

// setting is a variable of git's configuration: section and name in lower case, without a subsection.
type setting struct{ name, value string }

// settingsIn reads as much of a configuration file as tells which files it names.
func settingsIn(file string) (all []setting) {
	const most = 1 << 20
	text, err := regular.Read(file, most)
	if err != nil {
		return nil
	}
	section := ""
	for line := range strings.Lines(strings.ReplaceAll(string(text), "\\\n", "")) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			section, line = sectionOf(line)
		}
		name, value, found := strings.Cut(line, "=")
		if name = strings.ToLower(strings.TrimSpace(name)); found && name != "" && !strings.ContainsAny(name[:1], "#;") {
			all = append(all, setting{section + "." + name, valueOf(value)})
		}
	}
	return all
}

// sectionOf takes the head of a section off a line.
func sectionOf(line string) (section, rest string) {
	head, rest, _ := strings.Cut(line[1:], "]")
	if before, after, quoted := strings.Cut(line[1:], `"`); quoted && strings.TrimSpace(before) != "" && !strings.Contains(before, "]") {
		head = before
		_, rest, _ = strings.Cut(after, `"]`)
	}
	head, _, _ = strings.Cut(strings.TrimSpace(head), ".")
	return strings.ToLower(head), strings.TrimSpace(rest)
}

// valueOf is a value without its quotes and what is said about it.
func valueOf(text string) string {
	var value strings.Builder
	quoted, escaped := false, false
	for _, c := range strings.TrimSpace(text) {
		switch {
		case escaped:
			value.WriteRune(c)
			escaped = false
		case c == '\\':
			escaped = true
		case c == '"':
			quoted = !quoted
		case !quoted && (c == '#' || c == ';'):
			return strings.TrimSpace(value.String())
		default:
			value.WriteRune(c)
		}
	}
	return strings.TrimSpace(value.String())
}
