package footprint

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/sys/paths"
)

// Leads reports whether a path in shell commands leads to a folder or into it. stands are the directories from which the
// agent works: a command may first go into a folder below them. Where a path begins with what only a shell knows, its last
// part decides.
func Leads(text []byte, top string, stands []string) bool {
	name, dir := filepath.Base(top), filepath.Dir(top)
	known := map[string]bool{} // the same few paths come again and again
	for start := range words(text, name) {
		before, after := text[:start], text[start+len(name):]
		before, found := bytes.CutSuffix(before, []byte("/"))
		if !found || isExtended(after) {
			continue
		}
		before, path := pathAtEnd(before)
		leads, looked := known[path]
		switch {
		case path == "":
			leads = followsQuotes(before, dir)
		case !looked:
			leads = leadsTo(path, dir, stands)
			known[path] = leads
		}
		if leads {
			return true
		}
	}
	return false
}

// pathAtEnd is the path in which a text ends, and what is before it in the same line.
func pathAtEnd(text []byte) (before []byte, path string) {
	i := bytes.LastIndexAny(text, "\\ \t\n\"'=:;,&|<>([]")
	before, path = text[:i+1], string(text[i+1:])
	if i >= 0 && text[i] == '\\' { // a new line in JSON
		before, path = nil, strings.TrimLeft(path, "nrt")
	}
	return before, path
}

// followsQuotes reports whether what follows a text, as /name, can be in a directory: the text ends in something in quotes that
// only a shell knows, as in "$DIR"/name, or the directory is the root.
func followsQuotes(text []byte, dir string) bool {
	quoted := bytes.TrimRight(text, `\"'`)
	if n := len(quoted); n > 0 && (inName(quoted[n-1]) || bytes.IndexByte([]byte(")}`*"), quoted[n-1]) >= 0) {
		return true
	}
	return dir == filepath.Dir(dir)
}

// onlyAShell is what in a path only a shell knows the meaning of.
const onlyAShell = "$%{}*?`)~"

// leadsTo reports whether a path can lead to a directory.
func leadsTo(path, dir string, stands []string) bool {
	if strings.ContainsAny(path, onlyAShell) {
		last := path[strings.LastIndexByte(path, '/')+1:]
		return last == ".." || last == filepath.Base(dir) || strings.ContainsAny(last, onlyAShell)
	}
	if filepath.IsAbs(path) {
		return paths.Canonical(path) == dir
	}
	return slices.ContainsFunc(stands, func(stand string) bool {
		return paths.Canonical(filepath.Join(stand, path)) == dir || climbsTo(path, dir, stand)
	})
}

// climbsTo reports whether a path that goes up leads to a directory from a folder somewhere below the one where the agent stands.
func climbsTo(path, dir, stand string) bool {
	down, up := filepath.ToSlash(filepath.Clean(path))+"/", 0
	for rest, climbs := strings.CutPrefix(down, "../"); climbs; rest, climbs = strings.CutPrefix(down, "../") {
		down, up = rest, up+1
	}
	above, found := strings.CutSuffix(filepath.ToSlash(dir), strings.TrimSuffix("/"+down, "/"))
	if !found || up == 0 {
		return false
	}
	rel, err := filepath.Rel(filepath.FromSlash(above+"/"), paths.Canonical(stand))
	if err != nil || strings.HasPrefix(rel, "..") {
		return false
	}
	return rel == "." || strings.Count(filepath.ToSlash(rel), "/")+1 <= up
}
