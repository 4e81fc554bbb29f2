package footprint

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/sys/paths"
)

// Leads reports whether a path in shell commands leads to a folder or into it. stands are the directories from which the
// agent works. Where a path begins with what only a shell knows, or goes up from a place that is not known, its last
// part decides.
func Leads(text []byte, top string, stands []string) bool {
	name := filepath.Base(top)
	for start := range words(text, name) {
		before, after := text[:start], text[start+len(name):]
		if path, found := bytes.CutSuffix(before, []byte("/")); found && !isExtended(after) && leadsTo(path, filepath.Dir(top), stands) {
			return true
		}
	}
	return false
}

// leadsTo reports whether a text can end in a path to a directory.
func leadsTo(text []byte, dir string, stands []string) bool {
	i := bytes.LastIndexAny(text, "\\ \t\n\"'=:;,&|<>([]")
	path := string(text[i+1:])
	if i >= 0 && text[i] == '\\' { // a new line in JSON
		text, path = text[:0], strings.TrimLeft(path, "nrt")
	}
	if path == "" { // /name, or the end of what is in quotes, as in "$DIR"/name
		quoted := bytes.TrimRight(text, `\"'`)
		if n := len(quoted); n > 0 && (inName(quoted[n-1]) || bytes.IndexByte([]byte(")}`*"), quoted[n-1]) >= 0) {
			return true
		}
		return dir == filepath.Dir(dir) // the root
	}
	if !strings.ContainsAny(path, "$%{}*?`)~") {
		if filepath.IsAbs(path) {
			return paths.Canonical(path) == dir
		}
		if slices.ContainsFunc(stands, func(stand string) bool { return paths.Canonical(filepath.Join(stand, path)) == dir }) {
			return true
		}
		if path != ".." && !strings.HasPrefix(path, "../") {
			return false
		}
	}
	last := path[strings.LastIndexByte(path, '/')+1:]
	return last == ".." || last == filepath.Base(dir) || strings.ContainsAny(last, "$%{}*?`)~")
}
