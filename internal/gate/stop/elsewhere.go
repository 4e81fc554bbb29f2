package stop

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/gate/footprint"
	"github.com/stopgate/stopgate/internal/harness/hook"
	"github.com/stopgate/stopgate/internal/harness/settings"
	"github.com/stopgate/stopgate/internal/sys/commandline"
	"github.com/stopgate/stopgate/internal/sys/lazyregexp"
	"github.com/stopgate/stopgate/internal/sys/paths"
)

// concerns selects the calls that may change something in a project: all except edits of files outside it, and shell lines that
// run elsewhere and whose every word is known. A subagent's own calls are in another file, and an MCP tool may run code, so both
// count.
func concerns(root string) func(cwd string, use hook.ToolUse) bool {
	top := topOf(root)
	return func(cwd string, use hook.ToolUse) bool {
		from := callSite{root: root, top: top, cwd: paths.Canonical(cwd)}
		switch {
		case use.ToolName == "Bash":
			return !from.runsElsewhere(use)
		case settings.Edits(use.ToolName) && !strings.HasPrefix(use.ToolName, "mcp__"):
			files := use.Files()
			return len(files) == 0 || !from.areOutside(files)
		}
		return true
	}
}

// callSite is where a call was made, as seen from a project.
type callSite struct {
	root, top string // of the project, and of its repository
	cwd       string
}

// areOutside reports whether no path leads into the project, or to a folder that it lies in.
func (s callSite) areOutside(files []string) bool {
	return !slices.ContainsFunc(files, func(file string) bool {
		if !filepath.IsAbs(file) {
			file = filepath.Join(s.cwd, file)
		}
		return !filepath.IsAbs(file) || !isApart(s.root, followed(file))
	})
}

// followed is a path without links, also where its end does not exist yet.
func followed(path string) string {
	path = filepath.Clean(path)
	for dir := path; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			return filepath.Join(real, strings.TrimPrefix(path, dir))
		}
	}
	return path
}

// runsElsewhere reports whether every word of a command line is known, and none of them leads to the project.
func (s callSite) runsElsewhere(use hook.ToolUse) bool {
	if !s.areOutside([]string{"."}) {
		return false
	}
	text, stands := use.Texts(), []string{s.cwd}
	if footprint.Leads(text, s.root, stands) || footprint.Leads(text, s.top, stands) {
		return false
	}

	line := use.CommandLine()
	commands, clear := commandline.Read(line)
	if !clear || len(commands) == 0 || strings.ContainsAny(line, expansions) {
		return false
	}
	return s.staysOutside(footprint.Unquoted(line))
}

// expansions are the characters of a line in place of which a shell may put others: of variables, patterns and homes.
// Backslashes may be part of a path on Windows.
const expansions = "$`*?[~\\"

var (
	// goesBack matches commands that go to, or take, a directory that the line does not name.
	goesBack = lazyregexp.New(`(^|[\s;&|()])(cd[ \t]*($|[-;&|)\n])|(pushd|popd|dirs|xargs|parallel)($|[\s;&|()]))`)

	// climbs matches a .. that may lead up, unlike the one in main..topic and ./...
	climbs = lazyregexp.New(`(^|[^.])\.\.($|[^.\w])`)
)

// staysOutside reports whether the paths in a line without quotes stay outside the project, and it goes to no other directory
// from which a way up could lead there.
func (s callSite) staysOutside(line string) bool {
	if goesBack.Get().MatchString(line) {
		return false
	}

	moved, before := false, ""
	for _, word := range strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(" \t\r\n;&|()<>", r) }) {
		for _, path := range strings.FieldsFunc(word, func(r rune) bool { return strings.ContainsRune("=:,@", r) }) {
			if len(path) > 2 && path[0] == '-' && path[1] != '-' {
				path = path[2:] // it may follow the letter of an option, as in -C../other
			}
			up := climbs.Get().MatchString(path)
			if up && moved || (up || before == "cd" || strings.Contains(path, "/")) && !s.areOutside([]string{path}) {
				return false
			}
		}
		moved = moved || before == "cd"
		before = word
	}
	return true
}
